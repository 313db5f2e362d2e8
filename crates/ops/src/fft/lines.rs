//! Transforms of the lines of an array, with the bits of `c/precast/ops/fft/lines.h`.

use super::passes::{AnyLength, Part, length, turned};
use super::roots::Roots;
use super::{Fft, FftKind, FftScale, NAME};
use crate::elements;
use ndarray::{ArrayD, ArrayViewD, Axis, IxDyn};
use precast_graph::{Array, Complex, PerformError};

/// Transforms all lines as `n` elements each; `None` if the dtype does not match the kind.
pub(super) fn transform(op: Fft, n: usize, x: &Array) -> Option<Array> {
    Some(match (op.kind, x) {
        (FftKind::Complex, Array::C64(x)) => each(x.view(), n, |line| complex(op, n, line))?.into(),
        (FftKind::Complex, Array::C128(x)) => each(x.view(), n, |line| complex(op, n, line))?.into(),
        (FftKind::FromReal, Array::F32(x)) => {
            each(x.view(), n / 2 + 1, |line| from_real(op, n, line))?.into()
        }
        (FftKind::FromReal, Array::F64(x)) => {
            each(x.view(), n / 2 + 1, |line| from_real(op, n, line))?.into()
        }
        (FftKind::ToReal, Array::C64(x)) => each(x.view(), n, |line| to_real(op, n, line))?.into(),
        (FftKind::ToReal, Array::C128(x)) => each(x.view(), n, |line| to_real(op, n, line))?.into(),
        _ => return None,
    })
}

/// The memory for the transform of one line, in multiples of that for an array of its length.
const ARRAYS: usize = 2;

/// Returns an error if the results, or the transform of one line, do not fit into memory.
pub(super) fn check_room(op: Fft, n: usize, shape: &[usize]) -> Result<(), PerformError> {
    let mut results = shape.to_vec();
    if let Some(last) = results.last_mut() {
        *last = if op.kind == FftKind::FromReal { n / 2 + 1 } else { n };
    }
    if elements::room(NAME, &results)? > 0 {
        elements::room(NAME, &[ARRAYS, length(n)])?;
    }
    Ok(())
}

/// Makes an array of the `count` results for each line along the last axis.
fn each<A: Clone, B: Clone>(
    x: ArrayViewD<'_, A>,
    count: usize,
    made: impl Fn(Vec<A>) -> Vec<B>,
) -> Option<ArrayD<B>> {
    let (last, mut shape) = (Axis(x.ndim() - 1), x.shape().to_vec());
    *shape.last_mut()? = count;
    // An array without elements may still have empty lines.
    let lines = shape[..last.0].iter().product();
    let whole = (0..lines).zip(x.lanes(last)).flat_map(|(_, line)| made(line.to_vec()));
    ArrayD::from_shape_vec(IxDyn(&shape), whole.collect()).ok()
}

fn scale<T: Part>(op: Fft, n: usize) -> T {
    T::of(match op.scale {
        FftScale::One => 1.0,
        FftScale::Inverse => 1.0 / n as f64,
        FftScale::Root => 1.0 / (n as f64).sqrt(),
    })
}

fn complex<T: Part>(op: Fft, n: usize, mut x: Vec<Complex<T>>) -> Vec<Complex<T>> {
    let any = AnyLength::new(n);
    x.resize(n, zero());
    let made = if op.inverse { turned(x, |x| any.run(x)) } else { any.run(x) };
    made.into_iter().map(|z| z * scale::<T>(op, n)).collect()
}

fn zero<T: Part>() -> Complex<T> {
    Complex::new(T::zero(), T::zero())
}

/// Returns `exp(-2πi·k/n)` for `k <= n/4`.
fn turns<T: Part>(n: usize) -> Vec<Complex<T>> {
    let roots = Roots::new(n);
    (0..=n / 4).map(|k| roots.at(k)).map(|(re, im)| Complex::new(T::of(re), T::of(-im))).collect()
}

fn from_real<T: Part>(op: Fft, n: usize, mut x: Vec<T>) -> Vec<Complex<T>> {
    x.resize(n, T::zero());
    let factor = scale::<T>(op, n);
    if n % 2 == 1 {
        let made = AnyLength::new(n).run(x.into_iter().map(|x| Complex::new(x, T::zero())).collect());
        return made.into_iter().take(n / 2 + 1).map(|z| z * factor).collect();
    }
    let half = n / 2;
    let z = AnyLength::new(half).run(x.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect());
    let mut all = vec![zero(); half + 1];
    all[0] = Complex::new((z[0].re + z[0].im) * factor, T::zero());
    all[half] = Complex::new((z[0].re - z[0].im) * factor, T::zero());
    for (k, w) in turns::<T>(n).iter().enumerate().skip(1) {
        let (a, b) = (z[k], z[half - k].conj());
        let (e, d) = ((a + b) * T::of(0.5), (a - b) * T::of(0.5));
        let t = Complex::new(w.re * d.im + w.im * d.re, w.im * d.im - w.re * d.re);
        all[half - k] = Complex::new((e.re - t.re) * factor, (t.im - e.im) * factor);
        all[k] = Complex::new((e.re + t.re) * factor, (e.im + t.im) * factor);
    }
    all
}

fn to_real<T: Part>(op: Fft, n: usize, mut x: Vec<Complex<T>>) -> Vec<T> {
    let (half, factor) = (n / 2, scale::<T>(op, n));
    x.resize(half + 1, zero());
    if n % 2 == 1 {
        let first = Complex::new(x[0].re, T::zero());
        let others = x[1..].iter().copied().chain(x[1..].iter().rev().map(Complex::conj));
        let made = turned([first].into_iter().chain(others).collect(), |x| AnyLength::new(n).run(x));
        return made.into_iter().map(|z| z.re * factor).collect();
    }
    let mut z = vec![zero(); half];
    z[0] = Complex::new(x[0].re + x[half].re, x[0].re - x[half].re);
    for (k, w) in turns::<T>(n).iter().enumerate().skip(1) {
        let (a, b) = (x[k], x[half - k].conj());
        let (e, d) = (a + b, a - b);
        let o = Complex::new(d.re * w.re + d.im * w.im, d.im * w.re - d.re * w.im);
        z[half - k] = Complex::new(e.re + o.im, o.re - e.im);
        z[k] = Complex::new(e.re - o.im, e.im + o.re);
    }
    turned(z, |z| AnyLength::new(half).run(z))
        .into_iter()
        .flat_map(|z| [z.re * factor, z.im * factor])
        .collect()
}
