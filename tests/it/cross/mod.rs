//! Artifacts for another architecture: cross-compiled, run in an emulator under a host in plain C, and compared bit
//! by bit with local results.
//!
//! ```text
//! graphs ─▶ plan ─┬─▶ bundle for this machine ─▶ Loader ────────────────────▶ results ─┐
//!                 └─▶ bundle for aarch64 ─▶ unit.so ─▶ qemu-aarch64 host.c ─▶ results ─┴▶ the same bits
//! ```
//! `cargo xtask cross` installs the tools and runs more: every function with some dtypes or all
//! (`PRECAST_CROSS_DTYPES`), and more random graphs (`PRECAST_CROSS_COUNT`). Each dtype is a batch, which is built,
//! run and reported before the next one. Products of matrices are left out, because their bits are only the same
//! within a class of CPU.

mod wire;

use crate::compiled;
use crate::graphs::{outputs, random};
use precast::{Array, ArrayRef, Bundle, DType, FunctionGraph, Loader};
use precast_build::{Declared, Execution, SourceLocation, execute, plan};
use precast_compile::{Isa, Toolchain, Variant, host_target};
use precast_graph::{OpLibrary as _, interpret};
use precast_ops::Ops;
use precast_store::key::Profile;
use precast_testkit::compiler::zig;
use precast_testkit::ulp::same_bits;
use precast_testkit::{Choices, arrays};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// The names of the emulator.
const EMULATORS: [&str; 2] = ["qemu-aarch64", "qemu-aarch64-static"];
/// The directory of the target's C library in Debian's packages, as arguments of the emulator.
const LIBRARIES: [&str; 2] = ["-L", "/usr/aarch64-linux-gnu"];

/// Returns the emulator that is installed.
fn emulator() -> Option<&'static str> {
    let answers = |name: &&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    EMULATORS.into_iter().find(answers)
}

/// The number of outputs of one graph; with more, its module would be slow to compile.
const OUTPUTS: usize = 8;

/// A graph and its inputs.
struct Case {
    name: String,
    graph: FunctionGraph,
    inputs: Vec<Array>,
}

/// Finds the tools that only this test needs, or returns the missing one.
fn tools() -> Result<Toolchain, String> {
    if host_target() == TARGET {
        return Err("this machine is an aarch64".to_owned());
    }
    let toolchain = Toolchain::find(Some(TARGET)).map_err(|error| error.to_string())?;
    if emulator().is_none() {
        return Err(format!("no `{}`\nhint: `apt-get install qemu-user`", EMULATORS[0]));
    }
    Ok(toolchain)
}

/// Cases that are built and run together, with a name.
type Batch = (String, Vec<Case>);

/// Returns every function with the dtypes in the environment, or else [`SOME`] of them; and random graphs.
fn batches() -> impl Iterator<Item = Batch> {
    let asked = |name: &str| std::env::var(name).ok();
    let dtypes: Option<Vec<DType>> = asked("PRECAST_CROSS_DTYPES")
        .map(|names| names.split(',').map(|name| name.parse().unwrap()).collect());
    let count = asked("PRECAST_CROSS_COUNT").map_or(3, |count| count.parse().unwrap());
    let some = dtypes.is_none().then(|| {
        ("some functions".to_owned(), SOME.iter().flat_map(|(dtype, texts)| some(*dtype, texts)).collect())
    });
    let all =
        dtypes.into_iter().flatten().map(|dtype| (format!("every function of {dtype}"), functions(dtype)));
    // Batches are built lazily, because finding the functions of a dtype means trying all of them.
    some.into_iter()
        .chain(all)
        .chain(std::iter::once_with(move || ("random graphs".to_owned(), drawn(count))))
}

/// The default functions: some for each kind of kernel, in the dtypes that C computes in different ways.
const SOME: [(DType, &[&str]); 6] = [
    (DType::F64, &["exp(x)", "log1p(x)", "sin(x)", "x/y", "sum(x)", "cumsum(x)", "f32(x)", "i64(x)"]),
    (DType::F32, &["tanh(x)", "x*y + x", "mean(x)", "f16(x)"]),
    (DType::F16, &["exp(x)", "x*y", "sum(x)", "bf16(x)"]),
    (DType::Bf16, &["sqrt(x)", "x + y", "max(x)"]),
    (DType::C128, &["exp(x)", "x*y", "sqrt(x)", "sum(x)", "c64(x)"]),
    (DType::I32, &["x//y", "x % y", "sum(x)", "sort(x)", "f64(x)"]),
];

