/* precast/ops/scalar/complex.h: the operations of complex numbers; a header for each dtype stamps them.
 *
 * NumPy's formulas, in NumPy's order: products as written down in school, quotients by R. L. Smith (1962), order by real
 * part, then imaginary part. A number is NaN if either part is, infinite if either part is. `abs` and `sign`: magnitude.h.
 */
#ifndef PRECAST_OPS_SCALAR_COMPLEX_H
#define PRECAST_OPS_SCALAR_COMPLEX_H

#include <precast/ops/scalar/f32.h>
#include <precast/ops/scalar/f64.h>

PC_INLINE pc_c64 pc_complex_f32(pc_f32 re, pc_f32 im) {
  pc_c64 r;
  r.re = re;
  r.im = im;
  return r;
}

PC_INLINE pc_c128 pc_complex_f64(pc_f64 re, pc_f64 im) {
  pc_c128 r;
  r.re = re;
  r.im = im;
  return r;
}

/* -a as a flip of its sign bit. gcc 12 makes one fused instruction (vfmaddsub) of a product's difference beside a product's
 * sum, whatever -ffp-contract says; two sums, one of them of the negative, have the same bits and are left alone. */
PC_INLINE pc_f32 pc_turned_f32(pc_f32 a) { return pc_from_bits_f32(pc_bits_f32(a) ^ 0x80000000u); }
PC_INLINE pc_f64 pc_turned_f64(pc_f64 a) { return pc_from_bits_f64(pc_bits_f64(a) ^ 0x8000000000000000u); }

#define PC_SCALAR_COMPLEX_COMPARE(D, NAME, EXPR)                                              \
  PC_INLINE pc_bool pc_##NAME##_##D(pc_##D a, pc_##D b) {                                     \
    int whole = (a.im == a.im) & (b.im == b.im);                                              \
    (void)whole;                                                                              \
    return (pc_bool)(EXPR);                                                                   \
  }

