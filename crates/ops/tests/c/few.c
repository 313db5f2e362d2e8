/* Reductions of few elements: `few` and `few_columns` of each monoid against clear, fold, close and finish, byte by byte but for which NaN one is. `few-monoids.h`, which the test
 * writes, defines the monoids and lists them as MONOIDS(X), X(name, dtype). */
#include "few-monoids.h"
#include <stdio.h>
#include <string.h>

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* Numbers of both signs, zeros of both signs, and now and then infinity or the one NaN; of complex numbers parts that are finite. */
static double number(int is_part) {
  uint64_t kind = draw() % 16;
  if (kind == 0) return -0.0;
  if (kind == 1 && !is_part) return __builtin_inf();
  if (kind == 2 && !is_part && draw() % 4 == 0) return __builtin_nan("");
  return ((double)(draw() % 2001) - 1000.0) / 64.0;
}

static void element(const char *dtype, char *to) {
  if (strcmp(dtype, "f64") == 0 || strcmp(dtype, "c128") == 0) {
    for (int part = 0; part < (dtype[0] == 'c' ? 2 : 1); part++) {
      double value = number(dtype[0] == 'c');
      memcpy(to + 8 * part, &value, 8);
    }
  } else if (strcmp(dtype, "f32") == 0 || strcmp(dtype, "c64") == 0) {
    for (int part = 0; part < (dtype[0] == 'c' ? 2 : 1); part++) {
      float value = (float)number(dtype[0] == 'c');
      memcpy(to + 4 * part, &value, 4);
    }
  } else {
    uint64_t value = strcmp(dtype, "bool") == 0 ? draw() % 2 : draw();
    memcpy(to, &value, 8);
  }
}

/* Of floats: whether both are NaN. */
static int are_nan(const char *dtype, const char *a, const char *b) {
  float f[2];
  double d[2];
  memcpy(&f[0], a, 4), memcpy(&f[1], b, 4), memcpy(&d[0], a, 8), memcpy(&d[1], b, 8);
  if (strcmp(dtype, "f32") == 0) return f[0] != f[0] && f[1] != f[1];
  return strcmp(dtype, "f64") == 0 && d[0] != d[0] && d[1] != d[1];
}

/* Whether two results are the same, but for which NaN one is. */
static int are_same(const pc_monoid *m, const char *dtype, const char *a, const char *b) {
  return memcmp(a, b, (size_t)m->item) == 0 || are_nan(dtype, a, b);
}

#define COLUMNS 5

static int columns_differ(const pc_monoid *m, const char *name, const char *dtype) {
  _Alignas(64) char rows[64 * COLUMNS * 16], x[2048], whole[COLUMNS][16];
  for (int64_t n = 1; n <= m->lanes; n++) {
    for (int round = 0; round < 40; round++) {
      for (int64_t i = 0; i < n * COLUMNS; i++) {
        char one[16];
        element(dtype, one);
        memcpy(rows + i * m->item, one, (size_t)m->item);
      }
      for (int64_t c = 0; c < COLUMNS; c++) {
        for (int64_t i = 0; i < n; i++) memcpy(x + i * m->item, rows + (i * COLUMNS + c) * m->item, (size_t)m->item);
        m->few(x, n, whole[c]);
      }
      m->few_columns(rows, n, COLUMNS);
      for (int64_t c = 0; c < COLUMNS; c++) {
        if (are_same(m, dtype, whole[c], rows + c * m->item)) continue;
        printf("%s of columns of %lld elements\n", name, (long long)n);
        return 1;
      }
    }
  }
  return 0;
}

static int differs(const pc_monoid *m, const char *name, const char *dtype) {
  _Alignas(64) char x[2048], lanes[2048], total[16], whole[16] = {0}, few[16] = {0};
  for (int64_t n = 1; n <= m->lanes; n++) {
    for (int round = 0; round < 40; round++) {
      for (int64_t i = 0; i < n; i++) {
        char one[16];
        element(dtype, one);
        memcpy(x + i * m->item, one, (size_t)m->item);
      }
      m->clear(lanes, m->lanes);
      m->fold(lanes, x, n, 0);
      m->close(lanes, 1, total, 1);
      m->finish(total, 1, n, whole, 0);
      m->few(x, n, few);
      if (!are_same(m, dtype, whole, few)) {
        printf("%s of %lld elements\n", name, (long long)n);
        return 1;
      }
    }
  }
  return m->few_columns != NULL && columns_differ(m, name, dtype);
}

int main(void) {
  int failed = 0, tried = 0;
#define TRY(NAME, DTYPE) failed += differs(&NAME, #NAME, #DTYPE), tried++;
  MONOIDS(TRY)
  printf("%d monoids\n", tried);
  return failed != 0;
}
