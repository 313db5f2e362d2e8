//! Writes programs for `c/cross/host.c`, and reads its output; that file describes the format.

use precast::{Array, DType};
use precast_core::program::{Program, Register};

/// The location of a module: its unit, and its position in the unit's table.
pub(super) type Place = (usize, u32);

/// Writes a program with its inputs; `places` are the locations of its steps, in order.
pub(super) fn program(program: &Program, inputs: &[Array], places: &[Place]) -> Vec<u8> {
    let mut out = Vec::new();
    let (n_inputs, n_constants) = (program.inputs.len(), program.constants.len());
    let constants_end = n_inputs + n_constants;
    let temps_end = constants_end + program.temps.len();
    let number = |register: Register| match register {
        Register::Input(i) => i,
        Register::Constant(i) => n_inputs + i,
        Register::Temp(i) => constants_end + i,
        Register::Output(i) => temps_end + i,
    };
    put(&mut out, temps_end + program.outputs.len());
    put(&mut out, constants_end);
    let constants = program.constants.iter().map(|constant| &constant.value);
    for (register, array) in inputs.iter().chain(constants).enumerate() {
        put(&mut out, register);
        tensor(&mut out, array);
    }
    put(&mut out, program.steps.len());
    for (step, (unit, slot)) in program.steps.iter().zip(places) {
        put(&mut out, *unit);
        put(&mut out, *slot as usize);
        put(&mut out, step.slots.len());
        step.slots.iter().for_each(|slot| tensor(&mut out, slot));
        put(&mut out, step.args.len());
        step.args.iter().for_each(|register| put(&mut out, number(*register)));
    }
    put(&mut out, program.outputs.len());
    (0..program.outputs.len()).for_each(|output| put(&mut out, temps_end + output));
    out
}

/// Reads the results of a program, or the message of a failed run.
pub(super) fn results(mut bytes: &[u8]) -> Result<Vec<Array>, String> {
    let mut arrays = Vec::new();
    while !bytes.is_empty() {
        let typenum = take(&mut bytes);
        if typenum < 0 {
            return Err(String::from_utf8_lossy(bytes).trim().to_owned());
        }
        let dtype = DType::from_typenum(i32::try_from(typenum).unwrap()).unwrap();
        let shape: Vec<usize> =
            (0..take(&mut bytes)).map(|_| usize::try_from(take(&mut bytes)).unwrap()).collect();
        let len = usize::try_from(take(&mut bytes)).unwrap();
        let (data, rest) = bytes.split_at(len);
        bytes = rest;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        let elements = data.chunks(dtype.itemsize_bytes());
        let words: Vec<u64> = elements.flat_map(|element| element.chunks(8).map(word)).collect();
        arrays.push(Array::from_bits(dtype, &shape, &words).unwrap());
    }
    Ok(arrays)
}

fn put(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u64).to_le_bytes());
}

fn take(bytes: &mut &[u8]) -> i64 {
    let (number, rest) = bytes.split_first_chunk().unwrap();
    *bytes = rest;
    i64::from_le_bytes(*number)
}

fn tensor(out: &mut Vec<u8>, array: &Array) {
    let dtype = array.dtype();
    out.extend(i64::from(dtype.typenum()).to_le_bytes());
    put(out, array.shape().len());
    array.shape().iter().for_each(|extent| put(out, *extent));
    let words = array.bits();
    put(out, words.len() / dtype.words() * dtype.itemsize_bytes());
    for element in words.chunks(dtype.words()) {
        let bytes: Vec<u8> = element.iter().flat_map(|word| word.to_le_bytes()).collect();
        out.extend(&bytes[..dtype.itemsize_bytes()]);
    }
}
