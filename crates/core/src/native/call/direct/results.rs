//! Creates new arrays for results.

use super::few::MOST;
use super::run::elements;
use super::{Call, Direct, Map, Pointer, Strided, small};
use crate::native::arrays::ArrayRef;
use crate::native::memory::object;
use crate::{Array, DType, Element};
use ndarray::Dimension;
use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;
use std::ptr;

/// Maximum size of a result that is allocated here. The host's services allocate larger results, with large pages and with
/// an error if memory is short.
const NEW_BYTES: usize = 64 * 1024;

/// The type of one result: an array of a dtype and rank, or an element.
///
/// # Safety
/// `data` points to memory for all elements of `room`, which is valid until `made` consumes it.
#[doc(hidden)]
pub unsafe trait Made: Sized {
    /// Uninitialised memory for a result.
    type Room;

    /// The dtype of the elements.
    const DTYPE: DType;

    /// Allocates memory for a result of this shape. Returns `None` if the rank differs or the result is too large.
    fn room(shape: &[usize]) -> Option<Self::Room>;

    /// Returns the address that the elements are written to.
    fn data(room: &mut Self::Room) -> Pointer;

    /// Converts initialised memory to the result.
    ///
    /// # Safety
    /// All elements were written.
    unsafe fn made(room: Self::Room) -> Self;
}

// SAFETY: the memory of a vector whose capacity is the number of elements of the shape.
unsafe impl<T: Element, D: Dimension> Made for ndarray::Array<T, D> {
    type Room = (D, Vec<T>);
    const DTYPE: DType = T::DTYPE;

    #[inline(always)]
    fn room(shape: &[usize]) -> Option<Self::Room> {
        let elements = elements(shape);
        if D::NDIM.is_some_and(|ndim| ndim != shape.len()) || elements > NEW_BYTES / size_of::<T>() {
            return None;
        }
        let mut dim = D::zeros(shape.len());
        dim.slice_mut().iter_mut().zip(shape).for_each(|(to, extent)| *to = *extent);
        Some((dim, Vec::with_capacity(elements)))
    }

    #[inline(always)]
    fn data((_, elements): &mut Self::Room) -> Pointer {
        elements.as_mut_ptr().cast()
    }

    #[inline(always)]
    unsafe fn made((dim, mut elements): Self::Room) -> Self {
        // SAFETY: the caller's promise.
        unsafe { elements.set_len(dim.size()) };
        // SAFETY: the number of elements is the product of the extents.
        unsafe { Self::from_shape_vec_unchecked(dim, elements) }
    }
}

macro_rules! elements {
    ($($variant:ident => $element:ty),*) => {$(
        // SAFETY: memory of one element.
        unsafe impl Made for $element {
            type Room = MaybeUninit<Self>;
            const DTYPE: DType = DType::$variant;

            #[inline(always)]
            fn room(shape: &[usize]) -> Option<Self::Room> {
                shape.is_empty().then(MaybeUninit::uninit)
            }

            #[inline(always)]
            fn data(room: &mut Self::Room) -> Pointer {
                room.as_mut_ptr().cast()
            }

            #[inline(always)]
            unsafe fn made(room: Self::Room) -> Self {
                // SAFETY: the caller's promise.
                unsafe { room.assume_init() }
            }
        }
    )*};
}
crate::for_each_dtype!(elements);

