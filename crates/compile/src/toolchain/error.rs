//! Errors of finding a toolchain.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why no toolchain was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindToolchainError {
    /// No program with the name was found.
    #[error("cannot find a {language} compiler for `{target}`: {}", missing(program, package, variable))]
    Missing {
        /// `C` or `C++`.
        language: &'static str,
        /// The target triple.
        target: String,
        /// The name of the program.
        program: String,
        /// The Debian package that provides it.
        package: String,
        /// The environment variable that overrides it.
        variable: String,
    },
    /// The crate `cc` does not know the target.
    #[error(
        "cannot choose a {language} compiler for `{target}`: {reason}\nhint: set `{variable}` to its path"
    )]
    Unknown {
        /// `C` or `C++`.
        language: &'static str,
        /// The target triple.
        target: String,
        /// The environment variable that selects a compiler.
        variable: String,
        /// The error of `cc`.
        reason: String,
    },
    /// The variable contains an argument that units cannot be compiled with.
    #[error("`{argument}` in `{variable}` is not supported: {reason}\nhint: {remedy}")]
    Argument {
        /// The variable.
        variable: String,
        /// The argument.
        argument: String,
        /// The reason.
        reason: &'static str,
        /// The remedy.
        remedy: String,
    },
    /// The program compiles a different language than C11 with GNU extensions.
    #[error("`{}` is {is}, expected a compiler of C11\nhint: set `CC` to `{instead}`", program.display())]
    Dialect {
        /// The program.
        program: PathBuf,
        /// Its language.
        is: &'static str,
        /// The program to use instead.
        instead: String,
    },
    /// The compiler cannot link for a different version of glibc than the installed one.
    #[error(
        "the compiler `{}` links with the glibc that is installed, not with glibc {version}\nhint: set `CC` to `zig cc`",
        program.display()
    )]
    Glibc {
        /// The program.
        program: PathBuf,
        /// The requested version.
        version: String,
    },
    /// The program could not be started.
    #[error("cannot start the compiler `{}`\nhint: set `CC` to a working compiler", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The program does not behave like a compiler.
    #[error(
        "the compiler `{}` does not work: {what}\nhint: reinstall it, or set `CC` to another",
        program.display()
    )]
    Broken {
        /// The program.
        program: PathBuf,
        /// A description of its behavior.
        what: String,
    },
    /// A part of the toolchain is missing.
    #[error("the compiler `{}` has no `{tool}`\nhint: install {package}", program.display())]
    Incomplete {
        /// The compiler's driver.
        program: PathBuf,
        /// The missing part.
        tool: String,
        /// The Debian package that provides it.
        package: &'static str,
    },
    /// The compiler generates code for a different machine.
    #[error(
        "the compiler `{}` compiles for `{machine}`, expected `{target}`\nhint: set `CC_{}` to a cross compiler",
        program.display(), target.replace('-', "_")
    )]
    Machine {
        /// The compiler's driver.
        program: PathBuf,
        /// The machine that it reports.
        machine: String,
        /// The requested target.
        target: String,
    },
    /// A tool cannot start because a library is missing.
    #[error("`{}` needs `{library}`, which is not installed\nhint: reinstall its package", tool.display())]
    Library {
        /// The tool.
        tool: PathBuf,
        /// The library.
        library: String,
    },
    /// The scratch directory for testing the tools cannot be used.
    #[error("cannot use the scratch directory `{}`\nhint: {}", directory.display(), precast_store::scratch::remedy(source))]
    Scratch {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the toolchain cannot be read.
    #[error("cannot read the toolchain's `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Describes the missing program and the remedies, the shortest first. A path was given by the user; a name is looked
/// up on `PATH`.
fn missing(program: &str, package: &str, variable: &str) -> String {
    if program.contains('/') {
        return format!(
            "program `{program}` not found\nhint: correct or unset `{variable}` if it names the program"
        );
    }
    format!(
        "`{program}` and `zig` not found on PATH\nhint: install one: {}, or without root `pip install ziglang` \
         (in a Python program `pip install precast[compiler]`); or set `{variable}` to its path",
        installation(package)
    )
}

/// Package managers, and their names for the packages of gcc and g++.
const MANAGERS: &[(&str, &str, [&str; 2])] = &[
    ("/usr/bin/apt", "apt install", ["gcc", "g++"]),
    ("/usr/bin/dnf", "dnf install", ["gcc", "gcc-c++"]),
    ("/usr/bin/zypper", "zypper install", ["gcc", "gcc-c++"]),
    ("/sbin/apk", "apk add", ["gcc", "g++"]),
    ("/usr/bin/pacman", "pacman -S", ["gcc", "gcc"]),
];

/// Returns the command that installs a package, given by its name in Debian.
fn installation(package: &str) -> String {
    let manager = MANAGERS.iter().find(|(path, ..)| Path::new(path).exists());
    let own = ["gcc", "g++"].iter().position(|name| *name == package);
    match manager.and_then(|(_, command, names)| Some((command, names[own?]))) {
        Some((command, name)) => format!("`{command} {name}`"),
        None => format!("`apt install {package}` (Debian)"),
    }
}
