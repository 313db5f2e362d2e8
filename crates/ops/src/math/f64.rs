//! The f64 functions: see the parent module, and `c/precast/ops/math/`, line by line.

const LOG2E: f64 = f64::from_bits(0x3ff7_1547_652b_82fe); // 0x1.71547652b82fep+0
const LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fefa_3800); // 0x1.62e42fefa3800p-1
const LN2_LO: f64 = f64::from_bits(0x3d2e_f357_93c7_6730); // 0x1.ef35793c76730p-45
/// Coefficients of the exponential, lowest first.
const EXP: [f64; 10] = [
    f64::from_bits(0x3fe0_0000_0000_0009), // 0x1.0000000000009p-1
    f64::from_bits(0x3fc5_5555_5555_54fb), // 0x1.55555555554fbp-3
    f64::from_bits(0x3fa5_5555_5555_0b43), // 0x1.5555555550b43p-5
    f64::from_bits(0x3f81_1111_1112_79f3), // 0x1.11111111279f3p-7
    f64::from_bits(0x3f56_c16c_183a_dedf), // 0x1.6c16c183adedfp-10
    f64::from_bits(0x3f2a_01a0_12a1_9e85), // 0x1.a01a012a19e85p-13
    f64::from_bits(0x3efa_0199_b250_dfbf), // 0x1.a0199b250dfbfp-16
    f64::from_bits(0x3ec7_1df2_73a1_4ad5), // 0x1.71df273a14ad5p-19
    f64::from_bits(0x3e92_8ac9_4b57_2edf), // 0x1.28ac94b572edfp-22
    f64::from_bits(0x3e5a_d7ae_6e26_2d6c), // 0x1.ad7ae6e262d6cp-26
];
/// Coefficients of the logarithm, lowest first.
const LOG: [f64; 7] = [
    f64::from_bits(0x3fe5_5555_5555_5592), // 0x1.5555555555592p-1
    f64::from_bits(0x3fd9_9999_9997_ffa0), // 0x1.999999997ffa0p-2
    f64::from_bits(0x3fd2_4924_941d_ee31), // 0x1.24924941dee31p-2
    f64::from_bits(0x3fcc_71c5_2134_1c60), // 0x1.c71c521341c60p-3
    f64::from_bits(0x3fc7_4663_da64_d2d6), // 0x1.74663da64d2d6p-3
    f64::from_bits(0x3fc3_9a1c_b220_c990), // 0x1.39a1cb220c990p-3
    f64::from_bits(0x3fc2_f054_5f63_b365), // 0x1.2f0545f63b365p-3
];

/// `x = k ln 2 + (hi - lo)`; the low bits of `bits` are `k + bias`.
struct Reduced {
    hi: f64,
    lo: f64,
    bits: u64,
}

fn reduce_ln2(x: f64, bias: f64) -> Reduced {
    let magic = 6_755_399_441_055_744.0 + bias;
    let t = x * LOG2E + magic;
    let k = t - magic;
    Reduced { hi: x - k * LN2_HI, lo: k * LN2_LO, bits: t.to_bits() }
}

/// `exp(hi - lo) - 1 - hi`.
fn exp_tail(hi: f64, lo: f64) -> f64 {
    let r = hi - lo;
    let r2 = r * r;
    let r4 = r2 * r2;
    let p01 = EXP[0] + r * EXP[1];
    let p23 = EXP[2] + r * EXP[3];
    let p45 = EXP[4] + r * EXP[5];
    let p67 = EXP[6] + r * EXP[7];
    let p89 = EXP[8] + r * EXP[9];
    let q = (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * p89);
    r2 * q - lo
}

fn scale_low(bits: u64) -> f64 {
    f64::from_bits(((bits >> 1) & 0x7ff) << 52)
}

fn scale_high(bits: u64) -> f64 {
    // Wraps, as unsigned numbers do in C: a NaN's bits can hold anything.
    f64::from_bits((bits & 0xfff).wrapping_sub((bits >> 1) & 0x7ff) << 52)
}

/// e^x. Overflow gives inf; the result passes through the subnormals to 0.
#[must_use]
pub fn exp(x: f64) -> f64 {
    let c = if x > 710.0 { 710.0 } else { x };
    let c = if c < -746.0 { -746.0 } else { c };
    let k = reduce_ln2(c, 2046.0);
    let p = 1.0 + (k.hi + exp_tail(k.hi, k.lo));
    p * scale_low(k.bits) * scale_high(k.bits)
}

/// `(nh + nl) / (dh + dl)`, rounded about once.
fn quotient(nh: f64, nl: f64, dh: f64, dl: f64) -> f64 {
    const HEAD: u64 = 0xffff_ffff_f800_0000;
    let y = 1.0 / dh;
    let q = f64::from_bits((nh * y).to_bits() & HEAD);
    let a = f64::from_bits(dh.to_bits() & HEAD);
    let b = dh - a;
    let rest = ((nh - q * a) - q * b) + (nl - q * dl);
    q + rest * y
}

/// 1 / (1 + e^-x).
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    let a = if x < 0.0 { x } else { -x };
    let a = if a < -746.0 { -746.0 } else { a };
    let k = reduce_ln2(a, 2046.0);
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
pub fn tanh(x: f64) -> f64 {
    const SIGN: u64 = 1 << 63;
    let a = f64::from_bits(x.to_bits() & !SIGN);
    let a = if a > 22.0 { 22.0 } else { a };
    let k = reduce_ln2(a + a, 1023.0);
    let scale = f64::from_bits(k.bits << 52);
    let (whole, part) = (scale - 1.0, scale * k.hi);
    let s = whole + part;
    let t = (part - (s - whole)) + scale * exp_tail(k.hi, k.lo);
    let mh = s + t;
    let ml = t - (mh - s);
    let dh = mh + 2.0;
    let two = dh - mh;
    let dl = ((mh - (dh - two)) + (2.0 - two)) + ml;
    let q = quotient(mh, ml, dh, dl);
    f64::from_bits((q.to_bits() & !SIGN) | (x.to_bits() & SIGN))
}

/// ln x. 0 gives -inf, a negative number NaN.
#[must_use]
pub fn log(x: f64) -> f64 {
    const HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    let small = x < f64::MIN_POSITIVE;
    let u = (if small { x * 18_014_398_509_481_984.0 } else { x }).to_bits().wrapping_add(ONE - HALF);
    let m = f64::from_bits((u & 0x000f_ffff_ffff_ffff) + HALF);
    let k = f64::from_bits((u >> 52) | 0x4330_0000_0000_0000)
        - (if small { 4_503_599_627_370_496.0 + 1077.0 } else { 4_503_599_627_370_496.0 + 1023.0 });
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let z2 = z * z;
    let p01 = LOG[0] + z * LOG[1];
    let p23 = LOG[2] + z * LOG[3];
    let p45 = LOG[4] + z * LOG[5];
    let r = z * ((p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * LOG[6]));
    let square = 0.5 * f * f;
    let y = k * LN2_HI - ((square - (s * (square + r) + k * LN2_LO)) - f);
    let y = if x == f64::INFINITY { x } else { y };
    let edge = if x == 0.0 { -f64::INFINITY } else { f64::NAN };
    if x > 0.0 { y } else { edge }
}
