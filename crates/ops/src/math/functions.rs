//! The list of the functions: a name for each of two dtypes, the operands, and the header below `precast/ops/math/`.
//!
//! `functions!` is defined by whoever has this module: `math` makes functions of Rust of a line, the build script the C that
//! they call.

functions! {
    /// Functions of floats.
    floats: f32 = f32, f64 = f64;
    acos_f32, acos_f64 (x) of "arc.h";
    acosh_f32, acosh_f64 (x) of "area.h";
    asin_f32, asin_f64 (x) of "arc.h";
    asinh_f32, asinh_f64 (x) of "area.h";
    atan_f32, atan_f64 (x) of "atan.h";
    atan2_f32, atan2_f64 (y, x) of "atan.h";
    atanh_f32, atanh_f64 (x) of "area.h";
    cbrt_f32, cbrt_f64 (x) of "root.h";
    cos_f32, cos_f64 (x) of "trig.h";
    cosh_f32, cosh_f64 (x) of "hyperbolic.h";
    digamma_f32, digamma_f64 (x) of "gamma.h";
    erf_f32, erf_f64 (x) of "erf.h";
    erfc_f32, erfc_f64 (x) of "erf.h";
    exp_f32, exp_f64 (x) of "exp.h";
    exp2_f32, exp2_f64 (x) of "exp2.h";
    expm1_f32, expm1_f64 (x) of "exp2.h";
    gammaln_f32, gammaln_f64 (x) of "gamma.h";
    hypot_f32, hypot_f64 (x, y) of "root.h";
    log_f32, log_f64 (x) of "log.h";
    log10_f32, log10_f64 (x) of "log2.h";
    log1mexp_f32, log1mexp_f64 (x) of "log1p.h";
    log1p_f32, log1p_f64 (x) of "log1p.h";
    log2_f32, log2_f64 (x) of "log2.h";
    pow_f32, pow_f64 (x, y) of "pow.h";
    sigmoid_f32, sigmoid_f64 (x) of "sigmoid.h";
    sin_f32, sin_f64 (x) of "trig.h";
    sinh_f32, sinh_f64 (x) of "hyperbolic.h";
    softplus_f32, softplus_f64 (x) of "log1p.h";
    tan_f32, tan_f64 (x) of "trig.h";
    tanh_f32, tanh_f64 (x) of "sigmoid.h";
}

functions! {
    /// Functions of complex numbers.
    complex: c64 = precast_graph::Complex<f32>, c128 = precast_graph::Complex<f64>;
    acos_c64, acos_c128 (z) of "complex/arc.h";
    acosh_c64, acosh_c128 (z) of "complex/arc.h";
    asin_c64, asin_c128 (z) of "complex/arc.h";
    asinh_c64, asinh_c128 (z) of "complex/arc.h";
    atan_c64, atan_c128 (z) of "complex/area.h";
    atanh_c64, atanh_c128 (z) of "complex/area.h";
    cos_c64, cos_c128 (z) of "complex/hyperbolic.h";
    cosh_c64, cosh_c128 (z) of "complex/hyperbolic.h";
    exp_c64, exp_c128 (z) of "complex/exp.h";
    log_c64, log_c128 (z) of "complex/log.h";
    log10_c64, log10_c128 (z) of "complex/log.h";
    log1p_c64, log1p_c128 (z) of "complex/log.h";
    log2_c64, log2_c128 (z) of "complex/log.h";
    pow_c64, pow_c128 (z, w) of "complex/pow.h";
    sin_c64, sin_c128 (z) of "complex/hyperbolic.h";
    sinh_c64, sinh_c128 (z) of "complex/hyperbolic.h";
    sqrt_c64, sqrt_c128 (z) of "complex/root.h";
    tan_c64, tan_c128 (z) of "complex/hyperbolic.h";
    tanh_c64, tanh_c128 (z) of "complex/hyperbolic.h";
}
