//! Tensors as modules see them.
//!
//! | kind | data belongs to | header belongs to | dies |
//! |---|---|---|---|
//! | [`Owned`] handle of a heap tensor | the tensor: memory of a `Vec<T>` | heap | with its last reference |
//! | view (`pc_host.tensor_view`) | its owner, of which it holds a reference | heap | with its last reference |
//! | [`Borrowed`] | the caller of a function | the frame | never by count; the frame resets it |
//!
//! A heap tensor's memory has the layout of a `Vec<T>` with capacity equal to its length, so that a result becomes an
//! ndarray without a copy, and an ndarray's memory can be given away as a result.

use super::array_ref::{ArrayRef, Place};
use precast_abi::tensor::{FLAG_READONLY, MAX_NDIM, Object, Tensor, Type};
use precast_graph::{Array, DType};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_char;
use std::ptr;

/// A tensor header with room for its extents and strides.
#[repr(C)]
struct Header {
    tensor: Tensor,
    shape: [i64; MAX_NDIM],
    strides: [i64; MAX_NDIM],
}

static HEAP: Type = Type { name: c"tensor".as_ptr(), dealloc: drop_heap };
static BORROWED: Type = Type { name: c"borrowed tensor".as_ptr(), dealloc: keep };

/// `pc_type.dealloc` of borrowed headers: the frame owns them, so the count never decides.
unsafe extern "C" fn keep(_object: *mut Object) {}

/// `pc_type.dealloc` of heap tensors and views.
unsafe extern "C" fn drop_heap(object: *mut Object) {
    let header = object.cast::<Header>();
    // SAFETY: only `Header::heap` makes objects of type HEAP, in a Box; the count fell to 0, so this is the last use.
    let header = unsafe { Box::from_raw(header) };
    if header.tensor.capacity_bytes > 0
        && let Some(layout) = data_layout(header.tensor.dtype, header.tensor.capacity_bytes)
    {
        // SAFETY: a positive capacity says that `data` was allocated with this layout and belongs to this tensor.
        unsafe { dealloc(header.tensor.data.cast(), layout) };
    }
    // SAFETY: a view holds one reference to its owner, given back here; others have no owner.
    unsafe { release(header.tensor.owner) };
}

/// The layout of a `Vec<T>` of so many bytes of elements of the dtype numbered `typenum`.
fn data_layout(typenum: i32, bytes: i64) -> Option<Layout> {
    let align = DType::from_typenum(typenum)?.align_bytes();
    Layout::from_size_align(usize::try_from(bytes).ok()?, align).ok()
}

/// Gives back one reference; NULL is allowed.
///
/// # Safety
/// `object` is NULL or a live object of which the caller owns a reference.
pub(super) unsafe fn release(object: *mut Object) {
    // SAFETY: the caller owns a reference, so the object is alive; objects belong to one frame, hence one thread.
    let Some(alive) = (unsafe { object.as_mut() }) else { return };
    alive.refcount -= 1;
    if alive.refcount == 0 {
        // SAFETY: the type of a live object is never NULL and lives for ever.
        let ty = unsafe { &*alive.ty };
        // SAFETY: the count is 0: nobody else refers to the object.
        unsafe { (ty.dealloc)(object) };
    }
}

impl Header {
    /// A header of no elements.
    const fn empty(ty: &'static Type) -> Self {
        Self {
            tensor: Tensor {
                object: Object { refcount: 1, ty },
                data: ptr::null_mut(),
                dtype: 0,
                ndim: 0,
                shape: ptr::null(),
                strides: ptr::null(),
                flags: 0,
                reserved: 0,
                owner: ptr::null_mut(),
                capacity_bytes: 0,
            },
            shape: [0; MAX_NDIM],
            strides: [0; MAX_NDIM],
        }
    }

    /// Moves a header to the heap and makes its tensor point at its own extents and strides.
    fn heap(self) -> *mut Tensor {
        let header = Box::into_raw(Box::new(self));
        // SAFETY: `header` was just allocated and is not shared; the addresses stay valid while the box lives.
        unsafe { (*header).bind() };
        header.cast()
    }

    fn bind(&mut self) {
        self.tensor.shape = self.shape.as_ptr();
        self.tensor.strides = self.strides.as_ptr();
    }

