//! Opens bundles, in constant time once the bytes are in memory.

use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bytes::{u32_at, u64_at};
use super::head::{FORMAT, GENERATOR_AT, Head, MAGIC};
use super::{Bundle, BundleSignatureError, Data, Seen};
use crate::event::Observer;
use crate::file;
use crate::trust::{self, TrustError, Untrusted};

/// The reason why a bundle cannot be opened.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum OpenBundleError {
    /// Other users can change the file.
    #[error(transparent)]
    Untrusted(#[from] Box<Untrusted>),
    /// The file does not exist.
    #[error("bundle `{}` not found\nhint: run `precast build --bundle FILE` to write one", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read bundle `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a bundle.
    #[error("{name} is not a bundle: found magic `{found}`, expected `precastb`")]
    Magic {
        /// The bundle.
        name: String,
        /// The first bytes.
        found: String,
    },
    /// The bundle has another format version.
    #[error(
        "{name} requires a reader of format {found}, expected {FORMAT}\nhint: rebuild it with \
         this version of precast, or update precast"
    )]
    Format {
        /// The bundle.
        name: String,
        /// The format version of the bundle.
        found: u32,
    },
    /// The file is truncated, or has extra bytes.
    #[error("{name} has {found} bytes, expected {expected}\n{}", Bundle::HINT)]
    Length {
        /// The bundle.
        name: String,
        /// Its length, in bytes.
        found: usize,
        /// The length that it states, in bytes.
        expected: u64,
    },
    /// The head is damaged.
    #[error("{name} is damaged: {reason}\n{}", Bundle::HINT)]
    Damaged {
        /// The bundle.
        name: String,
        /// The defect.
        reason: &'static str,
    },
    /// The signatures cannot be checked, or too few keys have signed the bundle.
    #[error("cannot use bundle `{}`", path.display())]
    Signatures {
        /// The bundle.
        path: PathBuf,
        /// The reason.
        source: Box<BundleSignatureError>,
    },
}

crate::debug_as_chain!(OpenBundleError);

impl OpenBundleError {
    /// Returns whether the file is a damaged bundle: truncated, extended, or with a damaged head.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Length { .. } | Self::Damaged { .. })
    }
}

impl Bundle {
    /// The remedy for a damaged bundle, as a line of a message.
    pub const HINT: &str = "hint: copy or download it again, or rebuild it";

    /// Opens a bundle file without checking signatures, even if `PRECAST_KEYRING` names a keyring.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not a complete bundle of a known format, or other users can change it: [`crate::trust`].
    pub fn open_unsigned(path: impl AsRef<Path>) -> Result<Self, OpenBundleError> {
        Self::open_file(path.as_ref(), trust::open)
    }

    /// Opens a bundle file that anyone may be able to change, to check the signatures of its bytes in memory.
    #[cfg(feature = "signed")]
    pub(crate) fn open_unprotected(path: &Path) -> Result<Self, OpenBundleError> {
        Self::open_file(path, |path| {
            file::open(path).map_err(|source| TrustError::Io { path: path.to_path_buf(), source })
        })
    }

    fn open_file(
        path: &Path,
        open: impl FnOnce(&Path) -> Result<fs_err::File, TrustError>,
    ) -> Result<Self, OpenBundleError> {
        let refused = |source| OpenBundleError::Io { path: path.to_path_buf(), source };
        let opened = open(path).map_err(|error| match error {
            TrustError::Untrusted(untrusted) => OpenBundleError::Untrusted(untrusted),
            TrustError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                OpenBundleError::Missing { path: path.to_path_buf() }
            }
            TrustError::Io { source, .. } => refused(source),
        })?;
        let data = read(opened).map_err(refused)?;
        Self::new(Data::Shared(data.into()), format!("bundle `{}`", path.display()))
    }

    /// Opens a bundle that is part of the program. The data needs no alignment and is not copied. It is as trusted as the
    /// program, so `PRECAST_KEYRING` does not apply.
    ///
    /// # Errors
    ///
    /// The bytes are not a complete bundle of a known format.
    pub fn from_static(data: &'static [u8]) -> Result<Self, OpenBundleError> {
        Self::new(Data::Static(data), "the embedded bundle".to_owned())
    }

    /// Opens a bundle from bytes that the program passes. The program vouches for them, so `PRECAST_KEYRING` does not
    /// apply.
    ///
    /// # Errors
    ///
    /// The bytes are not a complete bundle of a known format.
    pub fn from_bytes(data: Vec<u8>) -> Result<Self, OpenBundleError> {
        Self::new(Data::Shared(data.into()), "the in-memory bundle".to_owned())
    }

    /// Opens a bundle that was read from a file, which errors name.
    ///
    /// # Errors
    ///
    /// The bytes are not a complete bundle of a known format.
    pub fn from_file_bytes(data: Vec<u8>, path: &Path) -> Result<Self, OpenBundleError> {
        Self::new(Data::Shared(data.into()), format!("bundle `{}`", path.display()))
    }

    fn new(data: Data, name: String) -> Result<Self, OpenBundleError> {
        if !data.starts_with(MAGIC) {
            let found = data[..data.len().min(MAGIC.len())].escape_ascii().to_string();
            return Err(OpenBundleError::Magic { name, found });
        }
        let cut = |name: &str| OpenBundleError::Length {
            name: name.to_owned(),
            found: data.len(),
            expected: GENERATOR_AT as u64,
        };
        let min_reader = u32_at(&data, 12).ok_or_else(|| cut(&name))?;
        if min_reader != FORMAT {
            return Err(OpenBundleError::Format { name, found: min_reader });
        }
        let stated = data.get(16..).and_then(|rest| rest.first_chunk()).copied().map(u64::from_le_bytes);
        let expected = stated.ok_or_else(|| cut(&name))?;
        if u64_at(&data, 16) != Some(data.len()) {
            return Err(OpenBundleError::Length { name, found: data.len(), expected });
        }
        match Head::parse(&data) {
            Ok(head) => {
                let seen = Arc::new(Seen::new(head.pages));
                Ok(Self { name, data, head, seen, observer: Observer::default() })
            }
            Err(reason) => Err(OpenBundleError::Damaged { name, reason }),
        }
    }
}

/// Reads a file if it begins with the magic of a bundle, and otherwise only its first bytes.
fn read(mut opened: fs_err::File) -> io::Result<Vec<u8>> {
    let mut head = [0; MAGIC.len()];
    let found = opened.metadata()?.len();
    if found < head.len() as u64 {
        return file::read_opened(opened, head.len() as u64);
    }
    opened.read_exact(&mut head)?;
    if head != *MAGIC {
        return Ok(head.to_vec());
    }
    opened.rewind()?;
    file::read_opened(opened, u64::MAX)
}

/// Returns whether `data` begins like a bundle of this `generator`. It is a `const fn`, so a build helper of another
/// version causes a compile error instead of a silent miss.
#[must_use]
pub const fn has_generator(data: &[u8], generator: &str) -> bool {
    const fn same(data: &[u8], at: usize, wanted: &[u8]) -> bool {
        let mut i = 0;
        while i < wanted.len() {
            if at + i >= data.len() || data[at + i] != wanted[i] {
                return false;
            }
            i += 1;
        }
        true
    }
    let len = generator.len() as u32;
    same(data, 0, MAGIC)
        && same(data, 24, &len.to_le_bytes())
        && same(data, GENERATOR_AT, generator.as_bytes())
}
