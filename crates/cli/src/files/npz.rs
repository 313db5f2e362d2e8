//! Several arrays in one `.npz` file, as NumPy's `np.savez` and `np.savez_compressed` write them: a zip archive with a
//! member `NAME.npy` for each array.
//!
//! Reading trusts no size: a member is read up to its length stated in the archive, and a failed allocation is an
//! error. Writing uses no compression and no times, so equal arrays give equal bytes.

use std::io::{self, Cursor, Read, Write as _};
use std::path::{Path, PathBuf};

use precast_graph::Array;
use precast_store::file;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::kind::Kind;
use crate::npy;
use crate::whole::{self, Pending, WriteError};

/// The largest number of arrays in a file.
const MEMBERS_LIMIT: usize = 10_000;

/// An error of reading an archive of arrays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ReadError {
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("`{}` is not an npz file", path.display())]
    NotNpz { path: PathBuf, source: ZipError },
    #[error("`{}` has {found} members, expected at most {MEMBERS_LIMIT}", path.display())]
    Many { path: PathBuf, found: usize },
    #[error("`{}` has two arrays `{name}`", path.display())]
    Twice { path: PathBuf, name: String },
    #[error("`{}` has no array `{name}`; available: `{}`", path.display(), known.join("`, `"))]
    Missing { path: PathBuf, name: String, known: Vec<String> },
    #[error("cannot read array `{name}` of `{}`", path.display())]
    Member { path: PathBuf, name: String, source: ZipError },
    #[error("array `{name}` of `{}` has {bytes} bytes, which do not fit into memory", path.display())]
    Huge { path: PathBuf, name: String, bytes: u64 },
    #[error(transparent)]
    Array(#[from] npy::ReadError),
}

