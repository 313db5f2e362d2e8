//! What a unit takes from the system, by content: the preprocessed text, and every file that the linker reads.
//!
//! The text is preprocessed once; what was hashed is what is then compiled (`unit.i`, `unit.ii`), so a header that changes
//! in between cannot slip under a key. Line markers hold this machine's paths: they are hashed with debug information only,
//! which holds them too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use precast_store::key::{ContentId, Language, Profile};

use crate::action::Prepared;
use crate::compile;
use crate::diagnostics::Locator;
use crate::error::CompileError;
use crate::includes;
use crate::link;
use crate::scratch::Scratch;

/// The preprocessed unit, by language.
pub(crate) fn preprocessed_name(language: Language) -> &'static str {
    match language {
        Language::C => "unit.i",
        Language::Cxx => "unit.ii",
    }
}

/// Names and contents of all that comes from the system, in the order of its use.
pub(crate) fn linked(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
) -> Result<Vec<(String, [u8; 32])>, CompileError> {
    let mut linked = Vec::new();
    if !prepared.lean {
        linked.push(("preprocessed".to_owned(), preprocess(prepared, scratch)?));
    }
    if prepared.flags.hosted_link {
        for file in link::files(prepared, scratch)? {
            let content =
                fs_err::read(&file).map_err(|source| CompileError::Read { path: file.clone(), source })?;
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            linked.push((format!("link/{name}"), *ContentId::of(content).as_bytes()));
        }
    }
    Ok(linked)
}

/// Preprocesses the unit into the scratch directory and hashes the result.
fn preprocess(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<[u8; 32], CompileError> {
    let name = preprocessed_name(prepared.unit.language());
    let mut arguments = prepared.flags.compile.clone();
    arguments.extend(prepared.paths(scratch));
    arguments
        .extend(["-E", "-MD", "-MF", "unit.d", "-MT", "unit", prepared.file, "-o", name].map(str::to_owned));
    let compiler = prepared.compiler;
    let ended = scratch.run(prepared.toolchain, &compiler.path, &compiler.driver, &arguments)?;
    if !ended.status.success() {
        return Err(compile::rejected(prepared, &ended.stderr));
    }
    check_origins(prepared, scratch)?;
    let text = scratch.read(name)?;
    let shown = String::from_utf8_lossy(&text);
    if let Some(what) = includes::embeds(&shown) {
        return Err(CompileError::Embed { file: prepared.file.to_owned(), what });
    }
    if prepared.variant.profile == Profile::Release {
        let marker = |line: &str| {
            line.strip_prefix("# ").is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()))
        };
        let plain: String =
            shown.lines().filter(|line| !marker(line)).flat_map(|line| [line, "\n"]).collect();
        return Ok(*ContentId::of(plain).as_bytes());
    }
    let root = scratch.root().display().to_string();
    Ok(*ContentId::of(shown.replace(&root, "/precast")).as_bytes())
}

/// Checks that every header is the unit's, the toolchain's, the system's, or in a directory that an op named.
fn check_origins(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<(), CompileError> {
    let rule = scratch.read("unit.d")?;
    let real = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let named = prepared.unit.first().header_dirs.iter().map(PathBuf::from);
    let allowed: BTreeSet<PathBuf> =
        prepared.compiler.system_headers.iter().cloned().chain(named).map(|path| real(&path)).collect();
    for file in dependencies(&String::from_utf8_lossy(&rule)) {
        let path = real(&scratch.root().join(&file));
        if !path.starts_with(scratch.root()) && !allowed.iter().any(|directory| path.starts_with(directory)) {
            let name = file.display().to_string();
            let header = prepared.sources.iter().find_map(|(source, text)| {
                let line = text.lines().position(|line| line.contains(&name))?;
                Some(format!("{source}:{}", line + 1))
            });
            let locator = Locator::new(prepared.unit, prepared.file, &prepared.text);
            return Err(CompileError::Outside { at: locator.find_words(&name).or(header), path: file });
        }
    }
    Ok(())
}

/// Reads the prerequisites of a make rule: blanks split, `\ ` is a blank in a name, `\` at a line's end goes on.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let rule = rule.replace("\\\n", " ").replace("\\ ", "\0");
    let (_, list) = rule.split_once(':').unwrap_or_default();
    list.split_whitespace().map(|name| PathBuf::from(name.replace('\0', " ").replace("$$", "$"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules_are_read() {
        let found = dependencies("unit: unit.c include/a\\ b.h \\\n /usr/include/math.h\n");
        assert_eq!(found, ["unit.c", "include/a b.h", "/usr/include/math.h"].map(PathBuf::from));
    }
}
