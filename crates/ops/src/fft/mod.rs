//! Discrete Fourier transforms.

mod lines;
mod passes;
mod roots;

use crate::call::{Call, Called, called};
use crate::declared::{Declared, integer, of, position, refuse, tensor};
use crate::elements;
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Number, Op, PerformError, Prop, Props, Type};
use std::sync::Arc;

const NAME: &str = "fft";

/// The most elements of a line.
const MOST: i64 = 1 << 40;

/// The elements of both sides of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FftKind {
    /// Complex elements to as many complex ones.
    Complex,
    /// `n` real elements to the first `n/2 + 1` complex ones.
    FromReal,
    /// The first `n/2 + 1` complex elements to `n` real ones, by the inverse transform.
    ToReal,
}

/// The factor of the results of `n` elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FftScale {
    /// 1.
    One,
    /// 1/n.
    Inverse,
    /// 1/√n.
    Root,
}

impl FftKind {
    const ALL: [(Self, &str); 3] =
        [(Self::Complex, "complex"), (Self::FromReal, "from_real"), (Self::ToReal, "to_real")];
}

impl FftScale {
    const ALL: [(Self, &str); 3] = [(Self::One, "one"), (Self::Inverse, "inverse"), (Self::Root, "root")];
}

/// An op that transforms the lines along the last axis. A line of `n` elements is cut or filled with zeros. It has the
/// same bits at all ISA levels.
///
/// # Shapes
/// `x[…, m] -> […, n]`, or `[…, n/2 + 1]` from real elements. `n` is a prop or a second input, `i64[]`; without it, it is
/// the extent, or `2·(m - 1)` to real elements.
///
/// # Dtypes
/// f32, f64, c64 and c128, as the kind demands.
///
/// # Errors
/// At run time: `n` is not positive.
///
/// # Source
/// NumPy, `numpy.fft`. J. W. Cooley, J. W. Tukey, 1965; L. I. Bluestein, 1968.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fft {
    /// The elements of both sides.
    pub kind: FftKind,
    /// Whether complex elements are transformed by the inverse.
    pub inverse: bool,
    /// The factor of the results.
    pub scale: FftScale,
    /// The number of elements, if it is known, and not that of the lines.
    pub n: Option<usize>,
}

impl Fft {
    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// An unknown or invalid prop.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["inverse", "kind", "n", "scale"])?;
        Ok(Arc::new(Self {
            kind: one_of(&declared, "kind", &FftKind::ALL)?,
            inverse: declared.flag("inverse")?,
            scale: one_of(&declared, "scale", &FftScale::ALL)?,
            n: if declared.has("n") { Some(declared.count("n")?) } else { None },
        }))
    }

    /// Returns the number of transformed elements for lines of `given` elements.
    fn count(&self, given: usize) -> usize {
        self.n.unwrap_or(if self.kind == FftKind::ToReal { 2 * given.saturating_sub(1) } else { given })
    }

    fn result(&self, input: DType) -> DType {
        match (self.kind, input.real() == DType::F32) {
            (FftKind::ToReal, _) => input.real(),
            (_, true) => DType::C64,
            (_, false) => DType::C128,
        }
    }
}

/// Returns the value that a text prop names.
fn one_of<T: Copy>(declared: &Declared<'_>, prop: &str, all: &[(T, &str)]) -> Result<T, MakeNodeError> {
    let text = declared.text(prop)?;
    let expected = all.iter().map(|(_, name)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    all.iter()
        .find(|(_, name)| *name == text)
        .map(|(one, _)| *one)
        .ok_or_else(|| declared.wrong(prop, &expected))
}

/// Returns the name of a value.
fn name_of<T: PartialEq>(value: &T, all: &[(T, &'static str)]) -> Prop {
    Prop::Str(all.iter().find(|(one, _)| one == value).map_or("", |(_, name)| name).to_owned())
}

impl Op for Fft {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let mut props = Props::from([
            ("inverse".to_owned(), Prop::Bool(self.inverse)),
            ("kind".to_owned(), name_of(&self.kind, &FftKind::ALL)),
            ("scale".to_owned(), name_of(&self.scale, &FftScale::ALL)),
        ]);
        props.extend(self.n.map(|n| ("n".to_owned(), position(n))));
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let is_computed = inputs.len() == 2 && self.n.is_none();
        MakeNodeError::expect_inputs(NAME, if is_computed { 2 } else { 1 }, inputs)?;
        if is_computed {
            integer(NAME, 1, inputs)?;
        }
        let x = tensor(NAME, 0, inputs)?;
        let (dtypes, expected) = if self.kind == FftKind::FromReal {
            ([DType::F32, DType::F64], "a tensor of f32 or f64 with at least one dimension")
        } else {
            ([DType::C64, DType::C128], "a tensor of c64 or c128 with at least one dimension")
        };
        if !dtypes.contains(&x.dtype) || x.shape.is_empty() {
            return Err(refuse(NAME, 0, &inputs[0], expected));
        }
        let mut shape = x.shape.clone();
        if let Some(last) = shape.last_mut() {
            let given = match *last {
                Extent::Fixed(given) if !is_computed => usize::try_from(given).ok(),
                _ => None,
            };
            *last = match self.n.or(given.map(|given| self.count(given))) {
                Some(n) if self.kind == FftKind::FromReal => Extent::Fixed(n as u64 / 2 + 1),
                Some(n) => Extent::Fixed(n as u64),
                None => Extent::Unknown,
            };
        }
        Ok(vec![of(self.result(x.dtype), shape)])
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let given = inputs[0].shape().last().copied().unwrap_or(0);
        let n = match inputs.get(1).and_then(|n| n.numbers().into_iter().next()) {
            Some(Number::Int(n)) => i64::try_from(n).unwrap_or(i64::MAX),
            _ => i64::try_from(self.count(given)).unwrap_or(i64::MAX),
        };
        if !(1..=MOST).contains(&n) {
            let message = format!("a Fourier transform needs 1 to {MOST} elements, found {n}");
            return Err(PerformError::value(NAME, message));
        }
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        lines::check_room(*self, n, inputs[0].shape())?;
        let made = lines::transform(*self, n, inputs[0]);
        made.map(|made| vec![made]).ok_or_else(|| elements::mismatch(NAME))
    }
}

impl Called for Fft {
    const HEADER: &'static str = "precast/ops/fft/fft.h";

    fn call(&self, node: &Node) -> Call {
        let is_single = node.inputs[0].dtype().real() == DType::F32;
        let n = self.n.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
        let props = vec![self.kind as i64, i64::from(self.inverse), self.scale as i64, n];
        Call::of(if is_single { "pc_fft_f32" } else { "pc_fft_f64" }, props)
    }
}
called!(Fft);
