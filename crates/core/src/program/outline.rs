//! The outline of a serialized program: the fields that a loader needs before the first call. Other fields are skipped.

use super::wire::read_computes;
use super::{Computes, Program};
use crate::key::BuildKey;
use crate::record::wire::{Kind, Reader, WITH_NAMES};
use crate::record::{ParseRecordError, check_entry_name};

type Read<T> = Result<T, ParseRecordError>;

/// The outline of an entry up to the end of its program. The structure of the bytes was checked, but only these values were
/// parsed.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) name: &'a str,
    /// The called modules, in order, and the kind of computation of each.
    pub(crate) steps: Vec<(BuildKey, Computes)>,
}

impl<'a> Outline<'a> {
    /// Reads the outline from the bytes of the entry.
    pub(crate) fn read(bytes: &'a [u8]) -> Read<Self> {
        let (mut reader, _) = Reader::up_to(WITH_NAMES, Kind::Entry, bytes)?;
        let name = reader.text()?;
        check_entry_name(name).map_err(|_| reader.malformed("invalid name"))?;
        for _ports in 0..2 {
            reader.list(|reader| text(reader).and_then(|()| text(reader)))?;
        }
        reader.list(|reader| text(reader).and_then(|()| array(reader)))?;
        reader.list(|reader| text(reader).and_then(|()| reader.u8().map(drop)))?;
        let steps = reader.list(step)?;
        reader.end()?;
        Ok(Self { name, steps })
    }
}

impl Program {
    /// Parses the program of an entry whose bytes [`Outline`] has checked.
    pub(crate) fn of_entry(bytes: &[u8]) -> Read<Self> {
        let (mut reader, _) = Reader::up_to(WITH_NAMES, Kind::Entry, bytes)?;
        reader.text()?;
        let program = Self::read(&mut reader)?;
        reader.end()?;
        Ok(program)
    }
}

// The functions below skip the fields that `super::wire` reads.

fn text(reader: &mut Reader<'_>) -> Read<()> {
    reader.bytes().map(drop)
}

fn array(reader: &mut Reader<'_>) -> Read<()> {
    text(reader)?;
    for _extents_and_elements in 0..2 {
        let count = reader.size()?;
        reader.skip(count, 8)?;
    }
    Ok(())
}

fn step(reader: &mut Reader<'_>) -> Read<(BuildKey, Computes)> {
    let key = BuildKey::from_bytes(reader.hash()?);
    reader.list(text)?;
    let args = reader.size()?;
    reader.skip(args, 5)?;
    reader.u32()?;
    reader.list(array)?;
    reader.u32()?;
    let computes = read_computes(reader)?;
    let views = reader.size()?;
    reader.skip(views, 8)?;
    Ok((key, computes))
}
