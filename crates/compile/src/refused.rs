//! Words of the compiler and the linker as errors that name the op.

use crate::error::CompileError;
use crate::prepared::Prepared;

/// Makes the error of a compiler that refuses the text.
pub(crate) fn rejected(prepared: &Prepared<'_>, words: &str) -> CompileError {
    let words = &prepared.with_real_dirs(words);
    let locator = prepared.locator();
    let diagnostics = locator.diagnostics(words);
    if let Some(first) = diagnostics.first()
        && let Some(name) = missing_header(&first.message)
    {
        let searched = prepared.unit.first().header_dirs.clone();
        return CompileError::Header { name: name.to_owned(), at: Box::new(first.clone()), searched };
    }
    if let Some(instruction) = words.lines().find_map(beyond) {
        let (instruction, isa) = (instruction.to_owned(), prepared.variant.isa);
        return CompileError::Instruction { instruction, isa, of: prepared.unit.first().signature.clone() };
    }
    let compiler = prepared.compiler.description.clone();
    CompileError::Rejected { compiler, diagnostics, words: words.to_owned() }
}

/// The instruction that gcc's assembler says the ISA level does not have.
fn beyond(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Error: ")?;
    let old = || Some(rest.strip_prefix('`')?.split_once("' is not supported on ")?.0);
    let new = || rest.strip_prefix("unsupported instruction `")?.strip_suffix('\'');
    old().or_else(new)
}

/// The header that gcc or clang says is not there.
fn missing_header(message: &str) -> Option<&str> {
    let clang = || message.strip_prefix('\'')?.strip_suffix("' file not found");
    message.strip_suffix(": No such file or directory").or_else(clang)
}

/// Names the symbol that nobody defines, and the op whose text calls it.
pub(crate) fn undefined(prepared: &Prepared<'_>, symbol: &str) -> CompileError {
    let locator = prepared.locator();
    // A C++ symbol is shown with its arguments; the text has its name only.
    let name = symbol.split('(').next().unwrap_or(symbol).rsplit("::").next().unwrap_or(symbol);
    CompileError::Undefined { symbol: symbol.to_owned(), place: locator.find_symbol(name) }
}
