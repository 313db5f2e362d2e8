//! Borrowed arrays of any dtype: what a call takes, and what it may write to.

use crate::{Array, DType};
use ndarray::{ArrayView, ArrayViewMut, Dimension, IxDyn};
use std::ffi::c_char;
use std::marker::PhantomData;

/// Extents and strides; kept in place up to 8 dimensions, so that borrowing such an array allocates nothing.
#[derive(Debug, Clone)]
struct Shape {
    ndim: usize,
    extents: [usize; IN_PLACE],
    /// In elements, may be 0 or negative.
    strides: [isize; IN_PLACE],
    /// All of them, when there are more.
    more: Option<Box<(Vec<usize>, Vec<isize>)>>,
}

/// Dimensions that are kept in place.
const IN_PLACE: usize = 8;

impl Shape {
    fn new(extents: &[usize], strides: &[isize]) -> Self {
        let ndim = extents.len();
        let mut shape = Self { ndim, extents: [0; IN_PLACE], strides: [0; IN_PLACE], more: None };
        if ndim <= IN_PLACE {
            shape.extents[..ndim].copy_from_slice(extents);
            shape.strides[..ndim].copy_from_slice(strides);
        } else {
            shape.more = Some(Box::new((extents.to_vec(), strides.to_vec())));
        }
        shape
    }

    fn extents(&self) -> &[usize] {
        self.more.as_ref().map_or(&self.extents[..self.ndim.min(IN_PLACE)], |more| &more.0)
    }

    fn strides(&self) -> &[isize] {
        self.more.as_ref().map_or(&self.strides[..self.ndim.min(IN_PLACE)], |more| &more.1)
    }
}

/// Memory described: dtype, first element, extents, strides.
#[derive(Debug, Clone)]
pub(super) struct RawView {
    dtype: DType,
    data: *mut c_char,
    shape: Shape,
}

impl RawView {
    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    pub(super) fn data(&self) -> *mut c_char {
        self.data
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.shape.extents()
    }

    /// The steps in bytes, may be 0 or negative.
    pub(super) fn strides_bytes(&self) -> impl Iterator<Item = i64> + '_ {
        let itemsize = self.dtype.itemsize_bytes() as i64;
        self.shape.strides().iter().map(move |s| *s as i64 * itemsize)
    }
}

/// A borrowed array of any dtype, rank and strides.
///
/// # Examples
/// ```
/// use precast_core::ArrayRef;
/// let x = ndarray::array![[1.0, 2.0], [3.0, 4.0]];
/// let reversed = ArrayRef::from(x.slice(ndarray::s![..;-1, ..]));
/// assert_eq!(reversed.shape(), [2, 2]);
/// ```
#[derive(Debug, Clone)]
pub struct ArrayRef<'a> {
    pub(super) view: RawView,
    borrowed: PhantomData<&'a [u8]>,
}

// SAFETY: an `ArrayRef` is a shared borrow of plain numbers.
unsafe impl Send for ArrayRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for ArrayRef<'_> {}

/// A borrowed array that a call writes its result to; its shape must be that of the result.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    pub(super) view: RawView,
    borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: an `ArrayMut` is an exclusive borrow of plain numbers.
unsafe impl Send for ArrayMut<'_> {}

macro_rules! described {
    ($($borrow:ident),*) => {$(
        impl $borrow<'_> {
            /// Type of the elements.
            #[must_use]
            pub fn dtype(&self) -> DType {
                self.view.dtype
            }

            /// The extents, outermost first.
            #[must_use]
            pub fn shape(&self) -> &[usize] {
                self.view.shape()
            }
        }
    )*};
}
described!(ArrayRef, ArrayMut);

impl ArrayMut<'_> {
    /// Copies the elements of an array of the same dtype and shape; `false` if it has another.
    pub fn assign(&mut self, array: &Array) -> bool {
        if array.dtype() != self.dtype() || array.shape() != self.shape() {
            return false;
        }
        let strides: Vec<i64> = self.view.strides_bytes().collect();
        let mut index = vec![0_usize; array.shape().len()];
        crate::with_array!(array, elements => {
            for element in elements {
                let offset: i64 = index.iter().zip(&strides).map(|(i, s)| *i as i64 * s).sum();
                // SAFETY: the index is within the extents, so the address is an element of the borrowed memory.
                let target = unsafe { self.view.data.offset(offset as isize) };
                // SAFETY: the memory has this dtype, and `self` borrows it exclusively.
                unsafe { write(target, *element) };
                advance(&mut index, array.shape());
            }
        });
        true
    }
}

/// Writes one element.
///
/// # Safety
/// `target` is an element of type `T` that the caller may write.
unsafe fn write<T>(target: *mut c_char, element: T) {
    // SAFETY: as promised by the caller.
    unsafe { target.cast::<T>().write(element) };
}

