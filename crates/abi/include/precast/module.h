/* precast/module.h: the exports of a compiled module, and the handshake before the host calls them.
 *
 * A shared object exports exactly one symbol, `precast_module_v1`: a pc_module with the table of entries.
 *
 *   pc_module -- entries[slot] --> pc_entry { key, signature, init, run, cleanup, tasks; native signature, function }
 *
 * A reader checks `magic`, then that it knows `abi_version`, then the struct sizes, then the key of the slot it
 * wants. ABI versions: the major number (upper 16 bits) changes when a field moves or changes meaning: reject an
 * unknown one.
 * The minor number (lower 16 bits) changes when fields are appended: a host serves modules of a
 * minor number up to its own; `pc_host` may be shorter in a module, and the other structs have the same sizes.
 * 1.1 appended `function`, 1.2 `pc_monoid.steps` and `pc_host.rows`, 1.3 `pc_host.error_format`, `pc_host.parallel` and
 * `pc_host.gemms`, 1.4 `pc_monoid.few` and `pc_host.frame`, 1.5
 * `pc_monoid.few_columns`, 1.6 `pc_host.cancelled`.
 *
 * # Native functions
 * A graph of C scalars is also a plain C function: it needs no instance, no tensors and no host, and any thread may call it
 * at any time. Ask for it by `native`, its CEP 1000 signature (precast/nativecall.h), call `load` once if there is one, then
 * cast `function`:
 *
 *   "dd)d~"         double f(double, double)
 *   "dd)d!c~"       double f(double, double, pc_context *)                some op may fail
 *   "d)T{di}~"      struct { double a; int32_t b; } f(double)             several results
 *
 * The caller clears the error slot before it calls a function with `!c`. If the slot is set afterwards, the call failed
 * and its result is 0. The context has a host, like that of `run`.
 */
#ifndef PRECAST_MODULE_H
#define PRECAST_MODULE_H

#include <precast/context.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PC_MODULE_MAGIC 0x31544343u /* "CCT1" */
#define PC_ABI_VERSION 0x00010006u  /* major 1, minor 6: calls that can be cancelled */

/* Which step of a run a failure id belongs to. */
typedef enum pc_task_kind {
  PC_TASK_NONE = 0,    /* id 0: no failure */
  PC_TASK_EXTRACT = 1, /* c_extract, c_extract_out or c_init of a variable */
  PC_TASK_CODE = 2,    /* c_code of an Apply */
  PC_TASK_SYNC = 3,    /* c_sync of a variable */
  PC_TASK_STRUCT = 4   /* c_init_code_struct of an Apply */
} pc_task_kind;

/* One failure id: `tasks[id]`. Positions are those of the module's graph, -1 where it does not apply. */
typedef struct pc_task {
  int32_t kind;     /* pc_task_kind */
  int32_t apply;    /* position of the Apply, or -1 */
  int32_t variable; /* V<n> of the variable, or -1 */
} pc_task;

/* Where a variable comes from, and goes to. */
typedef enum pc_place {
  PC_PLACE_INPUT = 0,     /* an argument */
  PC_PLACE_SLOT = 1,      /* a constant of the instance */
  PC_PLACE_TEMPORARY = 2, /* a cell of the instance, kept from call to call */
  PC_PLACE_OUTPUT = 3,    /* an output cell of the call */
  PC_PLACE_LOCAL = 4      /* nowhere: it dies with the call */
} pc_place;

/* A variable that is a tensor. */
typedef struct pc_variable {
  int32_t place;    /* pc_place */
  int32_t position; /* its position there */
  int32_t number;   /* V<n>, for messages */
  int32_t dtype;    /* required of an input or a constant; -1: not checked */
  int32_t task;     /* failure id if the tensor is missing or has another dtype */
  int32_t sync;     /* failure id of an output or a temporary that the ops left empty */
} pc_variable;

/* A run whose variables are all tensors. The code around its ops is a table for `pc_host.frame`, because compiling it would
 * take most of a small module's build time. An instance begins with n_slots + 1 cells of constants, then temporaries. */
