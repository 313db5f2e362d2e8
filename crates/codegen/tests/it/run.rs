//! Builds modules under AddressSanitizer and UndefinedBehaviorSanitizer and runs them with `runner.c`, which also makes
//! every request and every dtype fail in turn.

use precast_codegen::{Library, Module, Segment, Unit, link, segments, single, slots};
use precast_graph::{Apply, Array, FunctionGraph, Origin, VarId};
use precast_store::key::Language;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

/// The parsed output of the runner.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// The dtype number and bytes of each output, or the failure message.
    pub(crate) outputs: Result<Vec<(i32, Vec<u8>)>, String>,
    /// The failures with refused requests, and with wrong dtypes.
    pub(crate) failures: Vec<String>,
    /// The Apply in which each refused request failed, and its message; -1 for a variable.
    pub(crate) refused: Vec<(i64, String)>,
    /// The number of host requests in a call that can reuse the storage of the previous call.
    pub(crate) steady: usize,
}

impl Outcome {
    /// Returns the only output as f64s.
    pub(crate) fn f64s(&self) -> Vec<f64> {
        let outputs = self.outputs.as_ref().unwrap();
        let (typenum, bytes) = &outputs[0];
        assert_eq!((*typenum, outputs.len()), (12, 1));
        bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    }
}

/// Runs a graph as a whole: the modules of its segments in one static program.
pub(crate) fn whole(graph: &FunctionGraph, library: &Library, inputs: &[Array]) -> Outcome {
    calls(graph, library, inputs, &segments(graph, library).unwrap())
}

/// Runs a graph op by op, in one static program.
pub(crate) fn opwise(graph: &FunctionGraph, library: &Library, inputs: &[Array]) -> Outcome {
    let alone = |(position, apply): (usize, &Apply)| Segment {
        applies: position..position + 1,
        graph: Cow::Owned(single(graph, position, library).unwrap()),
        reads: apply.inputs.clone(),
        writes: apply.outputs.clone(),
    };
    let parts: Vec<Segment<'_>> = graph.applies().iter().enumerate().map(alone).collect();
    calls(graph, library, inputs, &parts)
}

