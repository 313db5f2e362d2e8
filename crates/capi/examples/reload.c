/* Reloads bundles while threads call them: ./reload THREADS ROUNDS BUNDLE...
 * For each line of standard input, every thread replaces the shared function ROUNDS times and calls it; then it prints "done".
 * Each bundle has an entry "score", which takes a vector and returns a multiple of its sum. */
#define _POSIX_C_SOURCE 200809L /* pthread_rwlock_t */
#include <precast.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* A model that is replaced while other threads call it. Calls hold the lock for reading, so no function is freed during a call. */
typedef struct {
  pthread_rwlock_t lock;
  precast_function *score;
} model;

/* Loads the new model before it takes the lock: calls continue meanwhile, and a failure changes nothing. */
static precast_status model_reload(model *m, const char *path) {
  precast_bundle *bundle = NULL;
  precast_function *loaded = NULL, *old;
  precast_status status = precast_bundle_open(path, &bundle);
  if (status == PRECAST_OK) {
    status = precast_bundle_function(bundle, "score", &loaded);
    precast_bundle_free(bundle); /* functions outlive the bundle */
  }
  if (status == PRECAST_OK) {
    pthread_rwlock_wrlock(&m->lock);
    old = m->score;
    m->score = loaded;
    pthread_rwlock_unlock(&m->lock);
    precast_function_free(old); /* may be NULL */
  }
  return status;
}

static precast_status model_score(model *m, const precast_array *x, const precast_array *out) {
  pthread_rwlock_rdlock(&m->lock);
  precast_status status = precast_call(m->score, x, 1, out, 1);
  pthread_rwlock_unlock(&m->lock);
  return status;
}

static model shared = {PTHREAD_RWLOCK_INITIALIZER, NULL};
static char **bundles;
static int bundle_count, rounds;

static void *work(void *first) {
  double x[] = {1.0, 2.0}, out = 0.0;
  int64_t shape[] = {2};
  precast_array input = {x, shape, NULL, 1, PRECAST_F64, 0};
  precast_array output = {&out, NULL, NULL, 0, PRECAST_F64, 0};
  for (int round = 0; round < rounds; round++) {
    const char *path = bundles[((long)first + round) % bundle_count];
    if (model_reload(&shared, path) != PRECAST_OK || model_score(&shared, &input, &output) != PRECAST_OK) {
      fprintf(stderr, "%s\n", precast_last_error());
      exit(1);
    }
    int multiple = (int)(out / 3.0);
    if (multiple * 3.0 != out || multiple < 1 || multiple > bundle_count) {
      fprintf(stderr, "no bundle returns %g\n", out);
      exit(1);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  char line[16];
  if (argc < 4) {
    fprintf(stderr, "usage: reload THREADS ROUNDS BUNDLE...\n");
    return 2;
  }
  int threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  bundles = argv + 3;
  bundle_count = argc - 3;
  while (fgets(line, sizeof line, stdin)) {
    pthread_t *running = calloc((size_t)threads, sizeof *running);
    for (long first = 0; first < threads; first++) {
      pthread_create(&running[first], NULL, work, (void *)first);
    }
    for (int first = 0; first < threads; first++) {
      pthread_join(running[first], NULL);
    }
    free(running);
    puts("done");
    fflush(stdout);
  }
  precast_function_free(shared.score);
  return 0;
}
