//! What compiler and assembler read, in their own words: whatever spelling got a file in, no file is read that no key knows.
//!
//! | reader | how it tells | may read |
//! |---|---|---|
//! | preprocessor | `-MD` | the unit's files, the compiler's own headers; if not lean, the system's and those of named directories |
//! | gcc's assembler (`.incbin`, `.include`, however their names are put together) | `--MD` | the unit's files, the compiler's own headers |
//! | clang's assembler | – | the directives are looked for in its input |
//!
//! gcc's assembler also tells the names of line markers. Where one of them is a file outside, the unit is assembled once
//! more without markers.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::error::CompileError;
use crate::prepared::Prepared;
use crate::refused;
use crate::run::Ended;
use crate::scratch::Scratch;
use crate::toolchain::{Compiler, Family, Toolchain};

const HEADERS: &str = "headers.d";
const ASSEMBLER: &str = "assembler.d";

/// Arguments that make the preprocessor tell.
pub(crate) const WRITE_HEADERS: [&str; 5] = ["-MD", "-MF", HEADERS, "-MT", "unit"];

/// Arguments that make the assembler tell.
pub(crate) fn write_assembler(family: Family) -> impl Iterator<Item = &'static str> {
    let gcc = "-Wa,--MD,assembler.d";
    (family == Family::Gcc).then_some(gcc).into_iter()
}

/// The files in which both tell. Of what was preprocessed before, that is known already.
pub(crate) fn written(family: Family, lean: bool) -> impl Iterator<Item = &'static str> {
    lean.then_some(HEADERS).into_iter().chain((family == Family::Gcc).then_some(ASSEMBLER))
}

/// Lists the headers outside of the unit and of the compiler.
///
/// # Errors
///
/// One is not the system's, nor in a directory that an op named.
pub(crate) fn headers(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<Vec<PathBuf>, CompileError> {
    let named = prepared.header_dirs().map(|(_, directory)| PathBuf::from(directory));
    let system = prepared.compiler.system_headers.iter().cloned();
    let allowed: BTreeSet<PathBuf> =
        if prepared.lean { BTreeSet::new() } else { system.chain(named).map(|path| real(&path)).collect() };
    let mut outside = Vec::new();
    for file in told(prepared.compiler, scratch, HEADERS)? {
        let file = file.strip_prefix(scratch.root()).map_or(file.clone(), |name| prepared.real_path(name));
        let path = real(&file);
        if !allowed.iter().any(|directory| path.starts_with(directory)) {
            return Err(CompileError::Outside { at: place(prepared, &file), path: file });
        }
        outside.push(file);
    }
    Ok(outside)
}

/// Checks what the assembler read.
pub(crate) fn assembler(prepared: &Prepared<'_>, scratch: &Scratch, input: &str) -> Result<(), CompileError> {
    // What has no assembler text reads nothing by it; clang does not say.
    if prepared.compiler.family == Family::Clang && !mentions_assembler(prepared) {
        return Ok(());
    }
    let mut arguments = prepared.flags.compile.clone();
    arguments.extend(prepared.places());
    let (toolchain, compiler) = (prepared.toolchain, prepared.compiler);
    let reader = Reader { toolchain, compiler, scratch, arguments: &arguments };
    let refused = |ended: &Ended| refused::rejected(prepared, &ended.stderr);
    match reader.assembler(input, &refused)? {
        None => Ok(()),
        Some(what) => Err(CompileError::Embed { at: locate(prepared, "asm"), what }),
    }
}

/// What has just compiled a unit, in its directory, with these arguments.
pub(crate) struct Reader<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) compiler: &'a Compiler,
    pub(crate) scratch: &'a Scratch,
    pub(crate) arguments: &'a [String],
}

