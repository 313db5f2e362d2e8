//! New arrays for results.

use super::few::MOST;
use super::run::elements;
use super::{Call, Direct, Map, Pointer, Strided, small};
use crate::native::array_ref::ArrayRef;
use crate::native::object;
use crate::{Array, DType, Element};
use ndarray::Dimension;
use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;
use std::ptr;

/// Largest result that is allocated here: a larger one gets large pages and may be refused, by the host's services.
const NEW_BYTES: usize = 64 * 1024;

/// A result of a call by its type: an array of a dtype and rank, or an element.
///
/// # Safety
/// `data` is where the elements of `room`, as many as the output has, are written, until it is `made`.
#[doc(hidden)]
pub unsafe trait Made: Sized {
    /// Memory that is not written yet.
    type Room;

    /// Type of its elements.
    const DTYPE: DType;

    /// Room for a result of this shape; `None` if it has another rank, or does not get its memory here.
    fn room(shape: &[usize]) -> Option<Self::Room>;

    /// Where its elements are written.
    fn data(room: &mut Self::Room) -> Pointer;

    /// # Safety
    /// All elements were written.
    unsafe fn made(room: Self::Room) -> Self;
}

// SAFETY: a vector's memory, of the capacity that the shape asks for.
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
        // SAFETY: there are as many elements as the extents' product.
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

/// All results of a call by their types: one, or a tuple of several.
#[doc(hidden)]
pub trait AllMade: Sized {
    /// The results of a call of one map; `None` if it is not served.
    fn mapped(map: &Map, inputs: &[Strided<'_>]) -> Option<Self>;

    /// The results of a call; `None` if it is not served.
    fn all_made(direct: &Direct, inputs: &[Strided<'_>]) -> Option<Self>;
}

macro_rules! all_made {
    ($all:ty, $made:expr, $($type:ident $room:ident),+) => {
        impl<$($type: Made),+> AllMade for $all {
            #[inline(always)]
            fn mapped(map: &Map, inputs: &[Strided<'_>]) -> Option<Self> {
                // Results lie as inputs do.
                let like = *inputs.first()?;
                $(let mut $room = $type::room(like.extents)?;)+
                let outputs = [$(Strided { dtype: $type::DTYPE, data: $type::data(&mut $room), ..like }),+];
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
                // SAFETY: inputs were taken; every output has room for its elements.
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
    /// Serves a call and puts its results behind `arrays`; `false` if it is not served.
    #[inline(always)]
    pub(crate) fn append(&self, inputs: &[ArrayRef<'_>], arrays: &mut Vec<Array>) -> bool {
        self.map.as_ref().is_some_and(|map| self.append_mapped(map, inputs, arrays))
            || self.append_each(inputs, arrays)
    }

    /// As [`Direct::append`], of small results of one map, which lie as the first input does.
    #[inline(always)]
    fn append_mapped(&self, map: &Map, inputs: &[ArrayRef<'_>], arrays: &mut Vec<Array>) -> bool {
        let Some(first) = inputs.first() else { return false };
        let (like, before) = (first.view.strided(), arrays.len());
        // Where a result is not small they end early: `serve` refuses, since the word says how many operands there are.
        let outputs = self.outputs.iter().map_while(|output| {
            let data = small::push(arrays, output.dtype, like.extents)?;
            Some(Strided { dtype: output.dtype, data, ..like })
        });
        let is_served = map.serve(inputs.iter().map(|input| input.view.strided()), outputs);
        if !is_served {
            arrays.truncate(before);
        }
        is_served
    }

    /// As [`Direct::append`], of any program.
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
        // SAFETY: inputs were taken; every output is an array of its elements.
        let is_served = unsafe { self.run(call, elements) };
        if !is_served {
            arrays.truncate(before);
        }
        is_served
    }

    /// As [`Direct::append`], in memory that is not written before.
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
        // SAFETY: inputs were taken; every output has room for its elements.
        let is_served = made == self.outputs.len() && unsafe { self.run(call, elements) };
        for (room, output) in rooms[..made].iter().zip(self.outputs.iter()) {
            let shape = output.shape(call.shape());
            if is_served {
                let elements = shape.iter().product();
                // SAFETY: allocated above with the layout of a `Vec` of so many elements; kernels wrote all of them.
                arrays.push(unsafe { object::array_from_raw(output.dtype, shape, room.cast(), elements) });
            } else if let Some(layout) = layout(output.dtype, shape) {
                // SAFETY: allocated above with this layout.
                unsafe { dealloc(*room, layout) };
            }
        }
        is_served
    }
}

/// The memory of a result; `None` if there is none, or too much of it.
#[inline]
fn layout(dtype: DType, shape: &[usize]) -> Option<Layout> {
    let bytes = shape.iter().try_fold(dtype.itemsize_bytes(), |bytes, extent| bytes.checked_mul(*extent))?;
    let is_here = (1..=NEW_BYTES).contains(&bytes);
    is_here.then(|| Layout::from_size_align(bytes, dtype.align_bytes()).ok())?
}
