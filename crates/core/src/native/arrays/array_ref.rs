//! Borrowed arrays of any dtype: the inputs of a call, and the memory for its results.

use super::copy::copy;
use super::strided::Strided;
use crate::{Array, DType, Element};
use ndarray::{ArrayBase, ArrayView, ArrayViewMut, Data, DataMut, Dimension};
use std::ffi::c_char;
use std::marker::PhantomData;

/// The location of extents and strides. Those of a view passed by value are copied. A few are stored inline, so that
/// borrowing such an array allocates nothing.
#[derive(Debug, Clone)]
enum Shape<'a> {
    /// Borrowed from the array itself.
    Borrowed(&'a [usize], &'a [isize]),
    Copied {
        ndim: u8,
        extents: [usize; FEW],
        strides: [isize; FEW],
    },
    Many(Box<(Vec<usize>, Vec<isize>)>),
}

/// The number of dimensions that are copied without allocating.
const FEW: usize = 4;

impl Shape<'_> {
    #[inline]
    fn copied(extents: &[usize], strides: &[isize]) -> Self {
        let ndim = extents.len();
        if ndim > FEW {
            return Self::Many(Box::new((extents.to_vec(), strides.to_vec())));
        }
        let mut copied = ([0; FEW], [0; FEW]);
        copied.0[..ndim].copy_from_slice(extents);
        copied.1[..ndim].copy_from_slice(strides);
        Self::Copied { ndim: ndim as u8, extents: copied.0, strides: copied.1 }
    }

    /// Returns extents and strides, of equal length.
    #[inline]
    fn axes(&self) -> (&[usize], &[isize]) {
        match self {
            Self::Borrowed(extents, strides) => (extents, strides),
            Self::Copied { ndim, extents, strides } => {
                let ndim = usize::from(*ndim).min(FEW);
                (&extents[..ndim], &strides[..ndim])
            }
            Self::Many(many) => (&many.0, &many.1),
        }
    }
}

/// A description of array memory: dtype, first element, extents, strides.
#[derive(Debug, Clone)]
pub(crate) struct RawView<'a> {
    dtype: DType,
    data: *mut c_char,
    /// As in [`Strided`].
    step: isize,
    /// The number of extents, stored here so that reading it is a single load.
    ndim: usize,
    shape: Shape<'a>,
}

impl<'a> RawView<'a> {
    /// Describes an array whose strides count elements.
    #[inline]
    pub(crate) fn borrowed(
        dtype: DType,
        data: *mut c_char,
        extents: &'a [usize],
        strides: &'a [isize],
    ) -> Self {
        Self { dtype, data, step: 1, ndim: extents.len(), shape: Shape::Borrowed(extents, strides) }
    }

    /// Describes an array whose strides count bytes.
    pub(crate) fn of_bytes(
        dtype: DType,
        data: *mut c_char,
        extents: &'a [usize],
        strides: &'a [isize],
    ) -> Self {
        let step = dtype.itemsize_bytes().cast_signed();
        Self { dtype, data, step, ndim: extents.len(), shape: Shape::Borrowed(extents, strides) }
    }

    /// Does the same as [`RawView::borrowed`], but copies extents and strides.
    #[inline]
    fn copied(dtype: DType, data: *mut c_char, extents: &[usize], strides: &[isize]) -> Self {
        Self { dtype, data, step: 1, ndim: extents.len(), shape: Shape::copied(extents, strides) }
    }

    #[inline]
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    #[inline]
    pub(crate) fn data(&self) -> *mut c_char {
        self.data
    }

    #[inline]
    pub(crate) fn shape(&self) -> &[usize] {
        self.shape.axes().0
    }

    /// Returns the strides in bytes, may be 0 or negative.
    pub(crate) fn strides_bytes(&self) -> impl ExactSizeIterator<Item = isize> + '_ {
        let unit_bytes = self.strided().unit_bytes();
        self.shape.axes().1.iter().map(move |stride| stride * unit_bytes)
    }

    /// Returns the element layout.
    #[inline]
    pub(crate) fn strided(&self) -> Strided<'_> {
        let (extents, strides) = self.shape.axes();
        Strided { dtype: self.dtype, data: self.data, step: self.step, extents, strides }
    }

    /// Returns the address of the first byte of the elements and the address after the last, or `None` for an empty array.
    pub(crate) fn bounds(&self) -> Option<(usize, usize)> {
        if self.shape().contains(&0) {
            return None;
        }
        let (mut low, mut high) = (self.data.addr(), self.data.addr() + self.dtype.itemsize_bytes());
        for (extent, stride) in self.shape().iter().zip(self.strides_bytes()) {
            let reach = stride * (extent.cast_signed() - 1);
            if reach < 0 { low -= reach.unsigned_abs() } else { high += reach.unsigned_abs() }
        }
        Some((low, high))
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
    pub(crate) view: RawView<'a>,
}

// SAFETY: an `ArrayRef` is a shared borrow of plain numbers.
unsafe impl Send for ArrayRef<'_> {}
// SAFETY: as above.
unsafe impl Sync for ArrayRef<'_> {}

/// A borrowed array that receives a result of a call. Its shape must be that of the result.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    pub(crate) view: RawView<'a>,
    /// Whether it comes from a raw description, so that it may overlap inputs of the same call.
    pub(super) is_raw: bool,
    pub(super) borrowed: PhantomData<&'a mut [u8]>,
}

// SAFETY: an `ArrayMut` is an exclusive borrow of plain numbers.
unsafe impl Send for ArrayMut<'_> {}

