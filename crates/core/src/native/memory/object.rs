//! Tensors as modules see them.
//!
//! | kind | owner of the data | owner of the header | freed |
//! |---|---|---|---|
//! | [`Owned`] handle of a heap tensor | the tensor: memory of a `Vec<T>` | heap | with its last reference |
//! | view (`pc_host.tensor_view`) | its base, to which it holds a reference | heap | with its last reference |
//! | [`Borrowed`] | the caller of a function | the frame | never by count; the frame resets it |
//!
//! The memory of a heap tensor has the layout of a `Vec<T>` with capacity equal to its length. So a result becomes an
//! ndarray without a copy, and an ndarray can become a result.

use super::header::Header;
use crate::native::arrays::{ArrayRef, RawView};
use crate::{Array, DType};
use ndarray::{Array0, Array1, Array2, ArrayD};
use precast_abi::tensor::{FLAG_READONLY, MAX_NDIM, Object, Tensor, Type};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_char;
use std::ptr;

static HEAP: Type = Type { name: c"tensor".as_ptr(), dealloc: drop_heap };
static BORROWED: Type = Type { name: c"borrowed tensor".as_ptr(), dealloc: keep };

/// Implements `pc_type.dealloc` for borrowed headers: does nothing, because the frame owns them.
unsafe extern "C" fn keep(_object: *mut Object) {}

/// Implements `pc_type.dealloc` for heap tensors and views.
unsafe extern "C" fn drop_heap(object: *mut Object) {
    let header = object.cast::<Header>();
    // SAFETY: only this file creates objects of type HEAP, in a Box; the count fell to 0, so this is the last use.
    let header = unsafe { Box::from_raw(header) };
    if header.tensor.capacity_bytes > 0
        && let Some(layout) = data_layout(header.tensor.dtype, header.tensor.capacity_bytes)
    {
        // SAFETY: a positive capacity means that `data` was allocated with this layout and belongs to this tensor.
        unsafe { dealloc(header.tensor.data.cast(), layout) };
    }
    // SAFETY: a view holds one reference to its owner, which is released here; other tensors have no owner.
    unsafe { release(header.tensor.owner) };
    header.recycle();
}

/// Returns the layout of a `Vec<T>` with `bytes` bytes of elements of the dtype numbered `typenum`.
fn data_layout(typenum: i32, bytes: i64) -> Option<Layout> {
    let align = DType::from_typenum(typenum)?.align_bytes();
    Layout::from_size_align(usize::try_from(bytes).ok()?, align).ok()
}

/// Releases one reference; NULL is allowed.
///
/// # Safety
/// `object` is NULL or a live object of which the caller owns a reference.
pub(crate) unsafe fn release(object: *mut Object) {
    // SAFETY: the caller owns a reference, so the object is alive; objects belong to one frame, hence one thread.
    let Some(alive) = (unsafe { object.as_mut() }) else { return };
    alive.refcount -= 1;
    if alive.refcount == 0 {
        // SAFETY: the type of a live object is never NULL and is static.
        let ty = unsafe { &*alive.ty };
        // SAFETY: the count is 0, so there are no other references to the object.
        unsafe { (ty.dealloc)(object) };
    }
}

/// Creates a C-contiguous tensor. The error is its kind and message.
pub(crate) fn new_tensor(
    typenum: i32,
    shape: &[i64],
) -> Result<*mut Tensor, (precast_abi::context::ErrorKind, String)> {
    use precast_abi::context::ErrorKind;
    let dtype = DType::from_typenum(typenum)
        .ok_or_else(|| (ErrorKind::Type, format!("unknown dtype number {typenum}")))?;
    let mut header = Header::new(&HEAP);
    header.tensor.dtype = typenum;
    let too_large = || (ErrorKind::Value, format!("a tensor of {dtype} with extents {shape:?} is too large"));
    let elements = header.contiguous(dtype.itemsize_bytes(), shape).ok_or_else(too_large)?;
    let bytes = elements.checked_mul(dtype.itemsize_bytes()).filter(|b| isize::try_from(*b).is_ok());
    let bytes = bytes.ok_or_else(too_large)?;
    if bytes > 0 {
        let layout = Layout::from_size_align(bytes, dtype.align_bytes()).map_err(|_| too_large())?;
        // SAFETY: the layout has a positive size.
        let data = unsafe { alloc(layout) };
        if data.is_null() {
            return Err((
                ErrorKind::Memory,
                format!("cannot allocate {bytes} bytes for a tensor of {dtype} {shape:?}"),
            ));
        }
        // SAFETY: it was just allocated with this size.
        unsafe { super::pages::prefer_large(data, bytes) };
        header.tensor.data = data.cast();
        header.tensor.capacity_bytes = bytes.cast_signed() as i64;
    }
    Ok(header.into_raw())
}

