//! The f32 functions: see the parent module, and `c/precast/ops/math/`, line by line.

const LOG2E: f32 = f32::from_bits(0x3fb8_aa3b); // 0x1.715476p+0
const LN2_HI: f32 = f32::from_bits(0x3f31_7200); // 0x1.62e400p-1
const LN2_LO: f32 = f32::from_bits(0x35bf_be8e); // 0x1.7f7d1cp-20
/// Coefficients of the exponential, lowest first.
const EXP: [f32; 5] = [
    f32::from_bits(0x3eff_fffe), // 0x1.fffffcp-2
    f32::from_bits(0x3e2a_aa49), // 0x1.555492p-3
    f32::from_bits(0x3d2a_ac77), // 0x1.5558eep-5
    f32::from_bits(0x3c09_1cea), // 0x1.1239d4p-7
    f32::from_bits(0x3ab5_12ed), // 0x1.6a25dap-10
];
/// Coefficients of the logarithm, lowest first.
const LOG: [f32; 3] = [
    f32::from_bits(0x3f2a_aabd), // 0x1.55557ap-1
    f32::from_bits(0x3ecc_af5d), // 0x1.995ebap-2
    f32::from_bits(0x3e98_f1b2), // 0x1.31e364p-2
];

/// `x = k ln 2 + (hi - lo)`; the low bits of `bits` are `k + bias`.
struct Reduced {
    hi: f32,
    lo: f32,
    bits: u32,
}

fn reduce_ln2(x: f32, bias: f32) -> Reduced {
    let magic = 12_582_912.0 + bias;
    let t = x * LOG2E + magic;
    let k = t - magic;
    Reduced { hi: x - k * LN2_HI, lo: k * LN2_LO, bits: t.to_bits() }
}

/// `exp(hi - lo) - 1 - hi`.
fn exp_tail(hi: f32, lo: f32) -> f32 {
    let r = hi - lo;
    let r2 = r * r;
    let p01 = EXP[0] + r * EXP[1];
    let p23 = EXP[2] + r * EXP[3];
    let q = p01 + r2 * (p23 + r2 * EXP[4]);
    r2 * q - lo
}

fn scale_low(bits: u32) -> f32 {
    f32::from_bits(((bits >> 1) & 0xff) << 23)
}

fn scale_high(bits: u32) -> f32 {
    // Wraps, as unsigned numbers do in C: a NaN's bits can hold anything.
    f32::from_bits((bits & 0x1ff).wrapping_sub((bits >> 1) & 0xff) << 23)
}

/// e^x. Overflow gives inf; the result passes through the subnormals to 0.
#[must_use]
pub fn exp(x: f32) -> f32 {
    let c = if x > 89.0 { 89.0 } else { x };
    let c = if c < -104.0 { -104.0 } else { c };
    let k = reduce_ln2(c, 254.0);
    let p = 1.0 + (k.hi + exp_tail(k.hi, k.lo));
    p * scale_low(k.bits) * scale_high(k.bits)
}

/// `(nh + nl) / (dh + dl)`, rounded about once.
fn quotient(nh: f32, nl: f32, dh: f32, dl: f32) -> f32 {
    const HEAD: u32 = 0xffff_f000;
    let y = 1.0 / dh;
    let q = f32::from_bits((nh * y).to_bits() & HEAD);
    let a = f32::from_bits(dh.to_bits() & HEAD);
    let b = dh - a;
    let rest = ((nh - q * a) - q * b) + (nl - q * dl);
    q + rest * y
}

/// 1 / (1 + e^-x).
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    let a = if x < 0.0 { x } else { -x };
    let a = if a < -104.0 { -104.0 } else { a };
    let k = reduce_ln2(a, 254.0);
    let (low, high) = (scale_low(k.bits), scale_high(k.bits));
    let s = 1.0 + k.hi;
    let t = (k.hi - (s - 1.0)) + exp_tail(k.hi, k.lo);
    let eh = s + t;
    let el = t - (eh - s);
    let (sh, sl) = (eh * low * high, el * low * high);
    let dh = 1.0 + sh;
    let dl = (sh - (dh - 1.0)) + sl;
    let below = x < 0.0;
    let q = quotient(if below { eh } else { 1.0 }, if below { el } else { 0.0 }, dh, dl);
    q * (if below { low } else { 1.0 }) * (if below { high } else { 1.0 })
}

/// Hyperbolic tangent; keeps the sign of zero.
#[must_use]
pub fn tanh(x: f32) -> f32 {
    const SIGN: u32 = 1 << 31;
    let a = f32::from_bits(x.to_bits() & !SIGN);
    let a = if a > 10.0 { 10.0 } else { a };
    let k = reduce_ln2(a + a, 127.0);
    let scale = f32::from_bits(k.bits << 23);
    let (whole, part) = (scale - 1.0, scale * k.hi);
    let s = whole + part;
    let t = (part - (s - whole)) + scale * exp_tail(k.hi, k.lo);
    let mh = s + t;
    let ml = t - (mh - s);
    let dh = mh + 2.0;
    let two = dh - mh;
    let dl = ((mh - (dh - two)) + (2.0 - two)) + ml;
    let q = quotient(mh, ml, dh, dl);
    f32::from_bits((q.to_bits() & !SIGN) | (x.to_bits() & SIGN))
}

/// ln x. 0 gives -inf, a negative number NaN.
#[must_use]
pub fn log(x: f32) -> f32 {
    const HALF: u32 = 0x3f35_04f3;
    const ONE: u32 = 0x3f80_0000;
    let small = x < f32::MIN_POSITIVE;
    let u = (if small { x * 33_554_432.0 } else { x }).to_bits().wrapping_add(ONE - HALF);
    let m = f32::from_bits((u & 0x007f_ffff) + HALF);
    let k = f32::from_bits((u >> 23) | 0x4b00_0000)
        - (if small { 8_388_608.0 + 152.0 } else { 8_388_608.0 + 127.0 });
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let r = z * (LOG[0] + z * (LOG[1] + z * LOG[2]));
    let square = 0.5 * f * f;
    let y = k * LN2_HI - ((square - (s * (square + r) + k * LN2_LO)) - f);
    let y = if x == f32::INFINITY { x } else { y };
    let edge = if x == 0.0 { -f32::INFINITY } else { f32::NAN };
    if x > 0.0 { y } else { edge }
}
