#ifndef PLAN_H
#define PLAN_H
#include <stdlib.h>

typedef struct plan { double scale; } plan;

static inline plan *plan_new(double scale) {
  plan *p = (plan *)malloc(sizeof(plan));
  p->scale = scale;
  return p;
}

static inline void plan_free(plan *p) {
  p->scale = -1;
  free(p);
}
#endif