/// The types of all results: one, or a tuple of several.
#[doc(hidden)]
pub trait AllMade: Sized {
    /// Runs a single map and returns the results, or `None` if the call is not possible.
    fn mapped(map: &Map, inputs: &[Strided<'_>]) -> Option<Self>;

    /// Runs a direct call and returns the results, or `None` if the call is not possible.
    fn all_made(direct: &Direct, inputs: &[Strided<'_>]) -> Option<Self>;
}

macro_rules! all_made {
    ($all:ty, $made:expr, $($type:ident $room:ident),+) => {
        impl<$($type: Made),+> AllMade for $all {
            #[inline(always)]
            fn mapped(map: &Map, inputs: &[Strided<'_>]) -> Option<Self> {
                // Results have the layout of the inputs.
                let like = *inputs.first()?;
                $(let mut $room = $type::room(like.extents)?;)+
                let outputs = [$(like.with_data($type::DTYPE, $type::data(&mut $room))),+];
                if !map.serve(inputs.iter().copied(), outputs.into_iter()) {
                    return None;
                }
                // SAFETY: the kernel wrote all elements.
                $(let $room = unsafe { $type::made($room) };)+
                Some($made)
            }

            fn all_made(direct: &Direct, inputs: &[Strided<'_>]) -> Option<Self> {
                let mut call = Call::new();
                if !direct.takes_each(&mut call, inputs.iter().copied()) {
                    return None;
                }
                let (mut outputs, common) = (direct.outputs.iter(), call.shape());
                $(
                    let output = outputs.next().filter(|output| output.dtype == $type::DTYPE)?;
                    let mut $room = $type::room(output.shape(common))?;
                    call.table.set(output.at, $type::data(&mut $room));
                )+
                let elements = call.elements();
                // SAFETY: all inputs were added; every output has room for its elements.
                if outputs.next().is_some() || !unsafe { direct.run(&mut call, elements) } {
                    return None;
                }
                // SAFETY: kernels wrote all elements.
                $(let $room = unsafe { $type::made($room) };)+
                Some($made)
            }
        }
    };
}

macro_rules! tuples {
    ($($type:ident $room:ident),+;) => {
        all_made!(($($type,)+), ($($room,)+), $($type $room),+);
    };
    ($($type:ident $room:ident),+; $next:ident $its:ident $(, $more:ident $others:ident)*) => {
        tuples!($($type $room),+;);
        tuples!($($type $room,)+ $next $its; $($more $others),*);
    };
}

all_made!(A, a, A a);
tuples!(A a, B b; C c, D d, E e, F f, G g, H h, I i, J j, K k, L l);

impl Direct {
    /// Runs a call and appends its results to `arrays`. Returns `false` if the call is not possible.
    #[inline(always)]
    pub(crate) fn append(&self, inputs: &[ArrayRef<'_>], arrays: &mut Vec<Array>) -> bool {
        self.map.as_ref().is_some_and(|map| self.append_mapped(map, inputs, arrays))
            || self.append_each(inputs, arrays)
    }

    /// Does the same as [`Direct::append`] for small results of one map, which have the layout of the first input.
    #[inline(always)]
    fn append_mapped(&self, map: &Map, inputs: &[ArrayRef<'_>], arrays: &mut Vec<Array>) -> bool {
        let Some(first) = inputs.first() else { return false };
        let (like, before) = (first.view.strided(), arrays.len());
        // The iterator ends early if a result is not small. `serve` then rejects the call, because the word contains the
        // number of operands.
        let outputs = self.outputs.iter().map_while(|output| {
            let data = small::push(arrays, output.dtype, like.extents)?;
            Some(like.with_data(output.dtype, data))
        });
        let is_served = map.serve(inputs.iter().map(|input| input.view.strided()), outputs);
        if !is_served {
            arrays.truncate(before);
        }
        is_served
    }

    /// Does the same as [`Direct::append`] for any program.
    #[inline(never)]
    fn append_each(&self, inputs: &[ArrayRef<'_>], arrays: &mut Vec<Array>) -> bool {
        let call = &mut Call::new();
        if !self.takes_each(call, inputs.iter().map(|input| input.view.strided())) {
            return false;
        }
        let before = arrays.len();
        for output in self.outputs.iter() {
            let Some(data) = small::push(arrays, output.dtype, output.shape(call.shape())) else {
                arrays.truncate(before);
                return self.append_large(call, arrays);
            };
            call.table.set(output.at, data);
        }
        let elements = call.elements();
        // SAFETY: all inputs were added; every output is an array with room for its elements.
        let is_served = unsafe { self.run(call, elements) };
        if !is_served {
            arrays.truncate(before);
        }
        is_served
    }

    /// Does the same as [`Direct::append`], in uninitialised memory.
    fn append_large(&self, call: &mut Call<'_>, arrays: &mut Vec<Array>) -> bool {
        let mut rooms = [ptr::null_mut(); MOST];
        let mut made = 0;
        for (room, output) in rooms.iter_mut().zip(self.outputs.iter()) {
            let Some(layout) = layout(output.dtype, output.shape(call.shape())) else { break };
            // SAFETY: the layout has a positive size.
            *room = unsafe { alloc(layout) };
            if room.is_null() {
                break;
            }
            call.table.set(output.at, room.cast());
            made += 1;
        }
        let elements = call.elements();
        // SAFETY: all inputs were added; every output has room for its elements.
        let is_served = made == self.outputs.len() && unsafe { self.run(call, elements) };
        for (room, output) in rooms[..made].iter().zip(self.outputs.iter()) {
            let shape = output.shape(call.shape());
            if is_served {
                let elements = shape.iter().product();
                // SAFETY: allocated above with the layout of a `Vec` of `elements` elements; kernels wrote all of them.
                arrays.push(unsafe { object::array_from_raw(output.dtype, shape, room.cast(), elements) });
            } else if let Some(layout) = layout(output.dtype, shape) {
                // SAFETY: allocated above with this layout.
                unsafe { dealloc(*room, layout) };
            }
        }
        is_served
    }
}

/// Returns the memory layout of a result, or `None` if the result is empty or too large.
#[inline]
fn layout(dtype: DType, shape: &[usize]) -> Option<Layout> {
    let bytes = shape.iter().try_fold(dtype.itemsize_bytes(), |bytes, extent| bytes.checked_mul(*extent))?;
    let is_here = (1..=NEW_BYTES).contains(&bytes);
    is_here.then(|| Layout::from_size_align(bytes, dtype.align_bytes()).ok())?
}
