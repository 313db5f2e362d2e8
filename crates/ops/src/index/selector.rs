//! The notation for a part of a tensor: one selector for each of its first dimensions.
//!
//! | selector | prop | integers it takes, in this order |
//! |---|---|---|
//! | an index, which removes the dimension | `"i"` | the index |
//! | a slice | the letters of the given parts: `b`egin, `e`nd, `s`tep; `""` is `:` | the given parts |
//!
//! Python's rules apply: negative numbers count from the end, and slices are clipped to the extent.

use crate::declared::Declared;
use crate::elements;
use precast_core::native::ErrorKind;
use precast_graph::{Array, Extent, MakeNodeError, PerformError, Prop, Type};

/// The selector of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selector {
    /// One index, which removes the dimension.
    Index,
    /// A slice, with a flag for each given part.
    Slice {
        /// Whether the first position is given.
        start: bool,
        /// Whether the end is given, i.e. the position after the last one.
        stop: bool,
        /// Whether the step is given.
        step: bool,
    },
}

impl Selector {
    /// Selects the whole dimension.
    pub const ALL: Self = Self::Slice { start: false, stop: false, step: false };

    /// Parses the selector of a prop; `None` if the text is invalid.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let has = |letter: char| text.contains(letter);
        let slice = Self::Slice { start: has('b'), stop: has('e'), step: has('s') };
        [Self::Index, slice].into_iter().find(|selector| selector.text() == text)
    }

    /// Returns the selector as the text of a prop.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Index => "i".to_owned(),
            Self::Slice { start, stop, step } => {
                let letters = [(start, 'b'), (stop, 'e'), (step, 's')];
                letters.into_iter().filter(|(given, _)| *given).map(|(_, letter)| letter).collect()
            }
        }
    }

    /// Returns the number of integers that the selector takes.
    #[must_use]
    pub fn integers(self) -> usize {
        match self {
            Self::Index => 1,
            Self::Slice { start, stop, step } => {
                [start, stop, step].into_iter().filter(|given| *given).count()
            }
        }
    }

    /// Returns the code in C: `PC_INDEX`, or the bits of the given parts.
    fn code(self) -> i64 {
        match self {
            Self::Index => -1,
            Self::Slice { start, stop, step } => {
                i64::from(start) | i64::from(stop) << 1 | i64::from(step) << 2
            }
        }
    }
}

/// Converts the selectors to a prop.
pub(super) fn prop(selectors: &[Selector]) -> Prop {
    Prop::List(selectors.iter().map(|selector| Prop::Str(selector.text())).collect())
}

/// Reads the selectors from the prop `index`.
pub(super) fn from_prop(declared: &Declared<'_>) -> Result<Vec<Selector>, MakeNodeError> {
    let wrong = || declared.wrong("index", "a list of `i` and of slices, such as `be`");
    let selector = |item: &Prop| match item {
        Prop::Str(text) => Selector::parse(text).ok_or_else(wrong),
        _ => Err(wrong()),
    };
    declared.list("index").ok_or_else(wrong)?.iter().map(selector).collect()
}

/// Returns the table for C: the number of selectors, then their codes.
pub(super) fn table(selectors: &[Selector]) -> Vec<i64> {
    std::iter::once(selectors.len() as i64).chain(selectors.iter().map(|selector| selector.code())).collect()
}

/// Checks the integers among the inputs, which begin at `first`, and returns the extents of the selected part of
/// input 0.
pub(super) fn part_type(
    op: &str,
    selectors: &[Selector],
    first: usize,
    inputs: &[Type],
) -> Result<Vec<Extent>, MakeNodeError> {
    let needed = first + selectors.iter().map(|selector| selector.integers()).sum::<usize>();
    MakeNodeError::expect_inputs(op, needed, inputs)?;
    (first..needed).try_for_each(|input| crate::declared::integer(op, input, inputs))?;
    let whole = crate::declared::tensor(op, 0, inputs)?;
    if selectors.len() > whole.shape.len() {
        let problem = format!("has {} indices for {} dimension(s)", selectors.len(), whole.shape.len());
        return Err(MakeNodeError::prop(op, "index", problem));
    }
    let kept = |(d, extent): (usize, &Extent)| match selectors.get(d) {
        Some(Selector::Index) => None,
        Some(Selector::Slice { start: false, stop: false, step: false }) | None => Some(*extent),
        Some(Selector::Slice { .. }) => Some(Extent::Unknown),
    };
    Ok(whole.shape.iter().enumerate().filter_map(kept).collect())
}

/// Resolves an index; a negative index counts from the end.
pub(super) fn position(op: &str, index: i64, axis: usize, extent: usize) -> Result<usize, PerformError> {
    let counted = i128::from(index) + if index < 0 { extent as i128 } else { 0 };
    usize::try_from(counted).ok().filter(|at| *at < extent).ok_or_else(|| {
        let problem = format!("index {index} is out of bounds for axis {axis} with size {extent}");
        PerformError::of_kind(op, ErrorKind::Index, problem)
    })
}

/// Returns the shape of a part of an array of shape `whole`, and the positions of its elements.
pub(super) fn part(
    op: &str,
    selectors: &[Selector],
    whole: &[usize],
    integers: &[&Array],
) -> Result<(Vec<usize>, Vec<usize>), PerformError> {
    let mut numbers = integers.iter();
    let mut next = |given: bool| {
        let number = if given { numbers.next() } else { None };
        number.map(|array| elements::integer(op, array)).transpose()
    };
    let (mut shape, mut steps, mut start_at) = (Vec::new(), Vec::new(), 0_i64);
    for (axis, (extent, step_of)) in whole.iter().zip(elements::steps(whole)).enumerate() {
        match selectors.get(axis).copied().unwrap_or(Selector::ALL) {
            Selector::Index => {
                let index = next(true)?.ok_or_else(|| elements::mismatch(op))?;
                start_at += (position(op, index, axis, *extent)? * step_of) as i64;
            }
            Selector::Slice { start, stop, step } => {
                let (start, stop, step) = (next(start)?, next(stop)?, next(step)?.unwrap_or(1));
                if step == 0 {
                    return Err(PerformError::value(op, "slice step cannot be zero"));
                }
                let all = slice(start, stop, step, *extent);
                if let Some(first) = all.first() {
                    start_at += first * step_of as i64;
                }
                shape.push(all.len());
                steps.push(all.get(1).map_or(0, |second| (second - all[0]) * step_of as i64));
            }
        }
    }
    let positions = elements::positions(&shape, start_at, &steps);
    Ok((shape, positions))
}

/// Returns the positions of a slice by walking it, which follows Python's definition literally.
fn slice(start: Option<i64>, stop: Option<i64>, step: i64, extent: usize) -> Vec<i64> {
    let n = extent as i128;
    let (low, high) = if step < 0 { (-1, n - 1) } else { (0, n) };
    let cut = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + n } else { bound }).clamp(low, high)
    };
    let mut at = start.map_or(if step < 0 { high } else { low }, cut);
    let end = stop.map_or(if step < 0 { low } else { high }, cut);
    let mut all = Vec::new();
    while if step < 0 { at > end } else { at < end } {
        all.push(at as i64);
        at += i128::from(step);
    }
    all
}
