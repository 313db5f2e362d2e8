/* precast/compat/current.h: the context that functions without a context argument work in.
 *
 * `PyErr_SetString` and similar functions have no such argument, so a caller of a module's code first sets the context:
 *
 *   pc_context *previous = pc_compat_enter(ctx);
 *   ... op code ...
 *   pc_compat_leave(previous);
 *
 * One variable for each module and thread. Outside of such a pair no context is set: errors are dropped and requests for
 * memory are refused; giving references back is always allowed.
 */
#ifndef PRECAST_COMPAT_CURRENT_H
#define PRECAST_COMPAT_CURRENT_H

#include <precast/compat/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pc_compat_state {
  pc_context *ctx;     /* NULL outside of a call */
  pc_object *raised;   /* the exception class of the error in the slot, if this module set it; nullable, borrowed */
} pc_compat_state;

PC_COMPAT_DATA __thread pc_compat_state pc_compat_current;

/* Makes `ctx` the current context; returns the previous one, nullable. */
PC_COMPAT_FN pc_context *pc_compat_enter(pc_context *ctx) {
  pc_compat_state *state = &pc_compat_current;
  pc_context *previous = state->ctx;
  state->ctx = ctx;
  state->raised = NULL;
  return previous;
}

/* Makes the context that pc_compat_enter returned the current one again. */
PC_COMPAT_FN void pc_compat_leave(pc_context *previous) {
  pc_compat_state *state = &pc_compat_current;
  state->ctx = previous;
  state->raised = NULL;
}

#ifdef __cplusplus
}
#endif
#endif
