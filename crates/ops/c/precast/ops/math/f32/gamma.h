/* precast/ops/math/f32/gamma.h: ln |Gamma x| and digamma x of f32 for x > 0, in f64: the regions `right`.
 *
 * Below 8 whole steps lead to an interval of length 1 where a polynomial stands; from 8 on J. Stirling's series. Both need one logarithm,
 * of the product of the steps or of x, and one quotient. The zeros of both functions right of 0 are factors of the polynomials. */
#ifndef PRECAST_OPS_MATH_F32_GAMMA_H
#define PRECAST_OPS_MATH_F32_GAMMA_H

#include <precast/ops/math/f32/pow.h>

PC_INLINE uint32_t pc_gammaln_is_right_f32(pc_f32 x) { return x > 0.0f ? 1 : 0; }
PC_INLINE uint32_t pc_digamma_is_right_f32(pc_f32 x) { return x > 0.0f ? 1 : 0; }

/* ln Gamma x for x > 0. ln Gamma(2 + t) = t P(t), |t| <= 1/2, P of degree 9, error 2^-31.8. */
PC_INLINE pc_f32 pc_gammaln_right_f32(pc_f32 f) {
  pc_f64 x = (pc_f64)f, c = f < 8.0f ? x : 2.0, n = (c + 6755399441055744.0) - 6755399441055744.0;
  pc_f64 up = n < 1.5 ? c : 1.0, q = n > 2.5 ? c - 1.0 : up;
  n = n < 0.5 ? 0.0 : n;
  up = n < 0.5 ? c + 1.0 : 1.0;
  q = q * up;
  q = q * (n > 3.5 ? c - 2.0 : 1.0);
  q = q * (n > 4.5 ? c - 3.0 : 1.0);
  q = q * (n > 5.5 ? c - 4.0 : 1.0);
  q = q * (n > 6.5 ? c - 5.0 : 1.0);
  q = q * (n > 7.5 ? c - 6.0 : 1.0);
  pc_f64 t = c - n, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.b0ee6070744c0p-2 + t * 0x1.4a34cc6022cffp-2, p23 = -0x1.13dffc96ff0dep-4 + t * 0x1.5131db373de00p-6;
  pc_f64 p45 = -0x1.e40f3116f7d2fp-8 + t * 0x1.7b067883261f6p-9, p67 = -0x1.36e3fd67d233dp-10 + t * 0x1.06f024714a26ap-11;
  pc_f64 part = t * ((p01 + t2 * p23) + t4 * ((p45 + t2 * p67) + t4 * (-0x1.09f3da5e950f8p-12 + t * 0x1.009e739a502cep-13)));
  pc_f64 u = f < 8.0f ? q : x, log = pc_log2_short_f64(u) * 0x1.62e42fefa39efp-1;
  pc_f64 near = part + (n < 1.5 ? -log : log);
  pc_f64 d = f < 8.0f ? 8.0 : x;
  d = f > 0x1p100f ? 0x1p100 : d;
  pc_f64 v = pc_inverse_short_f64(d), z = v * v;
  pc_f64 series = v * (0x1.5555555555555p-4 + z * (-0x1.6c16c16c16c17p-9 + z * 0x1.a01a01a01a01ap-11));
  pc_f64 far = (x - 0.5) * (log - 1.0) + (0x1.acfe390c97d69p-2 + series);
  pc_f64 y = f < 8.0f ? near : far;
  return f == __builtin_inff() ? f : (pc_f32)(y + 0.0);
}

/* over / under + 1 / x where `more`, else the same. */
typedef struct pc_steps_short_f64 {
  pc_f64 over, under;
} pc_steps_short_f64;

PC_INLINE pc_steps_short_f64 pc_step_short_f64(pc_steps_short_f64 s, int more, pc_f64 x) {
  pc_f64 by = more ? x : 1.0, add = more ? s.under : 0.0;
  pc_steps_short_f64 out = {s.over * by + add, s.under * by};
  return out;
}

/* digamma x for x > 0: from 1 to 2 d P(t), d the distance from the zero and t that from 1.5, P of degree 11, error 2^-30.5. */
PC_INLINE pc_f32 pc_digamma_right_f32(pc_f32 f) {
  pc_f64 x = (pc_f64)f, c = f < 8.0f ? x : 1.5, n = ((c - 0.5) + 6755399441055744.0) - 6755399441055744.0;
  n = n < 0.5 ? 0.0 : n;
  pc_f64 part = c - n, t = part - 0.5, d = (part - 0x1.d8b618d5af8fcp-2) - 0x1.b86a722197829p-54;
  pc_f64 t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.e6f0cbb336d42p-1 + t * -0x1.b1cb62df95f0ep-2, p23 = 0x1.eca1a10eb9264p-3 + t * -0x1.2fef0b4c03749p-3;
  pc_f64 p45 = 0x1.850a80504b529p-4 + t * -0x1.fb33482255039p-5, p67 = 0x1.4f02687404337p-5 + t * -0x1.bbd6455a83f79p-6;
  pc_f64 p89 = 0x1.150d2bf442e54p-6 + t * -0x1.6d32976ec3c1cp-7, pab = 0x1.700c0b0baebecp-7 + t * -0x1.f3c5bfb7041b0p-8;
  pc_f64 p = (p01 + t2 * p23) + t4 * ((p45 + t2 * p67) + t4 * (p89 + t2 * pab));
  pc_steps_short_f64 s = {n < 0.5 ? -1.0 : 0.0, n < 0.5 ? c : 1.0};
  s = pc_step_short_f64(s, n > 1.5, c - 1.0);
  s = pc_step_short_f64(s, n > 2.5, c - 2.0);
  s = pc_step_short_f64(s, n > 3.5, c - 3.0);
  s = pc_step_short_f64(s, n > 4.5, c - 4.0);
  s = pc_step_short_f64(s, n > 5.5, c - 5.0);
  s = pc_step_short_f64(s, n > 6.5, c - 6.0);
  pc_f64 u = f < 8.0f ? 8.0 : x, under = f < 8.0f ? s.under : x;
  under = f < 0x1p-60f ? 1.0 : under;
  under = f > 0x1p100f ? 0x1p100 : under;
  pc_f64 v = pc_inverse_short_f64(under), z = v * v;
  pc_f64 far = pc_ln_short_f64(u) - (0.5 * v + z * (0x1.5555555555555p-4 + z * (-0x1.1111111111111p-7 + z * 0x1.0410410410410p-8)));
  pc_f32 y = (pc_f32)(f < 8.0f ? d * p + s.over * v : far);
  y = f == __builtin_inff() ? f : y;
  return f < 0x1p-60f ? -1.0f / f : y;
}