macro_rules! described {
    ($($borrow:ident),*) => {$(
        impl $borrow<'_> {
            /// Returns the dtype of the elements.
            #[must_use]
            #[inline]
            pub fn dtype(&self) -> DType {
                self.view.dtype
            }

            /// Returns the number of dimensions.
            #[must_use]
            #[inline]
            pub fn ndim(&self) -> usize {
                self.view.ndim
            }

            /// Returns the extents, outermost first.
            #[must_use]
            #[inline]
            pub fn shape(&self) -> &[usize] {
                self.view.shape()
            }
        }
    )*};
}
described!(ArrayRef, ArrayMut);

impl ArrayMut<'_> {
    /// Returns the element layout.
    #[inline]
    pub(crate) fn strided(&self) -> Strided<'_> {
        self.view.strided()
    }

    /// Returns whether an output may overlap an input or another output, by the byte range of each. Only raw outputs can,
    /// since Rust's borrow rules exclude it for arrays.
    #[must_use]
    pub fn overlap(outputs: &[Self], inputs: &[ArrayRef<'_>]) -> bool {
        let meet = |a: &RawView<'_>, b: &RawView<'_>| {
            let (a, b) = (a.bounds(), b.bounds());
            a.zip(b).is_some_and(|((a, a_end), (b, b_end))| a < b_end && b < a_end)
        };
        outputs.iter().enumerate().filter(|(_, output)| output.is_raw).any(|(at, output)| {
            let mut others = outputs.iter().enumerate().filter(|(other, _)| *other != at);
            inputs.iter().any(|input| meet(&output.view, &input.view))
                || others.any(|(_, other)| meet(&output.view, &other.view))
        })
    }

    /// Copies the elements of an array. Returns `false` if its dtype or shape differs.
    pub fn assign(&mut self, array: &Array) -> bool {
        if array.dtype() != self.dtype() || array.shape() != self.shape() {
            return false;
        }
        // SAFETY: dtype and shape are equal. `self` borrows its memory exclusively, so `array` does not overlap it.
        unsafe { copy(&ArrayRef::from(array).view.strided(), &self.view.strided()) };
        true
    }
}

impl<'a, T: Element, D: Dimension> From<ArrayView<'a, T, D>> for ArrayRef<'a> {
    #[inline]
    fn from(view: ArrayView<'a, T, D>) -> Self {
        let data = view.as_ptr().cast_mut().cast();
        Self { view: RawView::copied(T::DTYPE, data, view.shape(), view.strides()) }
    }
}

impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> From<&'a ArrayBase<S, D>> for ArrayRef<'a> {
    #[inline]
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        let data = array.as_ptr().cast_mut().cast();
        Self { view: RawView::borrowed(T::DTYPE, data, array.shape(), array.strides()) }
    }
}

impl<'a, T: Element, D: Dimension> From<ArrayViewMut<'a, T, D>> for ArrayMut<'a> {
    #[inline]
    fn from(mut view: ArrayViewMut<'a, T, D>) -> Self {
        let data = view.as_mut_ptr().cast();
        let view = RawView::copied(T::DTYPE, data, view.shape(), view.strides());
        Self { view, is_raw: false, borrowed: PhantomData }
    }
}

impl<'a> ArrayMut<'a> {
    /// Borrows one element as an array without dimensions.
    pub(crate) fn element<T: Element>(element: &'a mut T) -> Self {
        let view = RawView::borrowed(T::DTYPE, std::ptr::from_mut(element).cast(), &[], &[]);
        Self { view, is_raw: false, borrowed: PhantomData }
    }
}

impl<'a, T: Element, S: DataMut<Elem = T>, D: Dimension> From<&'a mut ArrayBase<S, D>> for ArrayMut<'a> {
    #[inline]
    fn from(array: &'a mut ArrayBase<S, D>) -> Self {
        let data = array.as_mut_ptr().cast();
        let view = RawView::borrowed(T::DTYPE, data, array.shape(), array.strides());
        Self { view, is_raw: false, borrowed: PhantomData }
    }
}

impl<'a> From<&'a Array> for ArrayRef<'a> {
    #[inline]
    fn from(array: &'a Array) -> Self {
        crate::with_array!(array, a => a.into())
    }
}

impl<'a> From<&'a mut Array> for ArrayMut<'a> {
    #[inline]
    fn from(array: &'a mut Array) -> Self {
        crate::with_array!(array, a => a.into())
    }
}

impl ArrayRef<'_> {
    /// Borrows the elements of a tensor. Returns `None` if the dtype is unknown or a stride is not a whole number of
    /// elements.
    pub(crate) fn of_tensor(typenum: i32, data: *mut c_char, shape: &[i64], strides: &[i64]) -> Option<Self> {
        let dtype = DType::from_typenum(typenum)?;
        let itemsize = dtype.itemsize_bytes() as i64;
        let extents: Vec<usize> = shape.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<_>>()?;
        let whole = |step: &i64| (step % itemsize == 0).then(|| isize::try_from(step / itemsize).ok())?;
        let strides: Vec<isize> = strides.iter().map(whole).collect::<Option<_>>()?;
        Some(Self { view: RawView::copied(dtype, data, &extents, &strides) })
    }

    /// Copies the elements into a new array.
    pub fn to_array(&self) -> Array {
        let mut array = Array::zeros(self.dtype(), self.shape());
        // SAFETY: dtype and shape are equal. Every index within the extents is an element of live memory, which is not
        // written while `self` borrows it. The new array does not overlap it.
        unsafe { copy(&self.view.strided(), &ArrayMut::from(&mut array).view.strided()) };
        array
    }
}