impl Reader<'_> {
    /// A file outside that a lean unit read, or the directive that can read one.
    pub(crate) fn outside(&self, input: &str) -> Result<Option<PathBuf>, CompileError> {
        if let Some(file) = told(self.compiler, self.scratch, HEADERS)?.into_iter().next() {
            return Ok(Some(file));
        }
        let refused = |ended: &Ended| CompileError::Link { words: ended.stderr.clone() };
        Ok(self.assembler(input, &refused)?.map(PathBuf::from))
    }

    /// What the assembler read, or may read.
    fn assembler(
        &self,
        input: &str,
        refused: &dyn Fn(&Ended) -> CompileError,
    ) -> Result<Option<String>, CompileError> {
        match self.compiler.family {
            Family::Gcc
                if !told(self.compiler, self.scratch, ASSEMBLER)?.iter().any(|file| !file.is_dir()) =>
            {
                Ok(None)
            }
            Family::Gcc => {
                let plain = without_markers(&self.assembly(input, refused)?);
                self.scratch.write("plain.s", plain)?;
                let arguments = ["-c", "plain.s", "-o", "plain.o", "-Wa,--MD,assembler.d"];
                self.run(&arguments.map(str::to_owned), refused)?;
                let files = told(self.compiler, self.scratch, ASSEMBLER)?;
                Ok(files.first().map(|file| file.display().to_string()))
            }
            Family::Clang => Ok(directive(&self.assembly(input, refused)?)),
        }
    }

    /// Compiles to assembler text.
    fn assembly(
        &self,
        input: &str,
        refused: &dyn Fn(&Ended) -> CompileError,
    ) -> Result<String, CompileError> {
        let mut arguments = self.arguments.to_vec();
        arguments.extend(["-S", input, "-o", "unit.s"].map(str::to_owned));
        self.run(&arguments, refused)?;
        Ok(String::from_utf8_lossy(&self.scratch.read("unit.s")?).into_owned())
    }

    fn run(
        &self,
        arguments: &[String],
        refused: &dyn Fn(&Ended) -> CompileError,
    ) -> Result<(), CompileError> {
        let Self { toolchain, compiler, scratch, .. } = self;
        let ended = scratch.run(toolchain, &compiler.path, &compiler.driver, arguments)?;
        if ended.status.success() { Ok(()) } else { Err(refused(&ended)) }
    }
}

/// The files outside of the unit and of the compiler's own headers that a rule names.
fn told(compiler: &Compiler, scratch: &Scratch, rule: &str) -> Result<Vec<PathBuf>, CompileError> {
    let rule = scratch.read(rule)?;
    let own = real(&compiler.own_headers);
    let files = dependencies(&String::from_utf8_lossy(&rule)).into_iter();
    let files = files.map(|file| scratch.root().join(file));
    Ok(files
        .filter(|file| {
            let path = real(file);
            // Elsewhere there may be files that are not here.
            let leaves = path.components().any(|part| part == Component::ParentDir);
            leaves || !path.starts_with(scratch.root()) && !path.starts_with(&own)
        })
        .collect())
}

fn real(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Where the name of a file stands in the unit.
fn place(prepared: &Prepared<'_>, file: &Path) -> Option<String> {
    locate(prepared, &file.display().to_string())
}

/// Where words stand in the unit's text or in its files.
fn locate(prepared: &Prepared<'_>, words: &str) -> Option<String> {
    let locator = prepared.locator();
    locator.find_words(words).or_else(|| {
        prepared.sources.iter().find_map(|(source, text)| {
            let line = text.lines().position(|line| line.contains(words))?;
            Some(format!("{source}:{}", line + 1))
        })
    })
}

/// Takes away lines such as `# 3 "unit.c" 1`.
fn without_markers(text: &str) -> String {
    let is_marker = |line: &&str| {
        let number = line.strip_prefix('#').map(str::trim_start);
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    text.split_inclusive('\n').filter(|line| !is_marker(line)).collect()
}

/// Whether the unit's text can reach the assembler.
fn mentions_assembler(prepared: &Prepared<'_>) -> bool {
    let mut texts = std::iter::once(&*prepared.text).chain(prepared.sources.values().map(|text| &**text));
    // A pasted token may be any word.
    !prepared.lean || texts.any(|text| text.contains("asm") || text.contains("##") || text.contains("\\\n"))
}

/// Directives that read a file, and those that can put the name of such a directive together.
const DIRECTIVES: &[&str] =
    &[".incbin", ".include", ".macro", ".altmacro", ".irp", ".irpc", ".rept", ".bundle_lock"];

fn directive(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|end: char| end.is_whitespace() || end == ';');
    words.into_iter().find(|word| DIRECTIVES.contains(word)).map(str::to_owned)
}

/// Reads the prerequisites of make rules: blanks split, a backslash keeps a blank or `#`, `$$` is `$`, and a line that ends
/// in a backslash goes on.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let rule = rule.replace("\\\n", " ").replace("\\ ", "\0").replace("\\#", "#");
    let lists = rule.lines().filter_map(|line| line.split_once(": ").map(|(_, list)| list));
    let names = lists.flat_map(str::split_whitespace);
    names.map(|name| PathBuf::from(name.replace('\0', " ").replace("$$", "$"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules_are_read() {
        let rule = "unit: unit.c include/a\\ b.h \\\n /usr/include/c\\#.h /x/$$d.h\n";
        let found = dependencies(rule);
        assert_eq!(found, ["unit.c", "include/a b.h", "/usr/include/c#.h", "/x/$d.h"].map(PathBuf::from));
    }

    #[test]
    fn directives_that_read_files_are_found_in_assembler_text() {
        for text in ["\t.incbin \"x\"\n", "nop;.INCBIN \"x\"\n", ".macro m a b\n.\\a\\b \"x\"\n.endm\n"] {
            assert!(directive(text).is_some(), "{text}");
        }
        assert_eq!(directive("\t.string \"incbin\"\n\tmovl %eax, %ebx\n"), None);
    }
}
