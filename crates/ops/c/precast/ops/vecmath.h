/* precast/ops/vecmath.h: exp, log, tanh and sigmoid for f32 and f64, the same bits on every machine.
 *
 * Rules that make it so: only IEEE +, -, *, / and bit operations, in a written order; no fused multiply-add
 * (-ffp-contract=off), no libm, no tables, no branches (selects only), so a loop over any of them becomes vector code
 * at every ISA level, and an element's result depends neither on its position nor on the vector width.
 * crates/ops/src/math repeats them in Rust operation by operation: change both, or the bit test fails.
 *
 * Source. Range reductions and the form of log: W. J. Cody and W. Waite, "Software Manual for the Elementary
 * Functions" (1980); P. T. P. Tang, "Table-driven implementation of the exponential function" (1989) for the exact
 * high part; the s = f/(2+f) form of log is from K. C. Ng's fdlibm. Rounding errors are kept by the sums of Dekker (1971)
 * and Knuth. The coefficients are our own: minimax by Remez' exchange at 60 digits (crates/ops/c/minimax.py).
 *
 * Accuracy, largest error seen against 113-bit arithmetic, in ulp: the table of crates/ops/README.md.
 * NaN in, NaN out. Overflow gives inf, underflow passes through the subnormals to 0.
 */
#ifndef PRECAST_OPS_VECMATH_H
#define PRECAST_OPS_VECMATH_H

#include <precast/ops/vecmath_f32.h>
#include <precast/ops/vecmath_f64.h>

#endif
