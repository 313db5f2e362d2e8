/* precast/context.h: what a module may ask of its host during a call.
 *
 * One pc_context belongs to one call on one thread. It holds the error slot and points to the host's services.
 * Modules have no globals: all state is in the instance or the context.
 */
#ifndef PRECAST_CONTEXT_H
#define PRECAST_CONTEXT_H

#include <precast/tensor.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pc_context pc_context;
/* The units first .. end of a piece of work; `ctx` is nobody else's meanwhile. Returns 0, or a failure with the error slot set. */
typedef int (*pc_range)(pc_context *ctx, int64_t first, int64_t end, void *state);
struct pc_elemwise; /* precast/driver.h */
struct pc_reduce;
struct pc_rows;
struct pc_frame; /* precast/module.h */

/* Kinds of error; the host maps them to its own. The order is fixed: append only. */
typedef enum pc_error_kind {
  PC_ERROR_NONE = 0,
  PC_ERROR_TYPE = 1,     /* wrong kind of object or dtype */
  PC_ERROR_VALUE = 2,    /* wrong shape or value */
  PC_ERROR_MEMORY = 3,   /* allocation refused */
  PC_ERROR_RUNTIME = 4,  /* anything else that op code reports */
  PC_ERROR_INDEX = 5,    /* index out of range */
  PC_ERROR_ASSERT = 6,   /* an Assert op failed */
  PC_ERROR_CANCELLED = 7 /* the caller cancelled the call */
} pc_error_kind;

/* Length of the message buffer, in bytes, the final NUL included. Longer messages are cut. */
#define PC_ERROR_BYTES 480

typedef struct pc_error {
  int32_t kind;                  /* pc_error_kind; PC_ERROR_NONE when nothing is wrong */
  int32_t reserved;              /* 0 */
  char message[PC_ERROR_BYTES];  /* NUL-terminated */
} pc_error;

/* Services of the host. Every function pointer is non-NULL. Fields are only ever appended;
 * a module checks `struct_bytes` at load (pc_module.host_bytes), never during a call. */
typedef struct pc_host {
  uint32_t abi_version;  /* PC_ABI_VERSION of the host */
  uint32_t struct_bytes; /* sizeof(pc_host) of the host */
  /* A new C-contiguous tensor with uninitialised elements, aligned for its dtype; one reference, the caller's.
   * NULL with the error slot set (memory or value) when the size overflows or memory is refused.
   * The header has room for PC_MAX_NDIM extents and strides, and its maker may rewrite it: the host frees
   * what `data` points to when the tensor dies, if `capacity_bytes` is positive then, and not otherwise. */
  pc_tensor *(*tensor_new)(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape);
  /* A new view: takes one reference to `base`. `data`, `shape` (elements) and `strides` (bytes) are the caller's claim. */
  pc_tensor *(*tensor_view)(pc_context *ctx, pc_tensor *base, int32_t ndim, const int64_t *shape,
                            const int64_t *strides, char *data);
  /* Memory of the host, 64-byte aligned; NULL with the error slot set when refused. `release(ctx, NULL)` does nothing, and
   * `ctx` may be NULL in it: an object can die outside of any call, and its memory is given back all the same. */
  void *(*alloc)(pc_context *ctx, size_t bytes);
  void (*release)(pc_context *ctx, void *memory);
  /* C's vsnprintf. */
  int (*format)(char *to, size_t bytes, const char *format, va_list args);
  /* c[m,n] = a[m,k] . b[k,n] for dtype PC_F32, PC_F64, PC_C64 or PC_C128; row and column strides in BYTES, any sign.
   * `c` does not overlap `a` or `b`. Returns 0, or -1 with the error slot set. */
  int (*gemm)(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row,
              int64_t a_col, const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col);
  /* Runs a kernel over every element of `in`, broadcast by NumPy's rules at run time; see precast/driver.h. `out` are the
   * output variables: NULL, or tensors that are reused if they fit and nobody else holds them, else replaced. Returns 0,
   * or non-zero with the error slot set; the variables then hold valid tensors or what they held before. */
  int (*elemwise)(pc_context *ctx, const struct pc_elemwise *op, pc_tensor *const *in, pc_tensor **out);
  /* Reduces over some axes of `in`, or of a map of them; `*out` as above. */
  int (*reduce)(pc_context *ctx, const struct pc_reduce *op, pc_tensor *const *in, pc_tensor **out);
  /* Runs maps and folds row by row; `out` as above. */
  int (*rows)(pc_context *ctx, const struct pc_rows *op, pc_tensor *const *in, pc_tensor **out);
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  /* As pc_error_set, with printf's formatting. */
  void (*error_format)(pc_context *ctx, int32_t kind, const char *format, ...);
  /* Calls `body` for ranges that are 0 .. n together, maybe on several threads at once, so each writes to other memory, and no
   * result depends on where n was cut. A range has at least `grain` units, but for the last. Returns 0, or what the first range
   * that failed returned, with its error in the slot of `ctx`; ranges behind it may not have been run. */
  int (*parallel)(pc_context *ctx, int64_t n, int64_t grain, pc_range body, void *state);
  /* As gemm, of many products: `extents` are count, m, n, k; `*_steps` lead to the next matrix, row and column. */
  int (*gemms)(pc_context *ctx, int32_t dtype, const int64_t *extents, const char *a, const int64_t *a_steps, const char *b,
               const int64_t *b_steps, char *c, const int64_t *c_steps);
  /* Runs `frame->body` between taking the variables from `args` and `self`, which are those of pc_entry.run, and giving them
   * back; `variables` is room for n_variables. Returns 0 or a failure id, with the error slot set. */
  int (*frame)(pc_context *ctx, const struct pc_frame *frame, void *self, pc_object **args, pc_tensor **variables);
  /* Whether the caller cancelled the call: 0, or -1 with the error slot set. A loop asks in each step, or after at most
   * PC_SHORT_STEPS steps that take a few nanoseconds. */
  int (*cancelled)(pc_context *ctx);
} pc_host;

/* The maximum number of short steps of a loop between two calls of pc_host.cancelled; a power of two. */
#define PC_SHORT_STEPS 4096

struct pc_context {
  const pc_host *host; /* never NULL */
  pc_error error;
};

/* Puts an error into the slot, unless one is there already: the first report is the cause. The host copies it: a loop over
 * characters would be made vectors of in every module. */
static inline void pc_error_set(pc_context *ctx, int32_t kind, const char *message) {
  ctx->host->error_format(ctx, kind, "%s", message);
}

/* Whether an error was put into the slot. */
static inline int pc_error_is_set(const pc_context *ctx) { return ctx->error.kind != PC_ERROR_NONE; }

/* As pc_error_set, with printf's formatting: pc_error_format(ctx, kind, format, ...). The host's, since a function with a list of
 * arguments takes every module a twentieth of its compilation. */
#define pc_error_format(ctx_, ...) ((ctx_)->host->error_format((ctx_), __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
