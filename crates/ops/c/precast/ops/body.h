/* precast/ops/body.h: the C function of a graph that an op calls. */
#ifndef PRECAST_OPS_BODY_H
#define PRECAST_OPS_BODY_H

#include <precast/context.h>

/* The contract is that of pc_entry.run; `self` is the instance of the module. */
typedef int (*pc_body)(void *self, pc_context *ctx, pc_object **args);

#endif
