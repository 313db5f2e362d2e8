//! Installs the library into a directory as its README says, and links programs with it.

use precast_testkit::package::{cargo, root, target};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The library, installed for one test.
pub(crate) struct Installed(TempDir);

impl Installed {
    /// Builds and installs the library.
    pub(crate) fn new() -> Self {
        let (target, own) = (target(env!("CARGO_TARGET_TMPDIR")), Self(tempfile::tempdir().unwrap()));
        run(cargo(&root(), &target).args(["build", "--quiet", "--offline", "-p", "precast-capi", "--lib"]));
        let script = root().join("crates/capi/install.sh");
        run(Command::new("sh").arg(script).arg(own.prefix()).arg(target.join("debug")));
        own
    }

    /// Returns the installation prefix.
    pub(crate) fn prefix(&self) -> PathBuf {
        self.0.path().join("prefix")
    }

    /// Returns a path for a file of the test.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Builds the bundle of a manifest.
    pub(crate) fn bundle(&self, manifest: &str) -> PathBuf {
        let package = root().join("crates/capi");
        let build = precast_build::Build::new().manifest(package.join(manifest));
        build.try_run_in(package, self.0.path()).unwrap().bundle
    }

    /// Compiles a program of one file; `link` has the linker arguments.
    pub(crate) fn compile(&self, language: Language, source: &Path, program: &Path, link: &[&str]) {
        let mut compiler = Command::new(language.compiler());
        compiler.args([language.standard(), "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
        compiler.arg("-I").arg(self.prefix().join("include")).arg(source).arg("-o").arg(program);
        run(compiler.arg("-L").arg(self.prefix().join("lib")).args(link));
    }

    /// Returns a valgrind command to append a program to; it fails on memory errors and leaks. Prints a message and
    /// returns `None` if valgrind is not installed.
    pub(crate) fn valgrind(&self) -> Option<Command> {
        if !answers("valgrind") {
            println!("skipped: errors of memory and leaks as valgrind sees them: it is not there");
            return None;
        }
        let mut valgrind = self.command("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
        valgrind.arg("--errors-for-leak-kinds=definite");
        Some(valgrind)
    }

    /// Returns a command for a program that finds the shared library.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env("LD_LIBRARY_PATH", self.prefix().join("lib"));
        command
    }
}

/// Runs a command that must succeed; returns its output.
pub(crate) fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{command:?}: {status}\n{printed}\n{}", String::from_utf8_lossy(&stderr));
    printed
}

/// Returns whether a tool is installed.
pub(crate) fn answers(tool: impl Into<OsString>) -> bool {
    Command::new(tool.into()).arg("--version").output().is_ok_and(|ended| ended.status.success())
}

/// The language of a program.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    C,
    Cxx,
}

impl Language {
    /// Returns the languages that have a compiler here.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        [Self::C, Self::Cxx].into_iter().filter(|language| {
            let there = answers(language.compiler());
            if !there {
                println!("skipped: programs in {}: there is no compiler", language.suffix());
            }
            there
        })
    }

    /// Returns the suffix of file names.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cxx => "cc",
        }
    }

    fn standard(self) -> &'static str {
        match self {
            Self::C => "-std=c11",
            Self::Cxx => "-std=c++17",
        }
    }

    /// Returns the compiler.
    pub(crate) fn compiler(self) -> OsString {
        let (variable, fallback) = match self {
            Self::C => ("CC", "cc"),
            Self::Cxx => ("CXX", "c++"),
        };
        env::var_os(variable).unwrap_or_else(|| fallback.into())
    }
}
