//! Transforms of one line in memory, with the bits of `c/precast/ops/fft/passes.h`. A line is a list of complex numbers.

use super::roots::{Roots, root};
use ndarray::NdFloat;
use precast_graph::Complex;

/// The largest factor that is not transformed by a convolution.
const PRIME: usize = 31;

/// A part of an element: f32 or f64.
pub(super) trait Part: NdFloat {
    /// Rounds a number.
    fn of(x: f64) -> Self;
}

impl Part for f32 {
    fn of(x: f64) -> Self {
        x as Self
    }
}

impl Part for f64 {
    fn of(x: f64) -> Self {
        x
    }
}

/// Returns a product, each of whose parts is rounded three times.
pub(super) fn times<T: Part>(x: Complex<T>, w: Complex<T>) -> Complex<T> {
    Complex::new(x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re)
}

/// Returns `x - i·y`, where the last element is the opposite: `x + i·y`.
fn pair<T: Part>(x: Complex<T>, y: Complex<T>) -> [Complex<T>; 2] {
    [Complex::new(x.re + y.im, x.im - y.re), Complex::new(x.re - y.im, x.im + y.re)]
}

/// Returns the factors of a length: 4, odd primes, and 2; `None` if a prime is too large.
fn factors(mut n: usize) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    while n.is_multiple_of(4) {
        all.push(4);
        n /= 4;
    }
    let is_even = n.is_multiple_of(2);
    n >>= u32::from(is_even);
    for r in (3..=PRIME).step_by(2) {
        while n.is_multiple_of(r) {
            all.push(r);
            n /= r;
        }
    }
    all.extend(is_even.then_some(2));
    (n <= 1).then_some(all)
}

/// Returns the length of the transforms by which `n` elements are transformed.
pub(super) fn length(n: usize) -> usize {
    if factors(n).is_some() {
        return n;
    }
    let mut best = usize::MAX;
    let powers = |from: usize, by: usize| {
        std::iter::successors(Some(from), move |x| Some(x * by)).take_while(move |x| *x < 2 * n)
    };
    for three in powers(1, 5).flat_map(|five| powers(five, 3)) {
        let mut length = three;
        while length < 2 * n - 1 {
            length *= 2;
        }
        best = best.min(length);
    }
    best
}

/// The transform of lines whose length has small factors.
struct Plan<T> {
    factors: Vec<usize>,
    /// For each factor, the powers that its results are multiplied by.
    powers: Vec<Vec<Complex<T>>>,
}

impl<T: Part> Plan<T> {
    fn new(n: usize) -> Self {
        let (roots, factors) = (Roots::new(n), factors(n).unwrap_or_default());
        let (mut powers, mut rest, mut step) = (Vec::new(), n, 1);
        for r in &factors {
            let m = rest / r;
            let positions = (1..*r).flat_map(|j| (0..m).map(move |p| p * j * step));
            let power = |k| {
                let (re, im) = roots.at(k);
                Complex::new(T::of(re), T::of(-im))
            };
            powers.push(positions.map(power).collect());
            step *= r;
            rest = m;
        }
        Self { factors, powers }
    }

    fn run(&self, mut x: Vec<Complex<T>>) -> Vec<Complex<T>> {
        let (mut rest, mut step) = (x.len(), 1);
        for (r, powers) in self.factors.iter().zip(&self.powers) {
            let m = rest / r;
            let mut y = x.clone();
            for (p, q) in (0..m).flat_map(|p| (0..step).map(move |q| (p, q))) {
                let from: Vec<Complex<T>> = (0..*r).map(|k| x[q + step * (p + m * k)]).collect();
                for (j, made) in small(&from).into_iter().enumerate() {
                    // The last factor may be 2, and has no powers but 1.
                    let made = if j == 0 || *r == 2 { made } else { times(made, powers[(j - 1) * m + p]) };
                    y[q + step * (r * p + j)] = made;
                }
            }
            x = y;
            step *= r;
            rest = m;
        }
        x
    }
}

