//! The package behind the library: `library | package | its length, u64 little-endian | MAGIC`.

use crate::boundary::library;
use crate::error::Error;
use precast_core::{Bundle, Loader};
use precast_density::{Density, OpenDensityError};
use std::io::{Read, Seek, SeekFrom};

/// The last bytes of a library with a package. `precast bridgestan` writes them.
const MAGIC: [u8; 16] = *b"precast-package1";

/// Opens the package behind this library.
pub(crate) fn behind() -> Result<Density, Error> {
    let mut file = fs_err::File::open(library()?).map_err(Error::Read)?;
    let mut trailer = [0; 8 + MAGIC.len()];
    let end = file.seek(SeekFrom::End(0)).map_err(Error::Read)?;
    let Some(start) = end.checked_sub(trailer.len() as u64) else { return Err(Error::NoPackage) };
    file.seek(SeekFrom::Start(start)).map_err(Error::Read)?;
    file.read_exact(&mut trailer).map_err(Error::Read)?;
    let (length, magic) = trailer.split_at(8);
    if magic != MAGIC {
        return Err(Error::NoPackage);
    }
    let length = length.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
    let begin =
        start.checked_sub(length).ok_or_else(|| Error::Package("its length is invalid".to_owned()))?;
    file.seek(SeekFrom::Start(begin)).map_err(Error::Read)?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(Error::Read)?;
    let bundle = Bundle::from_bytes(bytes).map_err(OpenDensityError::from)?;
    Ok(Density::new(Loader::new(bundle))?)
}
