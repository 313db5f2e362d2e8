//! The serialization of metadata; see [`crate::record::wire`] for the encoding of the parts.
//!
//! ```text
//! metadata     list of kinds, ascending by number, none empty:
//!              number u32 | length u32 | content
//! 1            str
//! 2, 3         list of: name str | dims list of str | documentation str
//! 4            list of: input str | update option of str | 0: dtype str, extents list of u64, elements bytes; 1: JSON str
//! 5            inputs, outputs: list of name str, type str | known: list of name str, JSON str
//!              | steps: list of 0: entry str, 1: key hash, host str, 2: function str | takes list of option of str
//!                | gives list of str | settings str
//!              | results: list of option of str
//! 6            list of: key str, JSON str
//! ```
//! Elements are little-endian and have no padding. Maps are sorted by name.

use super::{Callee, Described, Initial, METADATA_LIMIT_BYTES, Metadata, Plan, PlanPort, PlanStep, State};
use crate::key::BuildKey;
use crate::record::ParseRecordError;
use crate::record::wire::{Kind, Reader, Writer};
use crate::value::{Array, DType};
use std::collections::BTreeMap;

type Read<T> = Result<T, ParseRecordError>;

impl Metadata {
    /// Serializes the metadata. Empty metadata has no bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self { documentation, inputs, outputs, state, plan, json, unknown } = self;
        let mut kinds = unknown.clone();
        let mut put = |number: u32, is_empty: bool, write: &dyn Fn(&mut Writer)| {
            if !is_empty {
                let mut writer = Writer::within();
                write(&mut writer);
                kinds.insert(number, writer.finish());
            }
        };
        put(1, documentation.is_empty(), &|to| to.str(documentation));
        put(2, inputs.is_empty(), &|to| to.list(inputs.iter(), write_described));
        put(3, outputs.is_empty(), &|to| to.list(outputs.iter(), write_described));
        put(4, state.is_empty(), &|to| to.list(state.iter(), write_state));
        put(5, plan.is_none(), &|to| plan.iter().for_each(|plan| write_plan(to, plan)));
        put(6, json.is_empty(), &|to| write_map(to, json));
        if kinds.is_empty() {
            return Vec::new();
        }
        let mut writer = Writer::within();
        writer.list(kinds.iter(), |writer, (number, content)| {
            writer.u32(*number);
            writer.bytes(content);
        });
        writer.finish()
    }

    /// Parses bytes that [`Metadata::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are not metadata in canonical form, or too many.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseRecordError> {
        let mut metadata = Self::default();
        if bytes.is_empty() {
            return Ok(metadata);
        }
        let mut reader = Reader::within(Kind::Metadata, bytes);
        if bytes.len() > METADATA_LIMIT_BYTES {
            return Err(reader.malformed("it is too large"));
        }
        reader.list(|reader| {
            let (number, content) = (reader.u32()?, reader.bytes()?);
            metadata.read_kind(number, content)
        })?;
        if metadata.check_names().is_err() {
            return Err(reader.malformed("a name in it is invalid"));
        }
        // The comparison also refuses kinds that are repeated, empty or not sorted.
        if metadata.to_bytes() == bytes {
            Ok(metadata)
        } else {
            Err(reader.malformed("not in canonical form"))
        }
    }

    fn read_kind(&mut self, number: u32, content: &[u8]) -> Read<()> {
        let mut reader = Reader::within(Kind::Metadata, content);
        match number {
            1 => self.documentation = reader.str()?,
            2 => self.inputs = reader.list(read_described)?,
            3 => self.outputs = reader.list(read_described)?,
            4 => self.state = reader.list(read_state)?,
            5 => self.plan = Some(read_plan(&mut reader)?),
            6 => self.json = read_map(&mut reader)?,
            _ => {
                self.unknown.insert(number, content.to_vec());
                return Ok(());
            }
        }
        reader.end()
    }
}

fn write_described(writer: &mut Writer, Described { name, dims, documentation }: &Described) {
    writer.str(name);
    writer.strs(dims);
    writer.str(documentation);
}

fn read_described(reader: &mut Reader<'_>) -> Read<Described> {
    Ok(Described { name: reader.str()?, dims: reader.strs()?, documentation: reader.str()? })
}

fn write_state(writer: &mut Writer, State { input, update, initial }: &State) {
    writer.str(input);
    write_option(writer, update);
    match initial {
        Initial::Array(array) => {
            writer.u8(0);
            write_array(writer, array);
        }
        Initial::Json(json) => {
            writer.u8(1);
            writer.str(json);
        }
    }
}