fn some(dtype: DType, texts: &[&str]) -> Vec<Case> {
    cases(dtype, texts.iter().map(|text| (*text).to_owned()))
}

/// Returns cases for the library's functions of one or two operands of a dtype.
fn functions(dtype: DType) -> Vec<Case> {
    let known = Ops::standard().names();
    let products = ["dot", "matmul", "inner", "outer", "tensordot", "vdot", "vecdot", "einsum", "convolve"];
    let known = known.iter().filter(|name| !products.contains(&name.as_str()));
    cases(dtype, known.flat_map(|name| [format!("{name}(x)"), format!("{name}(x, y)")]))
}

/// Returns cases for expressions over two vectors of a dtype, if they accept the drawn inputs; several share a graph.
fn cases(dtype: DType, texts: impl Iterator<Item = String>) -> Vec<Case> {
    let types = [format!("x={dtype}[?]"), format!("y={dtype}[?]")];
    let types = [types[0].as_str(), types[1].as_str()];
    let mut choices = Choices::seeded(u64::from(dtype.typenum().unsigned_abs()));
    let inputs: Vec<Array> = (0..2).map(|_| arrays::draw(&mut choices, dtype, &[67])).collect();
    let fits = |text: &String| {
        let types: Vec<_> = types.iter().map(|ty| precast_graph::text::parse_input(ty).unwrap()).collect();
        let graph = precast_graph::text::parse(&[text.as_str()], &types, &Ops::standard());
        graph.is_ok_and(|graph| {
            let is_product = graph.to_string().contains("dot(") || graph.to_string().contains("gemm(");
            !is_product && interpret(&graph, &inputs).is_ok()
        })
    };
    let texts: Vec<String> = texts.filter(fits).collect();
    let case = |(position, texts): (usize, &[String])| {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Case { name: format!("{dtype}_{position}"), graph: outputs(&texts, &types), inputs: inputs.clone() }
    };
    texts.chunks(OUTPUTS).enumerate().map(case).collect()
}

/// Draws random graphs of several Applies: reductions over axes, casts, broadcasts.
fn drawn(count: u64) -> Vec<Case> {
    let case = |seed| {
        let case = random(seed, 12);
        Case { name: format!("random_{seed}"), graph: case.graph, inputs: case.inputs }
    };
    (0..count).map(case).filter(|case| !case.graph.to_string().contains("dot(")).collect()
}

/// Returns the bundle of the cases for a target.
fn bundle(cases: &[Case], toolchain: &Toolchain, variant: Variant) -> Vec<u8> {
    let mut declared = Declared::default();
    for case in cases {
        declared
            .graph(&case.name, case.graph.clone(), SourceLocation::in_file(Path::new("precast.toml")))
            .unwrap();
    }
    let plan = plan(&declared).unwrap();
    let variants = [variant];
    execute(&plan, &Execution::new(toolchain, &variants)).unwrap().bundle(toolchain).unwrap()
}

/// Compiles the host for the target.
fn host(toolchain: &Toolchain, place: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (binary, core) = (place.join("host"), root.join("../crates/core/c"));
    let mut cc = toolchain.command();
    cc.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("../crates/abi/include"));
    cc.arg("-I")
        .arg(&core)
        .arg(root.join("it/c/cross/host.c"))
        .arg(core.join("drivers.c"))
        .arg(core.join("grid_all.c"));
    let built = cc.arg("-o").arg(&binary).arg("-ldl").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    binary
}

/// Runs entries of a bundle for the target in the emulator.
struct Emulated<'a> {
    bundle: Bundle,
    host: &'a Path,
    place: &'a Path,
}

impl Emulated<'_> {
    fn call(&self, case: &Case) -> Result<Vec<Array>, String> {
        let entry = self.bundle.find_entry(&case.name).unwrap();
        let (mut units, mut places): (Vec<PathBuf>, _) = (Vec::new(), Vec::new());
        for step in &entry.program.steps {
            let record = self.bundle.find(&step.key).remove(0);
            assert_eq!((record.requires.arch.as_str(), record.isa.as_str()), ("aarch64", "aarch64"));
            let path = self.place.join(format!("{}.so", record.digest));
            if !path.exists() {
                fs_err::write(&path, self.bundle.load(&record).unwrap()).unwrap();
            }
            let unit = units.iter().position(|unit| *unit == path).unwrap_or_else(|| {
                units.push(path);
                units.len() - 1
            });
            places.push((unit, record.member(&step.key).unwrap().slot));
        }
        let program = self.place.join("program");
        fs_err::write(&program, wire::program(&entry.program, &case.inputs, &places)).unwrap();
        let mut command = Command::new(emulator().expect("`tools` found it"));
        let ran = command.args(LIBRARIES).arg(self.host).arg(&program).args(&units).output().unwrap();
        assert!(ran.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&ran.stderr));
        wire::results(&ran.stdout)
    }
}