/// Creates a view of `base`, to which it takes a reference.
///
/// # Safety
/// `base` is a live tensor; `shape` and `strides` describe memory that `base` keeps alive.
pub(crate) unsafe fn new_view(
    base: *mut Tensor,
    shape: &[i64],
    strides: &[i64],
    data: *mut c_char,
) -> *mut Tensor {
    let mut header = Header::new(&HEAP);
    header.shape[..shape.len()].copy_from_slice(shape);
    header.strides[..strides.len()].copy_from_slice(strides);
    header.tensor.ndim = shape.len() as i32;
    header.tensor.data = data;
    // SAFETY: `base` is a live tensor.
    let base = unsafe { &mut *base };
    base.object.refcount += 1;
    header.tensor.dtype = base.dtype;
    header.tensor.flags = base.flags;
    header.tensor.owner = ptr::from_mut(base).cast();
    header.into_raw()
}

/// One reference to a live object, released on drop; or NULL.
#[derive(Debug)]
pub(crate) struct Owned(*mut Object);

// SAFETY: an `Owned` belongs to one frame, and a frame to one thread at a time; nothing in an object is bound to a thread.
unsafe impl Send for Owned {}

impl Owned {
    /// Returns NULL.
    pub(crate) const fn none() -> Self {
        Self(ptr::null_mut())
    }

    /// Takes ownership of a reference; NULL is allowed.
    ///
    /// # Safety
    /// `object` is NULL, or the caller owned a reference to it.
    pub(crate) const unsafe fn from_raw(object: *mut Object) -> Self {
        Self(object)
    }

    /// Releases ownership of the reference to the caller.
    pub(crate) const fn into_raw(self) -> *mut Object {
        let object = self.0;
        // `Owned` has no other fields to drop.
        #[expect(clippy::mem_forget, reason = "the reference moves to the caller")]
        std::mem::forget(self);
        object
    }

    /// Returns the object, still owned by `self`.
    pub(crate) const fn as_raw(&self) -> *mut Object {
        self.0
    }

    /// Creates a tensor with the elements of an array. It is read-only for ops.
    pub(crate) fn constant(array: Array) -> Self {
        let owned = Self::from_array(array);
        // SAFETY: the object is NULL or a live tensor without other references.
        if let Some(tensor) = unsafe { owned.0.cast::<Tensor>().as_mut() } {
            tensor.flags |= FLAG_READONLY;
        }
        owned
    }

    /// Creates a heap tensor that takes over the memory of an array.
    pub(crate) fn from_array(array: Array) -> Self {
        let (dtype, shape) = (array.dtype(), array.shape().to_vec());
        let extents: Vec<i64> = shape.iter().map(|n| n.cast_signed() as i64).collect();
        let mut header = Header::new(&HEAP);
        header.tensor.dtype = dtype.typenum();
        if header.contiguous(dtype.itemsize_bytes(), &extents).is_none() {
            return Self::none();
        }
        crate::with_array!(array, a => {
            let mut elements = contiguous_vec(a).into_boxed_slice();
            header.tensor.capacity_bytes = size_of_val(&*elements) as i64;
            header.tensor.data = elements.as_mut_ptr().cast();
            // The memory now belongs to the tensor.
            let _ = Box::into_raw(elements);
        });
        Self(header.into_raw().cast())
    }