fn read_state(reader: &mut Reader<'_>) -> Read<State> {
    let (input, update) = (reader.str()?, read_option(reader)?);
    let initial = match reader.u8()? {
        0 => Initial::Array(read_array(reader)?),
        1 => Initial::Json(reader.str()?),
        _ => return Err(reader.malformed("a state in it is of no kind")),
    };
    Ok(State { input, update, initial })
}

fn write_array(writer: &mut Writer, array: &Array) {
    let dtype = array.dtype();
    writer.str(dtype.name());
    writer.list(array.shape().iter(), |writer, extent| writer.u64(*extent as u64));
    let width = word_bytes(dtype);
    let words = array.bits().into_iter().map(u64::to_le_bytes);
    writer.bytes(&words.flat_map(|word| word.into_iter().take(width)).collect::<Vec<u8>>());
}

fn read_array(reader: &mut Reader<'_>) -> Read<Array> {
    let dtype: DType = reader.parsed("unknown dtype")?;
    let shape = reader.list(|reader| Ok(usize::try_from(reader.u64()?).unwrap_or(usize::MAX)))?;
    let words = reader.bytes()?.chunks(word_bytes(dtype)).map(|word| {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        u64::from_le_bytes(bytes)
    });
    Array::from_bits(dtype, &shape, &words.collect::<Vec<u64>>())
        .ok_or_else(|| reader.malformed("an array has another number of elements than its shape"))
}

/// Returns the number of bytes of an element that one word of [`Array::bits`] holds.
const fn word_bytes(dtype: DType) -> usize {
    dtype.itemsize_bytes() / dtype.words()
}

fn write_plan(writer: &mut Writer, plan: &Plan) {
    let Plan { inputs, outputs, known, steps, results } = plan;
    for ports in [inputs, outputs] {
        writer.list(ports.iter(), |writer, PlanPort { name, ty }| {
            writer.str(name);
            writer.str(ty);
        });
    }
    write_map(writer, known);
    writer.list(steps.iter(), write_step);
    writer.list(results.iter(), write_option);
}

fn read_plan(reader: &mut Reader<'_>) -> Read<Plan> {
    let port = |reader: &mut Reader<'_>| Ok(PlanPort { name: reader.str()?, ty: reader.str()? });
    Ok(Plan {
        inputs: reader.list(port)?,
        outputs: reader.list(port)?,
        known: read_map(reader)?,
        steps: reader.list(read_step)?,
        results: reader.list(read_option)?,
    })
}

fn write_step(writer: &mut Writer, PlanStep { callee, takes, gives, settings }: &PlanStep) {
    match callee {
        Callee::Entry(name) => {
            writer.u8(0);
            writer.str(name);
        }
        Callee::Module { key, host } => {
            writer.u8(1);
            writer.hash(key.as_bytes());
            writer.str(host);
        }
        Callee::Host(name) => {
            writer.u8(2);
            writer.str(name);
        }
    }
    writer.list(takes.iter(), write_option);
    writer.strs(gives);
    writer.str(settings);
}

fn read_step(reader: &mut Reader<'_>) -> Read<PlanStep> {
    let callee = match reader.u8()? {
        0 => Callee::Entry(reader.str()?),
        1 => Callee::Module { key: BuildKey::from_bytes(reader.hash()?), host: reader.str()? },
        2 => Callee::Host(reader.str()?),
        _ => return Err(reader.malformed("a step in it calls what is not known")),
    };
    let (takes, gives) = (reader.list(read_option)?, reader.strs()?);
    Ok(PlanStep { callee, takes, gives, settings: reader.str()? })
}

fn write_map(writer: &mut Writer, map: &BTreeMap<String, String>) {
    writer.list(map.iter(), |writer, (name, json)| {
        writer.str(name);
        writer.str(json);
    });
}

fn read_map(reader: &mut Reader<'_>) -> Read<BTreeMap<String, String>> {
    Ok(reader.list(|reader| Ok((reader.str()?, reader.str()?)))?.into_iter().collect())
}

fn write_option(writer: &mut Writer, text: &Option<String>) {
    writer.option(text.as_deref(), Writer::str);
}

fn read_option(reader: &mut Reader<'_>) -> Read<Option<String>> {
    reader.option(Reader::str)
}
