//! Arrays in `.npy` files, as NumPy's `np.save` writes them.
//!
//! Reading trusts nothing: magic, header size and nesting, dtype, shape and length are held against the file before its
//! bytes are taken for elements; `ndarray-npy` reads and writes the header. Read is every dtype, little-endian, in C or Fortran order,
//! of 0 to 32 dimensions; bf16 as `<V2`, which is how NumPy saves the type of the package ml_dtypes. Everything else is
//! refused by name: other dtypes are the caller's to convert, and pickles could run code.
//!
//! Writing is that of [`whole`]: a reader finds the old file or the whole new one.

use std::io;
use std::path::{Path, PathBuf};

use ndarray::{ArrayD, IxDyn, ShapeBuilder as _};
use ndarray_npy::npy::header::{Header, Layout, ParseHeaderError, ReadHeaderError};
use precast_core::MAX_NDIM;
use precast_graph::{Array, DType, Element, with_array};
use precast_store::file;

use crate::kind::Kind;
use crate::whole::{self, Pending, WriteError};

/// Most bytes of a header; NumPy's own limit.
const HEADER_LIMIT: usize = 10_000;

/// Most levels of brackets in a header; ours has three.
const NESTING_LIMIT: usize = 8;

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
        "`{}` holds dtype `{found}`, expected a bool, integer, float or complex dtype, little-endian, such as `<f8` (f64)\nhint: {hint}",
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
    #[error("`{}` holds {found} where a bool is, at byte {position} of its data, expected 0 or 1", path.display())]
    Truth { path: PathBuf, position: usize, found: u8 },
}

fn zip_hint(found: &str) -> &'static str {
    if found.starts_with("PK") {
        "\nhint: this is a zip archive; give it a name that ends in `.npz`"
    } else {
        ""
    }
}

/// Reads the array in a file.
pub(crate) fn read(path: &Path) -> Result<Array, ReadError> {
    let bytes = file::read(path, u64::MAX);
    parse(path, &bytes.map_err(|source| ReadError::Io { path: path.to_owned(), source })?)
}

/// Reads the array in the bytes of a file; `path` is for messages.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Array, ReadError> {
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
    let data = &bytes[header_bytes..];
    if dtype == DType::Bool
        && let Some(position) = data.iter().position(|byte| *byte > 1)
    {
        let found = data[position];
        return Err(ReadError::Truth { path: path(), position, found });
    }
    elements(dtype, &shape, header.layout == Layout::Fortran, data)
        .ok_or_else(|| ReadError::Huge { path: path(), shape })
}

/// The array of checked bytes; `None` if there is no memory for it.
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
    let elements = data.chunks_exact(T::DTYPE.itemsize_bytes()).map(|bytes| {
        let mut words = [0; 16];
        words[..bytes.len()].copy_from_slice(bytes);
        T::from_bits(
            [0, 8].map(|at| words[at..at + 8].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))),
        )
    });
    let layout = if fortran { IxDyn(shape).f() } else { IxDyn(shape).into_shape_with_order() };
    all.extend(elements);
    let array = ArrayD::from_shape_vec(layout, all).ok()?;
    if array.is_standard_layout() {
        return Some(array);
    }
    let mut ordered = Vec::new();
    ordered.try_reserve_exact(array.len()).ok()?;
    ordered.extend(array.iter().copied());
    ArrayD::from_shape_vec(IxDyn(shape), ordered).ok()
}

/// The bytes of an element as the file has them.
fn element_bytes<T: Element>(element: T) -> impl Iterator<Item = u8> {
    let words = element.bits().map(u64::to_le_bytes);
    words.into_iter().flatten().take(T::DTYPE.itemsize_bytes())
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
        known if DESCRIPTORS.iter().any(|(name, _)| *name == known) => {
            return Ok(DESCRIPTORS.iter().find(|(name, _)| *name == known).map_or(DType::F64, |row| row.1));
        }
        _ if name.starts_with("|O") => "Python objects are never read; convert with `a.astype('<f8')`",
        _ if name.starts_with('>') => "convert to little-endian with `a.astype(a.dtype.newbyteorder('<'))`",
        _ if name.starts_with('[') => "save each field of a structured array by itself",
        _ => "convert with `a.astype('<f8')` before `np.save`",
    };
    Err((name.to_owned(), hint))
}

/// The dtypes by NumPy's descriptor.
const DESCRIPTORS: [(&str, DType); 15] = [
    ("|b1", DType::Bool),
    ("|i1", DType::I8),
    ("<i2", DType::I16),
    ("<i4", DType::I32),
    ("<i8", DType::I64),
    ("|u1", DType::U8),
    ("<u2", DType::U16),
    ("<u4", DType::U32),
    ("<u8", DType::U64),
    ("<f2", DType::F16),
    ("<V2", DType::Bf16),
    ("<f4", DType::F32),
    ("<f8", DType::F64),
    ("<c8", DType::C64),
    ("<c16", DType::C128),
];

/// Gives the bytes of a file that holds `array`, in C order.
pub(crate) fn render(array: &Array) -> io::Result<Vec<u8>> {
    let descriptor = DESCRIPTORS.iter().find(|(_, dtype)| *dtype == array.dtype()).map_or("<f8", |row| row.0);
    let type_descriptor = format!("'{descriptor}'").parse().map_err(io::Error::other)?;
    let header = Header { type_descriptor, layout: Layout::Standard, shape: array.shape().to_vec() };
    let mut bytes = header.to_bytes().map_err(io::Error::other)?;
    with_array!(array, a => bytes.extend(a.iter().flat_map(|x| element_bytes(*x))));
    Ok(bytes)
}

/// Writes an array to a temporary file beside `path`; see [`whole::write`].
pub(crate) fn write(path: &Path, array: &Array) -> Result<Pending, WriteError> {
    whole::write(path, Kind::Npy, |out| out.write_all(&render(array)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

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
        let fortran = ArrayD::from_shape_vec(IxDyn(&[2, 3]).f(), vec![1.0_f32, 2., 3., 4., 5., 6.]).unwrap();
        let arrays = [
            Array::from(array![[true, false]].into_dyn()),
            Array::from(array![i64::MIN, 0, i64::MAX].into_dyn()),
            Array::from(fortran),
            Array::from(array![f64::NAN, -0.0, f64::INFINITY].into_dyn()),
            Array::from(2.5_f64),
            Array::zeros(DType::F64, &[0, 3]),
        ];
        let every = DType::ALL.map(precast_testkit::arrays::specials);
        let arrays: Vec<Array> = arrays.into_iter().chain(every).collect();
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
            [("'>f8'", ">f8"), ("'|O'", "|O"), ("'<m8'", "<m8"), ("[('a', '<f8')]", "'a'")]
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
        assert!(refusal(&npy("'|b1'", "(1,)", &[7])).contains("holds 7"));
    }
}