    /// Returns the tensor, or `None` for NULL.
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        // SAFETY: the object is NULL or alive, and all objects of this host are tensors.
        unsafe { self.0.cast::<Tensor>().as_ref() }
    }

    /// Returns whether this is the only reference to a writable tensor with its own memory.
    pub(crate) fn is_reusable(&self) -> bool {
        let own = |tensor: &Tensor| {
            tensor.object.ty == ptr::from_ref(&HEAP)
                && tensor.object.refcount == 1
                && tensor.owner.is_null()
                && tensor.flags & FLAG_READONLY == 0
        };
        self.tensor().is_some_and(own)
    }

    /// Converts to an array. A contiguous heap tensor without other references is not copied; any other tensor is.
    pub(crate) fn into_array(self) -> Option<Array> {
        if self.0.is_null() {
            return None;
        }
        let tensor = self.0.cast::<Tensor>();
        // SAFETY: the object is alive, and all objects of this host are tensors.
        let tensor = unsafe { &mut *tensor };
        let owned = tensor.object.ty == ptr::from_ref(&HEAP)
            && tensor.object.refcount == 1
            && tensor.owner.is_null()
            && tensor.capacity_bytes > 0;
        let whole = if owned { whole_array(tensor) } else { None };
        let Some((dtype, shape, elements)) = whole else {
            return tensor_ref(tensor).map(|array| array.to_array());
        };
        let data = tensor.data;
        // The memory moves to the array. The header is freed without it.
        tensor.capacity_bytes = 0;
        tensor.data = ptr::null_mut();
        // SAFETY: `data` was allocated with the layout of a `Vec<T>` of `elements` elements (see `data_layout`). The op has
        // initialised it, and it has no other owner now.
        Some(unsafe { array_from_raw(dtype, &shape[..tensor.ndim as usize], data, elements) })
    }
}

/// Returns dtype, extents and number of elements of a tensor whose elements are in C order and fill its memory.
fn whole_array(tensor: &Tensor) -> Option<(DType, [usize; MAX_NDIM], usize)> {
    let dtype = DType::from_typenum(tensor.dtype)?;
    let itemsize = dtype.itemsize_bytes() as i64;
    let (mut shape, mut step) = ([0; MAX_NDIM], itemsize);
    let axes = extents(tensor).iter().zip(strides(tensor)).enumerate();
    for (axis, (extent, stride)) in axes.rev() {
        shape[axis] = usize::try_from(*extent).ok()?;
        if *extent != 1 && *stride != step {
            return None;
        }
        step = step.checked_mul(*extent)?;
    }
    let elements = usize::try_from(step / itemsize).ok()?;
    (step == tensor.capacity_bytes).then_some((dtype, shape, elements))
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `self` owns a reference or is NULL.
        unsafe { release(self.0) };
    }
}

fn contiguous_vec<T: Clone>(array: ArrayD<T>) -> Vec<T> {
    if array.is_standard_layout() {
        let (elements, offset) = array.into_raw_vec_and_offset();
        if offset.unwrap_or(0) == 0 {
            return elements;
        }
        return elements[offset.unwrap_or(0)..].to_vec();
    }
    array.iter().cloned().collect()
}

/// Creates an array from memory that was allocated for it.
///
/// # Safety
/// `data` is memory of a `Vec` of `elements` initialised elements of `dtype` that the caller owns. The product of `shape`
/// is `elements`, which is not 0.
pub(crate) unsafe fn array_from_raw(
    dtype: DType,
    shape: &[usize],
    data: *mut c_char,
    elements: usize,
) -> Array {
    macro_rules! array {
        ($($variant:ident => $element:ty),*) => {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: as promised by the caller.
                    let elements = unsafe { Vec::<$element>::from_raw_parts(data.cast(), elements, elements) };
                    // SAFETY: as promised by the caller: as many elements as the shape has, in C order.
                    Array::$variant(unsafe { array_of(shape, elements) })
                })*
            }
        };
    }
    crate::for_each_dtype!(array)
}

