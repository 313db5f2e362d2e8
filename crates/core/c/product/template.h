/* product/template.h: products of one type at one level of instructions. A file of a level includes it for each type, with
 *
 * | for the level | |
 * |---|---|
 * | PC_TARGET | the attribute of functions that use the level's instructions |
 * | PC_VECTOR_BYTES | of a register |
 * | PC_ROWS, PC_VECTORS | the largest tile, as much as the registers hold: 4 or 8 rows, 2 or 3 vectors |
 *
 * | for the type | |
 * |---|---|
 * | PC_SUMS | 1 if products with a vector are made too: a register holds at most PC_SUM_LANES elements |
 * | PC_T, PC_NAME(x) | the element; x made a name of this type and level |
 * | PC_FMA(a, b, c) | a * b + c of vectors |
 * | PC_MASK, PC_FIRST(n), PC_LOAD(p, mask), PC_STORE(p, mask, v) | the first n elements of a vector alone, the rest is read as 0 |
 */
#include "product.h"
#include "../turn.h"

#define PC_LANES ((int64_t)(PC_VECTOR_BYTES / sizeof(PC_T)))
#define PC_COLUMNS (PC_VECTORS * PC_LANES)

#include "tile.h"
#include "blocks.h"
#if PC_SUMS
#include "vector.h"
#endif

#undef PC_LANES
#undef PC_COLUMNS
#undef PC_SUMS
#undef PC_T
#undef PC_NAME
#undef PC_FMA
#undef PC_MASK
#undef PC_FIRST
#undef PC_LOAD
#undef PC_STORE
