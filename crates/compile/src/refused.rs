//! Converts compiler and linker output into errors that name the op.

use crate::error::CompileError;
use crate::prepared::Prepared;

/// Creates the error for a text that the compiler rejected.
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

/// Returns the instruction that gcc's assembler reports as unsupported by the ISA level.
fn beyond(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Error: ")?;
    let old = || Some(rest.strip_prefix('`')?.split_once("' is not supported on ")?.0);
    let new = || rest.strip_prefix("unsupported instruction `")?.strip_suffix('\'');
    old().or_else(new)
}

/// Returns the header that gcc or clang reports as missing.
fn missing_header(message: &str) -> Option<&str> {
    let clang = || message.strip_prefix('\'')?.strip_suffix("' file not found");
    message.strip_suffix(": No such file or directory").or_else(clang)
}

/// Creates the error for an undefined symbol, with the op whose text calls it.
pub(crate) fn undefined(prepared: &Prepared<'_>, symbol: &str) -> CompileError {
    let locator = prepared.locator();
    // The linker shows a C++ symbol with its arguments, but the text contains only its name.
    let name = symbol.split('(').next().unwrap_or(symbol).rsplit("::").next().unwrap_or(symbol);
    CompileError::Undefined { symbol: symbol.to_owned(), place: locator.find_symbol(name) }
}
