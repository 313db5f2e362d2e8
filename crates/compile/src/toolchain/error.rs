//! What can be wrong with a toolchain.

use std::io;
use std::path::PathBuf;

/// Says why there is no toolchain.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindToolchainError {
    /// No program of that name.
    #[error("cannot find a {language} compiler for `{target}`: {}", missing(program, package, variable))]
    Missing {
        /// `C` or `C++`.
        language: &'static str,
        /// The target triple.
        target: String,
        /// What was looked for.
        program: String,
        /// The Debian package that has one.
        package: String,
        /// The variable that names another.
        variable: String,
    },
    /// The crate `cc` does not know the target.
    #[error(
        "cannot tell which {language} compiler serves `{target}`: {reason}\nhint: set `{variable}` to its path"
    )]
    Unknown {
        /// `C` or `C++`.
        language: &'static str,
        /// The target triple.
        target: String,
        /// The variable that names one.
        variable: String,
        /// What `cc` said.
        reason: String,
    },
    /// The variable has arguments beside the compiler.
    #[error(
        "`{variable}` is `{value}`, expected a compiler without arguments\nhint: put the arguments into a script"
    )]
    Arguments {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
    },
    /// The program cannot be started.
    #[error("cannot start the compiler `{}`\nhint: set `CC` to a compiler that works", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The program does not answer as a compiler does.
    #[error(
        "the compiler `{}` does not work: {what}\nhint: reinstall it, or set `CC` to another",
        program.display()
    )]
    Broken {
        /// The program.
        program: PathBuf,
        /// What it did.
        what: String,
    },
    /// A part of the toolchain is not there.
    #[error("the compiler `{}` has no `{tool}`\nhint: install {package}", program.display())]
    Incomplete {
        /// The compiler's driver.
        program: PathBuf,
        /// The part.
        tool: String,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// The compiler makes code for another machine.
    #[error(
        "the compiler `{}` makes code for `{machine}`, expected `{target}`\nhint: set `CC_{}` to a cross compiler",
        program.display(), target.replace('-', "_")
    )]
    Machine {
        /// The compiler's driver.
        program: PathBuf,
        /// What it says it compiles for.
        machine: String,
        /// What was asked for.
        target: String,
    },
    /// A tool cannot be started for want of a library.
    #[error("`{}` needs `{library}`, which is not installed\nhint: reinstall the package it came from", tool.display())]
    Library {
        /// The tool.
        tool: PathBuf,
        /// The library.
        library: String,
    },
    /// There is no directory to try the tools in.
    #[error("cannot use the scratch directory `{}`\nhint: {}", directory.display(), precast_store::scratch::remedy(source))]
    Scratch {
        /// The directory.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of the toolchain cannot be read.
    #[error("cannot read the toolchain's `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What is missing, and the remedy: a path was given by somebody, a name is looked for.
fn missing(program: &str, package: &str, variable: &str) -> String {
    if program.contains('/') {
        return format!(
            "there is no program `{program}`\nhint: `{variable}` may name it: correct or unset it"
        );
    }
    format!(
        "no `{program}` on PATH\nhint: install one (Debian: `apt install {package}`) or set `{variable}` to its path"
    )
}
