//! Errors of finding a toolchain.

use std::io;
use std::path::PathBuf;

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
    /// The variable contains arguments after the compiler.
    #[error(
        "invalid `{variable}` `{value}`: expected a compiler without arguments\nhint: put the arguments into a script"
    )]
    Arguments {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
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

/// Describes the missing program and the remedy. A path was given by the user; a name is looked up on `PATH`.
fn missing(program: &str, package: &str, variable: &str) -> String {
    if program.contains('/') {
        return format!(
            "program `{program}` not found\nhint: correct or unset `{variable}` if it names the program"
        );
    }
    format!(
        "`{program}` not found on PATH\nhint: install it (Debian: `apt install {package}`) or set `{variable}` to its \
         path"
    )
}
