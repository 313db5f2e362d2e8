//! The outline of a program in bytes: what a loader has to know before somebody calls it. Nothing else is read.

use super::wire::read_computes;
use super::{Computes, Program};
use crate::key::BuildKey;
use crate::record::wire::{Kind, Reader};
use crate::record::{ParseRecordError, check_entry_name};

type Read<T> = Result<T, ParseRecordError>;

/// An entry up to its program's end, of which the structure was looked at, and no value but these.
#[derive(Debug)]
pub(crate) struct Outline<'a> {
    pub(crate) name: &'a str,
    /// The modules that are called, in order, and what each does.
    pub(crate) steps: Vec<(BuildKey, Computes)>,
}

impl<'a> Outline<'a> {
    /// Looks through the bytes of the entry.
    pub(crate) fn read(bytes: &'a [u8]) -> Read<Self> {
        let mut reader = Reader::new(Kind::Entry, bytes)?;
        let name = reader.text()?;
        check_entry_name(name).map_err(|_| reader.malformed("its name is invalid"))?;
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
    /// Reads the program of an entry, of which [`Outline`] looked through the same bytes.
    pub(crate) fn of_entry(bytes: &[u8]) -> Read<Self> {
        let mut reader = Reader::new(Kind::Entry, bytes)?;
        reader.text()?;
        let program = Self::read(&mut reader)?;
        reader.end()?;
        Ok(program)
    }
}

// What follows skips what `super::wire` reads.

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