/// Calls the modules of a graph's parts, one after the other.
fn calls(graph: &FunctionGraph, library: &Library, inputs: &[Array], parts: &[Segment<'_>]) -> Outcome {
    let module = |part: &Segment<'_>| Arc::new(link(&part.graph, library).unwrap());
    let modules: Vec<Arc<Module>> = parts.iter().map(module).collect();
    let units = Unit::batches(modules.clone());
    let members: Vec<_> = units.iter().flat_map(Unit::members).map(|(key, _)| *key).collect();
    // The given values, including constants that are not part of a module, then all computed values.
    let is_read = |id: &VarId| parts.iter().any(|part| part.reads.contains(id));
    let constants: Vec<(VarId, &Array)> = graph.constants().filter(|(id, _)| is_read(id)).collect();
    let given: Vec<Array> =
        inputs.iter().cloned().chain(constants.iter().map(|(_, value)| (*value).clone())).collect();
    let mut registers: Vec<VarId> = graph.inputs().to_vec();
    registers.extend(constants.iter().map(|(id, _)| *id));
    registers.extend(parts.iter().flat_map(|part| part.writes.clone()));
    let register = |id: &VarId| registers.iter().position(|known| known == id).unwrap();
    let call = |(part, module): (&Segment<'_>, &Arc<Module>)| Call {
        position: members.iter().position(|key| *key == module.key()).unwrap(),
        slots: slots(&part.graph, library).unwrap(),
        args: part.reads.iter().chain(&part.writes).map(register).collect(),
    };
    let calls: Vec<Call> = parts.iter().zip(&modules).map(call).collect();
    assert!(graph.outputs().iter().all(|id| matches!(graph.variable(*id).origin, Origin::Output { .. })));
    let outputs: Vec<usize> = graph.outputs().iter().map(register).collect();
    run(&units, &program(&given, registers.len(), &outputs, &calls))
}

struct Call {
    position: usize,
    slots: Vec<Array>,
    args: Vec<usize>,
}

fn program(inputs: &[Array], registers: usize, outputs: &[usize], calls: &[Call]) -> String {
    let numbers = |numbers: &[usize]| numbers.iter().map(|n| format!(" {n}")).collect::<String>();
    let tensors = |values: &[Array]| values.iter().map(tensor).collect::<String>();
    let mut text = format!("inputs {}\n{}registers {registers}\n", inputs.len(), tensors(inputs));
    write!(text, "outputs {}{}\nentries {}\n", outputs.len(), numbers(outputs), calls.len()).unwrap();
    for Call { position, slots, args } in calls {
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

const SANITIZE: [&str; 5] = ["-g", "-O1", "-I.", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-label", "-Wno-unused-function"];

/// Writes a file below a directory, creating missing folders.
fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, text).unwrap();
}

/// Runs a tool in a directory; prints `about` if it fails.
fn tool(directory: &Path, program: &str, args: &[&str], about: &str) {
    let output = Command::new(program).current_dir(directory).args(args).output().unwrap();
    assert!(output.status.success(), "{}\n{about}", String::from_utf8_lossy(&output.stderr));
}

/// Compiles a unit in its own directory, as the object for a static link: only the entries stay global.
fn object(directory: &Path, unit: &Unit) -> PathBuf {
    for (name, text) in unit.sources() {
        write(directory, &name, &text);
    }
    let (file, text) = (unit.file_name(), unit.text());
    write(directory, file, &text);
    let keep: Vec<String> = unit.members().iter().map(|(key, _)| Unit::entry_symbol(key) + "\n").collect();
    write(directory, "keep.txt", &keep.concat());
    let language: &[&str] = match unit.language() {
        Language::Cxx => &["-x", "c++", "-std=gnu++17", "-fno-gnu-unique", "-fno-exceptions", "-fno-rtti"],
        Language::C => &["-x", "c", "-std=gnu11"],
    };
    tool(directory, "cc", &[&SANITIZE[..], language, &STRICT, &["-c", file, "-o", "raw.o"]].concat(), &text);
    let localise = ["--remove-section=.group", "--keep-global-symbols=keep.txt", "raw.o", "unit.o"];
    tool(directory, "objcopy", &localise, &text);
    directory.join("unit.o")
}

/// Renders the table of a static program with the entries of all units.
fn table(units: &[Unit]) -> String {
    let names: Vec<String> =
        units.iter().flat_map(Unit::members).map(|(key, _)| Unit::entry_symbol(key)).collect();
    let declare: String = names.iter().map(|name| format!("extern const pc_entry {name};\n")).collect();
    let list: Vec<String> = names.iter().map(|name| format!("&{name}")).collect();
    format!(
        "#include <precast/module.h>\n{declare}static const pc_entry *const all[] = {{{}}};\nPC_MODULE(all)\n",
        list.join(", ")
    )
}

/// The object file of the runner, compiled once per process.
static RUNNER: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let scratch = tempfile::tempdir().unwrap();
    for (name, text) in precast_abi::HEADERS.iter().chain(precast_abi::HOST_HEADERS) {
        write(scratch.path(), name, text);
    }
    write(scratch.path(), "runner.c", include_str!("../c/runner.c"));
    tool(scratch.path(), "cc", &[&SANITIZE[..], &["-std=gnu11", "-c", "runner.c"]].concat(), "");
    fs_err::read(scratch.path().join("runner.o")).unwrap()
});

/// Links the units with the runner into a static program, and passes it `program`.
fn run(units: &[Unit], program: &str) -> Outcome {
    let scratch = tempfile::tempdir().unwrap();
    for (name, text) in precast_abi::HEADERS {
        write(scratch.path(), name, text);
    }
    fs_err::write(scratch.path().join("runner.o"), &*RUNNER).unwrap();
    write(scratch.path(), "table.c", &table(units));
    let numbered = units.iter().enumerate();
    let objects: Vec<PathBuf> =
        numbered.map(|(i, unit)| object(&scratch.path().join(format!("unit{i}")), unit)).collect();
    let objects = objects.iter().map(|path| path.to_str().unwrap());
    let args: Vec<&str> = SANITIZE
        .into_iter()
        .chain(["-std=gnu11", "runner.o", "table.c"])
        .chain(objects)
        .chain(["-o", "runner", "-lm"])
        .collect();
    let text: String = units.iter().map(Unit::text).collect();
    tool(scratch.path(), "cc", &args, &text);
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
    assert!(output.status.success(), "{text}{errors}\n{}", units.iter().map(Unit::text).collect::<String>());
    outcome(&text)
}

fn outcome(text: &str) -> Outcome {
    let (mut outputs, mut error, mut steady) = (Vec::new(), None, 0);
    let (mut failures, mut refused) = (Vec::new(), Vec::new());
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
            "at" => {
                let (apply, message) = rest.split_once(' ').unwrap();
                refused.push((apply.parse().unwrap(), message.to_owned()));
            }
            "steady" => steady = rest.parse().unwrap(),
            "error" => error = Some(rest.to_owned()),
            _ => failures.push(line.to_owned()),
        }
    }
    Outcome { outputs: error.map_or(Ok(outputs), Err), failures, refused, steady }
}
