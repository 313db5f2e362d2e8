//! Fourier transforms along one or more axes, frequencies, and the order of NumPy's plots.

use super::operand::Operands;
use super::settings::axes;
use crate::declared::Declared;
use crate::fft::{Fft, FftKind, FftScale};
use crate::rows::Row;
use precast_graph::{BuildError, DType, Literal, MakeNodeError, Operand, Props, VarId};

/// A transform along one axis.
#[derive(Clone, Copy)]
struct Transform {
    kind: FftKind,
    inverse: bool,
}

const FORWARD: Transform = Transform { kind: FftKind::Complex, inverse: false };
const INVERSE: Transform = Transform { kind: FftKind::Complex, inverse: true };
const FROM_REAL: Transform = Transform { kind: FftKind::FromReal, inverse: false };
const TO_REAL: Transform = Transform { kind: FftKind::ToReal, inverse: true };

impl Transform {
    fn scale(self, operands: &Operands<'_>, props: &Props) -> Result<FftScale, MakeNodeError> {
        let declared = Declared::bound(operands.function, props);
        let norm = if declared.has("norm") { declared.text("norm")? } else { "backward" };
        match (norm, self.inverse) {
            ("ortho", _) => Ok(FftScale::Root),
            ("backward", true) | ("forward", false) => Ok(FftScale::Inverse),
            ("backward", false) | ("forward", true) => Ok(FftScale::One),
            _ => Err(declared.wrong("norm", "`backward`, `ortho` or `forward`")),
        }
    }

    /// Transforms `n` elements along an axis, or all of them.
    fn apply(
        self,
        operands: &mut Operands<'_>,
        (x, axis): (VarId, usize),
        n: Option<Count>,
        scale: FftScale,
    ) -> Result<VarId, BuildError> {
        let x = as_wanted(operands, x, self.kind)?;
        let last = operands.ndim(x) - 1;
        // The axis and the last one change places.
        let place = |d| {
            if d == axis {
                last
            } else if d == last {
                axis
            } else {
                d
            }
        };
        let order: Vec<_> = (0..=last).map(|d| Some(place(d))).collect();
        let turned = if axis == last { x } else { operands.shuffled(x, order.clone())? };
        let op = |n| Fft { kind: self.kind, inverse: self.inverse, scale, n };
        let made = match n {
            None => operands.apply(op(None), &[turned])?,
            Some(Count::Known(n)) => operands.apply(op(Some(n)), &[turned])?,
            Some(Count::Computed(n)) => operands.apply(op(None), &[turned, n])?,
        };
        if axis == last { Ok(made) } else { operands.shuffled(made, order) }
    }
}

/// A number of elements.
#[derive(Clone, Copy)]
enum Count {
    Known(usize),
    Computed(VarId),
}

/// Casts to the dtype that a transform needs: f32 and smaller floats remain as exact, all others become f64.
fn as_wanted(operands: &mut Operands<'_>, x: VarId, kind: FftKind) -> Result<VarId, BuildError> {
    let found = operands.graph.ty(x).dtype();
    let is_single = matches!(found.real(), DType::F16 | DType::Bf16 | DType::F32);
    if kind != FftKind::FromReal {
        return operands.cast(x, if is_single { DType::C64 } else { DType::C128 });
    }
    if found.is_complex() {
        let (op, expected) = (operands.function.to_owned(), "real elements".to_owned());
        return Err(MakeNodeError::DType { op, input: 0, found, expected }.into());
    }
    operands.cast(x, if is_single { DType::F32 } else { DType::F64 })
}

/// Returns a number of elements; `None` for all.
fn count(operands: &mut Operands<'_>, given: Option<&Operand>) -> Result<Option<Count>, BuildError> {
    match given {
        None | Some(Operand::None) => Ok(None),
        Some(Operand::Literal(Literal::Int(n))) => match i64::try_from(n) {
            Ok(-1) => Ok(None),
            Ok(n) if n > 0 => Ok(usize::try_from(n).ok().map(Count::Known)),
            _ => Err(operands.error("needs a positive number of elements")),
        },
        Some(given) => {
            let given = [given.clone()];
            operands.with(&given).integer(0).map(|n| Some(Count::Computed(n)))
        }
    }
}

/// Returns the first argument, and its dimensions, of which there is at least one.
fn argument(operands: &mut Operands<'_>) -> Result<(VarId, usize), BuildError> {
    operands.expect_between(1, 2)?;
    let x = operands.variable(0)?;
    match operands.ndim(x) {
        0 => Err(operands.error("needs at least one dimension")),
        ndim => Ok((x, ndim)),
    }
}

