/* drivers.c: the drivers of precast/driver.h as functions of the host; compiled once, by this crate's build.rs. */
#include "driver/elemwise.h"
#include "driver/reduce.h"
#include "driver/rows.h"

int pc_driver_elemwise(pc_context *ctx, const pc_elemwise *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_reduce(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out);
int pc_driver_rows(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out);

int pc_driver_elemwise(pc_context *ctx, const pc_elemwise *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_elemwise_run(ctx, op, in, out);
}

int pc_driver_reduce(pc_context *ctx, const pc_reduce *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_reduce_do(ctx, op, in, out);
}

int pc_driver_rows(pc_context *ctx, const pc_rows *op, pc_tensor *const *in, pc_tensor **out) {
  return pc_rows_do(ctx, op, in, out);
}