    /// Sets extents and C-contiguous strides; gives the number of elements, `None` on overflow or too many dimensions.
    fn contiguous(&mut self, itemsize_bytes: usize, shape: &[i64]) -> Option<usize> {
        self.tensor.ndim = i32::try_from(shape.len()).ok().filter(|n| *n <= MAX_NDIM as i32)?;
        let mut step = i64::try_from(itemsize_bytes).ok()?;
        let mut elements = 1_i64;
        for (axis, extent) in shape.iter().enumerate().rev() {
            if *extent < 0 {
                return None;
            }
            self.shape[axis] = *extent;
            self.strides[axis] = step;
            step = step.checked_mul((*extent).max(1))?;
            elements = elements.checked_mul(*extent)?;
        }
        usize::try_from(elements).ok()
    }
}

/// A new C-contiguous tensor; `Err` says why in words, with the kind of error.
pub(super) fn new_tensor(
    typenum: i32,
    shape: &[i64],
) -> Result<*mut Tensor, (precast_abi::context::ErrorKind, String)> {
    use precast_abi::context::ErrorKind;
    let dtype = DType::from_typenum(typenum)
        .ok_or_else(|| (ErrorKind::Type, format!("no dtype has the number {typenum}")))?;
    let mut header = Header::empty(&HEAP);
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
        header.tensor.data = data.cast();
        header.tensor.capacity_bytes = bytes.cast_signed() as i64;
    }
    Ok(header.heap())
}

/// A view of `base`, of which it takes a reference.
///
/// # Safety
/// `base` is a live tensor; `shape` and `strides` describe memory that `base` keeps alive.
pub(super) unsafe fn new_view(
    base: *mut Tensor,
    shape: &[i64],
    strides: &[i64],
    data: *mut c_char,
) -> *mut Tensor {
    let mut header = Header::empty(&HEAP);
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
    header.heap()
}

/// One reference to a live object, given back when dropped; or nothing.
#[derive(Debug)]
pub(crate) struct Owned(*mut Object);

// SAFETY: an `Owned` belongs to one frame, and a frame to one thread at a time; nothing in an object is bound to a thread.
unsafe impl Send for Owned {}

impl Owned {
    /// Nothing.
    pub(crate) const fn none() -> Self {
        Self(ptr::null_mut())
    }

    /// Takes over a reference that the caller owned; NULL is nothing.
    ///
    /// # Safety
    /// `object` is NULL, or the caller owned a reference to it.
    pub(super) const unsafe fn from_raw(object: *mut Object) -> Self {
        Self(object)
    }

    /// Gives the reference away.
    pub(super) const fn into_raw(self) -> *mut Object {
        let object = self.0;
        // `Owned` has nothing else to drop.
        #[expect(clippy::mem_forget, reason = "the reference moves to the caller")]
        std::mem::forget(self);
        object
    }

    /// The object, still owned by `self`.
    pub(super) const fn as_raw(&self) -> *mut Object {
        self.0
    }

    /// A heap tensor that takes over the memory of an array.
    pub(crate) fn from_array(array: Array) -> Self {
        let (dtype, shape) = (array.dtype(), array.shape().to_vec());
        let extents: Vec<i64> = shape.iter().map(|n| n.cast_signed() as i64).collect();
        let mut header = Header::empty(&HEAP);
        header.tensor.dtype = dtype.typenum();
        if header.contiguous(dtype.itemsize_bytes(), &extents).is_none() {
            return Self::none();
        }
        precast_graph::with_array!(array, a => {
            let mut elements = contiguous_vec(a).into_boxed_slice();
            header.tensor.capacity_bytes = size_of_val(&*elements) as i64;
            header.tensor.data = elements.as_mut_ptr().cast();
            // From here on the memory belongs to the tensor.
            let _ = Box::into_raw(elements);
        });
        Self(header.heap().cast())
    }

    /// The extents of the tensor; `None` for nothing.
    pub(super) fn shape(&self) -> Option<Vec<usize>> {
        // SAFETY: the object is NULL or alive, and all objects this host hands out are tensors.
        let tensor = unsafe { self.0.cast::<Tensor>().as_ref() }?;
        tensor_ref(tensor).map(|array| array.shape().to_vec())
    }

    /// The array of a contiguous heap tensor that nobody else refers to, without a copy; anything else is copied.
    pub(crate) fn into_array(self) -> Option<Array> {
        if self.0.is_null() {
            return None;
        }
        let tensor = self.0.cast::<Tensor>();
        // SAFETY: the object is alive, and all objects this host hands out are tensors.
        let tensor = unsafe { &mut *tensor };
        let array_ref = tensor_ref(tensor)?;
        let owned = tensor.object.ty == ptr::from_ref(&HEAP)
            && tensor.object.refcount == 1
            && tensor.owner.is_null()
            && array_ref.is_standard_layout();
        if !owned {
            return Some(array_ref.to_array());
        }
        let (dtype, shape) = (array_ref.dtype(), array_ref.shape().to_vec());
        let (data, bytes) = (tensor.data, tensor.capacity_bytes);
        // The memory moves to the array; the header is freed without it.
        tensor.capacity_bytes = 0;
        tensor.data = ptr::null_mut();
        let elements = usize::try_from(bytes).ok()? / dtype.itemsize_bytes();
        // SAFETY: `data` was allocated with the layout of a `Vec<T>` of so many elements (see `data_layout`), is
        // initialised as the op produced it, and is owned by nobody else now.
        unsafe { array_from_raw(dtype, &shape, data, elements) }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `self` owns a reference or is NULL.
        unsafe { release(self.0) };
    }
}

