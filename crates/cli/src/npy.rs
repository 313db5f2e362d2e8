//! Arrays in `.npy` files, as NumPy's `np.save` writes them.
//!
//! Reading trusts nothing: magic, header size and nesting, dtype, shape and length are held against the file before
//! `ndarray-npy` turns the bytes into an array. Read are `bool`, `i64`, `f32` and `f64`, little-endian, in C or Fortran
//! order, of 0 to 32 dimensions. Everything else is refused by name: other dtypes are the caller's to convert, and pickles
//! could run code.
//!
//! Writing is that of [`whole`]: a reader finds the old file or the whole new one.

use std::io;
use std::path::{Path, PathBuf};

use ndarray::ArrayD;
use ndarray_npy::npy::header::{Header, ParseHeaderError, ReadHeaderError};
use ndarray_npy::{ReadNpyError, ReadNpyExt as _, ReadableElement, WriteNpyError, WriteNpyExt as _};
use precast_graph::{Array, DType, with_array};

use crate::whole::{self, Pending, WriteError};

/// Most bytes of a header; NumPy's own limit.
const HEADER_LIMIT: usize = 10_000;

/// Most levels of brackets in a header; ours has three.
const NESTING_LIMIT: usize = 8;

/// Most dimensions of an array; the ABI's.
const MAX_NDIM: usize = 32;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Says why a file is not an array that can be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReadError {
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}` is not an npy file: it begins with `{found}`, expected `\\x93NUMPY`{}", path.display(), zip_hint(found))]
    NotNpy { path: PathBuf, found: String },
    #[error("`{}` has a header that cannot be read: {problem}", path.display())]
    Header { path: PathBuf, problem: String },
    #[error(
        "`{}` holds dtype `{found}`, expected one of `|b1` (bool), `<i8` (i64), `<f4` (f32), `<f8` (f64)\nhint: {hint}",
        path.display()
    )]
    DType { path: PathBuf, found: String, hint: &'static str },
    #[error("`{}` holds an array of {found} dimensions, expected at most {MAX_NDIM}", path.display())]
    Rank { path: PathBuf, found: usize },
    #[error("`{}` states a shape of more elements than fit into memory: {shape:?}", path.display())]
    Huge { path: PathBuf, shape: Vec<usize> },
    #[error("`{}` is truncated: found {found} bytes of data, expected {expected} for shape {shape:?}", path.display())]
    Truncated { path: PathBuf, found: usize, expected: usize, shape: Vec<usize> },
    #[error("`{}` has {surplus} bytes after its array", path.display())]
    Trailing { path: PathBuf, surplus: usize },
    #[error("`{}` holds data that cannot be read", path.display())]
    Data { path: PathBuf, source: ReadNpyError },
}

fn zip_hint(found: &str) -> &'static str {
    if found.starts_with("PK") {
        "\nhint: an npz archive is not read yet; save each array by `np.save`"
    } else {
        ""
    }
}

/// Reads the array in a file.
pub(crate) fn read(path: &Path) -> Result<Array, ReadError> {
    let bytes = fs_err::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
    let path = || path.to_owned();
    let header_bytes = check_header(bytes).map_err(|problem| match problem {
        None => {
            ReadError::NotNpy { path: path(), found: bytes[..bytes.len().min(6)].escape_ascii().to_string() }
        }
        Some(problem) => ReadError::Header { path: path(), problem },
    })?;
    let header = Header::from_reader(&mut &bytes[..header_bytes])
        .map_err(|error| ReadError::Header { path: path(), problem: header_problem(&error) })?;
    let dtype = dtype(&header.type_descriptor.to_string()).map_err(|(found, hint)| ReadError::DType {
        path: path(),
        found,
        hint,
    })?;
    let shape = header.shape;
    if shape.len() > MAX_NDIM {
        return Err(ReadError::Rank { path: path(), found: shape.len() });
    }
    // An extent of 0 does not excuse the others: what they multiply to must still be a size.
    let size = shape.iter().try_fold(dtype.itemsize_bytes(), |size, n| size.checked_mul((*n).max(1)));
    let Some(size) = size.filter(|size| isize::try_from(*size).is_ok()) else {
        return Err(ReadError::Huge { path: path(), shape });
    };
    let expected = if shape.contains(&0) { 0 } else { size };
    let found = bytes.len() - header_bytes;
    if found < expected {
        return Err(ReadError::Truncated { path: path(), found, expected, shape });
    }
    if found > expected {
        return Err(ReadError::Trailing { path: path(), surplus: found - expected });
    }
    let array = match dtype {
        DType::Bool => elements::<bool>(bytes).map(Array::Bool),
        DType::I64 => elements::<i64>(bytes).map(Array::I64),
        DType::F32 => elements::<f32>(bytes).map(Array::F32),
        DType::F64 => elements::<f64>(bytes).map(Array::F64),
    };
    array.map_err(|source| ReadError::Data { path: path(), source })
}

fn elements<T: ReadableElement>(bytes: &[u8]) -> Result<ArrayD<T>, ReadNpyError> {
    ArrayD::<T>::read_npy(bytes)
}

/// Finds the end of the header and checks that it is tame. `Err(None)` says that this is no npy file at all.
fn check_header(bytes: &[u8]) -> Result<usize, Option<String>> {
    if !bytes.starts_with(MAGIC) {
        return Err(None);
    }
    let cut = || Some("it is cut".to_owned());
    let field = |range: std::ops::Range<usize>| bytes.get(range).ok_or_else(cut);
    let (start, len) = match field(6..8)?[0] {
        1 => (10, field(8..10)?.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))),
        2 | 3 => (12, field(8..12)?.iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))),
        major => return Err(Some(format!("found version {major} of the format, expected 1 to 3"))),
    };
    if len > HEADER_LIMIT {
        return Err(Some(format!("it has {len} bytes, expected at most {HEADER_LIMIT}")));
    }
    let text = field(start..start + len)?;
    let mut depth = 0_usize;
    for byte in text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > NESTING_LIMIT {
            return Err(Some(format!("its brackets nest more than {NESTING_LIMIT} deep")));
        }
    }
    Ok(start + len)
}

/// What is wrong with a header; the parser's own words run over several lines.
fn header_problem(error: &ReadHeaderError) -> String {
    match error {
        ReadHeaderError::Parse(ParseHeaderError::DictParse(_)) => "it is not a Python dictionary".to_owned(),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

/// Reads a dtype descriptor; when it is not one of ours, gives it back with the remedy.
fn dtype(descriptor: &str) -> Result<DType, (String, &'static str)> {
    let name = descriptor.trim_matches(['\'', '"']);
    let hint = match name {
        "|b1" => return Ok(DType::Bool),
        "<i8" => return Ok(DType::I64),
        "<f4" => return Ok(DType::F32),
        "<f8" => return Ok(DType::F64),
        _ if name.starts_with("|O") => "Python objects are never read; convert with `a.astype('<f8')`",
        _ if name.starts_with('>') => "convert to little-endian with `a.astype(a.dtype.newbyteorder('<'))`",
        _ if name.starts_with('[') => "save each field of a structured array by itself",
        _ => "convert with `a.astype('<f8')` before `np.save`",
    };
    Err((name.to_owned(), hint))
}

/// Writes an array to a temporary file beside `path`; see [`whole::write`].
pub(crate) fn write(path: &Path, array: &Array) -> Result<Pending, WriteError> {
    whole::write(path, |out| {
        with_array!(array, a => a.write_npy(out)).map_err(|error| match error {
            WriteNpyError::Io(error) => error,
            other => io::Error::other(other),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{ShapeBuilder as _, array};

    fn npy(descriptor: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn refusal(bytes: &[u8]) -> String {
        parse(Path::new("x.npy"), bytes).unwrap_err().to_string()
    }

    #[test]
    fn arrays_survive_a_round_trip() {
        let directory = tempfile::tempdir().unwrap();
        let fortran =
            ArrayD::from_shape_vec(ndarray::IxDyn(&[2, 3]).f(), vec![1.0_f32, 2., 3., 4., 5., 6.]).unwrap();
        let arrays = [
            Array::from(array![[true, false]].into_dyn()),
            Array::from(array![i64::MIN, 0, i64::MAX].into_dyn()),
            Array::from(fortran),
            Array::from(array![f64::NAN, -0.0, f64::INFINITY].into_dyn()),
            Array::from(2.5_f64),
            Array::zeros(DType::F64, &[0, 3]),
        ];
        for (number, array) in arrays.iter().enumerate() {
            let path = directory.path().join(format!("{number}.npy"));
            write(&path, array).unwrap().commit().unwrap();
            assert_eq!(&read(&path).unwrap(), array);
        }
        assert_eq!(directory.path().read_dir().unwrap().count(), arrays.len());
    }

    #[test]
    fn other_dtypes_are_refused_by_name() {
        for (descriptor, shown) in
            [("'>f8'", ">f8"), ("'|O'", "|O"), ("'<c16'", "<c16"), ("[('a', '<f8')]", "'a'")]
        {
            let message = refusal(&npy(descriptor, "(1,)", &[0; 16]));
            assert!(message.contains("`x.npy`") && message.contains(shown), "{message}");
            assert!(message.contains("<f8` (f64)") && message.contains("hint: "), "{message}");
        }
    }

    #[test]
    fn cut_and_overlong_files_are_refused() {
        let whole = npy("'<f8'", "(2,)", &[0; 16]);
        assert!(parse(Path::new("x.npy"), &whole).is_ok());
        for cut in 0..whole.len() {
            assert!(refusal(&whole[..cut]).contains("`x.npy`"), "cut at {cut}");
        }
        assert!(
            refusal(&whole[..whole.len() - 1]).contains("truncated: found 15 bytes of data, expected 16")
        );
        let mut longer = whole;
        longer.push(0);
        assert!(refusal(&longer).contains("1 bytes after its array"));
    }

    #[test]
    fn hostile_headers_are_refused_without_work() {
        assert!(refusal(&npy("'<f8'", "(18446744073709551615, 2)", &[])).contains("fit into memory"));
        assert!(refusal(&npy("'<f8'", "(4611686018427387904,)", &[])).contains("fit into memory"));
        assert!(refusal(&npy("'<f8'", "(1099511627776,)", &[])).contains("truncated"));
        assert!(refusal(&npy("'<f8'", "(-1,)", &[])).contains("shape"));
        assert!(refusal(&npy("'<f8'", &format!("({})", "1,".repeat(33)), &[0; 8])).contains("33 dimensions"));
        assert!(refusal(&npy(&"(".repeat(5000), "()", &[])).contains("nest"));
        assert!(refusal(b"\x93NUMPY\x02\x00\xff\xff\xff\xff").contains("4294967295 bytes"));
        assert!(refusal(b"\x93NUMPY\x09\x00").contains("version 9"));
        assert!(refusal(b"PK\x03\x04....").contains("npz"));
        assert!(refusal(b"").contains("not an npy file"));
        assert!(refusal(&npy("'|b1'", "(1,)", &[7])).contains("cannot be read"));
    }
}
