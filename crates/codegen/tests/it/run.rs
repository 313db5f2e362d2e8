//! Builds modules under AddressSanitizer and UndefinedBehaviorSanitizer and runs them by `runner.c`, which also makes every
//! request and every dtype fail in turn.

use precast_codegen::params::apply_slots;
use precast_codegen::{Library, Module, Unit, link, single, slots};
use precast_graph::{Array, FunctionGraph, Origin, VarId};
use precast_store::key::Language;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// What the runner printed.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Dtype number and bytes of each output, or the message of the failure.
    pub(crate) outputs: Result<Vec<(i32, Vec<u8>)>, String>,
    /// What failed when requests were refused, and when dtypes were wrong.
    pub(crate) failures: Vec<String>,
}

impl Outcome {
    /// The only output, as f64s.
    pub(crate) fn f64s(&self) -> Vec<f64> {
        let outputs = self.outputs.as_ref().unwrap();
        let (typenum, bytes) = &outputs[0];
        assert_eq!((*typenum, outputs.len()), (12, 1));
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// Runs the one module of a graph.
pub(crate) fn whole(graph: &FunctionGraph, library: &Library, inputs: &[Array]) -> Outcome {
    let module = link(graph, library).unwrap();
    let unit = Unit::single(Arc::new(module));
    let (n_inputs, n_outputs) = (graph.inputs().len(), graph.outputs().len());
    let outputs: Vec<usize> = (n_inputs..n_inputs + n_outputs).collect();
    let entry = Entry {
        position: 0,
        slots: slots(graph, library).unwrap(),
        args: (0..n_inputs + n_outputs).collect(),
    };
    run(&unit, &program(inputs, n_inputs + n_outputs, &outputs, &[entry]))
}

/// Runs a graph op by op; one unit holds all modules.
pub(crate) fn opwise(graph: &FunctionGraph, library: &Library, inputs: &[Array]) -> Outcome {
    let alone = |position| Arc::new(link(&single(graph, position, library).unwrap(), library).unwrap());
    let modules: Vec<Arc<Module>> = (0..graph.applies().len()).map(alone).collect();
    let units = Unit::batches(modules.clone());
    assert_eq!(units.len(), 1);
    // Inputs, constants (as inputs), then everything that is computed.
    let constants = graph.constants().map(|(_, value)| value.clone());
    let given: Vec<Array> = inputs.iter().cloned().chain(constants).collect();
    let mut registers: Vec<VarId> = graph.inputs().to_vec();
    registers.extend(graph.constants().map(|(id, _)| id));
    registers.extend(graph.applies().iter().flat_map(|apply| apply.outputs.clone()));
    let register = |id: &VarId| registers.iter().position(|known| known == id).unwrap();
    let entries: Vec<Entry> = graph
        .applies()
        .iter()
        .zip(&modules)
        .enumerate()
        .map(|(i, (apply, module))| Entry {
            position: units[0].members().iter().position(|(key, _)| *key == module.key()).unwrap(),
            slots: apply_slots(graph, i, library).unwrap(),
            args: apply.inputs.iter().chain(&apply.outputs).map(register).collect(),
        })
        .collect();
    assert!(graph.outputs().iter().all(|id| matches!(graph.variable(*id).origin, Origin::Output { .. })));
    let outputs: Vec<usize> = graph.outputs().iter().map(register).collect();
    run(&units[0], &program(&given, registers.len(), &outputs, &entries))
}

struct Entry {
    position: usize,
    slots: Vec<Array>,
    args: Vec<usize>,
}

fn program(inputs: &[Array], registers: usize, outputs: &[usize], entries: &[Entry]) -> String {
    let numbers = |numbers: &[usize]| numbers.iter().map(|n| format!(" {n}")).collect::<String>();
    let tensors = |values: &[Array]| values.iter().map(tensor).collect::<String>();
    let mut text = format!("inputs {}\n{}registers {registers}\n", inputs.len(), tensors(inputs));
    write!(text, "outputs {}{}\nentries {}\n", outputs.len(), numbers(outputs), entries.len()).unwrap();
    for Entry { position, slots, args } in entries {
        write!(text, "{position} slots {}\n{}", slots.len(), tensors(slots)).unwrap();
        writeln!(text, "args {}{}", args.len(), numbers(args)).unwrap();
    }
    text
}

fn tensor(value: &Array) -> String {
    let (dtype, words) = (value.dtype(), value.dtype().words());
    let bytes = dtype.itemsize_bytes() / words;
    let hex: String = value
        .bits()
        .iter()
        .flat_map(|word| word.to_le_bytes().into_iter().take(bytes))
        .map(|b| format!("{b:02x}"))
        .collect();
    let shape: String = value.shape().iter().map(|n| format!("{n} ")).collect();
    format!("{} {} {shape}{} {hex}\n", dtype.typenum(), value.shape().len(), hex.len() / 2)
}

/// Builds the unit with the runner and gives it the program.
fn run(unit: &Unit, program: &str) -> Outcome {
    let scratch = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = scratch.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    let cxx = unit.language() == Language::Cxx;
    for (name, text) in unit.sources() {
        write(&name, &text);
    }
    let unit_file = if cxx { "unit.cc" } else { "unit.c" };
    write(unit_file, &unit.text());
    write("runner.c", include_str!("../c/runner.c"));
    let sanitize = ["-g", "-O1", "-I.", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let strict = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-label", "-Wno-unused-function"];
    let gcc = |args: &[&str]| {
        let output =
            Command::new("cc").current_dir(scratch.path()).args(sanitize).args(args).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}\n{}", unit.text());
    };
    let language = if cxx { ["-x", "c++", "-std=gnu++17"] } else { ["-x", "c", "-std=gnu11"] };
    gcc(&[&language[..], &strict[..], &["-c", unit_file, "-o", "unit.o"]].concat());
    gcc(&["-std=gnu11", "runner.c", "unit.o", "-o", "runner", "-lm"]);
    let runner = scratch.path().join("runner");
    let mut child = Command::new(runner)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}{errors}\n{}", unit.text());
    outcome(&text)
}

fn outcome(text: &str) -> Outcome {
    let (mut outputs, mut error, mut failures) = (Vec::new(), None, Vec::new());
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap();
        match word {
            "output" => {
                let mut parts = rest.split(' ');
                let typenum = parts.next().unwrap().parse().unwrap();
                let hex = parts.nth(1).unwrap_or("");
                let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
                outputs.push((typenum, (0..hex.len()).step_by(2).map(byte).collect()));
            }
            "error" => error = Some(rest.to_owned()),
            _ => failures.push(line.to_owned()),
        }
    }
    Outcome { outputs: error.map_or(Ok(outputs), Err), failures }
}
