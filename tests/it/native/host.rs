//! Native functions, called by a C program that includes only `precast/module.h`. It opens the shared object, reads
//! the signature from the table, and casts. The test covers random graphs, every dtype that C can pass, and one or
//! several results.

use crate::compiled::{toolchain, variant};
use precast::{Array, DType, FunctionGraph, Ops};
use precast_codegen::{Module, Unit, link};
use precast_compile::{Isa, Parallel, compile_all};
use precast_graph::{Prop, Props, interpret};
use precast_ops::rewrite;
use precast_testkit::graphs::{Config, Function, draw};
use precast_testkit::ulp::same_bits;
use precast_testkit::{Choices, arrays};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const GRAPHS: usize = 120;
const CALLS: usize = 6;

/// A graph of numbers that C can call, and calls with the results of `perform`; `None` for values that it rejects.
struct Subject {
    graph: FunctionGraph,
    module: Arc<Module>,
    calls: Vec<(Vec<Array>, Option<Vec<Array>>)>,
}

fn plan() -> Config {
    // A power may fail; the sign of a computed NaN depends on the CPU.
    let left_out = ["pow", "copysign", "signbit"];
    let elementwise = Ops::rows()
        .filter(|row| precast_ops::scalar::find(row.name).is_some() && !left_out.contains(&row.name));
    let function = |name: &str, count: usize| Function::new(name, count);
    let mut functions: Vec<Function> =
        elementwise.map(|row| function(row.name, row.arguments.len())).collect();
    let to =
        |f: Function, d: DType| f.with(Props::from([("dtype".to_owned(), Prop::Str(d.name().to_owned()))]));
    functions.extend(vec![DType::ALL.into_iter().fold(function("cast", 1), to); 8]);
    Config {
        max_ndim: 0,
        scalars: true,
        dtypes: DType::ALL.to_vec(),
        applies: 1..=12,
        ..Config::new(functions)
    }
}

fn subjects() -> Vec<Subject> {
    let (ops, plan) = (Ops::standard(), plan());
    let mut found = Vec::new();
    for seed in 0.. {
        let mut choices = Choices::seeded(seed);
        let case = draw(&mut choices, &plan, &ops);
        let lowered = rewrite::lower(&case.graph).unwrap();
        if !lowered.is_of_numbers() {
            continue;
        }
        let module = Arc::new(link(&lowered, ops.c()).unwrap());
        if module.native.is_err() {
            continue;
        }
        let types = case.graph.inputs().iter().map(|input| case.graph.ty(*input).dtype());
        let types: Vec<DType> = types.collect();
        let mut call = || types.iter().map(|dtype| arrays::draw(&mut choices, *dtype, &[])).collect();
        let calls = (0..CALLS).map(|_| -> Vec<Array> { call() });
        let performed = |inputs: Vec<Array>| (interpret(&case.graph, &inputs).ok(), inputs);
        let calls = calls.map(performed).map(|(expected, inputs)| (inputs, expected)).collect();
        found.push(Subject { graph: case.graph, module, calls });
        if found.len() == GRAPHS {
            break;
        }
    }
    found
}

/// Returns the C name of a type.
fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "_Bool",
        DType::I8 => "int8_t",
        DType::U8 => "uint8_t",
        DType::I16 => "int16_t",
        DType::U16 => "uint16_t",
        DType::I32 => "int32_t",
        DType::U32 => "uint32_t",
        DType::I64 => "int64_t",
        DType::U64 => "uint64_t",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "float _Complex",
        DType::C128 => "double _Complex",
        DType::F16 | DType::Bf16 => panic!("C passes no {dtype}"),
    }
}

