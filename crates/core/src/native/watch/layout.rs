//! Layouts of arrays in memory.

/// The layout of an array in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// C order without gaps.
    C,
    /// Fortran order without gaps.
    Fortran,
    /// A gap of one element after each, in every dimension.
    Strided,
    /// All strides are negative.
    Reversed,
    /// Gaps and a negative stride in the last dimension.
    ReversedStrided,
    /// The first dimension has stride 0; all its elements must be equal.
    Broadcast,
}

impl Layout {
    /// The layouts that any array can have.
    pub const ANY: [Self; 5] = [Self::C, Self::Fortran, Self::Strided, Self::Reversed, Self::ReversedStrided];

    /// Returns the name in messages, such as `strided`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::C => "contiguous",
            Self::Fortran => "Fortran-ordered",
            Self::Strided => "strided",
            Self::Reversed => "reversed",
            Self::ReversedStrided => "reversed and strided",
            Self::Broadcast => "broadcast",
        }
    }
}

/// The positions of the elements, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    pub(super) strides: Vec<i64>,
    /// The distance from the lowest address to the first element.
    pub(super) offset: usize,
    /// The distance from the lowest address to the end of the highest element; 0 for an empty array.
    pub(super) span: usize,
}

/// Lays out elements of `item` bytes.
pub(super) fn lay_out(shape: &[usize], item: usize, layout: Layout) -> Steps {
    let mut strides = vec![0_i64; shape.len()];
    let mut step = item as i64;
    let mut axes: Vec<usize> = (0..shape.len()).rev().collect();
    if layout == Layout::Fortran {
        axes.reverse();
    }
    for axis in axes {
        let is_last = axis + 1 == shape.len();
        if layout == Layout::Broadcast && axis == 0 {
            continue;
        }
        let gaps = match layout {
            Layout::Strided => 2,
            Layout::ReversedStrided if is_last => 2,
            _ => 1,
        };
        let sign = match layout {
            Layout::Reversed => -1,
            Layout::ReversedStrided if is_last => -1,
            _ => 1,
        };
        strides[axis] = sign * gaps * step;
        step *= gaps * shape[axis].max(1) as i64;
    }
    if shape.contains(&0) {
        return Steps { strides, offset: 0, span: 0 };
    }
    let reach = |(stride, extent): (&i64, &usize)| stride * (*extent as i64 - 1);
    let low: i64 = strides.iter().zip(shape).map(reach).filter(|reach| *reach < 0).sum();
    let high: i64 = strides.iter().zip(shape).map(reach).filter(|reach| *reach > 0).sum();
    Steps { strides, offset: low.unsigned_abs() as usize, span: (high - low) as usize + item }
}

/// Returns the byte offset of each element from the first element, in C order.
pub(super) fn offsets(shape: &[usize], strides: &[i64]) -> impl Iterator<Item = i64> {
    let count = shape.iter().product::<usize>();
    let (shape, strides) = (shape.to_vec(), strides.to_vec());
    let mut index = vec![0_usize; shape.len()];
    (0..count).map(move |_| {
        let offset = index.iter().zip(&strides).map(|(i, s)| *i as i64 * s).sum();
        for (i, extent) in index.iter_mut().zip(&shape).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
        offset
    })
}

#[cfg(test)]
mod tests {
    use super::{Layout, lay_out, offsets};

    #[test]
    fn every_element_has_its_own_place() {
        for shape in [&[][..], &[5], &[3, 4], &[2, 3, 4], &[1, 1]] {
            for layout in Layout::ANY {
                let steps = lay_out(shape, 8, layout);
                let mut places: Vec<i64> =
                    offsets(shape, &steps.strides).map(|o| o + steps.offset as i64).collect();
                assert!(
                    places.iter().all(|p| *p >= 0 && *p as usize + 8 <= steps.span),
                    "{layout:?} {shape:?}"
                );
                let count = places.len();
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), count);
                assert_eq!((places[0], places[count - 1] as usize + 8), (0, steps.span));
            }
        }
    }

    #[test]
    fn layouts_have_the_documented_strides() {
        let strides = |layout| lay_out(&[3, 4], 8, layout).strides;
        assert_eq!(strides(Layout::C), [32, 8]);
        assert_eq!(strides(Layout::Fortran), [8, 24]);
        assert_eq!(strides(Layout::Strided), [128, 16]);
        assert_eq!(strides(Layout::Reversed), [-32, -8]);
        assert_eq!(strides(Layout::ReversedStrided), [64, -16]);
        assert_eq!(strides(Layout::Broadcast), [0, 8]);
    }
}
