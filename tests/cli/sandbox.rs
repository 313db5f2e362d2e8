//! A directory for each test, and the command run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{ReadNpyExt as _, ReadableElement, WritableElement, WriteNpyExt as _};

/// The ISA level that the tests compile for; one level is enough.
pub(crate) const ISA: &str = if cfg!(target_arch = "aarch64") { "aarch64" } else { "x86-64-v2" };

/// The manifest of most tests: a matrix of one op, and a graph that is called by name.
const MANIFEST: &str = r#"
[[op]]
name = "add"
dtypes = ["f32", "f64"]
ndim = [1, 2]

[[graph]]
name = "score"
inputs = ["x: f64[?]", "y: f64[?]", "z: f64[?]"]
outputs = ["out = sum(exp(-x*x)*y + z)"]
"#;

/// The expression of the manifest's graph, as arguments of `run`.
pub(crate) const SCORE: &[&str] = &[
    "--expr",
    "out = sum(exp(-x*x)*y + z)",
    "--type",
    "x=f64[?]",
    "--type",
    "y=f64[?]",
    "--type",
    "z=f64[?]",
];

/// The inputs that [`Sandbox::scored`] writes, as arguments.
pub(crate) const INPUTS: &[&str] = &["-i", "x=x.npy", "-i", "y=y.npy", "-i", "z=z.npy"];

/// The exit code and the output of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            // A process killed by a signal has no exit code: -1 fails every comparison.
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks that the command succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Checks that the command failed with this code, printed all of these texts, and did not panic.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, named: &[&str]) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        for name in named {
            assert!(self.err.contains(name), "`{name}` is not named in:\n{}", self.err);
        }
        self
    }

    /// Returns the number of warnings.
    pub(crate) fn warnings(&self) -> usize {
        self.err.lines().filter(|line| line.starts_with("warning: ")).count()
    }

    /// Returns the number of hints in both outputs.
    pub(crate) fn hints(&self) -> usize {
        [&self.out, &self.err].iter().map(|text| text.matches("hint: ").count()).sum()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in:\n{}", self.out))
    }
}

/// A directory that is removed after its test.
pub(crate) struct Sandbox(tempfile::TempDir);

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a directory with a manifest and its inputs; also returns the value of `score`.
    pub(crate) fn scored() -> (Self, f64) {
        let place = Self::new();
        place.write("precast.toml", format!("isa = [\"{ISA}\"]\n{MANIFEST}"));
        let n = 10_001;
        let x: Vec<f64> = (0..n).map(|i| f64::from(i) * 7e-4 - 3.5).collect();
        let y: Vec<f64> = (0..n).map(|i| f64::from(i % 13) - 6.0).collect();
        let z: Vec<f64> = (0..n).map(|i| 1.0 / f64::from(i + 1)).collect();
        let value = x.iter().zip(&y).zip(&z).map(|((x, y), z)| (-x * x).exp() * y + z).sum();
        for (name, values) in [("x.npy", x), ("y.npy", y), ("z.npy", z)] {
            place.npy(name, &[n as usize], values);
        }
        (place, value)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs_err::write(self.path(name), content).unwrap();
    }

    pub(crate) fn npy<T: WritableElement>(&self, name: impl AsRef<Path>, shape: &[usize], values: Vec<T>) {
        let array = ArrayD::from_shape_vec(IxDyn(shape), values).unwrap();
        array.write_npy(fs_err::File::create(self.path(name)).unwrap()).unwrap();
    }

    #[track_caller]
    pub(crate) fn read_npy<T: ReadableElement>(&self, name: &str) -> ArrayD<T> {
        ArrayD::read_npy(fs_err::File::open(self.path(name)).unwrap()).unwrap()
    }

    /// Returns the sorted names in the directory.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs_err::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Returns the command with a compiler, ready to run here.
    pub(crate) fn command(&self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_precast"));
        command.args(arguments).current_dir(self.0.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // All tests share the cached facts about the compiler.
        command.env("PRECAST_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/cli-cache"));
        command
    }

    /// Runs the command with a compiler.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// Runs the command as with `env -i PATH=/nonexistent`.
    pub(crate) fn run_bare(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).env_clear().env("PATH", "/nonexistent").output().unwrap())
    }
}

/// Joins lists of arguments.
pub(crate) fn args<'a>(lists: &[&[&'a str]]) -> Vec<&'a str> {
    lists.concat()
}

/// Checks that two numbers agree to a relative 1e-12: a sum of 10⁴ terms in another order.
#[track_caller]
pub(crate) fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1.0),
        "found {found:?}, expected {expected:?}"
    );
}