/// Returns the C code of one graph's calls.
fn case(position: usize, subject: &Subject) -> String {
    let types = |ids: &[precast_graph::VarId]| {
        ids.iter().map(|id| subject.graph.ty(*id).dtype()).collect::<Vec<DType>>()
    };
    let (inputs, outputs) = (types(subject.graph.inputs()), types(subject.graph.outputs()));
    let signature = subject.module.native.as_ref().unwrap();
    let fails = signature.ends_with("!c~");
    let mut c = format!("static void case_{position}(const pc_entry *entry, pc_context *ctx) {{\n");
    let (mut result, mut places) = ("results".to_owned(), Vec::new());
    if let [one] = outputs.as_slice() {
        result = c_type(*one).to_owned();
        places.push("r".to_owned());
    } else {
        let members = outputs.iter().enumerate().map(|(i, dtype)| format!("{} m{i};", c_type(*dtype)));
        writeln!(c, "  typedef struct {{ {} }} results;", members.collect::<String>()).unwrap();
        places.extend((0..outputs.len()).map(|i| format!("r.m{i}")));
    }
    let mut parameters: Vec<&str> = inputs.iter().map(|dtype| c_type(*dtype)).collect();
    parameters.extend(fails.then_some("pc_context *"));
    writeln!(c, "  typedef {result} (*function)({});", parameters.join(", ")).unwrap();
    // `??)` is a trigraph of C.
    writeln!(c, "  check(entry, \"{}\");", signature.replace('?', "\\?")).unwrap();
    for (given, _) in &subject.calls {
        c += "  {\n";
        for (i, (array, dtype)) in given.iter().zip(&inputs).enumerate() {
            let words: Vec<String> = array.bits().iter().map(|word| format!("{word:#x}u")).collect();
            writeln!(c, "    static const uint64_t w{i}[] = {{{}}};", words.join(", ")).unwrap();
            writeln!(c, "    {} a{i};\n    memcpy(&a{i}, w{i}, sizeof a{i});", c_type(*dtype)).unwrap();
        }
        let mut arguments: Vec<String> = (0..inputs.len()).map(|i| format!("a{i}")).collect();
        arguments.extend(fails.then(|| "ctx".to_owned()));
        writeln!(c, "    ctx->error.kind = 0;").unwrap();
        writeln!(c, "    {result} r = ((function)entry->function)({});", arguments.join(", ")).unwrap();
        c += "    if (ctx->error.kind != 0) printf(\"failed\");\n    else {\n";
        for place in &places {
            writeln!(c, "      put(&{place}, sizeof {place});").unwrap();
        }
        c += "    }\n    printf(\"\\n\");\n  }\n";
    }
    c + "}\n"
}

const HEAD: &str = include_str!("../c/native/host.c");

/// Compiles the modules and a host; returns the host's output.
fn run(subjects: &[Subject], directory: &Path) -> String {
    let modules: BTreeSet<_> = subjects.iter().map(|subject| subject.module.key()).collect();
    let units = Unit::batches(subjects.iter().map(|subject| Arc::clone(&subject.module)).collect());
    let jobs: Vec<_> = units.iter().map(|unit| (unit.clone(), variant(Isa::native().unwrap()))).collect();
    let compiled = compile_all(&jobs, &toolchain(), Parallel::Auto, &|_| {});
    let mut places = Vec::new();
    for (position, (unit, compiled)) in units.iter().zip(compiled).enumerate() {
        let path = directory.join(format!("{position}.so"));
        fs_err::write(&path, compiled.unwrap().archive.get("unit.so").unwrap()).unwrap();
        let slots = unit.members().iter().enumerate();
        places.extend(slots.map(|(slot, (key, _))| (*key, position, slot)));
    }
    assert_eq!(places.len(), modules.len());
    let mut c = HEAD.to_owned();
    let mut calls = String::new();
    for (position, subject) in subjects.iter().enumerate() {
        c += &case(position, subject);
        let (_, file, slot) = places.iter().find(|(key, ..)| *key == subject.module.key()).unwrap();
        writeln!(calls, "  case_{position}(entry(argv[1], {file}, {slot}), &ctx);").unwrap();
    }
    write!(
        c,
        "int main(int argc, char **argv) {{\n  (void)argc;\n  ctx.host = &host;\n{calls}  return 0;\n}}\n"
    )
    .unwrap();
    let (source, binary) = (directory.join("host.c"), directory.join("host"));
    fs_err::write(&source, c).unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/abi/include");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Werror", "-Wno-unused-function", "-Wno-psabi", "-I"])
        .arg(headers);
    let built = cc.arg(&source).arg("-o").arg(&binary).arg("-ldl").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(&binary).arg(directory).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// Returns an array of one element with these bytes, in hexadecimal.
fn array(dtype: DType, hex: &str) -> Array {
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
    let words: Vec<u64> = bytes.chunks(8).map(word).collect();
    Array::from_bits(dtype, &[], &words).unwrap()
}

#[test]
fn random_graphs_match_perform_from_c() {
    let subjects = subjects();
    let directory = tempfile::tempdir().unwrap();
    let printed = run(&subjects, directory.path());
    let mut lines = printed.lines();
    let (mut seen, mut failed) = (BTreeSet::new(), 0);
    for subject in &subjects {
        seen.extend(subject.module.native.as_ref().unwrap().bytes());
        for (inputs, expected) in &subject.calls {
            let line = lines.next().unwrap();
            let Some(expected) = expected else {
                assert_eq!(line, "failed", "{} of {inputs:?}", subject.graph);
                failed += 1;
                continue;
            };
            let results: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(results.len(), expected.len(), "{}: `{line}`", subject.graph);
            for (hex, want) in results.into_iter().zip(expected) {
                let found = array(want.dtype(), hex);
                assert!(
                    same_bits(&found, want),
                    "{} of {inputs:?}: {found:?}, expected {want:?}",
                    subject.graph
                );
            }
        }
    }
    assert_eq!(lines.next(), None);
    for code in "?bBhHiIqQfdZT".bytes() {
        assert!(seen.contains(&code), "no signature has `{}`", code as char);
    }
    assert!(failed < GRAPHS);
}
