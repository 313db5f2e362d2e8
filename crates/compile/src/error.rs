//! Errors of compiling a unit into an archive.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use precast_store::PackError;
use precast_store::key::Profile;

use crate::diagnostics::{Diagnostic, render};
use crate::isa::Isa;
use crate::toolchain::FindToolchainError;

/// The reason why a unit was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// No compiler for the unit's language was found.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// zig has no AddressSanitizer.
    #[error("zig has no run-time library of AddressSanitizer\nhint: use gcc or clang for the profile `asan`")]
    Sanitizer,
    /// The compiler rejected the text.
    #[error("{}", render(compiler, diagnostics, words))]
    Rejected {
        /// The compiler's name and version.
        compiler: String,
        /// The errors with a known location, in order.
        diagnostics: Vec<Diagnostic>,
        /// The compiler's complete output.
        words: String,
    },
    /// The text uses an instruction that is not part of the variant's ISA level, through an attribute, a pragma or
    /// assembler.
    #[error(
        "`{of}` uses the instruction `{instruction}`, which ISA level `{isa}` lacks\nhint: compile for a level that \
         supports it, or let the compiler choose the instructions"
    )]
    Instruction {
        /// The instruction.
        instruction: String,
        /// The ISA level of the variant.
        isa: Isa,
        /// The signature of the module.
        of: String,
    },
    /// The linker, or the tool that localizes symbols, rejected the object.
    #[error("cannot link: {words}")]
    Link {
        /// The output of the tool.
        words: String,
    },
    /// The code calls an undefined function.
    #[error(
        "`{symbol}` is called{} but not defined\nhint: define it in the op's support code, or return its library from \
         `c_libraries`",
        place.as_deref().map(|place| format!(" in `{place}`")).unwrap_or_default()
    )]
    Undefined {
        /// The symbol.
        symbol: String,
        /// The signature of the op or module that mentions it.
        place: Option<String>,
    },
    /// A library was not found.
    #[error(
        "cannot find library `{name}`; searched: {}the linker's own directories\nhint: install it, or return its \
         directory from `c_lib_dirs`",
        listed(searched)
    )]
    Library {
        /// The name of the library, as in `-l`.
        name: String,
        /// The directories named by ops.
        searched: Vec<String>,
    },
    /// A header was not found.
    #[error(
        "{}:{}: cannot find header `{name}`{}; searched: the unit's own files, {}the system's directories\nhint: {}",
        at.file,
        at.line,
        at.op.as_deref().map(|op| format!(" for `{op}`")).unwrap_or_default(),
        listed(searched),
        at.hint.as_deref().unwrap_or(
            "install it, include it by its name instead of a macro, or name its directory: `header_dirs` of a \
             manifest, `c_header_dirs` of an op"
        )
    )]
    Header {
        /// The name of the header, as in the directive.
        name: String,
        /// The location of the `#include`.
        at: Box<Diagnostic>,
        /// The directories named by ops.
        searched: Vec<String>,
    },
    /// A header is outside the directories that keys cover.
    #[error(
        "{}`{}` is included from outside the unit and the toolchain\nhint: return its directory from `c_header_dirs`, or \
         its text from `c_sources`",
        at.as_ref().map_or_else(String::new, |at| format!("{at}: ")), path.display()
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// The location of its name, `op/f.c:3`; `None` if no text of the unit contains the name.
        at: Option<String>,
    },
    /// The text embeds bytes that no key covers.
    #[error(
        "{}`{what}` is read from outside the unit, and no key covers it\nhint: write the bytes as a C array",
        at.as_ref().map_or_else(String::new, |at| format!("{at}: "))
    )]
    Embed {
        /// The location, `op/f.c:3`; `None` if unknown.
        at: Option<String>,
        /// The file, or the directive.
        what: String,
    },
    /// The text tests whether a file exists, which no key covers.
    #[error(
        "{at}: `__has_include` of `{name}`, which is not a file of the unit\nhint: include the header, or define a \
         macro in the op's flags if it exists: `-DHAVE_IT`"
    )]
    HasInclude {
        /// The file and line in the unit.
        at: String,
        /// The name of the tested file.
        name: String,
    },
    /// A static library contains only the names of other files.
    #[error(
        "`{}` is a thin archive, and no key covers the files it refers to\nhint: create it with `ar rcs`, without \
         `--thin`",
        path.display()
    )]
    ThinArchive {
        /// The archive.
        path: PathBuf,
    },
    /// A static library contains code for a fixed address.
    #[error(
        "`{}` has position-dependent code, which a module cannot contain\nhint: compile it with `-fPIC`",
        path.display()
    )]
    NotPic {
        /// The archive.
        path: PathBuf,
    },
    /// The code needs an executable stack. Modules do not have one, so the code would crash.
    #[error(
        "{}`{}` needs an executable stack, which modules do not have{}\nhint: do not take the address of a nested \
         function: move it out, and pass its variables by a pointer; end assembler text with `.section \
         .note.GNU-stack,\"\",@progbits`",
        at.as_ref().map_or_else(String::new, |at| format!("{}:{}: ", at.file, at.line)),
        at.as_ref().and_then(|at| at.op.as_ref()).unwrap_or(of),
        at.as_ref().map_or_else(String::new, |at| format!(": {}", at.message))
    )]
    ExecutableStack {
        /// The signature of the module.
        of: String,
        /// The location that needs it, if the compiler reports one.
        at: Option<Box<Diagnostic>>,
    },
    /// A static library contains an object that needs an executable stack, which modules do not have.
    #[error(
        "`{member}` of `{}` needs an executable stack, which modules do not have\nhint: do not take addresses of \
         nested functions; `-Werror=trampolines` finds them",
        path.display()
    )]
    ExecutableStackOf {
        /// The archive.
        path: PathBuf,
        /// The member of the archive.
        member: String,
    },
    /// The dynamic linker would not find a shared library when loading the module.
    #[error(
        "`{}` is a shared library outside the dynamic linker's search path, so no program could load the \
         module\nhint: provide a static library of objects compiled with `-fPIC`, or install the shared library and \
         run `ldconfig`",
        path.display()
    )]
    LostLibrary {
        /// The library.
        path: PathBuf,
    },
    /// A file of the toolchain or the system changed after the key was computed.
    #[error("`{}` changed during the compilation\nhint: compile again after the installation has finished", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The name of a source file leads out of the unit's directory.
    #[error("invalid source name `{name}`: expected a plain relative path")]
    SourceName {
        /// The name.
        name: String,
    },
    /// An op requests a flag that is not allowed.
    #[error("flag `{flag}` of `{of}` is not allowed\nhint: {remedy}")]
    Flag {
        /// The flag.
        flag: String,
        /// The signature of the module that requests it.
        of: String,
        /// The suggested alternative.
        remedy: &'static str,
    },
    /// The toolchain compiles for a different target.
    #[error("the toolchain compiles for `{found}`, expected `{wanted}`")]
    Target {
        /// The target of the variant.
        wanted: String,
        /// The target of the toolchain.
        found: String,
    },
    /// The ISA level belongs to a different architecture.
    #[error("ISA level `{isa}` does not exist on `{target}`")]
    Isa {
        /// The level.
        isa: Isa,
        /// The target.
        target: String,
    },
    /// A module was generated for a different profile.
    #[error("module `{signature}` was generated for profile `{found}`, expected `{wanted}`")]
    Profile {
        /// The signature of the module.
        signature: String,
        /// The profile of the module.
        found: Profile,
        /// The profile of the variant.
        wanted: Profile,
    },
    /// The linked object is not a valid module.
    #[error("the linked object is not a module: {what}")]
    Module {
        /// A description of the problem.
        what: String,
    },
    /// The scratch directory cannot be created, written or read.
    #[error("cannot use the scratch directory `{}`\nhint: {}", directory.display(), precast_store::scratch::remedy(source))]
    Scratch {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A system file that the unit uses cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A tool could not be started.
    #[error("cannot start `{}`", program.display())]
    Start {
        /// The tool.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A tool exceeded the time limit and was stopped.
    #[error("`{}` did not finish within {limit:?}", program.display())]
    Timeout {
        /// The tool.
        program: PathBuf,
        /// The limit.
        limit: Duration,
    },
    /// A tool was killed.
    #[error("`{}` was killed: {how}\nhint: compile fewer units at once, because memory probably ran out", program.display())]
    Killed {
        /// The tool.
        program: PathBuf,
        /// The signal, or the line of output that reports it.
        how: String,
    },
    /// The compiler could not be run on the remote machine.
    #[error("cannot run the compiler remotely")]
    Elsewhere {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The archive could not be packed.
    #[error("cannot pack the unit")]
    Pack {
        /// The cause.
        source: PackError,
    },
    /// A job panicked because of a bug in this program; the remaining jobs continued.
    #[error("the compilation panicked: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
}

impl CompileError {
    /// Returns whether the compiler refused the unit.
    pub(crate) fn is_of_unit(&self) -> bool {
        matches!(self, Self::Rejected { .. } | Self::Instruction { .. } | Self::Header { .. })
    }
}

/// Formats directories as the start of a list.
fn listed(directories: &[String]) -> String {
    directories.iter().map(|directory| format!("`{directory}`, ")).collect()
}
