/* precast/context.h: the services of the host that a module may use during a call.
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
/* Runs the units first .. end of a piece of work; no other thread uses `ctx` meanwhile. Returns 0, or a failure with the error slot set. */
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

/* Services of the host. Every function pointer is non-NULL. New fields are only appended;
 * a module checks `struct_bytes` at load (pc_module.host_bytes), never during a call. */
typedef struct pc_host {
  uint32_t abi_version;  /* PC_ABI_VERSION of the host */
  uint32_t struct_bytes; /* sizeof(pc_host) of the host */
  /* Returns a new C-contiguous tensor with uninitialised elements, aligned for its dtype; the caller owns one reference.
   * Returns NULL with the error slot set (memory or value) when the size overflows or the allocation fails.
   * The header has room for PC_MAX_NDIM extents and strides, and its maker may rewrite it. When the
   * tensor dies, the host frees the memory at `data` if `capacity_bytes` is positive, and not otherwise. */
  pc_tensor *(*tensor_new)(pc_context *ctx, int32_t dtype, int32_t ndim, const int64_t *shape);
  /* Returns a new view that takes one reference to `base`. `data`, `shape` (elements) and `strides` (bytes) are not checked. */
  pc_tensor *(*tensor_view)(pc_context *ctx, pc_tensor *base, int32_t ndim, const int64_t *shape,
                            const int64_t *strides, char *data);
  /* Allocates 64-byte aligned memory; returns NULL with the error slot set on failure. `release(ctx, NULL)` does nothing.
   * `ctx` may be NULL in `release`, because an object may die outside a call. */
  void *(*alloc)(pc_context *ctx, size_t bytes);
  void (*release)(pc_context *ctx, void *memory);
  /* C's vsnprintf. */
  int (*format)(char *to, size_t bytes, const char *format, va_list args);
  /* c[m,n] = a[m,k] . b[k,n] for dtype PC_F32, PC_F64, PC_C64 or PC_C128; row and column strides in BYTES, any sign.
   * `c` does not overlap `a` or `b`. Returns 0, or -1 with the error slot set. */
  int (*gemm)(pc_context *ctx, int32_t dtype, int64_t m, int64_t n, int64_t k, const char *a, int64_t a_row,
              int64_t a_col, const char *b, int64_t b_row, int64_t b_col, char *c, int64_t c_row, int64_t c_col);
  /* Runs a kernel over every element of `in`, broadcast by NumPy's rules at run time; see precast/driver.h. `out` are the
   * output variables: NULL, or tensors. A tensor is reused if it fits and has no other owner, else replaced. Returns 0,
   * or non-zero with the error slot set; the variables then hold valid tensors or their old values. */
  int (*elemwise)(pc_context *ctx, const struct pc_elemwise *op, pc_tensor *const *in, pc_tensor **out);
  /* Reduces some axes of `in`, or of a map of the inputs; `*out` as above. */
  int (*reduce)(pc_context *ctx, const struct pc_reduce *op, pc_tensor *const *in, pc_tensor **out);
  /* Runs maps and folds row by row; `out` as above. */
  int (*rows)(pc_context *ctx, const struct pc_rows *op, pc_tensor *const *in, pc_tensor **out);
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  /* Like pc_error_set, with printf's formatting. */
  void (*error_format)(pc_context *ctx, int32_t kind, const char *format, ...);
  /* Calls `body` for ranges that together cover 0 .. n, possibly on several threads at once. So each range must write to its own
   * memory, and no result may depend on the cuts. A range has at least `grain` units, except the last. Returns 0, or the failure
   * of the first failed range, with its error in the slot of `ctx`; later ranges may not have run. */
  int (*parallel)(pc_context *ctx, int64_t n, int64_t grain, pc_range body, void *state);
  /* Like gemm, for many products: `extents` are count, m, n, k; `*_steps` are the strides of matrix, row and column, in bytes. */
  int (*gemms)(pc_context *ctx, int32_t dtype, const int64_t *extents, const char *a, const int64_t *a_steps, const char *b,
               const int64_t *b_steps, char *c, const int64_t *c_steps);
  /* Takes the variables from `args` and `self` (those of pc_entry.run), runs `frame->body`, and gives the variables back.
   * `variables` is room for n_variables. Returns 0, or a failure id with the error slot set. */
  int (*frame)(pc_context *ctx, const struct pc_frame *frame, void *self, pc_object **args, pc_tensor **variables);
  /* Checks whether the caller cancelled the call: returns 0, or -1 with the error slot set. A loop calls it in each step, or
   * after at most PC_SHORT_STEPS steps of a few nanoseconds each. */
  int (*cancelled)(pc_context *ctx);
} pc_host;

/* The maximum number of short steps of a loop between two calls of pc_host.cancelled; a power of two. */
#define PC_SHORT_STEPS 4096

struct pc_context {
  const pc_host *host; /* never NULL */
  pc_error error;
};

/* Sets the error slot unless it is already set: the first report is the cause. The host copies the message: compilers would
 * vectorize a loop over its characters in every module. */
static inline void pc_error_set(pc_context *ctx, int32_t kind, const char *message) {
  ctx->host->error_format(ctx, kind, "%s", message);
}

/* Whether the error slot is set. */
static inline int pc_error_is_set(const pc_context *ctx) { return ctx->error.kind != PC_ERROR_NONE; }

/* Like pc_error_set, with printf's formatting: pc_error_format(ctx, kind, format, ...). The host defines it, since a variadic
 * function in every module would take a twentieth of the compilation time. */
#define pc_error_format(ctx_, ...) ((ctx_)->host->error_format((ctx_), __VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
