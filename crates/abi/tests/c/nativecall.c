/* What nativecall.h says of texts, for the Rust side to compare: reads records of a 16-bit length and the bytes, writes a
 * line for each. Then calls through tables, as a caller in C does. */
#include <precast/nativecall.h>

#include <stdio.h>
#include <stdlib.h>

static int failed;

static void expect(int holds, const char *what) {
  if (!holds) {
    failed = 1;
    printf("failed: %s\n", what);
  }
}

static void print_key(const char *name, const pc_native_key *key, const char *text) {
  printf(" %s", name);
  for (size_t at = 0; at < key->len; at++) {
    printf(" %016llx", (unsigned long long)key->words[at]);
  }
  printf(" %s", text);
}

static void answer(const char *text, size_t len) {
  size_t at = 0;
  pc_native_key key;
  char back[PC_NATIVE_MAX_BYTES + 1];
  pc_native_problem problem = pc_native_check(text, len, &at);
  printf("%d %zu", (int)problem, at);
  if (pc_native_key_text(&key, text, len) == PC_NATIVE_FINE) {
    pc_native_text_of_chunks(key.words, key.len, back);
    print_key("text", &key, back);
    expect(pc_native_key_compact(&key, text, len) == PC_NATIVE_FINE, "compact");
    pc_native_text_of_compact(key.words, key.len, back);
    print_key("compact", &key, back);
  }
  printf("\n");
}

static double twice(double x) { return 2 * x; }
static float half(float x) { return x / 2; }
static int count(double a, double b, double c, double d, double e, double f) {
  return (int)(a + b + c + d + e + f);
}

typedef void (*any)(void);

/* A table as a compiler would write it: constants, sorted by how often they are called. */
static const pc_native_entry TABLE[] = {
    {PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0), {(any)half}},
    {PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0), {(any)twice}},
    {0, {0}},
};

/* The order of CEP 1000: exact, promoted, boxed. */
static double call(const pc_native_cell *cell, double x) {
  const pc_native_entry *table = pc_native_table(cell);
  any f;
  if ((f = pc_native_find_word(table, PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0))) != NULL) {
    return ((double (*)(double))f)(x);
  }
  if ((f = pc_native_find_word(table, PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0))) != NULL) {
    return (double)((float (*)(float))f)((float)x);
  }
  return -1;
}

static void check_calls(void) {
  static const pc_native_entry only_float[] = {{PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0), {(any)half}}, {0, {0}}};
  static const pc_native_entry empty[] = {{0, {0}}};
  pc_native_cell both = {TABLE}, promoted = {only_float}, none = {empty};
  expect(call(&both, 3) == 6, "exact");
  expect(call(&promoted, 3) == 1.5, "promoted");
  expect(call(&none, 3) == -1, "boxed");
  switch (TABLE[0].signature) {
    case PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0): expect(0, "switch"); break;
    case PC_NATIVE_WORD('f', ')', 'f', '~', 0, 0, 0): break;
    default: expect(0, "switch");
  }
}

/* Signatures of several words, one of which begins with another. */
static void check_long(void) {
  static const pc_native_entry constant[] = {
      {PC_NATIVE_CHUNK('d', 'd', 'd', 'd', 'd', 'd', ')', 'i'), {.word = PC_NATIVE_CHUNK('-', 0, 0, 0, 0, 0, 0, 0)}},
      {PC_NATIVE_CHUNK('-', 0, 0, 0, 0, 0, 0, 0), {(any)count}},
      {0, {0}},
  };
  pc_native_key eight, nine;
  expect(pc_native_key_text(&eight, "dddddd)i", 8) == PC_NATIVE_FINE && eight.len == 3, "eight bytes");
  expect(pc_native_key_text(&nine, "dddddd)ii", 9) == PC_NATIVE_FINE && nine.len == 3, "nine bytes");
  expect(pc_native_find(constant, &eight) == (any)count && pc_native_check_table(constant, 3) == 2, "a constant table");
  pc_native_entry table[5];
  memset(table, 0, sizeof table);
  table[0].signature = nine.words[0];
  table[0].slot.word = nine.words[1];
  table[1].signature = nine.words[2];
  table[1].slot.function = (any)twice;
  expect(pc_native_find(table, &eight) == NULL, "eight is not nine");
  expect(pc_native_find(table, &nine) == (any)twice, "nine");
  table[2].signature = eight.words[0];
  table[2].slot.word = eight.words[1];
  table[3].signature = eight.words[2];
  table[3].slot.function = (any)count;
  any f = pc_native_find(table, &eight);
  expect(f == (any)count && ((int (*)(double, double, double, double, double, double))f)(1, 2, 3, 4, 5, 6) == 21, "eight");
  expect(pc_native_check_table(table, 5) == 4, "a valid table");
  for (size_t n = 0; n < 5; n++) {
    /* In memory of its own, where a sanitizer sees a read behind it. */
    pc_native_entry *cut = (pc_native_entry *)malloc(n * sizeof *cut + 1);
    memcpy(cut, table, n * sizeof *cut);
    expect(pc_native_check_table(cut, n) == SIZE_MAX, "a table without its end");
    free(cut);
  }
}

/* Words that are no table: refused, or a table that ends in bounds. */
static void check_damage(void) {
  uint64_t state = 1;
  for (int round = 0; round < 20000; round++) {
    size_t n = 1 + (size_t)round % 6;
    pc_native_entry *table = (pc_native_entry *)malloc(n * sizeof *table);
    memset(table, 0, n * sizeof *table);
    memcpy(table, TABLE, (n < 2 ? n : 2) * sizeof *table);
    for (int change = 0; change < 3; change++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      ((unsigned char *)table)[(state >> 20) % (n * sizeof *table)] = (unsigned char)("-)d~\0f#i"[(state >> 50) % 8]);
    }
    size_t steps = pc_native_check_table(table, n);
    if (steps != SIZE_MAX) {
      expect(steps < n, "the end is inside");
      pc_native_find_word(table, PC_NATIVE_WORD('d', ')', 'd', '~', 0, 0, 0));
    }
    free(table);
  }
}

int main(void) {
  unsigned char length[2];
  char *text = (char *)malloc(65536);
  while (text != NULL && fread(length, 1, 2, stdin) == 2) {
    size_t len = (size_t)length[0] | (size_t)length[1] << 8;
    if (fread(text, 1, len, stdin) != len) {
      return 2;
    }
    answer(text, len);
  }
  free(text);
  check_calls();
  check_long();
  check_damage();
  return failed;
}
