//! The same values in different memory layouts, which must not affect a kernel.
//!
//! An owned array cannot have a stride of 0; use `broadcast` of ndarray for a view with such a stride.

use ndarray::{ArrayD, Axis, IxDyn, Slice};
use precast_graph::{Array, with_array};

/// The memory layout of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layout {
    /// The last dimension is contiguous, without gaps.
    C,
    /// The first dimension is contiguous, without gaps.
    Fortran,
    /// Two elements of memory for each element in every dimension. The gaps hold other elements of the array, so that
    /// code that reads them gets a wrong value rather than 0.
    Strided,
    /// Every stride is negative.
    Reversed,
    /// Gaps and a negative stride in the last dimension only.
    ReversedStrided,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Self; 5] = [Self::C, Self::Fortran, Self::Strided, Self::Reversed, Self::ReversedStrided];
}

/// Returns an array of equal values with the given layout.
///
/// # Examples
/// ```
/// use precast_testkit::layout::{Layout, lay_out};
/// let a = ndarray::arr1(&[1.0, 2.0, 3.0]).into_dyn();
/// let reversed = lay_out(&a, Layout::Reversed);
/// assert_eq!((reversed.strides(), &reversed), (&[-1][..], &a));
/// ```
#[must_use]
pub fn lay_out<T: Clone>(array: &ArrayD<T>, layout: Layout) -> ArrayD<T> {
    let last = array.ndim().checked_sub(1);
    match layout {
        Layout::C => collect(array, array.shape()),
        Layout::Fortran => collect(&array.clone().reversed_axes(), array.t().shape()).reversed_axes(),
        Layout::Strided => spread(array, |_| true),
        Layout::Reversed => reverse(array.clone(), |_| true, |flipped| collect(flipped, flipped.shape())),
        Layout::ReversedStrided => {
            let chosen = |axis| Some(axis) == last;
            reverse(array.clone(), chosen, |flipped| spread(flipped, chosen))
        }
    }
}

/// Does the same as [`lay_out`] for an array of any dtype.
#[must_use]
pub fn lay_out_any(array: &Array, layout: Layout) -> Array {
    with_array!(array, a => Array::from(lay_out(a, layout)))
}

/// Copies the elements in C order.
fn collect<T: Clone>(array: &ArrayD<T>, shape: &[usize]) -> ArrayD<T> {
    let elements: Vec<T> = array.iter().cloned().collect();
    ArrayD::from_shape_vec(IxDyn(shape), elements).expect("as many elements as before")
}

/// Reverses the chosen dimensions twice: the values before `lay`, the strides after it.
fn reverse<T: Clone>(
    mut array: ArrayD<T>,
    chosen: impl Fn(usize) -> bool,
    lay: impl FnOnce(&ArrayD<T>) -> ArrayD<T>,
) -> ArrayD<T> {
    let axes: Vec<Axis> = (0..array.ndim()).filter(|axis| chosen(*axis)).map(Axis).collect();
    axes.iter().for_each(|axis| array.invert_axis(*axis));
    let mut result = lay(&array);
    axes.iter().for_each(|axis| result.invert_axis(*axis));
    result
}

/// Doubles the chosen dimensions in memory and keeps every second element of them.
fn spread<T: Clone>(array: &ArrayD<T>, chosen: impl Fn(usize) -> bool) -> ArrayD<T> {
    if array.is_empty() {
        return array.clone();
    }
    let shape: Vec<usize> =
        array.shape().iter().enumerate().map(|(axis, n)| if chosen(axis) { 2 * n } else { *n }).collect();
    let size = shape.iter().product();
    let elements: Vec<T> = array.iter().cycle().skip(1).take(size).cloned().collect();
    let mut wide = ArrayD::from_shape_vec(IxDyn(&shape), elements).expect("a cycle is as long as asked");
    for axis in (0..array.ndim()).filter(|axis| chosen(*axis)) {
        wide.slice_axis_inplace(Axis(axis), Slice::new(0, None, 2));
    }
    wide.assign(array);
    wide
}

#[cfg(test)]
mod tests {
    use super::{Layout, lay_out};
    use ndarray::{ArrayD, IxDyn};

    fn counted(shape: &[usize]) -> ArrayD<i64> {
        let size: usize = shape.iter().product();
        ArrayD::from_shape_vec(IxDyn(shape), (0..size as i64).collect()).unwrap()
    }

    #[test]
    fn layouts_keep_the_values() {
        for shape in [&[][..], &[5], &[0], &[3, 4], &[2, 0, 3], &[2, 3, 4], &[1, 1]] {
            for layout in Layout::ALL {
                assert_eq!(lay_out(&counted(shape), layout), counted(shape), "{layout:?} of {shape:?}");
            }
        }
    }

    #[test]
    fn layouts_have_the_documented_strides() {
        let strides = |layout| lay_out(&counted(&[3, 4]), layout).strides().to_vec();
        assert_eq!(strides(Layout::C), [4, 1]);
        assert_eq!(strides(Layout::Fortran), [1, 3]);
        assert_eq!(strides(Layout::Strided), [16, 2]);
        assert_eq!(strides(Layout::Reversed), [-4, -1]);
        assert_eq!(strides(Layout::ReversedStrided), [8, -2]);
    }
}