#define PC_SCALAR_COMPLEX(D, F, S)                                                            \
  PC_SCALAR_COMPLEX_COMPARE(D, eq, (a.re == b.re) & (a.im == b.im))                           \
  PC_SCALAR_COMPLEX_COMPARE(D, ne, (a.re != b.re) | (a.im != b.im))                           \
  PC_SCALAR_COMPLEX_COMPARE(D, lt, ((a.re < b.re) & whole) | ((a.re == b.re) & (a.im < b.im)))  \
  PC_SCALAR_COMPLEX_COMPARE(D, le, ((a.re < b.re) & whole) | ((a.re == b.re) & (a.im <= b.im))) \
  PC_SCALAR_COMPLEX_COMPARE(D, gt, ((a.re > b.re) & whole) | ((a.re == b.re) & (a.im > b.im)))  \
  PC_SCALAR_COMPLEX_COMPARE(D, ge, ((a.re > b.re) & whole) | ((a.re == b.re) & (a.im >= b.im))) \
  PC_INLINE pc_bool pc_isnan_##D(pc_##D a) { return (pc_bool)((a.re != a.re) | (a.im != a.im)); } \
  PC_INLINE pc_bool pc_isinf_##D(pc_##D a) { return pc_isinf_##F(a.re) | pc_isinf_##F(a.im); } \
  PC_INLINE pc_bool pc_isfinite_##D(pc_##D a) { return pc_isfinite_##F(a.re) & pc_isfinite_##F(a.im); } \
  PC_INLINE pc_##D pc_identity_##D(pc_##D a) { return a; }                                    \
  PC_INLINE pc_##D pc_switch_##D(pc_bool cond, pc_##D a, pc_##D b) {                          \
    return pc_complex_##F(cond ? a.re : b.re, cond ? a.im : b.im);                            \
  }                                                                                           \
  PC_INLINE pc_##D pc_maximum_##D(pc_##D a, pc_##D b) {                                       \
    return pc_switch_##D(pc_isnan_##D(a) | pc_ge_##D(a, b), a, b);                            \
  }                                                                                           \
  PC_INLINE pc_##D pc_minimum_##D(pc_##D a, pc_##D b) {                                       \
    return pc_switch_##D(pc_isnan_##D(a) | pc_le_##D(a, b), a, b);                            \
  }                                                                                           \
  PC_INLINE pc_##D pc_clip_##D(pc_##D a, pc_##D low, pc_##D high) {                           \
    return pc_minimum_##D(pc_maximum_##D(a, low), high);                                      \
  }                                                                                           \
  PC_INLINE pc_##D pc_add_##D(pc_##D a, pc_##D b) { return pc_complex_##F(a.re + b.re, a.im + b.im); } \
  PC_INLINE pc_##D pc_sub_##D(pc_##D a, pc_##D b) { return pc_complex_##F(a.re - b.re, a.im - b.im); } \
  PC_INLINE pc_##D pc_mul_##D(pc_##D a, pc_##D b) {                                           \
    return pc_complex_##F(a.re * b.re + pc_turned_##F(a.im) * b.im, a.re * b.im + a.im * b.re); \
  }                                                                                           \
  PC_INLINE pc_##D pc_div_##D(pc_##D a, pc_##D b) {                                           \
    pc_##F x = __builtin_fabs##S(b.re), y = __builtin_fabs##S(b.im);                          \
    int turned = x < y, zero = (x == 0) & (y == 0);                                           \
    pc_##F p = turned ? b.im : b.re, q = turned ? b.re : b.im;                                \
    pc_##F u = turned ? a.im : a.re, v = turned ? a.re : a.im;                                \
    pc_##F ratio = q / p, scale = 1 / (p + q * ratio), t = u * ratio, re = (u + v * ratio) * scale; \
    pc_##F im = (turned ? t + pc_turned_##F(v) : v + pc_turned_##F(t)) * scale;               \
    return pc_complex_##F(zero ? a.re / x : re, zero ? a.im / x : im);                        \
  }                                                                                           \
  PC_INLINE pc_##D pc_reciprocal_##D(pc_##D a) {                                              \
    int turned = !(__builtin_fabs##S(a.im) <= __builtin_fabs##S(a.re));                       \
    pc_##F p = turned ? a.im : a.re, q = turned ? a.re : a.im;                                \
    pc_##F ratio = q / p, d = turned ? q * ratio + p : p + q * ratio;                         \
    return pc_complex_##F((turned ? ratio : 1) / d, (turned ? -1 : -ratio) / d);              \
  }                                                                                           \
  PC_INLINE pc_##D pc_square_##D(pc_##D a) { return pc_mul_##D(a, a); }                       \
  PC_INLINE pc_##D pc_neg_##D(pc_##D a) { return pc_complex_##F(-a.re, -a.im); }              \
  PC_INLINE pc_##D pc_conj_##D(pc_##D a) { return pc_complex_##F(a.re, -a.im); }              \
  PC_INLINE pc_##F pc_real_##D(pc_##D a) { return a.re; }                                     \
  PC_INLINE pc_##F pc_imag_##D(pc_##D a) { return a.im; }                                     \
  PC_INLINE pc_##D pc_round_##D(pc_##D a) { return pc_complex_##F(pc_round_##F(a.re), pc_round_##F(a.im)); } \
  PC_INLINE pc_bool pc_cast_##D##_bool(pc_##D a) { return (pc_bool)((a.re != 0) | (a.im != 0)); } \
  PC_INLINE pc_c64 pc_cast_##D##_c64(pc_##D a) { return pc_complex_f32((pc_f32)a.re, (pc_f32)a.im); } \
  PC_INLINE pc_c128 pc_cast_##D##_c128(pc_##D a) { return pc_complex_f64(a.re, a.im); }

/* To a real dtype: the real part alone. */
#define PC_SCALAR_COMPLEX_CAST(D, F, TO) \
  PC_INLINE pc_##TO pc_cast_##D##_##TO(pc_##D a) { return pc_cast_##F##_##TO(a.re); }
#define PC_SCALAR_COMPLEX_CASTS(D, F)    \
  PC_SCALAR_COMPLEX_CAST(D, F, i8)       \
  PC_SCALAR_COMPLEX_CAST(D, F, i16)      \
  PC_SCALAR_COMPLEX_CAST(D, F, i32)      \
  PC_SCALAR_COMPLEX_CAST(D, F, i64)      \
  PC_SCALAR_COMPLEX_CAST(D, F, u8)       \
  PC_SCALAR_COMPLEX_CAST(D, F, u16)      \
  PC_SCALAR_COMPLEX_CAST(D, F, u32)      \
  PC_SCALAR_COMPLEX_CAST(D, F, u64)      \
  PC_SCALAR_COMPLEX_CAST(D, F, f32)      \
  PC_SCALAR_COMPLEX_CAST(D, F, f64)

#endif
