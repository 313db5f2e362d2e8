/* precast/compat/npy_math.h: NumPy's mathematics: constants, classification, halves, parts of complex numbers.
 *
 * `npy_exp` and its like are the C library's functions under another name: a lean module has those only that the compiler
 * has an instruction for.
 */
#ifndef PRECAST_COMPAT_NPY_MATH_H
#define PRECAST_COMPAT_NPY_MATH_H

#include <precast/compat/npy.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NPY_NAN ((double)__builtin_nanf(""))
#define NPY_NANF __builtin_nanf("")
#define NPY_INFINITY ((double)__builtin_inff())
#define NPY_INFINITYF __builtin_inff()
#define NPY_PZERO 0.0
#define NPY_NZERO (-0.0)
#define NPY_E 2.718281828459045235360287471352662498
#define NPY_LOG2E 1.442695040888963407359924681001892137
#define NPY_LOG10E 0.434294481903251827651128918916605082
#define NPY_LOGE2 0.693147180559945309417232121458176568
#define NPY_LOGE10 2.302585092994045684017991454684364208
#define NPY_PI 3.141592653589793238462643383279502884
#define NPY_PI_2 1.570796326794896619231321691639751442
#define NPY_PI_4 0.785398163397448309615660845819875721
#define NPY_1_PI 0.318309886183790671537767526745028724
#define NPY_2_PI 0.636619772367581343075535053490057448
#define NPY_EULER 0.577215664901532860606512090082402431
#define NPY_SQRT2 1.414213562373095048801688724209698079
#define NPY_SQRT1_2 0.707106781186547524400844362104849039

#define npy_isnan(x) __builtin_isnan(x)
#define npy_isinf(x) __builtin_isinf(x)
#define npy_isfinite(x) __builtin_isfinite(x)
#define npy_signbit(x) __builtin_signbit(x)
#define npy_copysign(x, y) __builtin_copysign(x, y)
#define npy_nextafter nextafter

#define npy_fabs fabs
#define npy_sqrt sqrt
#define npy_floor floor
#define npy_ceil ceil
#define npy_trunc trunc
#define npy_rint rint
#define npy_exp exp
#define npy_exp2 exp2
#define npy_expm1 expm1
#define npy_log log
#define npy_log2 log2
#define npy_log10 log10
#define npy_log1p log1p
#define npy_pow pow
#define npy_fmod fmod
#define npy_sin sin
#define npy_cos cos
#define npy_tan tan
#define npy_asin asin
#define npy_acos acos
#define npy_atan atan
#define npy_atan2 atan2
#define npy_sinh sinh
#define npy_cosh cosh
#define npy_tanh tanh
#define npy_hypot hypot
#define npy_fabsf fabsf
#define npy_sqrtf sqrtf
#define npy_floorf floorf
#define npy_ceilf ceilf
#define npy_rintf rintf
#define npy_expf expf
#define npy_logf logf
#define npy_powf powf
#define npy_fmodf fmodf

PC_COMPAT_FN double npy_deg2rad(double x) { return x * (NPY_PI / 180.0); }
PC_COMPAT_FN double npy_rad2deg(double x) { return x * (180.0 / NPY_PI); }

/* ---- complex numbers ---- */

