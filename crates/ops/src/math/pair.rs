//! Numbers as the unevaluated sum of two, for what must be known to more than 53 bits.
//! `c/precast/ops/math/pair.h` says how, line by line.

/// hi + lo, with |lo| at most about an ulp of hi.
#[derive(Clone, Copy)]
pub(super) struct PairF64 {
    pub(super) hi: f64,
    pub(super) lo: f64,
}

/// a + b exactly.
pub(super) fn sum_f64(a: f64, b: f64) -> PairF64 {
    let s = a + b;
    let t = s - a;
    PairF64 { hi: s, lo: a - (s - t) + (b - t) }
}

/// a + b exactly, if |a| >= |b| or a is 0.
pub(super) fn sum_ordered_f64(a: f64, b: f64) -> PairF64 {
    let s = a + b;
    PairF64 { hi: s, lo: b - (s - a) }
}

/// The first 26 bits of a.
pub(super) fn head_f64(a: f64) -> f64 {
    f64::from_bits(a.to_bits() & 0xffff_ffff_f800_0000)
}

/// a * b to 2^-105.
pub(super) fn product_f64(a: f64, b: f64) -> PairF64 {
    let p = a * b;
    let ah = head_f64(a);
    let al = a - ah;
    let bh = head_f64(b);
    let bl = b - bh;
    PairF64 { hi: p, lo: ah * bh - p + ah * bl + al * bh + al * bl }
}

/// a + b, if |a| >= |b| or a is 0.
pub(super) fn pair_add_f64(a: PairF64, b: PairF64) -> PairF64 {
    let s = sum_ordered_f64(a.hi, b.hi);
    sum_ordered_f64(s.hi, s.lo + (a.lo + b.lo))
}

/// a / b to about 2^-102.
pub(super) fn pair_div_f64(a: PairF64, b: PairF64) -> PairF64 {
    let q = a.hi / b.hi;
    let p = product_f64(q, b.hi);
    let rest = a.hi - p.hi - p.lo + (a.lo - q * b.lo);
    sum_ordered_f64(q, rest / b.hi)
}

/// The square root of a >= 0 to about 2^-102.
pub(super) fn pair_sqrt_f64(a: PairF64) -> PairF64 {
    let r = a.hi.sqrt();
    let p = product_f64(r, r);
    let rest = a.hi - p.hi - p.lo + a.lo;
    PairF64 { hi: r, lo: if r > 0.0 { rest / (r + r) } else { 0.0 } }
}

/// |x| and the sign of x alone.
pub(super) fn magnitude_f64(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0x7fff_ffff_ffff_ffff)
}

pub(super) fn sign_f64(x: f64) -> u64 {
    x.to_bits() & 0x8000_0000_0000_0000
}

/// x >= 0 with a sign put on it, or the sign of a number turned.
pub(super) fn signed_f64(x: f64, sign: u64) -> f64 {
    f64::from_bits(x.to_bits() ^ sign)
}
