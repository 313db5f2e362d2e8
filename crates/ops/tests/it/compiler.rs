//! Compiles C test programs at every ISA level that this machine can run.
//!
//! Of the units of kernels, one in [`LEVELS`] is optimised as for deployment at each level, and thus each of them at
//! about one of four levels. The rest is compiled without optimisation, which changes no bit and takes a fifth of the
//! time; tests at all levels leave it out. `cargo xtask all-cases` tries all of them, optimised.

use precast_testkit::is_in_share;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The flags that make bits equal on all machines; the same as in `precast-compile`.
const FLAGS: [&str; 5] =
    ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-slp-vectorize"];

/// The number of ISA levels of x86-64.
pub(crate) const LEVELS: u64 = 4;

/// The name of a level and its compiler arguments.
pub(crate) type Level = (&'static str, &'static [&'static str]);

/// Returns the levels that this CPU supports, lowest first.
pub(crate) fn levels() -> Vec<Level> {
    #[cfg(target_arch = "x86_64")]
    {
        let mut levels: Vec<Level> = vec![("x86-64", &["-march=x86-64"])];
        if std::is_x86_feature_detected!("sse4.2") {
            levels.push(("x86-64-v2", &["-march=x86-64-v2"]));
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            levels.push(("x86-64-v3", &["-march=x86-64-v3"]));
        }
        if std::is_x86_feature_detected!("avx512dq") && std::is_x86_feature_detected!("avx512vl") {
            levels.push(("x86-64-v4", &["-march=x86-64-v4", "-mprefer-vector-width=512"]));
        }
        levels
    }
    #[cfg(not(target_arch = "x86_64"))]
    vec![("native", &[])]
}

/// Returns the highest of them.
pub(crate) fn highest() -> Level {
    *levels().last().unwrap()
}

/// Compiles C files and objects to a program in `folder`, which is also searched for headers.
pub(crate) fn program(folder: &Path, level: Level, files: &[PathBuf], language: &str) -> PathBuf {
    program_with(folder, level, files, language, &[])
}

/// The levels at which a unit of kernels is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Every level that is asked for.
    All,
    /// Of all levels, the one at which it is optimised.
    Some,
}

/// Compiles a unit of kernels, in the file `unit`, and the objects of a host to a program in `folder`; `None` if this
/// level is not in the share of the unit.
pub(crate) fn program_of_unit(
    folder: &Path,
    level: Level,
    unit: &Path,
    host: &[PathBuf],
    language: &str,
    share: Share,
) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    fs_err::read(unit).unwrap().hash(&mut hasher);
    let position = levels().iter().position(|other| other.0 == level.0).unwrap_or(0);
    let turn = hasher.finish().wrapping_add(position as u64);
    let is_optimized = is_in_share(turn, LEVELS);
    if share == Share::Some && !is_optimized {
        return None;
    }
    let optimization: &[&str] = if is_optimized { &[] } else { &["-O0"] };
    Some(program_with(folder, level, &[&[unit.to_owned()], host].concat(), language, optimization))
}

fn program_with(folder: &Path, level: Level, files: &[PathBuf], language: &str, flags: &[&str]) -> PathBuf {
    let out = folder.join(format!("program-{}", level.0));
    let mut command = command(level, language);
    run(command.args(flags).arg("-I").arg(folder).arg("-o").arg(&out).args(files).args(["-lm", "-pthread"]));
    out
}

/// Returns one item in `of`; other items for another `position`, such as that of a level.
pub(crate) fn share<T>(items: Vec<T>, position: u64, of: u64) -> Vec<T> {
    (position..).zip(items).filter(|(at, _)| is_in_share(*at, of)).map(|(_, item)| item).collect()
}

