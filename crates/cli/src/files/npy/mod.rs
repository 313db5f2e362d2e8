//! Arrays in `.npy` files, as NumPy's `np.save` writes them.
//!
//! ```text
//! magic, version, length ─▶ header: a Python dictionary ─▶ descriptor, order, shape ─▶ dtype, elements
//! ```
//! Reading trusts nothing: magic, header size and nesting, dtype, shape and length are checked against the file
//! before its bytes become elements. Every dtype is read, little-endian, in C or Fortran order, of 0 to 32
//! dimensions. bf16 is `<V2`, as NumPy saves the type of the package ml_dtypes. Headers are read in every spelling
//! that NumPy reads. Other contents are rejected by name: callers convert other dtypes themselves, and pickles could
//! run code.
//!
//! Writing uses [`whole`]: a reader finds the old file or the complete new one.

mod dtype;
mod header;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use ndarray::{ArrayD, IxDyn, ShapeBuilder as _};
use precast_core::MAX_NDIM;
use precast_graph::{Array, DType, Element, with_array};
use precast_store::file;

use self::header::Header;
pub(crate) use self::header::MAGIC;
use crate::kind::Kind;
use crate::whole::{self, Pending, WriteError};

/// An error of reading an array from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReadError {
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}` is not an npy file: found magic `{found}`, expected `\\x93NUMPY`{}", path.display(), zip_hint(found))]
    NotNpy { path: PathBuf, found: String },
    #[error("`{}` has an invalid header: {problem}", path.display())]
    Header { path: PathBuf, problem: String },
    #[error(
        "`{}` has dtype `{found}`, expected a little-endian bool, integer, float or complex dtype, such as `<f8` \
         (f64)\nhint: {hint}",
        path.display()
    )]
    DType { path: PathBuf, found: String, hint: String },
    #[error("`{}` has an array of {found} dimensions, expected at most {MAX_NDIM}", path.display())]
    Rank { path: PathBuf, found: usize },
    #[error("the array of `{}` exceeds the address space: shape {shape:?}", path.display())]
    Huge { path: PathBuf, shape: Vec<usize> },
    #[error("`{}` is truncated: found {found} bytes of data, expected {expected} for shape {shape:?}", path.display())]
    Truncated { path: PathBuf, found: usize, expected: usize, shape: Vec<usize> },
    #[error("`{}` has {surplus} extra bytes after its array", path.display())]
    Trailing { path: PathBuf, surplus: usize },
    #[error("`{}` has an invalid bool {found} at byte {position} of its data, expected 0 or 1", path.display())]
    Truth { path: PathBuf, position: usize, found: u8 },
}

fn zip_hint(found: &str) -> &'static str {
    if found.starts_with("PK") {
        "\nhint: rename it to end in `.npz`, because it is a zip archive"
    } else {
        ""
    }
}

/// Reads the array in a file.
pub(crate) fn read(path: &Path) -> Result<Array, ReadError> {
    let bytes = file::read(path, u64::MAX);
    parse(path, &bytes.map_err(|source| ReadError::Io { path: path.to_owned(), source })?)
}

/// Parses the bytes of a file into an array; `path` is for messages.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let path = || path.to_owned();
    let (header, data) = header::read(bytes).map_err(|problem| match problem {
        None => {
            ReadError::NotNpy { path: path(), found: bytes[..bytes.len().min(6)].escape_ascii().to_string() }
        }
        Some(problem) => ReadError::Header { path: path(), problem },
    })?;
    let Header { descriptor, is_fortran, shape } = header;
    let dtype = dtype::find(&descriptor).ok_or_else(|| ReadError::DType {
        path: path(),
        hint: dtype::hint(&descriptor),
        found: descriptor,
    })?;
    if shape.len() > MAX_NDIM {
        return Err(ReadError::Rank { path: path(), found: shape.len() });
    }
    // An extent of 0 does not excuse the other extents: their product must still be a valid size.
    let size = shape.iter().try_fold(dtype.itemsize_bytes(), |size, n| size.checked_mul((*n).max(1)));
    let Some(size) = size.filter(|size| isize::try_from(*size).is_ok()) else {
        return Err(ReadError::Huge { path: path(), shape });
    };
    let expected = if shape.contains(&0) { 0 } else { size };
    let found = data.len();
    if found < expected {
        return Err(ReadError::Truncated { path: path(), found, expected, shape });
    }
    if found > expected {
        return Err(ReadError::Trailing { path: path(), surplus: found - expected });
    }
    if dtype == DType::Bool
        && let Some(position) = data.iter().position(|byte| *byte > 1)
    {
        let found = data[position];
        return Err(ReadError::Truth { path: path(), position, found });
    }
    elements(dtype, &shape, is_fortran, data).ok_or_else(|| ReadError::Huge { path: path(), shape })
}

/// Returns the array of checked bytes; `None` if the allocation fails.
fn elements(dtype: DType, shape: &[usize], fortran: bool, data: &[u8]) -> Option<Array> {
    macro_rules! read {
        ($($variant:ident => $element:ty),*) => {
            match dtype { $(DType::$variant => array::<$element>(shape, fortran, data).map(Array::from),)* }
        };
    }
    precast_graph::for_each_dtype!(read)
}

fn array<T: Element>(shape: &[usize], fortran: bool, data: &[u8]) -> Option<ArrayD<T>> {
    let mut all = Vec::new();
    all.try_reserve_exact(data.len() / T::DTYPE.itemsize_bytes()).ok()?;
    match T::DTYPE.itemsize_bytes() {
        1 => extend::<T, 1>(&mut all, data),
        2 => extend::<T, 2>(&mut all, data),
        4 => extend::<T, 4>(&mut all, data),
        8 => extend::<T, 8>(&mut all, data),
        _ => extend::<T, 16>(&mut all, data),
    }
    let layout = if fortran { IxDyn(shape).f() } else { IxDyn(shape).into_shape_with_order() };
    let array = ArrayD::from_shape_vec(layout, all).ok()?;
    if array.is_standard_layout() {
        return Some(array);
    }
    let mut ordered = Vec::new();
    ordered.try_reserve_exact(array.len()).ok()?;
    ordered.extend(array.iter().copied());
    ArrayD::from_shape_vec(IxDyn(shape), ordered).ok()
}

/// Appends elements of `N` bytes each. The size is a constant, so that an element is one load.
fn extend<T: Element, const N: usize>(all: &mut Vec<T>, data: &[u8]) {
    all.extend(data.as_chunks::<N>().0.iter().map(|bytes| {
        let mut room = [0; 16];
        room[..N].copy_from_slice(bytes);
        let word = u128::from_le_bytes(room);
        T::from_bits([word as u64, (word >> 64) as u64])
    }));
}

/// Appends the bytes of an element in file order.
fn append<T: Element>(bytes: &mut Vec<u8>, element: T) {
    let [low, high] = element.bits().map(u128::from);
    bytes.extend_from_slice(&(low | high << 64).to_le_bytes()[..T::DTYPE.itemsize_bytes()]);
}

/// Returns the bytes of a file that holds `array`, in C order.
pub(crate) fn render(array: &Array) -> Vec<u8> {
    let mut bytes = header::render(dtype::descriptor(array.dtype()), array.shape());
    with_array!(array, a => a.iter().for_each(|x| append(&mut bytes, *x)));
    bytes
}

/// Writes an array to a temporary file next to `path`; see [`whole::write`].
pub(crate) fn write(path: &Path, array: &Array) -> Result<Pending, WriteError> {
    whole::write(path, Kind::Npy, |out| out.write_all(&render(array)))
}
