/* Tests the functions that kernels call by block: regions have the bits of the general form, and blocks those of single elements,
 * for every mix of regions, count of elements, and in place. usage: block <count of random values per function> */
#include "functions.h" /* the table `functions`; made by tests/it/blocks.rs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 300   /* elements of a call */
#define EDGES 4096 /* values around the edges of regions */
#define AROUND 8   /* steps to both sides of an edge */

static uint64_t state = 88172645463325252u;
static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* The float at a place in the order of floats. */
static uint64_t number(uint64_t at, int width) {
  uint64_t sign = (uint64_t)1 << (width - 1), all = sign | (sign - 1);
  return (at & sign) != 0 ? at & (sign - 1) : ~at & all;
}

static void put(void *x, int64_t i, int width, uint64_t bits) {
  if (width == 32) {
    ((uint32_t *)x)[i] = (uint32_t)bits;
  } else {
    ((uint64_t *)x)[i] = bits;
  }
}
static uint64_t get(const void *x, int64_t i, int width) { return width == 32 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i]; }

static int is_nan(uint64_t bits, int width) {
  uint64_t magnitude = bits & (((uint64_t)1 << (width - 1)) - 1);
  return magnitude > (width == 32 ? (uint64_t)0x7f800000u : (uint64_t)0x7ff0000000000000u);
}
static int same(uint64_t a, uint64_t b, int width) { return a == b || (is_nan(a, width) && is_nan(b, width)); }

/* Values of any exponent, of small exponents, and special ones. */
static uint64_t any(int width) {
  const uint64_t exponents = width == 32 ? 256 : 2048, mantissa = width == 32 ? 23 : 52, turn = draw() % 8;
  uint64_t bits = draw() & (width == 32 ? (uint64_t)0xffffffffu : ~(uint64_t)0);
  if (turn < 5) { /* around 1 */
    uint64_t exponent = exponents / 2 - 12 + draw() % 36;
    bits = (bits & ((uint64_t)1 << (width - 1) | (((uint64_t)1 << mantissa) - 1))) | exponent << mantissa;
    if (turn == 4) bits &= ~(((uint64_t)1 << (mantissa - 6)) - 1); /* whole numbers, among others */
  } else if (turn == 5) {
    static const double specials[] = {0.0, 1.0, 2.0, 0.5, 1e300, 1e-300, 5e-324, 1e22, 3.5, 170.0};
    double special = specials[draw() % 10];
    float narrow = (float)special;
    uint32_t small;
    memcpy(&small, &narrow, 4);
    memcpy(&bits, &special, 8);
    bits = width == 32 ? small : bits;
    bits |= (draw() & 1) << (width - 1);
    if (draw() % 8 == 0) bits = (exponents - 1) << mantissa | (draw() & 1) << (width - 1) | (draw() % 4 == 0);
  }
  return bits;
}

static uint64_t edges[OPERANDS][EDGES];
static int64_t found[OPERANDS];

/* The predicates as bits. */
static uint64_t regions(const function *f, const void *x) {
  uint64_t all = 0;
  for (int r = 0; r < f->regions; r++) all |= f->is[r](x) << r;
  return all;
}

/* Finds where regions begin along an operand, whatever the others are. */
static void find(const function *f, int along) {
  uint64_t x[OPERANDS], before = 0, left = 0;
  for (int64_t turn = 0; turn < 32; turn++) {
    for (int k = 0; k < f->arity; k++) put(x, k, f->width, any(f->width));
    for (uint64_t step = 0; step < 8192; step++) {
      uint64_t at = f->width == 32 ? step << 19 : step << 51;
      put(x, along, f->width, number(at, f->width));
      uint64_t now = regions(f, x);
      if (step > 0 && now != before) {
        uint64_t low = left, high = at;
        while (high - low > 1) {
          uint64_t middle = low + (high - low) / 2;
          put(x, along, f->width, number(middle, f->width));
          if (regions(f, x) == before) {
            low = middle;
          } else {
            high = middle;
          }
        }
        for (int by = -AROUND; by <= AROUND && found[along] < EDGES; by++) edges[along][found[along]++] = number(high + (uint64_t)by, f->width);
      }
      before = now;
      left = at;
    }
  }
}