/// Returns whether a file name is that of an archive with several arrays.
pub(crate) fn is_npz(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

/// An array of a file, or the reason why it cannot be read.
pub(crate) type Member = (String, Result<Array, ReadError>);

/// Reads all arrays of a file with their names, in the order of the archive. As in NumPy, a member is an array if its
/// name ends in `.npy` or if it begins like an `.npy` file; other members are skipped. A member that cannot be read
/// does not affect other members.
pub(crate) fn read(path: &Path) -> Result<Vec<Member>, ReadError> {
    let mut archive = open(path)?;
    let mut arrays: Vec<Member> = Vec::new();
    for (position, name) in names(&mut archive) {
        if arrays.iter().any(|(known, _)| *known == name) {
            return Err(ReadError::Twice { path: path.to_owned(), name });
        }
        let array = member(path, &mut archive, position, &name);
        arrays.push((name, array));
    }
    Ok(arrays)
}

/// Reads the array of one name, or the only one of a file. No other member is read.
pub(crate) fn read_one(path: &Path, wanted: &str) -> Result<Array, ReadError> {
    let mut archive = open(path)?;
    let names = names(&mut archive);
    let found = names.iter().find(|(_, name)| name == wanted);
    let Some((position, name)) = found.or(names.first().filter(|_| names.len() == 1)) else {
        let known = names.into_iter().map(|(_, name)| name).collect();
        return Err(ReadError::Missing { path: path.to_owned(), name: wanted.to_owned(), known });
    };
    member(path, &mut archive, *position, name)
}

/// Returns the positions and names of the arrays of an archive. A member of another kind, or in a folder such as
/// `..`, is not an array.
fn names(archive: &mut Archive) -> Vec<(usize, String)> {
    let members = archive.len();
    let array = |position: usize| {
        let member = archive.name_for_index(position)?.ok()?.into_owned();
        let name = match member.strip_suffix(".npy") {
            Some(name) => name.to_owned(),
            None if is_plain(&member) && is_array(archive, position) => member,
            None => return None,
        };
        is_plain(&name).then_some((position, name))
    };
    (0..members).filter_map(array).collect()
}

/// Returns whether a member begins like an `.npy` file; false for an unreadable member.
fn is_array(archive: &mut Archive, position: usize) -> bool {
    let mut head = [0; npy::MAGIC.len()];
    let read = archive
        .by_index(position)
        .map_err(drop)
        .and_then(|mut file| file.read_exact(&mut head).map_err(drop));
    read.is_ok() && head == npy::MAGIC
}

/// Returns whether a member of this name is outside of all folders.
fn is_plain(name: &str) -> bool {
    !name.contains(['/', '\\', '\0'])
}

type Archive = ZipArchive<io::BufReader<fs_err::File>>;

fn open(path: &Path) -> Result<Archive, ReadError> {
    let file = file::open(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let archive = ZipArchive::new(io::BufReader::new(file))
        .map_err(|source| ReadError::NotNpz { path: path.to_owned(), source })?;
    if archive.len() > MEMBERS_LIMIT {
        return Err(ReadError::Many { path: path.to_owned(), found: archive.len() });
    }
    Ok(archive)
}

fn member(path: &Path, archive: &mut Archive, position: usize, name: &str) -> Result<Array, ReadError> {
    let failed = |source| ReadError::Member { path: path.to_owned(), name: name.to_owned(), source };
    let file = archive.by_index(position).map_err(failed)?;
    let stated = file.size();
    let mut bytes: Vec<u8> = Vec::new();
    let room = usize::try_from(stated).map_err(drop).and_then(|n| bytes.try_reserve_exact(n).map_err(drop));
    if room.is_err() {
        return Err(ReadError::Huge { path: path.to_owned(), name: name.to_owned(), bytes: stated });
    }
    // One byte more than stated would make the length false: the npy reader then finds it as trailing data.
    file.take(stated.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| failed(ZipError::Io(source)))?;
    Ok(npy::parse(&path.join(format!("{name}.npy")), &bytes)?)
}

/// Writes arrays to a temporary file next to `path`; see [`whole::write`]. Rejects the names that [`read`] skips.
pub(crate) fn write(path: &Path, arrays: &[(&str, &Array)]) -> Result<Pending, WriteError> {
    if let Some((name, _)) = arrays.iter().find(|(name, _)| !is_plain(name)) {
        return Err(WriteError::Member { path: path.to_owned(), name: (*name).to_owned() });
    }
    whole::write(path, Kind::Npz, |out| {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        // Zip64 from 4 GiB on; 1980 is the first year that zip can represent.
        for (name, array) in arrays {
            let bytes = npy::render(array);
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Stored)
                .last_modified_time(DateTime::default())
                .large_file(bytes.len() >= u32::MAX as usize);
            zip.start_file(format!("{name}.npy"), options).map_err(io::Error::other)?;
            zip.write_all(&bytes)?;
        }
        let archive = zip.finish().map_err(io::Error::other)?;
        out.write_all(archive.get_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Returns the arrays of a file in which every member is readable.
    fn arrays(path: &Path) -> Vec<(String, Array)> {
        read(path).unwrap().into_iter().map(|(name, array)| (name, array.unwrap())).collect()
    }

    #[test]
    fn arrays_round_trip_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let [a, b] = ["a.npz", "b.npz"].map(|name| directory.path().join(name));
        let (x, y) = (Array::from(array![1.5_f32, -0.0]), Array::from(array![[1_i64], [2]]));
        for path in [&a, &b] {
            write(path, &[("x", &x), ("arr_0", &y)]).unwrap().commit().unwrap();
        }
        assert_eq!(arrays(&a), [("x".to_owned(), x.clone()), ("arr_0".to_owned(), y)]);
        assert_eq!(read_one(&a, "x").unwrap(), x);
        assert_eq!(fs_err::read(&a).unwrap(), fs_err::read(&b).unwrap());
        let message = read_one(&a, "z").unwrap_err().to_string();
        let single = directory.path().join("single.npz");
        write(&single, &[("x", &x)]).unwrap().commit().unwrap();
        assert_eq!(read_one(&single, "z").unwrap(), x);
        assert!(message.contains("no array `z`") && message.contains("`x`"), "{message}");
    }

    #[test]
    fn names_with_folders_are_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npz");
        let x = Array::from(array![1.0]);
        for name in ["../y", "/y", "a/b", "a\\b", "a\0"] {
            let refused = write(&path, &[("x", &x), (name, &x)]).err();
            assert!(matches!(refused, Some(WriteError::Member { .. })), "{name}");
        }
        assert!(!path.exists());
    }

    #[test]
    fn cut_archives_and_foreign_members_are_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npz");
        write(&path, &[("x", &Array::from(array![1.0, 2.0]))]).unwrap().commit().unwrap();
        let whole = fs_err::read(&path).unwrap();
        for cut in 0..whole.len() {
            fs_err::write(&path, &whole[..cut]).unwrap();
            let whole = read(&path).is_ok_and(|members| members.iter().all(|(_, array)| array.is_ok()));
            assert!(!whole, "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x41;
            fs_err::write(&path, &damaged).unwrap();
            // If the changed file is still an archive, each of its arrays is complete.
            if let Ok(arrays) = read(&path) {
                assert!(arrays.len() <= 1, "byte {at}");
            }
        }
    }

    #[test]
    fn members_that_are_not_arrays_are_skipped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npz");
        let x = Array::from(array![1.0, 2.0]);
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for name in ["../y.npy", "/z.npy", "x.npy", "folder/x.npy", "folder/z"] {
            zip.start_file(name, options).unwrap();
            zip.write_all(&npy::render(&x)).unwrap();
        }
        for (name, content) in [("notes.txt", "of these"), ("empty", "")] {
            zip.start_file(name, options).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        fs_err::write(&path, zip.finish().unwrap().get_ref()).unwrap();
        assert_eq!(arrays(&path), [("x".to_owned(), x.clone())]);
        assert_eq!(read_one(&path, "any").unwrap(), x);
    }
    /// `np.savez` adds the suffix to every name, other writers do not; NumPy reads both.
    #[test]
    fn member_without_suffix_is_read_by_content() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.npz");
        let (x, y) = (Array::from(array![1.0, 2.0]), Array::from(array![3_i32]));
        let write = |members: &[(&str, &Array)]| {
            let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
            for (name, array) in members {
                zip.start_file(*name, SimpleFileOptions::default()).unwrap();
                zip.write_all(&npy::render(array)).unwrap();
            }
            fs_err::write(&path, zip.finish().unwrap().get_ref()).unwrap();
        };
        write(&[("x", &x), ("y.npy", &y)]);
        assert_eq!(arrays(&path), [("x".to_owned(), x.clone()), ("y".to_owned(), y.clone())]);
        assert_eq!(read_one(&path, "x").unwrap(), x);
        write(&[("x", &x), ("x.npy", &y)]);
        assert!(matches!(read(&path), Err(ReadError::Twice { .. })));
    }
}
