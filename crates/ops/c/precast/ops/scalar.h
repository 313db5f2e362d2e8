/* precast/ops/scalar.h: the scalar operations of every dtype, one function each: pc_<op>_<dtype of the operands>.
 *
 *   scalar/bool.h                truth values
 *   scalar/<i8 .. u64>.h         integers: everything wraps, nothing traps      (int.h)
 *   scalar/f32.h scalar/f64.h    floats                                         (float.h; modulo.h: floor_div, mod)
 *   scalar/c64.h scalar/c128.h   complex numbers                                (complex.h; by itself magnitude.h: abs, sign)
 *   half.h                       f16 and bf16: an operation is that of f32 between casts
 *   math.h, math/ *.h            functions that IEEE does not define
 *
 * The header of a dtype has all that starts from it: arithmetic, order (eq .. ge -> pc_bool), choice, casts to each
 * other dtype, pc_cast_<from>_<to>. A module includes the headers of the dtypes that it uses; this one is for C of one's own.
 *
 * NumPy's meaning throughout. Every function is total: no trap, no undefined behaviour, whatever the operands.
 * All are branch-free where their loop is to become vector code.
 */
#ifndef PRECAST_OPS_SCALAR_H
#define PRECAST_OPS_SCALAR_H

#include <precast/ops/half.h>
#include <precast/ops/scalar/bool.h>
#include <precast/ops/scalar/c128.h>
#include <precast/ops/scalar/c64.h>
#include <precast/ops/scalar/f32.h>
#include <precast/ops/scalar/f64.h>
#include <precast/ops/scalar/i16.h>
#include <precast/ops/scalar/i32.h>
#include <precast/ops/scalar/i64.h>
#include <precast/ops/scalar/i8.h>
#include <precast/ops/scalar/modulo.h>
#include <precast/ops/scalar/u16.h>
#include <precast/ops/scalar/u32.h>
#include <precast/ops/scalar/u64.h>
#include <precast/ops/scalar/u8.h>

#endif