/// Transforms the elements of one factor.
fn small<T: Part>(x: &[Complex<T>]) -> Vec<Complex<T>> {
    let r = x.len();
    match x {
        [a, b] => vec![a + b, a - b],
        [a, b, c] => {
            let t = b + c;
            let v = (b - c) * T::of(0.866_025_403_784_438_6);
            let [one, two] = pair(a - t * T::of(0.5), v);
            vec![a + t, one, two]
        }
        [a, b, c, d] => {
            let (s, t) = (a + c, b + d);
            let [one, three] = pair(a - c, b - d);
            vec![s + t, one, s - t, three]
        }
        [a, b, c, d, e] => {
            let [c1, c2] = [0.309_016_994_374_947_4, -0.809_016_994_374_947_5].map(T::of);
            let [s1, s2] = [0.951_056_516_295_153_5, 0.587_785_252_292_473_1].map(T::of);
            let (t, f, p, g) = (b + e, b - e, c + d, c - d);
            let [one, four] = pair(a + t * c1 + p * c2, f * s1 + g * s2);
            let [two, three] = pair(a + t * c2 + p * c1, f * s2 - g * s1);
            vec![a + t + p, one, two, three, four]
        }
        _ => {
            let half = r / 2;
            let sums: Vec<_> = (1..=half).map(|k| x[k] + x[r - k]).collect();
            let rests: Vec<_> = (1..=half).map(|k| x[k] - x[r - k]).collect();
            let mut y = vec![sums.iter().fold(x[0], |all, one| all + one); r];
            for j in 1..=half {
                let (mut u, mut v) = (x[0], Complex::new(T::zero(), T::zero()));
                for k in 1..=half {
                    let (c, s) = root(j * k % r, r);
                    u += sums[k - 1] * T::of(c);
                    v += rests[k - 1] * T::of(s);
                }
                [y[j], y[r - j]] = pair(u, v);
            }
            y
        }
    }
}

/// Returns the inverse transform, without a division, by a forward one: both parts are exchanged.
pub(super) fn turned<T: Part>(
    x: Vec<Complex<T>>,
    run: impl FnOnce(Vec<Complex<T>>) -> Vec<Complex<T>>,
) -> Vec<Complex<T>> {
    let exchanged = |x: Vec<Complex<T>>| x.into_iter().map(|x| Complex::new(x.im, x.re)).collect();
    exchanged(run(exchanged(x)))
}

/// The transform of lines of any length.
pub(super) struct AnyLength<T> {
    n: usize,
    length: usize,
    plan: Plan<T>,
    /// `exp(-πi·k²/n)`, and the transform of its conjugate, divided by the length. Empty if the length has small factors.
    chirp: Vec<Complex<T>>,
    spectrum: Vec<Complex<T>>,
}

impl<T: Part> AnyLength<T> {
    pub(super) fn new(n: usize) -> Self {
        let length = length(n);
        let mut any = Self { n, length, plan: Plan::new(length), chirp: Vec::new(), spectrum: Vec::new() };
        if length != n {
            let (roots, zero) = (Roots::new(2 * n), Complex::new(T::zero(), T::zero()));
            any.chirp = (0..n)
                .map(|k| roots.at(k * k % (2 * n)))
                .map(|(re, im)| Complex::new(T::of(re), T::of(-im)))
                .collect();
            let near = |k| any.chirp.get(k).or_else(|| any.chirp.get(length - k));
            let kernel = (0..length).map(|k| near(k).map_or(zero, |w| w.conj())).collect();
            let scale = T::of(1.0 / length as f64);
            any.spectrum = any.plan.run(kernel).into_iter().map(|w| w * scale).collect();
        }
        any
    }

    /// Transforms a line of `n` elements.
    pub(super) fn run(&self, x: Vec<Complex<T>>) -> Vec<Complex<T>> {
        if self.length == self.n {
            return self.plan.run(x);
        }
        let product =
            |x: Vec<_>, w: &[_]| -> Vec<_> { x.into_iter().zip(w).map(|(x, w)| times(x, *w)).collect() };
        let mut x = product(x, &self.chirp);
        x.resize(self.length, Complex::new(T::zero(), T::zero()));
        let made = product(self.plan.run(x), &self.spectrum);
        product(turned(made, |x| self.plan.run(x)), &self.chirp)
    }
}
