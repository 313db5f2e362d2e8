//! New arrays for results.

use super::few::MOST;
use super::{Call, Direct, Output};
use crate::native::object;
use crate::{Array, DType, Element};
use ndarray::Dimension;
use std::alloc::{Layout, alloc, dealloc};
use std::mem::MaybeUninit;
use std::ptr;

/// Largest result that is allocated here: a larger one gets large pages and may be refused, by the host's services.
const NEW_BYTES: usize = 64 * 1024;

impl Direct {
    /// Runs a call whose only result is an array of `T` and `D`; `None` if it is not served.
    #[inline(always)]
    pub(crate) fn array<T: Element, D: Dimension>(
        &self,
        call: &mut Call<'_>,
    ) -> Option<ndarray::Array<T, D>> {
        let [output] = self.outputs[..] else { return None };
        let shape = output.shape(call.shape());
        let elements: usize = shape.iter().product();
        let fits = output.dtype == T::DTYPE && D::NDIM.is_none_or(|ndim| ndim == shape.len());
        if !fits || elements > NEW_BYTES / size_of::<T>() {
            return None;
        }
        let mut dim = D::zeros(shape.len());
        dim.slice_mut().iter_mut().zip(shape).for_each(|(to, extent)| *to = *extent);
        let mut result = Vec::<T>::with_capacity(elements);
        call.table.set(output.at, result.as_mut_ptr().cast());
        // SAFETY: inputs were taken; the vector has room for the elements.
        if !unsafe { self.run(call) } {
            return None;
        }
        // SAFETY: kernels wrote all elements.
        unsafe { result.set_len(elements) };
        // SAFETY: there are as many elements as the extents' product.
        Some(unsafe { ndarray::Array::from_shape_vec_unchecked(dim, result) })
    }

    /// Runs a call whose only result is one element; `None` if it is not served.
    #[inline(always)]
    pub(crate) fn element<T: Element>(&self, call: &mut Call<'_>) -> Option<T> {
        let [Output { dtype, is_full: false, at }] = self.outputs[..] else { return None };
        let mut result = MaybeUninit::<T>::uninit();
        call.table.set(at, result.as_mut_ptr().cast());
        // SAFETY: inputs were taken; there is room for one element of the dtype.
        let is_served = dtype == T::DTYPE && unsafe { self.run(call) };
        // SAFETY: a kernel wrote it.
        is_served.then(|| unsafe { result.assume_init() })
    }

    /// Runs a call and puts its results behind `arrays`; `false` if it is not served.
    #[inline]
    pub(crate) fn append(&self, call: &mut Call<'_>, arrays: &mut Vec<Array>) -> bool {
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
        // SAFETY: inputs were taken; every output has room for its elements.
        let is_served = made == self.outputs.len() && unsafe { self.run(call) };
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
