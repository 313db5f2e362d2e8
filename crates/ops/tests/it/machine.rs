//! Runs compiled graphs in `tests/c/machine.c`, a minimal host in a separate process.

use crate::compiler::{self, Level, Share};
use ndarray::{Dimension as _, IxDyn};
use precast_codegen::{Module, Unit};
use precast_graph::{Array, DType, FunctionGraph, with_array};
use precast_ops::Ops;
use precast_store::key::BuildKey;
use precast_testkit::layout::Layout;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A call of a graph. `output` may give the outputs a layout.
pub(crate) struct Call {
    pub(crate) graph: Arc<FunctionGraph>,
    pub(crate) inputs: Vec<(Array, Layout)>,
    pub(crate) output: Option<(Array, Layout)>,
    /// Whether the first dimension of the inputs is broadcast with stride 0.
    pub(crate) stretched: bool,
}

/// The outcome of a call: the values and whether a second call reused their storage, or the message of a failure.
pub(crate) type Outcome = Result<(Vec<Array>, bool), String>;

/// Compiles the graphs of all calls at a level and runs them.
pub(crate) fn run(level: Level, language: &str, calls: &[Call]) -> Vec<Outcome> {
    run_with(&Ops::standard(), level, language, calls)
}

/// Runs calls like [`run`], with custom ops.
pub(crate) fn run_with(ops: &Ops, level: Level, language: &str, calls: &[Call]) -> Vec<Outcome> {
    let outcomes = run_share(ops, level, language, calls, Share::All);
    outcomes.into_iter().map(|outcome| outcome.expect("every module is in a unit")).collect()
}