/// Builds `fft(x, n, axis, norm)`.
pub(super) fn fft(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<VarId, BuildError> {
    along_axis(operands, "fft", props)
}

/// Builds `ifft`, `rfft`, `irfft`, `hfft` and `ihfft`, which have the parameters of `fft`.
pub(super) fn fft_by_name(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    along_axis(operands, row.name, props).map(Operand::Var)
}

fn along_axis(operands: &mut Operands<'_>, name: &str, props: &Props) -> Result<VarId, BuildError> {
    let (mut x, ndim) = argument(operands)?;
    let axis = operands.axis(Declared::bound(operands.function, props).int("axis")?.unwrap_or(-1), ndim)?;
    let given = operands.args.get(1).cloned();
    let n = count(operands, given.as_ref())?;
    let transform = match name {
        "ifft" => INVERSE,
        "rfft" | "ihfft" => FROM_REAL,
        "irfft" | "hfft" => TO_REAL,
        _ => FORWARD,
    };
    // The transforms of Hermitian elements have the opposite sign, and the division of the opposite direction.
    let scaled = match name {
        "hfft" => FORWARD,
        "ihfft" => INVERSE,
        _ => transform,
    };
    let scale = scaled.scale(operands, props)?;
    if name == "hfft" {
        x = operands.call("conj", [x.into()])?;
    }
    let made = transform.apply(operands, (x, axis), n, scale)?;
    if name == "ihfft" { operands.call("conj", [made.into()]) } else { Ok(made) }
}

/// Builds `fft2`, `fftn` and the like, by one transform for each axis.
pub(super) fn fft_over_axes(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    let (mut x, ndim) = argument(operands)?;
    let counts = match operands.args.get(1) {
        None | Some(Operand::None) => None,
        Some(Operand::List(items)) => Some(items.clone()),
        Some(one) => Some(vec![one.clone()]),
    };
    let last = match &counts {
        _ if row.name.ends_with('2') => 2,
        Some(counts) => counts.len(),
        None => ndim,
    };
    let axes = match axes(operands.function, "axes", props, ndim)? {
        Some(axes) => axes,
        None if last <= ndim => (ndim - last..ndim).collect(),
        None => return Err(operands.error(format!("needs at least {last} dimensions"))),
    };
    if counts.as_ref().is_some_and(|counts| counts.len() != axes.len()) {
        return Err(operands.error("needs as many elements of `s` as axes"));
    }
    let kinds = [("i", INVERSE, INVERSE), ("r", FORWARD, FROM_REAL), ("ir", INVERSE, TO_REAL)];
    let prefix = row.name.split("fft").next().unwrap_or_default();
    let (_, of_others, of_last) =
        kinds.into_iter().find(|(name, ..)| *name == prefix).unwrap_or(("", FORWARD, FORWARD));
    let mut steps: Vec<(usize, Transform)> = (0..axes.len()).map(|at| (at, of_others)).collect();
    if let Some(step) = steps.last_mut() {
        step.1 = of_last;
    }
    // Real elements are transformed first, and made last.
    if of_last.kind != FftKind::ToReal {
        steps.reverse();
    }
    for (at, transform) in steps {
        let n = count(operands, counts.as_ref().map(|all| &all[at]))?;
        let scale = transform.scale(operands, props)?;
        x = transform.apply(operands, (x, axes[at]), n, scale)?;
    }
    Ok(x.into())
}

/// Builds `fftfreq(n, d)` and `rfftfreq(n, d)`.
pub(super) fn fft_frequencies(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let n = operands.integer(0)?;
    let is_count = operands.call("ge", [n.into(), 0_i64.into()])?;
    let n = operands.demand(n, is_count, "a number of samples cannot be negative")?;
    let distance = Declared::bound(operands.function, props).float("d")?;
    let names = [("n", n.into()), ("d", distance.into())];
    let text = if row.name == "rfftfreq" {
        "arange(n // 2 + 1) / (n * d)"
    } else {
        "(mod(arange(n) + n // 2, n) - n // 2) / (n * d)"
    };
    operands.expression(text, &names).map(Operand::Var)
}

/// Builds `fftshift(x, axes)` and `ifftshift(x, axes)`.
pub(super) fn fft_shifted(
    operands: &mut Operands<'_>,
    row: &Row,
    props: &Props,
) -> Result<Operand, BuildError> {
    operands.expect(1)?;
    let mut x = operands.variable(0)?;
    let ndim = operands.ndim(x);
    let axes = axes(operands.function, "axes", props, ndim)?.unwrap_or_else(|| (0..ndim).collect());
    for axis in axes {
        let n = operands.extent(x, axis)?;
        let half = operands.call("floor_div", [n.clone(), 2_i64.into()])?;
        let shift: Operand =
            if row.name == "fftshift" { half.into() } else { operands.call("neg", [half.into()])?.into() };
        let axis = i64::try_from(axis).unwrap_or(i64::MAX);
        x = operands.call_with("roll", &[x.into(), shift], &[("axis", axis.into())])?;
    }
    Ok(x.into())
}
