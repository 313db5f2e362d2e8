/* precast/ops/math.h: the functions of f32 and f64 that IEEE does not define, the same bits on every machine.
 *
 * A function `pc_<name>_<dtype>` stands in a header of its family, and a module includes the families it uses:
 *
 *   math/exp.h         exp                  math/log.h     log
 *   math/exp2.h        exp2 expm1           math/log2.h    log2 log10
 *   math/sigmoid.h     sigmoid tanh         math/log1p.h   log1p softplus softplus_inverse log1mexp
 *   math/hyperbolic.h  sinh cosh            math/area.h    asinh acosh atanh
 *   math/arc.h         asin acos            math/atan.h    atan atan2
 *   math/trig.h        sin cos tan          math/turn.h    (what trig.h needs)
 *   math/pow.h         pow                  math/root.h    cbrt hypot
 *   math/erf.h         erf erfc             math/gamma.h   gammaln digamma
 *   math/trigamma.h    trigamma             math/gammainc.h  gammainc gammaincc
 *   math/gammainc_usual.h  (the same for usual operands)
 *   math/betainc.h     betainc              math/tail.h    (what both need)
 *   math/normal.h      erfcx ndtr log_ndtr, and the inverses of erf, erfc, ndtr and log_ndtr
 *   math/entropy.h     xlogy xlog1py entr rel_entr kl_div logit
 *   math/bessel.h      i0 i0e i1 i1e        math/factorial.h  gamma
 *   math/beta.h        beta betaln          math/zeta.h       zeta polygamma
 *   math/owens.h       owens_t              math/inverse.h    (what both inverses need)
 *   math/gammaincinv.h gammaincinv gammainccinv  math/betaincinv.h  betaincinv
 *   math/bessel_order.h  iv ive kv kve      math/bessel_j.h   j0 j1 y0 y1
 *   math/bessel_jv.h   jv                   math/lambert.h    lambertw
 *   math/hyp2f1.h      hyp2f1
 *   math/f32/          the same functions of f32, included by the headers above
 *   math/complex/      of c64 and c128: exp log sqrt pow, trigonometric and hyperbolic functions and their inverses
 *
 * Rules that make the bits equal: only IEEE +, -, *, /, sqrt and bit operations, in a written order; no fused multiply-add
 * (-ffp-contract=off), no libm, no tables, no branches (selects only; but those of zeta.h, tail.h, inverse.h, bessel_order.h,
 * bessel_jv.h and hyp2f1.h and some of gamma.h, factorial.h, beta.h and normal.h have them, and loops), so a loop over any of them
 * becomes vector code at every ISA level, and an element's result depends neither on its position nor on the vector width.
 * Functions with regions have shorter forms for some operands, with the same bits: block.h. The row of the function names them.
 *
 * They have no second implementation: `perform` calls these functions too, compiled once for the host.
 *
 * Source. Range reductions and the form of log: W. J. Cody and W. Waite, "Software Manual for the Elementary
 * Functions" (1980); P. T. P. Tang, "Table-driven implementation of the exponential function" (1989) for the exact
 * high part; the s = f/(2+f) form of log is from K. C. Ng's fdlibm. Rounding errors are kept by the sums of Dekker (1971)
 * and Knuth. The coefficients are our own: minimax by Remez' exchange at 60 digits (crates/ops/c/minimax.py).
 *
 * f32 functions have texts of their own, below math/f32/: in f64 with short polynomials, rounded once. exp, log, log1p, erf, sigmoid and
 * tanh are computed in f32, and log2, log10, asin, acos, atan, atan2, asinh, acosh, atanh and cbrt in pairs of f32; trigamma and all below it in
 * this list are the f64 function rounded once, as are gammaln and digamma left of 0, but those that have a header of f32.
 * Forms of f32 that hold in a region: near of sin, cos and tan, |x| < 2^20; right of gammaln and digamma, x > 0.
 *
 * Accuracy, largest error seen against 113-bit arithmetic, in ulp: crates/ops/ACCURACY.md.
 * NaN in, NaN out. Overflow gives inf, underflow passes through the subnormals to 0.
 */
#ifndef PRECAST_OPS_MATH_H
#define PRECAST_OPS_MATH_H

#include <precast/ops/math/arc.h>
#include <precast/ops/math/area.h>
#include <precast/ops/math/atan.h>
#include <precast/ops/math/bessel.h>
#include <precast/ops/math/bessel_j.h>
#include <precast/ops/math/bessel_jv.h>
#include <precast/ops/math/bessel_order.h>
#include <precast/ops/math/beta.h>
#include <precast/ops/math/betainc.h>
#include <precast/ops/math/betaincinv.h>
#include <precast/ops/math/entropy.h>
#include <precast/ops/math/erf.h>
#include <precast/ops/math/exp.h>
#include <precast/ops/math/exp2.h>
#include <precast/ops/math/factorial.h>
#include <precast/ops/math/gamma.h>
#include <precast/ops/math/gammainc.h>
#include <precast/ops/math/gammaincinv.h>
#include <precast/ops/math/hyp2f1.h>
#include <precast/ops/math/hyperbolic.h>
#include <precast/ops/math/lambert.h>
#include <precast/ops/math/log.h>
#include <precast/ops/math/log1p.h>
#include <precast/ops/math/log2.h>
#include <precast/ops/math/normal.h>
#include <precast/ops/math/owens.h>
#include <precast/ops/math/pow.h>
#include <precast/ops/math/root.h>
#include <precast/ops/math/sigmoid.h>
#include <precast/ops/math/trig.h>
#include <precast/ops/math/trigamma.h>
#include <precast/ops/math/zeta.h>

#endif
