//! The serialization of programs; see [`crate::record::wire`] for the encoding of the parts.

use super::{Computes, Constant, Port, Program, Register, Step, Temp};
use crate::key::BuildKey;
use crate::record::ParseRecordError;
use crate::record::wire::{Reader, Writer};
use crate::value::{Array, DType};

type Read<T> = Result<T, ParseRecordError>;

impl Program {
    pub(crate) fn write(&self, writer: &mut Writer) {
        // Destructured without `..`, so that a new field cannot be forgotten here.
        let Self { inputs, outputs, constants, temps, steps } = self;
        for ports in [inputs, outputs] {
            writer.list(ports.iter(), |writer, Port { name, ty }| {
                writer.str(name);
                writer.str(&ty.to_string());
            });
        }
        writer.list(constants.iter(), |writer, Constant { ty, value }| {
            writer.str(&ty.to_string());
            write_array(writer, value);
        });
        writer.list(temps.iter(), |writer, Temp { ty, view }| {
            writer.str(&ty.to_string());
            writer.u8((*view).into());
        });
        writer.list(steps.iter(), write_step);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Self> {
        const TYPE: &str = "invalid type";
        let port = |reader: &mut Reader<'_>| Ok(Port { name: reader.str()?, ty: reader.parsed(TYPE)? });
        let program = Self {
            inputs: reader.list(port)?,
            outputs: reader.list(port)?,
            constants: reader
                .list(|reader| Ok(Constant { ty: reader.parsed(TYPE)?, value: read_array(reader)? }))?,
            temps: reader.list(|reader| Ok(Temp { ty: reader.parsed(TYPE)?, view: flag(reader)? }))?,
            steps: reader.list(read_step)?,
        };
        program.check().map_err(|why| reader.malformed(why))?;
        Ok(program)
    }
}

fn write_step(writer: &mut Writer, step: &Step) {
    let Step { key, signatures, args, n_inputs, slots, group, computes, views } = step;
    writer.hash(key.as_bytes());
    writer.strs(signatures);
    writer.list(args.iter(), |writer, register| {
        let (kind, position) = match *register {
            Register::Input(i) => (0, i),
            Register::Constant(i) => (1, i),
            Register::Temp(i) => (2, i),
            Register::Output(i) => (3, i),
        };
        writer.u8(kind);
        writer.count(position);
    });
    writer.count(*n_inputs);
    writer.list(slots.iter(), write_array);
    writer.u32(*group);
    writer.u8(match computes {
        Computes::Anything => 0,
        Computes::Elementwise => 1,
        Computes::Driven => 2,
    });
    writer.list(views.iter(), |writer, (output, input)| {
        writer.count(*output);
        writer.count(*input);
    });
}

fn read_step(reader: &mut Reader<'_>) -> Read<Step> {
    Ok(Step {
        key: BuildKey::from_bytes(reader.hash()?),
        signatures: reader.strs()?,
        args: reader.list(|reader| {
            let (kind, position) = (reader.u8()?, reader.size()?);
            [Register::Input, Register::Constant, Register::Temp, Register::Output]
                .get(usize::from(kind))
                .map(|register| register(position))
                .ok_or_else(|| reader.malformed("unknown register kind"))
        })?,
        n_inputs: reader.size()?,
        slots: reader.list(read_array)?,
        group: reader.u32()?,
        computes: read_computes(reader)?,
        views: reader.list(|reader| Ok((reader.size()?, reader.size()?)))?,
    })
}

pub(super) fn read_computes(reader: &mut Reader<'_>) -> Read<Computes> {
    match reader.u8()? {
        0 => Ok(Computes::Anything),
        1 => Ok(Computes::Elementwise),
        2 => Ok(Computes::Driven),
        _ => Err(reader.malformed("unknown step kind")),
    }
}

fn write_array(writer: &mut Writer, array: &Array) {
    writer.str(array.dtype().name());
    writer.list(array.shape().iter(), |writer, extent| writer.u64(*extent as u64));
    writer.list(array.bits().into_iter(), Writer::u64);
}

fn read_array(reader: &mut Reader<'_>) -> Read<Array> {
    let dtype: DType = reader.parsed("unknown dtype")?;
    let shape = reader.list(|reader| Ok(usize::try_from(reader.u64()?).unwrap_or(usize::MAX)))?;
    let bits = reader.list(Reader::u64)?;
    Array::from_bits(dtype, &shape, &bits)
        .ok_or_else(|| reader.malformed("the number of elements of an array does not match its shape"))
}

fn flag(reader: &mut Reader<'_>) -> Read<bool> {
    Ok(reader.option(|_| Ok(()))?.is_some())
}