/// Runs those calls whose units have this level in their share; the others have no outcome.
pub(crate) fn run_share(
    ops: &Ops,
    level: Level,
    language: &str,
    calls: &[Call],
    share: Share,
) -> Vec<Option<Outcome>> {
    // Many calls share a graph, so each graph is linked and hashed once.
    let mut linked: BTreeMap<usize, (BuildKey, Arc<Module>)> = BTreeMap::new();
    for call in calls {
        linked.entry(address(&call.graph)).or_insert_with(|| {
            let module = precast_codegen::link(&call.graph, ops.c());
            let module = module.unwrap_or_else(|e| panic!("{}: {e}", call.graph));
            (module.key(), Arc::new(module))
        });
    }
    let folder = tempfile::tempdir().unwrap();
    let machine = compiler::object(level, &host(folder.path(), language), language);
    let host = [vec![machine], compiler::copies()].concat();
    let units = Unit::batches(linked.values().map(|(_, module)| Arc::clone(module)).collect());
    let outcomes: Mutex<Vec<Option<Outcome>>> = Mutex::new(calls.iter().map(|_| None).collect());
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            let slot = |call: &Call| {
                let (key, _) = &linked[&address(&call.graph)];
                unit.members().iter().position(|(member, _)| member == key)
            };
            let mine: Vec<(usize, usize)> =
                calls.iter().enumerate().filter_map(|(i, call)| slot(call).map(|slot| (i, slot))).collect();
            let program = |folder: &Path, text: &Path| {
                compiler::program_of_unit(folder, level, text, &host, language, share)
            };
            let Some(results) = run_unit(language, program, unit, &mine, calls) else { continue };
            let mut outcomes = outcomes.lock().unwrap();
            for ((call, _), outcome) in mine.into_iter().zip(results) {
                outcomes[call] = Some(outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    outcomes.into_inner().unwrap()
}

/// Returns the identity of a graph.
fn address(graph: &Arc<FunctionGraph>) -> usize {
    Arc::as_ptr(graph).addr()
}

/// Returns the source of the host, with a file name for the language.
fn host(folder: &Path, language: &str) -> PathBuf {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/machine.c");
    if language != "c++17" {
        return host;
    }
    let copy = folder.join("machine.cc");
    fs_err::copy(host, &copy).unwrap();
    copy
}

/// Runs some calls of a unit in the program that `compile` makes of its text, if it makes one.
fn run_unit(
    language: &str,
    compile: impl Fn(&Path, &Path) -> Option<PathBuf>,
    unit: &Unit,
    mine: &[(usize, usize)],
    calls: &[Call],
) -> Option<Vec<Outcome>> {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join(if language == "c++17" { "unit.cc" } else { "unit.c" });
    fs_err::write(&text, unit.text()).unwrap();
    let program = compile(folder.path(), &text)?;
    let mut bytes = Vec::new();
    put(&mut bytes, mine.len());
    for (call, slot) in mine {
        write(&mut bytes, &calls[*call], *slot);
    }
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs_err::write(&input, bytes).unwrap();
    let status = Command::new(&program).arg(&input).arg(&output).status().unwrap();
    assert!(status.success(), "the machine ended with {status}: {}", program.display());
    let bytes = fs_err::read(output).unwrap();
    let mut rest = bytes.as_slice();
    let outcomes = mine.iter().map(|(call, _)| read(&mut rest, calls[*call].graph.outputs().len())).collect();
    assert!(rest.is_empty());
    Some(outcomes)
}

fn put(bytes: &mut Vec<u8>, x: usize) {
    bytes.extend((x as i64).to_ne_bytes());
}

fn write(bytes: &mut Vec<u8>, call: &Call, slot: usize) {
    let constants: Vec<&Array> = call.graph.slots().map(|(_, value)| value).collect();
    for n in [slot, constants.len(), call.inputs.len(), call.graph.outputs().len()] {
        put(bytes, n);
    }
    constants.into_iter().for_each(|constant| write_tensor(bytes, constant, Layout::C, false));
    for (array, layout) in &call.inputs {
        write_tensor(bytes, array, *layout, call.stretched);
    }
    for _ in call.graph.outputs() {
        put(bytes, usize::from(call.output.is_some()));
        if let Some((array, layout)) = &call.output {
            write_tensor(bytes, array, *layout, false);
        }
    }
}

/// Returns strides in elements, the position of the first element, and the number of elements of memory.
fn arrange(shape: &[usize], layout: Layout, stretched: bool) -> (Vec<i64>, i64, usize) {
    let mut strides = vec![0_i64; shape.len()];
    let mut step = 1_i64;
    let mut order: Vec<usize> = (0..shape.len()).rev().collect();
    if layout == Layout::Fortran {
        order.reverse();
    }
    let is_last = |d: usize| layout == Layout::ReversedStrided && d + 1 == shape.len();
    for d in order {
        let gap = if layout == Layout::Strided || is_last(d) { 2 } else { 1 };
        strides[d] = step * gap;
        step *= gap * shape[d].max(1) as i64;
    }
    let mut offset = 0;
    for (d, (stride, n)) in strides.iter_mut().zip(shape).enumerate() {
        if layout == Layout::Reversed || is_last(d) {
            offset += *stride * (n.max(&1) - 1) as i64;
            *stride = -*stride;
        }
    }
    if stretched && let Some(first) = strides.first_mut() {
        *first = 0;
    }
    (strides, offset, step as usize)
}

fn write_tensor(bytes: &mut Vec<u8>, array: &Array, layout: Layout, stretched: bool) {
    let array = &if stretched { stretch(array) } else { array.clone() };
    let (shape, dtype) = (array.shape(), array.dtype());
    let (strides, offset, elements) = arrange(shape, layout, stretched);
    let item = dtype.itemsize_bytes();
    put(bytes, dtype.typenum() as usize);
    put(bytes, shape.len());
    shape.iter().for_each(|n| put(bytes, *n));
    strides.iter().for_each(|s| bytes.extend((s * item as i64).to_ne_bytes()));
    put(bytes, offset as usize * item);
    put(bytes, elements * item);
    // The bytes between the elements must not matter.
    let mut memory = vec![1_u8; elements * item];
    let (bits, words) = (array.bits(), dtype.words());
    for (index, x) in ndarray::indices(IxDyn(shape)).into_iter().zip(bits.chunks_exact(words)) {
        let steps: i64 = index.slice().iter().zip(&strides).map(|(i, s)| *i as i64 * s).sum();
        let at = (steps + offset) as usize * item;
        memory[at..at + item].copy_from_slice(&element_bytes(dtype, x));
    }
    bytes.extend(memory);
}

/// Returns the bytes of one element in memory, part by part.
fn element_bytes(dtype: DType, words: &[u64]) -> Vec<u8> {
    let part = dtype.real().itemsize_bytes();
    let parts = match dtype {
        DType::C64 => vec![words[0] & 0xffff_ffff, words[0] >> 32],
        _ => words.to_vec(),
    };
    let from = if cfg!(target_endian = "big") { 8 - part } else { 0 };
    parts.iter().flat_map(|x| x.to_ne_bytes()[from..from + part].to_vec()).collect()
}

/// Returns the words of the elements in memory; the inverse of [`element_bytes`].
fn element_words(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let part = dtype.real().itemsize_bytes();
    let wide = |x: &[u8]| {
        let mut word = [0; 8];
        let from = if cfg!(target_endian = "big") { 8 - part } else { 0 };
        word[from..from + part].copy_from_slice(x);
        u64::from_ne_bytes(word)
    };
    let parts: Vec<u64> = bytes.chunks_exact(part).map(wide).collect();
    match dtype {
        DType::C64 => parts.chunks_exact(2).map(|p| p[1] << 32 | p[0]).collect(),
        _ => parts,
    }
}

fn get(rest: &mut &[u8]) -> i64 {
    let (head, tail) = rest.split_at(8);
    *rest = tail;
    i64::from_ne_bytes(head.try_into().unwrap())
}

fn read(rest: &mut &[u8], outputs: usize) -> Outcome {
    let failure = get(rest);
    let outcome = if failure == 0 {
        let arrays = (0..outputs).map(|_| read_tensor(rest)).collect();
        Ok((arrays, get(rest) == 1))
    } else {
        let length = get(rest) as usize;
        let (message, tail) = rest.split_at(length);
        *rest = tail;
        Err(String::from_utf8_lossy(message).into_owned())
    };
    assert_eq!(get(rest), 0, "objects were not given back");
    outcome
}

fn read_tensor(rest: &mut &[u8]) -> Array {
    let dtype = DType::from_typenum(get(rest) as i32).unwrap();
    let ndim = get(rest);
    let shape: Vec<usize> = (0..ndim).map(|_| get(rest) as usize).collect();
    let (item, size) = (dtype.itemsize_bytes(), shape.iter().product::<usize>());
    let (data, tail) = rest.split_at(size * item);
    *rest = tail;
    Array::from_bits(dtype, &shape, &element_words(dtype, data)).unwrap()
}

/// Repeats the first row of `array` in all rows, as a stride of 0 does.
pub(crate) fn stretch(array: &Array) -> Array {
    if array.shape().first().is_none_or(|n| *n == 0) {
        return array.clone();
    }
    with_array!(array, a => {
        let row = a.index_axis(ndarray::Axis(0), 0).insert_axis(ndarray::Axis(0));
        Array::from(row.broadcast(a.raw_dim()).unwrap().to_owned())
    })
}
