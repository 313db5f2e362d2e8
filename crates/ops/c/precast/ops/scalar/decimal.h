/* precast/ops/scalar/decimal.h: floats rounded to decimals, or to multiples of a power of ten, that no float holds.
 *
 * The power is `hi` + `lo`. A number is rounded once when it is scaled back: by the rest of a division, or as an exact product. */
#ifndef PRECAST_OPS_SCALAR_DECIMAL_H
#define PRECAST_OPS_SCALAR_DECIMAL_H

#include <precast/ops/math/pair.h>
#include <precast/ops/scalar/f64.h>

/* round(x * power) / power; x where the product is infinite, which then has no decimals. */
PC_INLINE pc_f64 pc_round_decimals_f64(pc_f64 x, pc_f64 hi, pc_f64 lo) {
  pc_f64 scaled = x * hi, n = pc_round_f64(scaled), q = n / hi;
  pc_pair_f64 p = pc_product_f64(q, hi);
  pc_f64 y = q + (((n - p.hi) - p.lo) - q * lo) / hi;
  y = n == 0.0 ? n : y;
  return pc_magnitude_f64(scaled) < __builtin_inf() ? y : x;
}

/* round(x / power) * power. */
PC_INLINE pc_f64 pc_round_multiples_f64(pc_f64 x, pc_f64 hi, pc_f64 lo) {
  pc_f64 n = pc_round_f64(x / hi);
  pc_pair_f64 p = pc_product_f64(n, hi);
  pc_f64 y = p.hi + (p.lo + n * lo);
  return (n == 0.0) | !(pc_magnitude_f64(p.hi) < __builtin_inf()) ? p.hi : y;
}

PC_INLINE pc_f32 pc_round_decimals_f32(pc_f32 x, pc_f32 hi, pc_f32 lo) {
  return (pc_f32)pc_round_decimals_f64((pc_f64)x, (pc_f64)hi, (pc_f64)lo);
}
PC_INLINE pc_f32 pc_round_multiples_f32(pc_f32 x, pc_f32 hi, pc_f32 lo) {
  return (pc_f32)pc_round_multiples_f64((pc_f64)x, (pc_f64)hi, (pc_f64)lo);
}

#endif
