//! Powers of roots of unity, with the bits of `c/precast/ops/fft/roots.h`.

use std::f64::consts::FRAC_PI_4;

/// The terms of the series of the cosine, and of the sine divided by its argument.
const COSINE: [u64; 9] =
    [2, 24, 720, 40_320, 3_628_800, 479_001_600, 87_178_291_200, 20_922_789_888_000, 6_402_373_705_728_000];
const SINE: [u64; 8] =
    [6, 120, 5_040, 362_880, 39_916_800, 6_227_020_800, 1_307_674_368_000, 355_687_428_096_000];

/// Returns `exp(2πi·k/n)`, where `k < n`.
pub(super) fn root(k: usize, n: usize) -> (f64, f64) {
    let (eighth, rest) = (8 * k / n, 8 * k % n);
    let x = FRAC_PI_4 * ((if eighth % 2 == 1 { n - rest } else { rest }) as f64 / n as f64);
    let z = x * x;
    let series = |terms: &[u64]| terms.iter().rev().fold(0.0, |sum, term| z * (1.0 / *term as f64 - sum));
    let (c, s) = (1.0 - series(&COSINE), x - x * series(&SINE));
    match eighth {
        0 => (c, s),
        1 => (s, c),
        2 => (-s, c),
        3 => (-c, s),
        4 => (-c, -s),
        5 => (-s, -c),
        6 => (s, -c),
        _ => (c, -s),
    }
}

/// Two tables whose products are all powers.
pub(super) struct Roots {
    bits: u32,
    coarse: Vec<(f64, f64)>,
    fine: Vec<(f64, f64)>,
}

impl Roots {
    pub(super) fn new(n: usize) -> Self {
        let bits = (0..).find(|bits| 1 << (2 * bits) >= n).unwrap_or(0);
        let fine = (0..1_usize << bits).map(|k| root(k % n, n)).collect();
        let coarse = (0..=(n - 1) >> bits).map(|k| root(k << bits, n)).collect();
        Self { bits, coarse, fine }
    }

    /// Returns the power `k < n`.
    pub(super) fn at(&self, k: usize) -> (f64, f64) {
        let ((a, b), (c, d)) = (self.coarse[k >> self.bits], self.fine[k & ((1 << self.bits) - 1)]);
        (a * c - b * d, a * d + b * c)
    }
}