#[test]
fn aarch64_artifacts_have_local_bits() {
    let toolchain = match tools() {
        Ok(toolchain) => toolchain,
        Err(why) => return println!("skipped: artifacts for {TARGET}: {why}"),
    };
    let place = tempfile::tempdir().unwrap();
    let host = host(&toolchain, place.path());
    for (name, cases) in batches() {
        let started = Instant::now();
        let compared = compare(&cases, &toolchain, &host);
        let took = started.elapsed().as_secs();
        println!("{name}: {compared} outputs of {} graphs have the same bits, {took} s", cases.len());
    }
}

#[test]
fn aarch64_artifacts_by_zig_have_local_bits() {
    let (cross, zig) = match (tools(), zig(Some(TARGET))) {
        (Ok(cross), Some(zig)) => (cross, zig),
        (Err(why), _) => return println!("skipped: artifacts by zig for {TARGET}: {why}"),
        (_, None) => {
            return println!("skipped: artifacts by zig for {TARGET}: no zig\nhint: `pip install ziglang`");
        }
    };
    let place = tempfile::tempdir().unwrap();
    // The host is the same as that of gcc's artifacts.
    let host = host(&cross, place.path());
    let cases: Vec<Case> = SOME.iter().flat_map(|(dtype, texts)| some(*dtype, texts)).collect();
    println!("{}: {} outputs have the same bits", zig.description(), compare(&cases, &zig, &host));
}

/// Computes the results of graphs for their inputs on aarch64, `None` for rejected inputs. Fails with a reason if the
/// tools are missing.
pub(crate) fn emulated(graphs: &[(&FunctionGraph, &[Array])]) -> Result<Vec<Option<Vec<Array>>>, String> {
    let toolchain = tools()?;
    let place = tempfile::tempdir().unwrap();
    let host = host(&toolchain, place.path());
    let named = graphs.iter().enumerate().map(|(at, (graph, inputs))| Case {
        name: format!("graph_{at}"),
        graph: (*graph).clone(),
        inputs: inputs.to_vec(),
    });
    let cases: Vec<Case> = named.collect();
    let foreign = open(&place.path().join("there"), &bundle(&cases, &toolchain, there()));
    let emulated = Emulated { bundle: foreign.bundle().clone(), host: &host, place: place.path() };
    Ok(cases.iter().map(|case| emulated.call(case).ok()).collect())
}

/// Returns the variant of the emulated machine.
fn there() -> Variant {
    Variant { target: TARGET.to_owned(), isa: Isa::Aarch64, profile: Profile::Release }
}

fn open(path: &Path, bundle: &[u8]) -> Loader {
    fs_err::write(path, bundle).unwrap();
    Loader::open(path).unwrap()
}

/// Runs all cases locally and in the emulator; returns the number of compared outputs.
fn compare(cases: &[Case], toolchain: &Toolchain, host: &Path) -> usize {
    let place = tempfile::tempdir().unwrap();
    let here = compiled::variant(Isa::native().unwrap());
    let loader = open(&place.path().join("here"), &bundle(cases, &compiled::toolchain(), here));
    let foreign = open(&place.path().join("there"), &bundle(cases, toolchain, there()));
    let emulated = Emulated { bundle: foreign.bundle().clone(), host, place: place.path() };
    let mut compared = 0;
    for case in cases {
        let refused = foreign.entry(&case.name).unwrap_err().to_string();
        assert!(refused.contains("needs architecture `aarch64`"), "nothing of it is loaded here: {refused}");
        let inputs: Vec<ArrayRef<'_>> = case.inputs.iter().map(ArrayRef::from).collect();
        let expected = loader.entry(&case.name).unwrap().call(&inputs);
        let found = emulated.call(case);
        let (Ok(found), Ok(expected)) = (&found, &expected) else {
            assert!(found.is_err() && expected.is_err(), "{}: {found:?}, here {expected:?}", case.name);
            continue;
        };
        assert_eq!(found.len(), expected.len(), "{}", case.name);
        for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
            let told = || {
                format!("output {position} of {}: {found:?}, here {expected:?}\n{}", case.name, case.graph)
            };
            assert!(same_bits(found, expected), "{}", told());
            compared += 1;
        }
    }
    compared
}
