/* precast/host.h: default services for a host in C. No module includes it.
 *
 * `pc_host_error_format` is pc_host.error_format; `pc_host_parallel` is pc_host.parallel of a host with one thread, and
 * `pc_host_gemms` is pc_host.gemms of one that calls its `gemm`; `pc_host_frame` is pc_host.frame of every host. `pc_host_cancelled` is
 * pc_host.cancelled of a host whose calls cannot be cancelled.
 *
 * A host calls `load`, `init`, `run` and `cleanup` in the default environment for floats (`fesetenv(FE_DFL_ENV)`), which kernels rely
 * on. Native functions set it themselves.
 */
#ifndef PRECAST_HOST_H
#define PRECAST_HOST_H

#include <precast/module.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4), unused, noinline, cold))
#endif
static void pc_host_error_format(pc_context *ctx, int32_t kind, const char *format, ...) {
  if (ctx->error.kind == PC_ERROR_NONE) {
    va_list args;
    va_start(args, format);
    ctx->host->format(ctx->error.message, PC_ERROR_BYTES, format, args);
    va_end(args);
    ctx->error.kind = kind;
  }
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_parallel(pc_context *ctx, int64_t n, int64_t grain, pc_range body, void *state) {
  (void)grain;
  return body(ctx, 0, n, state);
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_gemms(pc_context *ctx, int32_t dtype, const int64_t *extents, const char *a, const int64_t *a_steps, const char *b,
                         const int64_t *b_steps, char *c, const int64_t *c_steps) {
  int failed = 0;
  for (int64_t i = 0; i < extents[0] && !failed; i++) {
    failed = ctx->host->gemm(ctx, dtype, extents[1], extents[2], extents[3], a + i * a_steps[0], a_steps[1], a_steps[2], b + i * b_steps[0],
                             b_steps[1], b_steps[2], c + i * c_steps[0], c_steps[1], c_steps[2]);
  }
  return failed;
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_cancelled(pc_context *ctx) {
  (void)ctx;
  return 0;
}

/* Returns the cell that keeps the object of a variable; NULL if the variable dies with the call. */
static inline pc_object **pc_host_cell(const pc_frame *frame, const pc_variable *variable, void *self, pc_object **args) {
  switch (variable->place) {
    case PC_PLACE_INPUT: return args + variable->position;
    case PC_PLACE_OUTPUT: return args + frame->n_inputs + variable->position;
    case PC_PLACE_SLOT: return (pc_object **)self + variable->position;
    case PC_PLACE_TEMPORARY: return (pc_object **)self + frame->n_slots + 1 + variable->position;
    default: return NULL;
  }
}

/* Takes a variable for the length of a call. Inputs and constants get one more reference. The object of a written cell moves out of
 * it, so that an op sees one reference. Returns 0, or a failure id. */
static inline int pc_host_take(pc_context *ctx, const pc_variable *variable, pc_object **cell, pc_tensor **taken) {
  *taken = cell != NULL ? (pc_tensor *)*cell : NULL;
  if (variable->place == PC_PLACE_TEMPORARY || variable->place == PC_PLACE_OUTPUT) {
    *cell = NULL;
  } else if (cell != NULL) {
    if (*taken == NULL || (variable->dtype >= 0 && (*taken)->dtype != variable->dtype)) {
      pc_error_format(ctx, PC_ERROR_TYPE, *taken == NULL ? "V%d: expected a tensor of dtype number %d, found nothing"
                                                         : "V%d: expected a tensor of dtype number %d, found dtype number %d",
                      (int)variable->number, (int)variable->dtype, *taken == NULL ? 0 : (int)(*taken)->dtype);
      *taken = NULL;
      return variable->task;
    }
    pc_incref((pc_object *)*taken);
  }
  return 0;
}

/* Puts a variable back into its cell, or drops the reference after a failure. Returns `failure`, or the failure id of an empty
 * output. */
static inline int pc_host_give(pc_context *ctx, const pc_variable *variable, pc_object **cell, pc_tensor *taken, int failure) {
  const int is_kept = variable->place == PC_PLACE_TEMPORARY || variable->place == PC_PLACE_OUTPUT;
  if (is_kept && !failure) {
    if (taken != NULL) {
      *cell = (pc_object *)taken;
      return 0;
    }
    pc_error_format(ctx, PC_ERROR_RUNTIME, "V%d: the op left its output empty", (int)variable->number);
    return variable->sync;
  }
  pc_xdecref((pc_object *)taken);
  return failure;
}

#if defined(__GNUC__)
__attribute__((unused))
#endif
static int pc_host_frame(pc_context *ctx, const pc_frame *frame, void *self, pc_object **args, pc_tensor **variables) {
  int failure = 0;
  int32_t taken = 0;
  while (taken < frame->n_variables && !failure) {
    const pc_variable *const variable = &frame->variables[taken];
    failure = pc_host_take(ctx, variable, pc_host_cell(frame, variable, self, args), &variables[taken]);
    taken++;
  }
  if (!failure) {
    failure = frame->body(self, ctx, variables);
  }
  while (taken-- > 0) {
    const pc_variable *const variable = &frame->variables[taken];
    failure = pc_host_give(ctx, variable, pc_host_cell(frame, variable, self, args), variables[taken], failure);
  }
  return failure;
}

#ifdef __cplusplus
}
#endif
#endif
