/* precast/ops/block.h: functions that are computed by block: pc_<name>_<dtype>_block(n, operands, result).
 *
 * Such a function may have regions. A region's form is shorter than the general one and valid where its predicate holds; both give the
 * same bits there. One pass finds the region that a block shares, and the loop of its form computes the block. Blocks that share none,
 * and functions without regions, take the general form. See c/block.c.in for the function that is generated.
 *
 * All loops have a multiple of a vector's elements, so compilers generate each body once; the last vector is filled up with the last
 * element. The result may be one of the operands.
 */
#ifndef PRECAST_OPS_BLOCK_H
#define PRECAST_OPS_BLOCK_H

#include <precast/ops/bits.h>
#include <precast/ops/whole.h>

/* Elements of a block, a multiple of every vector's. */
#define PC_BLOCK 64

/* Up to this number of elements, fewer than a vector's, each is computed by itself. */
#define PC_BLOCK_FEW 4

/* Copies n elements, fewer than a vector's, to a vector and repeats the last one. */
#define PC_BLOCK_PAD(BITS) \
  PC_INLINE const void *pc_block_pad_##BITS(void *room, const void *from, int64_t n, int64_t lanes) { \
    typedef uint##BITS##_t word __attribute__((may_alias)); \
    for (int64_t i = 0; i < lanes; i++) ((word *)room)[i] = ((const word *)from)[i < n ? i : n - 1]; \
    return room; \
  }
PC_BLOCK_PAD(32)
PC_BLOCK_PAD(64)

#endif
