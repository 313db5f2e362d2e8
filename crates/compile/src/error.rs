//! What can go wrong between a unit and its archive.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use precast_store::PackError;
use precast_store::key::Profile;

use crate::diagnostics::{Diagnostic, render};
use crate::isa::Isa;
use crate::toolchain::FindToolchainError;

/// Says why a unit was not compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// There is no compiler for the unit's language.
    #[error(transparent)]
    Toolchain(#[from] FindToolchainError),
    /// The compiler refuses the text.
    #[error("{}", render(compiler, diagnostics, words))]
    Rejected {
        /// The compiler's name and version.
        compiler: String,
        /// The errors that could be located, the first one first.
        diagnostics: Vec<Diagnostic>,
        /// All that the compiler said.
        words: String,
    },
    /// The text asks for an instruction that the CPUs of the variant need not have, by an attribute, a pragma or assembler.
    #[error(
        "`{of}` uses the instruction `{instruction}`, which ISA level `{isa}` does not have\nhint: compile for a level that \
         has it, or leave the choice of instructions to the compiler"
    )]
    Instruction {
        /// The instruction.
        instruction: String,
        /// The variant's level.
        isa: Isa,
        /// The signature of the module.
        of: String,
    },
    /// The linker, or the tool that localises symbols, refuses the object.
    #[error("cannot link: {words}")]
    Link {
        /// What the tool said.
        words: String,
    },
    /// The code calls what nobody provides.
    #[error(
        "`{symbol}` is called{} but not defined\nhint: define it in the op's support code, or return the library that has \
         it from `c_libraries`",
        place.as_deref().map(|place| format!(" in `{place}`")).unwrap_or_default()
    )]
    Undefined {
        /// The symbol.
        symbol: String,
        /// The signature of the op, or of the module, whose text names it.
        place: Option<String>,
    },
    /// A library is not found.
    #[error(
        "cannot find library `{name}`; searched: {}the linker's own directories\nhint: install it, or return its \
         directory from `c_lib_dirs`",
        listed(searched)
    )]
    Library {
        /// Its name, as in `-l`.
        name: String,
        /// The directories that ops name.
        searched: Vec<String>,
    },
    /// A header is not found.
    #[error(
        "{}:{}: cannot find header `{name}`{}; searched: the unit's own files, {}the system's directories\nhint: {}",
        at.file,
        at.line,
        at.op.as_deref().map(|op| format!(" for `{op}`")).unwrap_or_default(),
        listed(searched),
        at.hint.as_deref().unwrap_or(
            "install it, give its text in `c_sources`, or return its directory from `c_header_dirs`"
        )
    )]
    Header {
        /// Its name, as in the directive.
        name: String,
        /// Where it is included.
        at: Box<Diagnostic>,
        /// The directories that ops name.
        searched: Vec<String>,
    },
    /// A header comes from where no key looks.
    #[error(
        "{}`{}` is included from outside the unit and the toolchain\nhint: return its directory from `c_header_dirs`, or \
         its text from `c_sources`",
        at.as_ref().map_or_else(String::new, |at| format!("{at}: ")), path.display()
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// Where its name stands, `op/f.c:3`; `None` where it stands in no text of the unit.
        at: Option<String>,
    },
    /// The text pulls in bytes that no key sees.
    #[error(
        "{}`{what}` is read from outside the unit, and is in no key\nhint: give the bytes as a C array",
        at.as_ref().map_or_else(String::new, |at| format!("{at}: "))
    )]
    Embed {
        /// Where it stands, `op/f.c:3`; `None` where that is not known.
        at: Option<String>,
        /// The file, or the directive.
        what: String,
    },
    /// The text asks whether a file is there, of which no key knows.
    #[error(
        "{at}: `__has_include` of `{name}`, which is not the unit's\nhint: include the header, or have a macro of the op \
         say whether it is there: `-DHAVE_IT` in its flags"
    )]
    HasInclude {
        /// The file of the unit, with the line.
        at: String,
        /// What is asked for.
        name: String,
    },
    /// A static library holds names of other files.
    #[error(
        "`{}` is a thin archive: what it holds is in other files, which are in no key\nhint: make it with `ar rcs`, without \
         `--thin`",
        path.display()
    )]
    ThinArchive {
        /// The archive.
        path: PathBuf,
    },
    /// A static library of code for a fixed address.
    #[error(
        "`{}` has code for a fixed address, which cannot be part of a module\nhint: compile it with `-fPIC`",
        path.display()
    )]
    NotPic {
        /// The archive.
        path: PathBuf,
    },
    /// The code needs an executable stack, which modules do not have: it would crash.
    #[error(
        "{}`{}` needs an executable stack, and modules have none{}\nhint: take the address of no nested function: move it out, \
         and pass it what it uses by a pointer; assembler text ends with `.section .note.GNU-stack,\"\",@progbits`",
        at.as_ref().map_or_else(String::new, |at| format!("{}:{}: ", at.file, at.line)),
        at.as_ref().and_then(|at| at.op.as_ref()).unwrap_or(of),
        at.as_ref().map_or_else(String::new, |at| format!(": {}", at.message))
    )]
    ExecutableStack {
        /// The signature of the module.
        of: String,
        /// Where the compiler needs it, if it says so.
        at: Option<Box<Diagnostic>>,
    },
    /// A static library has an object that needs an executable stack, which modules do not have.
    #[error(
        "`{member}` of `{}` needs an executable stack, and modules have none\nhint: compile it without nested functions whose \
         address is taken: `-Werror=trampolines` names them",
        path.display()
    )]
    ExecutableStackOf {
        /// The archive.
        path: PathBuf,
        /// Its member.
        member: String,
    },
    /// A shared library that the module would not find again.
    #[error(
        "`{}` is a shared library where the dynamic linker does not look, so no program could load the module\nhint: put a \
         static library beside it or in its place, of objects compiled with `-fPIC`; or install it, and run `ldconfig`",
        path.display()
    )]
    LostLibrary {
        /// The library.
        path: PathBuf,
    },
    /// A file of the toolchain or of the system is not what the key was made of.
    #[error("`{}` changed while the unit was compiled\nhint: compile again when it is installed", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// An own file's name leaves the unit's directory.
    #[error("source name `{name}` is not a plain relative path")]
    SourceName {
        /// The name.
        name: String,
    },
    /// An op asks for a flag that it may not have.
    #[error("flag `{flag}` of `{of}` is refused\nhint: {remedy}")]
    Flag {
        /// The flag.
        flag: String,
        /// The signature of the module that asks for it.
        of: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The toolchain serves another target.
    #[error("the toolchain compiles for `{found}`, expected `{wanted}`")]
    Target {
        /// The variant's target.
        wanted: String,
        /// The toolchain's.
        found: String,
    },
    /// The ISA level belongs to another architecture.
    #[error("ISA level `{isa}` does not exist on `{target}`")]
    Isa {
        /// The level.
        isa: Isa,
        /// The target.
        target: String,
    },
    /// A module was generated for another profile.
    #[error("module `{signature}` was generated for profile `{found}`, expected `{wanted}`")]
    Profile {
        /// The module.
        signature: String,
        /// Its profile.
        found: Profile,
        /// The variant's.
        wanted: Profile,
    },
    /// What was linked is not a module.
    #[error("the linked object is not a module: {what}")]
    Module {
        /// What is wrong with it.
        what: String,
    },
    /// The scratch directory cannot be made, written or read.
    #[error("cannot use the scratch directory `{}`\nhint: {}", directory.display(), precast_store::scratch::remedy(source))]
    Scratch {
        /// The directory.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of the system that the unit uses cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A tool cannot be started.
    #[error("cannot start `{}`", program.display())]
    Start {
        /// The tool.
        program: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A tool took too long and was stopped.
    #[error("`{}` did not end within {limit:?}", program.display())]
    Timeout {
        /// The tool.
        program: PathBuf,
        /// The limit.
        limit: Duration,
    },
    /// A tool was ended from outside.
    #[error("`{}` was ended: {how}\nhint: most often memory ran out; compile fewer units at once", program.display())]
    Killed {
        /// The tool.
        program: PathBuf,
        /// By what.
        how: String,
    },
    /// Where the compiler should have run, it could not be run.
    #[error("the compiler cannot be run elsewhere")]
    Elsewhere {
        /// Why not.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The archive cannot be packed.
    #[error("cannot put the unit into an archive")]
    Pack {
        /// Why not.
        source: PackError,
    },
    /// A defect of this program ended the job; the others went on.
    #[error("compiling ended in a panic: {message}")]
    Panic {
        /// The panic's message.
        message: String,
    },
}

/// Directories in front of others in a list.
fn listed(directories: &[String]) -> String {
    directories.iter().map(|directory| format!("`{directory}`, ")).collect()
}
