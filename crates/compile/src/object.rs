//! Runs the compiler on a prepared unit, and checks which files it read.

use std::path::Path;

use precast_store::ActionKey;
use precast_store::key::Language;

use crate::error::CompileError;
use crate::prepared::{OWN_HEADERS, Prepared};
use crate::reads;
use crate::refused;
use crate::scratch::Scratch;

/// The object file that the compiler writes.
pub(crate) const RAW: &str = "raw.o";

/// Returns the file name of the preprocessed unit.
pub(crate) fn preprocessed_name(language: Language) -> &'static str {
    match language {
        Language::C => "unit.i",
        Language::Cxx => "unit.ii",
    }
}

/// Runs the compiler with additional arguments.
pub(crate) fn object(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
    action: &ActionKey,
    more: &[&str],
) -> Result<(), CompileError> {
    let compiler = prepared.compiler;
    let input = if prepared.lean { prepared.file } else { preprocessed_name(prepared.unit.language()) };
    let mut arguments = prepared.flags.compile.clone();
    arguments.extend(prepared.places());
    arguments.push(format!("-frandom-seed={action}"));
    if prepared.lean {
        arguments.extend(reads::write_headers(reads::HEADERS));
    }
    arguments.extend(reads::write_assembler(compiler.family).map(str::to_owned));
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    arguments.extend(["-pipe", "-c", input, "-o", RAW].map(str::to_owned));
    let mut inputs = vec![(input, scratch.root().join(input))];
    if prepared.lean {
        inputs.push((OWN_HEADERS, compiler.own_headers.clone()));
        if !prepared.sources.is_empty() {
            inputs.push(("include", scratch.root().join("include")));
        }
    }
    let inputs: Vec<(&str, &Path)> = inputs.iter().map(|(name, path)| (*name, &**path)).collect();
    let outputs: Vec<&str> =
        std::iter::once(RAW).chain(reads::written(compiler.family, prepared.lean)).collect();
    let tools = (prepared.toolchain, prepared.unit.language());
    let ended = scratch.compile(tools, &arguments, &inputs, &outputs)?;
    if !ended.status.success() {
        return Err(refused::rejected(prepared, &ended.stderr));
    }
    if prepared.lean {
        reads::headers(prepared, scratch)?;
    }
    reads::assembler(prepared, scratch, input)
}
