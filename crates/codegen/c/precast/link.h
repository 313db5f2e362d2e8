/* precast/link.h: functions that the code of the built-in types calls. Included by every generated module. */
#ifndef PRECAST_LINK_H
#define PRECAST_LINK_H

#include <precast/module.h>

/* Reports an object that is not a tensor of `dtype`; `name` is the C variable. */
__attribute__((noinline, cold, unused)) static void pc_extract_error(pc_context *ctx, const char *name,
                                                                     int32_t dtype, const pc_object *found) {
  if (found == NULL) {
    pc_error_format(ctx, PC_ERROR_TYPE, "%s: expected a tensor of dtype number %d, found nothing", name, (int)dtype);
  } else {
    pc_error_format(ctx, PC_ERROR_TYPE, "%s: expected a tensor of dtype number %d, found dtype number %d", name,
                    (int)dtype, (int)((const pc_tensor *)found)->dtype);
  }
}

/* Returns whether `object` is a tensor of `dtype`; sets the error slot if it is not. */
static inline int pc_extract_check(pc_context *ctx, const char *name, int32_t dtype, const pc_object *object) {
  if (object == NULL || ((const pc_tensor *)object)->dtype != dtype) {
    pc_extract_error(ctx, name, dtype, object);
    return 0;
  }
  return 1;
}

/* Returns whether `object` is a tensor of `dtype` without dimensions; sets the error slot if it is not. */
static inline int pc_extract_check_scalar(pc_context *ctx, const char *name, int32_t dtype, const pc_object *object) {
  if (!pc_extract_check(ctx, name, dtype, object)) {
    return 0;
  }
  if (((const pc_tensor *)object)->ndim != 0) {
    pc_error_format(ctx, PC_ERROR_VALUE, "%s: expected a scalar, found a tensor of %d dimensions", name,
                    (int)((const pc_tensor *)object)->ndim);
    return 0;
  }
  return 1;
}

/* Returns the address of a tensor's elements. Generated code calls this rather than name the field, so that a macro of an op's author can
 * be called `data`. */
static inline char *pc_data(const pc_object *object) { return ((const pc_tensor *)object)->data; }

/* Returns a tensor without dimensions that may be written: the object of the cell if it fits, else a new one in its place. Returns NULL
 * with the error slot set if memory is refused; the cell then keeps its object. */
static inline pc_tensor *pc_scalar_out(pc_context *ctx, int32_t dtype, pc_object **cell) {
  pc_tensor *old = (pc_tensor *)*cell;
  if (old != NULL && old->dtype == dtype && old->ndim == 0 &&
      (old->flags & PC_FLAG_READONLY) == 0) {
    return old;
  }
  pc_tensor *fresh = ctx->host->tensor_new(ctx, dtype, 0, NULL);
  if (fresh != NULL) {
    pc_xdecref(*cell);
    *cell = (pc_object *)fresh;
  }
  return fresh;
}

#endif