typedef struct pc_frame {
  int32_t n_inputs;
  int32_t n_slots;
  int32_t n_variables;
  const pc_variable *variables;
  /* Runs the ops' code. `variables` holds the tensors, one reference each, or NULL; the ops leave their results there. Returns 0
   * or a failure id. */
  int (*body)(void *self, pc_context *ctx, pc_tensor **variables);
} pc_frame;

/* C types of CEP 1000's `?`, `Zf` and `Zd` in native functions; tensors store these as bytes or structs. Other numbers have
 * the same types as in tensors. (`__complex__` is in C and in C++, and needs no header whose meaning flags change.) */
#ifdef __cplusplus
typedef bool pc_native_bool;
#else
typedef _Bool pc_native_bool;
#endif
typedef __complex__ float pc_native_c64;
typedef __complex__ double pc_native_c128;

/* One callable graph. Lives in read-only data of the module. */
typedef struct pc_entry {
  uint8_t key[32];       /* BuildKey */
  const char *signature; /* printable, `add(f32[..], f32[..]) -> f32[..]`; never NULL */
  const char *native;    /* canonical CEP 1000 string: the signature of `function`, `dd)d~`; without one the types alone, `#f#f)#f`;
                          * the key of dispatch tables; never NULL */
  uint32_t instance_bytes;
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t n_slots;      /* constants, given to `init` */
  uint32_t n_tasks;
  uint32_t reserved;     /* 0 */
  const pc_task *tasks;  /* n_tasks of them; tasks[0] is PC_TASK_NONE */
  /* Runs c_init_code and c_init_code_apply, once after loading. May be NULL. Returns 0, or another number with
   * the error slot set. */
  int (*load)(pc_context *ctx);
  /* Makes an instance in `self` (instance_bytes, 64-byte aligned, zeroed by the host). Takes its own references to the
   * slots. Returns 0 or a failure id; after a failure `self` holds nothing and `cleanup` must not be called. */
  int (*init)(void *self, pc_context *ctx, pc_object *const *slots);
  /* Runs the graph. `args`: inputs (borrowed, never NULL), then output cells (NULL, or an object that may be reused;
   * on success one reference to the result, on failure NULL or one reference to a valid object). Returns 0 or a failure
   * id. */
  int (*run)(void *self, pc_context *ctx, pc_object **args);
  /* Releases everything that `init` and `run` took. */
  void (*cleanup)(void *self, pc_context *ctx);
  /* The graph as a plain function of the signature `native`, with the same bits as `run`. NULL if the graph uses arrays, or
   * an op keeps a state in its instance. */
  void (*function)(void);
} pc_entry;

typedef struct pc_module {
  uint32_t magic;        /* PC_MODULE_MAGIC */
  uint32_t abi_version;  /* PC_ABI_VERSION the module was compiled against */
  uint32_t module_bytes; /* sizeof(pc_module) */
  uint32_t entry_bytes;  /* sizeof(pc_entry) */
  uint32_t tensor_bytes; /* sizeof(pc_tensor) */
  uint32_t host_bytes;   /* sizeof(pc_host) the module was compiled against */
  uint32_t context_bytes;/* sizeof(pc_context) */
  uint32_t n_entries;
  const pc_entry *const *entries; /* n_entries pointers */
} pc_module;

#if defined(__GNUC__)
#define PC_EXPORT __attribute__((__visibility__("default")))
#else
#define PC_EXPORT
#endif

#ifdef __cplusplus
#define PC_EXTERN_C extern "C"
#else
#define PC_EXTERN_C extern
#endif

/* Defines the exported table of a shared object over `entries_`, an array of pointers to entries. */
#define PC_MODULE(entries_)                                                                         \
  PC_EXTERN_C PC_EXPORT const pc_module precast_module_v1;                                              \
  const pc_module precast_module_v1 = {PC_MODULE_MAGIC,                                            \
                                                 PC_ABI_VERSION,                                   \
                                                 sizeof(pc_module),                                \
                                                 sizeof(pc_entry),                                 \
                                                 sizeof(pc_tensor),                                \
                                                 sizeof(pc_host),                                  \
                                                 sizeof(pc_context),                               \
                                                 sizeof(entries_) / sizeof((entries_)[0]),         \
                                                 (entries_)};

#ifdef __cplusplus
}
#endif
#endif