/// Compiles a C file that computes with 113 bits; `None` without libquadmath.
pub(crate) fn program_with_quad(folder: &Path, level: Level, file: &Path) -> Option<PathBuf> {
    let out = folder.join("program-quad");
    let mut command = command(level, "gnu11");
    let output = command.arg("-o").arg(&out).arg(file).args(["-lquadmath", "-lm"]).output().ok()?;
    output.status.success().then_some(out)
}

/// Returns the copies of the drivers, of all levels of this architecture, compiled.
pub(crate) fn copies() -> Vec<PathBuf> {
    let names: &[&str] =
        if cfg!(target_arch = "x86_64") { &["grid_all", "grid_v3", "grid_v4"] } else { &["grid_all"] };
    let compile = |name: &&str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../core/c/{name}.c"));
        kept(|| command(levels()[0], "gnu11"), &file, &["-O1"])
    };
    names.iter().map(compile).collect()
}

/// Compiles a C file to an object.
pub(crate) fn object(level: Level, file: &Path, language: &str) -> PathBuf {
    kept(|| command(level, language), file, &[])
}

/// Compiles a file that many tests need. Each test is a process, so objects are kept for other processes and runs, by the
/// compiler, its arguments and the preprocessed text.
fn kept(compiler: impl Fn() -> Command, file: &Path, flags: &[&str]) -> PathBuf {
    let stdout = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let mut hasher = DefaultHasher::new();
    stdout(compiler().arg("--version")).hash(&mut hasher);
    stdout(compiler().args(flags).args(["-E", "-P"]).arg(file)).hash(&mut hasher);
    compiler().args(flags).get_args().for_each(|argument| argument.hash(&mut hasher));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("objects");
    let out = folder.join(format!("{:016x}.o", hasher.finish()));
    if !out.exists() {
        fs_err::create_dir_all(&folder).unwrap();
        let place = tempfile::tempdir_in(&folder).unwrap();
        let written = place.path().join("object.o");
        run(compiler().args(flags).args(["-c", "-o"]).arg(&written).arg(file));
        fs_err::rename(written, &out).unwrap();
    }
    out
}

/// Returns the lines of a C file with loops that gcc vectorises.
pub(crate) fn vectorised(folder: &Path, level: Level, file: &Path) -> BTreeSet<usize> {
    let out = folder.join("vectorised.o");
    let mut command = command(level, "gnu11");
    let output = command.args(["-fopt-info-vec", "-c", "-o"]).arg(out).arg(file).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let name = file.file_name().unwrap().to_str().unwrap();
    let number = |line: &str| line.split_once(&format!("{name}:"))?.1.split(':').next()?.parse().ok();
    told.lines().filter(|line| line.contains("loop vectorized")).filter_map(number).collect()
}

/// Returns the assembly text of a C file.
pub(crate) fn assembly(folder: &Path, level: Level, file: &Path) -> String {
    let out = folder.join("assembly.s");
    run(command(level, "gnu11").arg("-S").arg("-o").arg(&out).arg(file));
    fs_err::read_to_string(out).unwrap()
}

/// Returns whether the C compiler is gcc.
pub(crate) fn is_gcc() -> bool {
    found("gnu11").is_like_gnu()
}

fn found(language: &str) -> cc::Tool {
    let mut build = cc::Build::new();
    build
        .opt_level(3)
        .target(TARGET)
        .host(TARGET)
        .cpp(language == "c++17")
        .cargo_metadata(false)
        .get_compiler()
}

fn command(level: Level, language: &str) -> Command {
    let compiler = found(language);
    let mut command = Command::new(compiler.path());
    command.arg(format!("-std={language}")).args(FLAGS).args(level.1).args([
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-label",
    ]);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for include in ["abi/include", "core/c", "codegen/c", "ops/c"] {
        command.arg("-I").arg(crates.join(include));
    }
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("cannot run the C compiler: {e}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The target of the machine that runs the tests.
const TARGET: &str =
    if cfg!(target_arch = "aarch64") { "aarch64-unknown-linux-gnu" } else { "x86_64-unknown-linux-gnu" };