static int fail(const function *f, const char *what, int64_t n, const void *x, uint64_t y, uint64_t expected) {
  printf("%s: %s of %lld:", f->name, what, (long long)n);
  for (int k = 0; k < f->arity; k++) printf(" %llx", (unsigned long long)get(x, k, f->width));
  printf(" gives %llx, one element %llx\n", (unsigned long long)y, (unsigned long long)expected);
  return 1;
}

static uint64_t value(const function *f, int k) { return found[k] > 0 && draw() % 2 == 0 ? edges[k][draw() % (uint64_t)found[k]] : any(f->width); }

/* The form of each region beside the general one, for one element. */
static int forms(const function *f, int64_t count) {
  uint64_t x[OPERANDS], one = 0, y = 0;
  for (int64_t i = 0; i < count; i++) {
    for (int k = 0; k < f->arity; k++) put(x, k, f->width, value(f, k));
    f->one(x, &one);
    for (int r = 0; r < f->regions; r++) {
      uint64_t is = f->is[r](x);
      if (is > 1) return fail(f, "a predicate", 1, x, is, 1);
      if (is == 0) continue;
      f->form[r](x, &y);
      if (!same(get(&y, 0, f->width), get(&one, 0, f->width), f->width)) return fail(f, "a form", 1, x, get(&y, 0, f->width), get(&one, 0, f->width));
    }
  }
  return 0;
}

/* Calls of n elements: of one region where `region` is one, with a stranger among them where `mixed`; into each operand, or apart. */
static int block(const function *f, int64_t n, int region, int mixed, int into) {
  static uint64_t room[OPERANDS + 1][MOST + 1];
  uint64_t expected[MOST], x[OPERANDS];
  void *data[OPERANDS + 1];
  for (int64_t i = 0; i < n; i++) {
    for (int turn = 0; turn < 200; turn++) {
      for (int k = 0; k < f->arity; k++) put(x, k, f->width, value(f, k));
      if (region == f->regions || (f->is[region](x) != 0) != (mixed && i == n / 2)) break;
    }
    for (int k = 0; k < f->arity; k++) put(room[k], i, f->width, get(x, k, f->width));
    expected[i] = 0;
    f->one(x, &expected[i]);
  }
  for (int k = 0; k < f->arity; k++) data[k] = room[k];
  data[f->arity] = into < f->arity ? room[into] : room[OPERANDS];
  put(data[f->arity], n, f->width, 0x5a5a5a5au);
  f->block(n, data);
  for (int64_t i = 0; i < n; i++) {
    uint64_t y = get(data[f->arity], i, f->width), one = get(&expected[i], 0, f->width);
    for (int k = 0; k < f->arity; k++) put(x, k, f->width, get(room[k], i, f->width));
    if (!same(y, one, f->width)) return fail(f, "a block", n, x, y, one);
  }
  return get(data[f->arity], n, f->width) == 0x5a5a5a5au ? 0 : fail(f, "the place behind a block", n, x, 0, 0);
}

int main(int argc, char **argv) {
  static const int64_t counts[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 71, 128, 130, 300};
  if (argc != 2) return 2;
  for (size_t at = 0; at < sizeof functions / sizeof functions[0]; at++) {
    const function *f = &functions[at];
    for (int k = 0; k < f->arity; k++) {
      found[k] = 0;
      find(f, k);
    }
    if (f->regions > 0 && found[0] == 0) return fail(f, "no edge of a region", 0, edges, 0, 0);
    if (forms(f, atoll(argv[1])) != 0) return 1;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
      for (int region = 0; region <= f->regions; region++) {
        for (int into = 0; into <= f->arity; into++) {
          if (block(f, counts[c], region, 0, into) != 0 || block(f, counts[c], region, 1, into) != 0) return 1;
        }
      }
    }
  }
  return 0;
}
