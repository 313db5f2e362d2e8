/* Threads that call what they find in a table while others add to it.
 *
 * As a library: `call_while_added` reads a cell that Rust writes. As a program, for ThreadSanitizer, it is the writer too: as
 * the header says, an entry is written before all that were published, and then published by one store. */
#include <precast/nativecall.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 16 };

typedef int64_t (*valued)(void);

/* What all readers have: signature `n` has the function that gives `n % 8`. */
typedef struct task {
  const pc_native_cell *cell;
  const pc_native_key *keys;
  size_t count;
  int wrong;
} task;

/* Looks for the signatures of one writer, in the order in which they are added: what was found once is found in every later table. */
static int look(const pc_native_entry *table, const task *task, size_t *next) {
  for (; *next < task->count; *next += 2) {
    const valued found = (valued)(void *)pc_native_find(table, &task->keys[*next]);
    if (found == NULL) break;
    if (found() != (int64_t)(*next % 8)) return 1;
  }
  if (*next < 2) return 0;
  const valued before = (valued)(void *)pc_native_find(table, &task->keys[*next - 2]);
  return before == NULL || before() != (int64_t)((*next - 2) % 8);
}

static void *reader(void *given) {
  task *task = given;
  for (size_t even = 0, odd = 1; even < task->count || odd < task->count;) {
    const pc_native_entry *table = pc_native_table(task->cell);
    if (look(table, task, &even) || look(table, task, &odd)) {
      task->wrong = 1;
      return NULL;
    }
  }
  return NULL;
}

static pc_native_key *read_keys(const char *const *texts, size_t count) {
  pc_native_key *keys = malloc(count * sizeof *keys);
  for (size_t n = 0; keys != NULL && n < count; n++) {
    if (pc_native_key_text(&keys[n], texts[n], strlen(texts[n])) != PC_NATIVE_FINE) abort();
  }
  return keys;
}

/* Reads with so many threads until all signatures are there; the number of threads that met something wrong. */
int call_while_added(const pc_native_cell *cell, const char *const *texts, size_t count, size_t threads);

int call_while_added(const pc_native_cell *cell, const char *const *texts, size_t count, size_t threads) {
  pc_native_key *keys = read_keys(texts, count);
  pthread_t all[THREADS];
  task tasks[THREADS];
  int wrong = 0;
  for (size_t n = 0; n < threads; n++) {
    tasks[n] = (task){cell, keys, count, 0};
    if (pthread_create(&all[n], NULL, reader, &tasks[n]) != 0) abort();
  }
  for (size_t n = 0; n < threads; n++) {
    pthread_join(all[n], NULL);
    wrong += tasks[n].wrong;
  }
  free(keys);
  return wrong;
}

#ifdef AS_A_PROGRAM
enum { COUNT = 1000 };

#define VALUE(n) \
  static int64_t value_##n(void) { return n; }
VALUE(0) VALUE(1) VALUE(2) VALUE(3) VALUE(4) VALUE(5) VALUE(6) VALUE(7)
static const valued values[8] = {value_0, value_1, value_2, value_3, value_4, value_5, value_6, value_7};

static char texts[COUNT][64];
static const char *pointers[COUNT];
static pc_native_cell cell;

/* Adds every signature, each in front of the others; memory is as large as it ever gets. */
static void *writer(void *keys_of) {
  const pc_native_key *keys = keys_of;
  pc_native_entry *free_to = (pc_native_entry *)cell.table;
  for (size_t n = 0; n < COUNT; n++) {
    pc_native_entry *place = free_to - (keys[n].len / 2 + 1);
    for (size_t at = 0; at < keys[n].len; at++) {
      if (at % 2 == 0) place[at / 2].signature = keys[n].words[at];
      else place[at / 2].slot.word = keys[n].words[at];
    }
    place[keys[n].len / 2].slot.function = (void (*)(void))values[n % 8];
    __atomic_store_n(&cell.table, place, __ATOMIC_RELEASE);
    free_to = place;
  }
  return NULL;
}

int main(void) {
  for (size_t n = 0; n < COUNT; n++) {
    int at = snprintf(texts[n], sizeof texts[n], "#%zud", n % 32);
    for (size_t more = 0; more < n / 32; more++) texts[n][at++] = 'd';
    texts[n][at++] = ')';
    texts[n][at++] = 'q';
    texts[n][at] = '\0';
    pointers[n] = texts[n];
  }
  const size_t steps = COUNT * 16;
  pc_native_entry *memory = calloc(steps + 1, sizeof *memory);
  if (memory == NULL) return 2;
  cell.table = memory + steps;
  pc_native_key *keys = read_keys(pointers, COUNT);
  pthread_t writing;
  if (pthread_create(&writing, NULL, writer, keys) != 0) return 2;
  const int wrong = call_while_added(&cell, pointers, COUNT, 8);
  pthread_join(writing, NULL);
  free(keys);
  free(memory);
  return wrong;
}
#endif