/// Creates an array of these elements. For small ranks it goes through an array of fixed rank, which takes half the time in
/// ndarray.
///
/// # Safety
/// The number of elements matches the shape.
unsafe fn array_of<T>(shape: &[usize], elements: Vec<T>) -> ArrayD<T> {
    match *shape {
        // SAFETY: as promised by the caller.
        [] => unsafe { Array0::from_shape_vec_unchecked((), elements) }.into_dyn(),
        // SAFETY: as promised by the caller.
        [n] => unsafe { Array1::from_shape_vec_unchecked(n, elements) }.into_dyn(),
        // SAFETY: as promised by the caller.
        [rows, columns] => unsafe { Array2::from_shape_vec_unchecked((rows, columns), elements) }.into_dyn(),
        // SAFETY: as promised by the caller.
        _ => unsafe { ArrayD::from_shape_vec_unchecked(shape, elements) },
    }
}

/// Returns the extents of a live tensor.
pub(crate) fn extents(tensor: &Tensor) -> &[i64] {
    match usize::try_from(tensor.ndim) {
        // SAFETY: a live tensor has `ndim` extents (precast/tensor.h).
        Ok(ndim @ 1..) => unsafe { std::slice::from_raw_parts(tensor.shape, ndim) },
        _ => &[],
    }
}

/// Returns the strides of a live tensor in bytes.
pub(crate) fn strides(tensor: &Tensor) -> &[i64] {
    match usize::try_from(tensor.ndim) {
        // SAFETY: a live tensor has `ndim` strides (precast/tensor.h).
        Ok(ndim @ 1..) => unsafe { std::slice::from_raw_parts(tensor.strides, ndim) },
        _ => &[],
    }
}

/// Borrows the elements of a live tensor as an array. Returns `None` if its dtype is unknown.
fn tensor_ref(tensor: &Tensor) -> Option<ArrayRef<'_>> {
    ArrayRef::of_tensor(tensor.dtype, tensor.data, extents(tensor), strides(tensor))
}

/// A header in a frame that points to the caller's data during one call.
pub(crate) struct Borrowed(Box<Header>);

// SAFETY: as for `Owned`; between calls nothing reads the pointer of the header.
unsafe impl Send for Borrowed {}

impl Borrowed {
    /// Creates an empty header.
    pub(crate) fn new() -> Self {
        Self(Header::new(&BORROWED))
    }

    /// Points the header to data that a module may write only if `writable`.
    pub(crate) fn set(&mut self, view: &RawView<'_>, writable: bool) {
        let header = &mut *self.0;
        header.tensor.object.refcount = 1;
        header.tensor.dtype = view.dtype().typenum();
        header.tensor.ndim = view.shape().len() as i32;
        header.tensor.data = view.data();
        header.tensor.flags = if writable { 0 } else { FLAG_READONLY };
        let places = header.shape.iter_mut().zip(&mut header.strides);
        for ((to, step), (extent, stride)) in places.zip(view.shape().iter().zip(view.strides_bytes())) {
            *to = extent.cast_signed() as i64;
            *step = stride as i64;
        }
    }

    /// Points the header to the elements of a tensor, read-only.
    pub(crate) fn set_alias(&mut self, tensor: &Tensor) {
        let header = &mut *self.0;
        let ndim = usize::try_from(tensor.ndim).unwrap_or(0);
        header.tensor.object.refcount = 1;
        header.tensor.dtype = tensor.dtype;
        header.tensor.ndim = tensor.ndim;
        header.tensor.data = tensor.data;
        header.tensor.flags = FLAG_READONLY;
        header.shape[..ndim].copy_from_slice(extents(tensor));
        header.strides[..ndim].copy_from_slice(strides(tensor));
    }

    /// Returns the object, which is valid as long as `self`. The frame owns the reference.
    pub(crate) fn as_raw(&mut self) -> *mut Object {
        ptr::from_mut(&mut *self.0).cast()
    }
}

impl std::fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Borrowed").finish_non_exhaustive()
    }
}