/// The next index in C order.
fn advance(index: &mut [usize], shape: &[usize]) {
    for (i, extent) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < *extent {
            return;
        }
        *i = 0;
    }
}

macro_rules! conversions {
    ($($dtype:ident => $element:ty),*) => {$(
        impl<'a, D: Dimension> From<ArrayView<'a, $element, D>> for ArrayRef<'a> {
            fn from(view: ArrayView<'a, $element, D>) -> Self {
                let shape = Shape::new(view.shape(), view.strides());
                let data = view.as_ptr().cast_mut().cast();
                Self { view: RawView { dtype: DType::$dtype, data, shape }, borrowed: PhantomData }
            }
        }

        impl<'a, D: Dimension> From<ArrayViewMut<'a, $element, D>> for ArrayMut<'a> {
            fn from(mut view: ArrayViewMut<'a, $element, D>) -> Self {
                let shape = Shape::new(view.shape(), view.strides());
                let data = view.as_mut_ptr().cast();
                Self { view: RawView { dtype: DType::$dtype, data, shape }, borrowed: PhantomData }
            }
        }
    )*};
}
crate::for_each_dtype!(conversions);

impl<'a> From<&'a Array> for ArrayRef<'a> {
    fn from(array: &'a Array) -> Self {
        crate::with_array!(array, a => a.view().into())
    }
}

impl<'a> From<&'a mut Array> for ArrayMut<'a> {
    fn from(array: &'a mut Array) -> Self {
        crate::with_array!(array, a => a.view_mut().into())
    }
}

/// Reading tensors that modules made; the raw side, in this file because it needs the fields.
mod raw {
    use super::{ArrayRef, DType, IxDyn, PhantomData, RawView, Shape, c_char};
    use crate::Array;
    use ndarray::{ArrayD, ArrayView, ShapeBuilder as _};

    impl<'a> ArrayRef<'a> {
        /// What a tensor holds; `None` if the dtype is unknown or a stride is not a whole number of elements.
        pub fn from_raw(
            typenum: i32,
            data: *mut c_char,
            shape: &'a [i64],
            strides: &'a [i64],
        ) -> Option<Self> {
            let dtype = DType::from_typenum(typenum)?;
            let itemsize = dtype.itemsize_bytes() as i64;
            let extents: Vec<usize> =
                shape.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>()?;
            let whole = |step: &i64| (step % itemsize == 0).then(|| isize::try_from(step / itemsize).ok())?;
            let strides: Vec<isize> = strides.iter().map(whole).collect::<Option<_>>()?;
            let view = RawView { dtype, data, shape: Shape::new(&extents, &strides) };
            Some(Self { view, borrowed: PhantomData })
        }

        /// Whether the elements lie in C order without gaps.
        pub fn is_standard_layout(&self) -> bool {
            let mut step = 1_isize;
            for (extent, stride) in self.view.shape.extents().iter().zip(self.view.shape.strides()).rev() {
                if *extent > 1 && *stride != step {
                    return self.shape().contains(&0);
                }
                step = step.saturating_mul(extent.cast_signed());
            }
            true
        }

        /// Copies the elements into an array of its own.
        pub fn to_array(&self) -> Array {
            macro_rules! copy {
                ($($variant:ident => $element:ty),*) => {
                    match self.dtype() { $(DType::$variant => Array::$variant(self.copy()),)* }
                };
            }
            crate::for_each_dtype!(copy)
        }

        fn copy<T: Clone>(&self) -> ArrayD<T> {
            let extents = self.shape();
            if extents.contains(&0) {
                return ArrayD::from_shape_fn(IxDyn(extents), |_| unreachable!("an extent is 0"));
            }
            // ndarray's raw views want non-negative strides: start at the lowest address, then turn axes round.
            let (mut low, mut strides, mut turned) = (self.view.data.cast::<T>(), Vec::new(), Vec::new());
            for (axis, (extent, stride)) in extents.iter().zip(self.view.shape.strides()).enumerate() {
                if *stride < 0 {
                    // SAFETY: the last element along this axis is one of the tensor's elements.
                    low = unsafe { low.offset(stride * (extent.cast_signed() - 1)) };
                    turned.push(axis);
                }
                strides.push(stride.unsigned_abs());
            }
            let layout = IxDyn(extents).strides(IxDyn(&strides));
            // SAFETY: every index within the extents is an element of a live tensor of this dtype, whose memory is not
            // written while `self` borrows it.
            let mut view = unsafe { ArrayView::from_shape_ptr(layout, low.cast_const()) };
            for axis in turned {
                view.invert_axis(ndarray::Axis(axis));
            }
            view.as_standard_layout().into_owned()
        }
    }
}