fn contiguous_vec<T: Clone>(array: ndarray::ArrayD<T>) -> Vec<T> {
    if array.is_standard_layout() {
        let (elements, offset) = array.into_raw_vec_and_offset();
        if offset.unwrap_or(0) == 0 {
            return elements;
        }
        return elements[offset.unwrap_or(0)..].to_vec();
    }
    array.iter().cloned().collect()
}

/// Makes an array of memory that was allocated for it.
///
/// # Safety
/// `data` is NULL with `elements == 0`, or memory of a `Vec` of `elements` initialised elements of `dtype` that the caller
/// owns.
unsafe fn array_from_raw(dtype: DType, shape: &[usize], data: *mut c_char, elements: usize) -> Option<Array> {
    /// As the function around it.
    ///
    /// # Safety
    /// As the function around it.
    unsafe fn vec<T>(data: *mut c_char, elements: usize) -> Vec<T> {
        if elements == 0 {
            return Vec::new();
        }
        // SAFETY: the caller of `array_from_raw` gives memory of such a `Vec`.
        unsafe { Vec::from_raw_parts(data.cast(), elements, elements) }
    }
    macro_rules! array {
        ($($variant:ident => $element:ty),*) => {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: as promised by the caller.
                    let elements = unsafe { vec(data, elements) };
                    ndarray::ArrayD::from_shape_vec(shape, elements).ok().map(Array::$variant)
                })*
            }
        };
    }
    precast_graph::for_each_dtype!(array)
}

/// What a live tensor holds, as a borrowed array; `None` if its dtype is unknown.
fn tensor_ref(tensor: &Tensor) -> Option<ArrayRef<'_>> {
    let ndim = usize::try_from(tensor.ndim).ok()?;
    if ndim == 0 {
        return ArrayRef::from_raw(tensor.dtype, tensor.data, &[], &[]);
    }
    // SAFETY: a live tensor's shape has `ndim` extents (precast/tensor.h).
    let shape = unsafe { std::slice::from_raw_parts(tensor.shape, ndim) };
    // SAFETY: a live tensor's strides has `ndim` steps (precast/tensor.h).
    let strides = unsafe { std::slice::from_raw_parts(tensor.strides, ndim) };
    ArrayRef::from_raw(tensor.dtype, tensor.data, shape, strides)
}

/// A header in a frame, pointed at data of the caller for the length of one call.
pub(crate) struct Borrowed(Box<Header>);

// SAFETY: as for `Owned`; between calls the header points at nothing.
unsafe impl Send for Borrowed {}

impl Borrowed {
    /// A header that points at nothing.
    pub(crate) fn new() -> Self {
        let mut header = Box::new(Header::empty(&BORROWED));
        header.bind();
        Self(header)
    }

    /// Points at data that a module may write only if `writable`.
    pub(crate) fn set(&mut self, place: &Place, writable: bool) {
        let header = &mut *self.0;
        header.tensor.object.refcount = 1;
        header.tensor.dtype = place.dtype().typenum();
        header.tensor.ndim = place.shape().len() as i32;
        header.tensor.data = place.data();
        header.tensor.flags = if writable { 0 } else { FLAG_READONLY };
        for (axis, (extent, stride)) in place.shape().iter().zip(place.strides_bytes()).enumerate() {
            header.shape[axis] = extent.cast_signed() as i64;
            header.strides[axis] = stride;
        }
    }

    /// Points at nothing again, and says whether something still refers to the header (a view that outlived the call).
    pub(crate) fn reset(&mut self) -> bool {
        let leaked = self.0.tensor.object.refcount != 1;
        self.0.tensor.data = ptr::null_mut();
        self.0.tensor.ndim = 0;
        leaked
    }

    /// The object, valid as long as `self`; the frame owns the reference.
    pub(super) fn as_raw(&mut self) -> *mut Object {
        ptr::from_mut(&mut *self.0).cast()
    }
}

impl std::fmt::Debug for Borrowed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Borrowed").finish_non_exhaustive()
    }
}
