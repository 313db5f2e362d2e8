//! The positions of quantiles in a line of sorted elements, by the methods of Hyndman and Fan and the additional
//! methods of NumPy.
//!
//! R. J. Hyndman, Y. Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996). With n
//! elements and a fraction q, the position is `n q + a + q (1 - a - b) - 1`, where `a` and `b` are the constants of a
//! method.

use super::super::operand::Operands;
use crate::declared::Declared;
use precast_graph::{BuildError, DType, MakeNodeError, Operand, VarId};

/// The method that computes the position of a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Method {
    Linear,
    Lower,
    Higher,
    Nearest,
    Midpoint,
    InvertedCdf,
    AveragedInvertedCdf,
    ClosestObservation,
    /// The constants `a` and `b`.
    Continuous(f64, f64),
}

/// The methods by their NumPy names.
const METHODS: [(&str, Method); 13] = [
    ("linear", Method::Linear),
    ("lower", Method::Lower),
    ("higher", Method::Higher),
    ("nearest", Method::Nearest),
    ("midpoint", Method::Midpoint),
    ("inverted_cdf", Method::InvertedCdf),
    ("averaged_inverted_cdf", Method::AveragedInvertedCdf),
    ("closest_observation", Method::ClosestObservation),
    ("interpolated_inverted_cdf", Method::Continuous(0.0, 1.0)),
    ("hazen", Method::Continuous(0.5, 0.5)),
    ("weibull", Method::Continuous(0.0, 0.0)),
    ("median_unbiased", Method::Continuous(1.0 / 3.0, 1.0 / 3.0)),
    ("normal_unbiased", Method::Continuous(3.0 / 8.0, 3.0 / 8.0)),
];

/// A position in a line.
pub(super) enum Position {
    At(VarId),
    /// A proportional position between two elements.
    Between {
        low: VarId,
        high: VarId,
        part: VarId,
    },
}

impl Method {
    /// Reads the method from the settings of a call.
    pub(super) fn read(declared: &Declared<'_>) -> Result<Self, MakeNodeError> {
        let name = declared.text("method")?;
        let found = METHODS.iter().find(|(known, _)| *known == name);
        found.map(|(_, method)| *method).ok_or_else(|| {
            let names: Vec<String> = METHODS.iter().map(|(name, _)| format!("`{name}`")).collect();
            declared.wrong("method", &format!("one of {}", names.join(", ")))
        })
    }

    /// Returns whether the result is always one of the elements.
    pub(super) fn is_discrete(self) -> bool {
        matches!(
            self,
            Self::Lower | Self::Higher | Self::Nearest | Self::InvertedCdf | Self::ClosestObservation
        )
    }

    /// Returns the position of fractions in lines of `count` elements.
    pub(super) fn position(
        self,
        operands: &mut Operands<'_>,
        fraction: VarId,
        count: &Operand,
    ) -> Result<Position, BuildError> {
        let dtype = operands.graph.ty(fraction).dtype();
        let last = operands.call("sub", [count.clone(), 1_i64.into()])?;
        let end = operands.cast(last, dtype)?;
        let linear = |operands: &mut Operands<'_>| operands.call("mul", [fraction.into(), end.into()]);
        let place = match self {
            Self::Linear => linear(operands)?,
            Self::Lower | Self::Higher | Self::Nearest => {
                let function = match self {
                    Self::Lower => "floor",
                    Self::Higher => "ceil",
                    _ => "round",
                };
                let place = linear(operands)?;
                operands.call(function, [place.into()])?
            }
            Self::Midpoint => {
                let place = linear(operands)?;
                let [below, above] = ["floor", "ceil"].map(|f| operands.call(f, [place.into()]));
                let sum = operands.call("add", [below?.into(), above?.into()])?;
                operands.call("mul", [sum.into(), 0.5.into()])?
            }
            Self::InvertedCdf | Self::ClosestObservation => {
                let shift = if self == Self::InvertedCdf { 0.0 } else { 0.5 };
                let place = counted(operands, fraction, count, shift)?;
                self.chosen(operands, place)?
            }
            Self::AveragedInvertedCdf => counted(operands, fraction, count, 0.0)?,
            Self::Continuous(a, b) => {
                let whole = operands.cast_operand(count, dtype)?;
                let whole = operands.call("mul", [whole.into(), fraction.into()])?;
                let more = operands.call("mul", [fraction.into(), (1.0 - a - b).into()])?;
                let more = operands.call("add", [more.into(), a.into()])?;
                let sum = operands.call("add", [whole.into(), more.into()])?;
                operands.call("sub", [sum.into(), 1.0.into()])?
            }
        };
        let floor = operands.call("floor", [place.into()])?;
        let low = within(operands, floor, last, 0)?;
        if self.is_discrete() {
            return Ok(Position::At(low));
        }
        let mut part = operands.call("sub", [place.into(), floor.into()])?;
        if self == Self::AveragedInvertedCdf {
            let whole = operands.call("eq", [part.into(), 0.0.into()])?;
            let half = operands.call("where", [whole.into(), 0.5.into(), 1.0.into()])?;
            part = operands.cast(half, dtype)?;
        }
        Ok(Position::Between { low, high: within(operands, floor, last, 1)?, part })
    }

    /// Returns the integer below a position if the method selects it, otherwise the integer above.
    fn chosen(self, operands: &mut Operands<'_>, place: VarId) -> Result<VarId, BuildError> {
        let floor = operands.call("floor", [place.into()])?;
        let mut below = operands.call("eq", [place.into(), floor.into()])?;
        if self == Self::ClosestObservation {
            let odd = operands.call("mod", [floor.into(), 2.0.into()])?;
            let odd = operands.call("eq", [odd.into(), 1.0.into()])?;
            below = operands.call("logical_and", [below.into(), odd.into()])?;
        }
        let next = operands.call("add", [floor.into(), 1.0.into()])?;
        operands.call("where", [below.into(), floor.into(), next.into()])
    }
}

/// Computes `n q - 1 - shift`.
fn counted(
    operands: &mut Operands<'_>,
    fraction: VarId,
    count: &Operand,
    shift: f64,
) -> Result<VarId, BuildError> {
    let count = operands.cast_operand(count, operands.graph.ty(fraction).dtype())?;
    let place = operands.call("mul", [count.into(), fraction.into()])?;
    let place = operands.call("sub", [place.into(), 1.0.into()])?;
    if shift == 0.0 { Ok(place) } else { operands.call("sub", [place.into(), shift.into()]) }
}

/// Returns an integer plus `more` as a position, clamped to the line.
fn within(operands: &mut Operands<'_>, floor: VarId, last: VarId, more: i64) -> Result<VarId, BuildError> {
    let place = operands.cast(floor, DType::I64)?;
    let place = if more == 0 { place } else { operands.call("add", [place.into(), more.into()])? };
    let place = operands.call("minimum", [place.into(), last.into()])?;
    operands.call("maximum", [place.into(), 0_i64.into()])
}