PC_COMPAT_FN double npy_creal(npy_cdouble z) { return z.real; }
PC_COMPAT_FN double npy_cimag(npy_cdouble z) { return z.imag; }
PC_COMPAT_FN float npy_crealf(npy_cfloat z) { return z.real; }
PC_COMPAT_FN float npy_cimagf(npy_cfloat z) { return z.imag; }
PC_COMPAT_FN void npy_csetreal(npy_cdouble *z, double real) { z->real = real; }
PC_COMPAT_FN void npy_csetimag(npy_cdouble *z, double imag) { z->imag = imag; }
PC_COMPAT_FN void npy_csetrealf(npy_cfloat *z, float real) { z->real = real; }
PC_COMPAT_FN void npy_csetimagf(npy_cfloat *z, float imag) { z->imag = imag; }
PC_COMPAT_FN npy_longdouble npy_creall(npy_clongdouble z) { return z.real; }
PC_COMPAT_FN npy_longdouble npy_cimagl(npy_clongdouble z) { return z.imag; }
PC_COMPAT_FN void npy_csetreall(npy_clongdouble *z, npy_longdouble real) { z->real = real; }
PC_COMPAT_FN void npy_csetimagl(npy_clongdouble *z, npy_longdouble imag) { z->imag = imag; }
#define NPY_CSETREALL(z, r) npy_csetreall(z, r)
#define NPY_CSETIMAGL(z, i) npy_csetimagl(z, i)
#define NPY_CSETREAL(z, r) npy_csetreal(z, r)
#define NPY_CSETIMAG(z, i) npy_csetimag(z, i)
#define NPY_CSETREALF(z, r) npy_csetrealf(z, r)
#define NPY_CSETIMAGF(z, i) npy_csetimagf(z, i)

PC_COMPAT_FN npy_cdouble npy_cpack(double real, double imag) {
  npy_cdouble z = {real, imag};
  return z;
}

PC_COMPAT_FN npy_cfloat npy_cpackf(float real, float imag) {
  npy_cfloat z = {real, imag};
  return z;
}

/* ---- halves ---- */

#define NPY_HALF_ZERO (0x0000u)
#define NPY_HALF_PZERO (0x0000u)
#define NPY_HALF_NZERO (0x8000u)
#define NPY_HALF_ONE (0x3c00u)
#define NPY_HALF_NEGONE (0xbc00u)
#define NPY_HALF_PINF (0x7c00u)
#define NPY_HALF_NINF (0xfc00u)
#define NPY_HALF_NAN (0x7e00u)
#define NPY_MAX_HALF (0x7bffu)

PC_COMPAT_FN float npy_half_to_float(npy_half h) { return pc_compat_half_to_float(h); }
PC_COMPAT_FN double npy_half_to_double(npy_half h) { return (double)pc_compat_half_to_float(h); }
PC_COMPAT_FN npy_half npy_float_to_half(float x) { return pc_compat_half_from_double((double)x); }
PC_COMPAT_FN npy_half npy_double_to_half(double x) { return pc_compat_half_from_double(x); }
PC_COMPAT_FN int npy_half_iszero(npy_half h) { return (h & 0x7fffu) == 0; }
PC_COMPAT_FN int npy_half_isnan(npy_half h) { return (h & 0x7fffu) > 0x7c00u; }
PC_COMPAT_FN int npy_half_isinf(npy_half h) { return (h & 0x7fffu) == 0x7c00u; }
PC_COMPAT_FN int npy_half_isfinite(npy_half h) { return (h & 0x7c00u) != 0x7c00u; }
PC_COMPAT_FN int npy_half_signbit(npy_half h) { return (h & 0x8000u) != 0; }
PC_COMPAT_FN int npy_half_eq(npy_half a, npy_half b) { return npy_half_to_float(a) == npy_half_to_float(b); }
PC_COMPAT_FN int npy_half_ne(npy_half a, npy_half b) { return npy_half_to_float(a) != npy_half_to_float(b); }
PC_COMPAT_FN int npy_half_lt(npy_half a, npy_half b) { return npy_half_to_float(a) < npy_half_to_float(b); }
PC_COMPAT_FN int npy_half_le(npy_half a, npy_half b) { return npy_half_to_float(a) <= npy_half_to_float(b); }
PC_COMPAT_FN int npy_half_gt(npy_half a, npy_half b) { return npy_half_to_float(a) > npy_half_to_float(b); }
PC_COMPAT_FN int npy_half_ge(npy_half a, npy_half b) { return npy_half_to_float(a) >= npy_half_to_float(b); }

#ifdef __cplusplus
}
#endif
#endif
