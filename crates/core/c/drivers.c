/* drivers.c: the drivers of precast/driver.h as functions of the host; compiled once, by this crate's build.rs. */
#include "driver/elemwise.h"
#include "driver/reduce.h"
#include "driver/rows.h"
#include "driver/plan.h"
#include <precast/host.h>

/* pc_host.error_format, which has a list of arguments, so that only C can make it. */
extern __typeof__(pc_host_error_format) pc_driver_error_format __attribute__((cold, alias("pc_host_error_format")));
int pc_driver_frame(pc_context *ctx, const pc_frame *frame, void *self, pc_object **args, pc_tensor **variables);
int pc_driver_elemwise(pc_context *ctx, const pc_elemwise *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_reduce(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_rows(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out);
void pc_driver_plan_ask(void);
void pc_driver_use_level(int32_t level);
pc_plan pc_driver_plan_take(void);

int pc_driver_frame(pc_context *ctx, const pc_frame *frame, void *self, pc_object **args, pc_tensor **variables) {
  return pc_host_frame(ctx, frame, self, args, variables);
}

int pc_driver_elemwise(pc_context *ctx, const pc_elemwise *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_elemwise_run(ctx, op, in, out);
}

int pc_driver_reduce(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_reduce_do(ctx, op, in, out);
}

int pc_driver_rows(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_rows_do(ctx, op, in, out);
}

void pc_driver_plan_ask(void) { pc_plan_ask(); }

pc_plan pc_driver_plan_take(void) { return pc_plan_take(); }

void pc_driver_use_level(int32_t level) { pc_copies_use(level); }