/* |sin pi f| / f for |f| <= 1/2. Degree 5 in f^2, error 2^-35. */
PC_INLINE pc_f64 pc_sine_of_turn_short_f64(pc_f64 f) {
  pc_f64 z = f * f, z2 = z * z;
  pc_f64 s01 = 0x1.921fb5441e4a2p+1 + z * -0x1.4abbce4f1a4f8p+2, s23 = 0x1.466bbfc25862cp+1 + z * -0x1.32d11203510b6p-1;
  return s01 + z2 * (s23 + z2 * (0x1.500ff82ff4239p-4 + z * -0x1.cc3460c358582p-8));
}

/* The gamma function. With a = |x| it is over / under of a: below 8 Gamma(2 + t) times whole steps, |t| <= 1/2, of degree 10, error 2^-32.7;
 * from 8 on a power of 2 by J. Stirling's series. Left of 0 -pi / (a sin(pi a) Gamma a): NaN at integers, inf with its sign at 0. */
PC_INLINE pc_f32 pc_gamma_f32(pc_f32 f) {
  pc_f64 x = (pc_f64)pc_magnitude_f32(f), a = x < 200.0 ? x : 200.0, c = a < 8.0 ? a : 2.0;
  pc_f64 n = (c + 6755399441055744.0) - 6755399441055744.0, q = n > 2.5 ? c - 1.0 : 1.0;
  q = q * (n > 3.5 ? c - 2.0 : 1.0);
  q = q * (n > 4.5 ? c - 3.0 : 1.0);
  q = q * (n > 5.5 ? c - 4.0 : 1.0);
  q = q * (n > 6.5 ? c - 5.0 : 1.0);
  q = q * (n > 7.5 ? c - 6.0 : 1.0);
  pc_f64 under = n < 1.5 ? c : 1.0;
  under = n < 0.5 ? c * (c + 1.0) : under;
  pc_f64 t = n < 0.5 ? c : c - n, t2 = t * t, t4 = t2 * t2;
  pc_f64 p01 = 0x1.ffffffff74f8cp-1 + t * 0x1.b0ee604157db3p-2, p23 = 0x1.a5b979afe29e4p-2 + t * 0x1.4e23d7794e507p-4;
  pc_f64 p45 = 0x1.301f2b47c3410p-4 + t * -0x1.1d68a6980fc4bp-12, p67 = 0x1.6dbcb95031c4ap-7 + t * -0x1.6fb273f5f0431p-9;
  pc_f64 p89 = 0x1.0dc606658d8f4p-9 + t * -0x1.2161fd0a88a02p-10;
  pc_f64 near = q * ((p01 + t2 * p23) + t4 * ((p45 + t2 * p67) + t4 * (p89 + t2 * 0x1.444cb9affbba8p-11)));
  pc_f64 d = a < 8.0 ? 8.0 : a, v = pc_inverse_short_f64(d), z = v * v;
  pc_f64 series = v * (0x1.5555555555555p-4 + z * (-0x1.6c16c16c16c17p-9 + z * 0x1.a01a01a01a01ap-11));
  pc_f64 up = (d - 0.5) * pc_log2_short_f64(d) + (0x1.d67f1c864beb5p-1 + series - d) * PC_LOG2E_F64; /* ln(2 pi) / 2 */
  up = up < 500.0 ? up : 500.0;
  pc_power_short_f64 p = pc_power_short_of_f64(up);
  pc_f64 over = a < 8.0 ? near : pc_exp2_short_f64(p.r) * p.up;
  /* Left of 0, where over / under becomes under / over. */
  pc_f64 m = (x + 6755399441055744.0) - 6755399441055744.0, g = x - m, half = 0.5 * (g < 0.0 ? m - 1.0 : m);
  pc_f64 sine = pc_magnitude_f64(g * pc_sine_of_turn_short_f64(g));
  int left = f < 0.0f;
  pc_f64 top = left ? 0x1.921fb54442d18p+1 * under : over, bottom = left ? a * sine * over : under, y = top / bottom;
  pc_f64 odd = ((half + 6755399441055744.0) - 6755399441055744.0) - half; /* of floor a */
  pc_f64 signed_y = odd == 0.0 ? -y : y;
  signed_y = x > 45.0 ? odd == 0.0 ? -0.0 : 0.0 : signed_y;
  signed_y = x > 200.0 ? 0.0 : signed_y;
  signed_y = x >= 0x1p23 ? __builtin_nan("") : signed_y;
  signed_y = g == 0.0 ? __builtin_nan("") : signed_y;
  y = left ? signed_y : y;
  pc_f32 out = (pc_f32)(f > 36.0f ? __builtin_inf() : y);
  out = f == 0.0f ? 1.0f / f : out;
  return f == f ? out : f;
}

#endif
