//! Checks the files that the compiler and the assembler report as read. However a file was included, it must be covered
//! by a key.
//!
//! | reader | reported by | may read |
//! |---|---|---|
//! | preprocessor | `-MD` | the unit's files, the compiler's own headers; if not lean, system headers and named directories |
//! | gcc's assembler (`.incbin`, `.include`, even with computed names) | `--MD` | the unit's files, the compiler's own headers |
//! | clang's assembler | – | its input is searched for directives |
//!
//! gcc's assembler also reports the names in line markers. If one of them is a file outside the unit, the unit is
//! assembled again without markers.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::error::CompileError;
use crate::prepared::Prepared;
use crate::refused;
use crate::run::Ended;
use crate::scratch::Scratch;
use crate::toolchain::{Compiler, Family, Toolchain};

/// The report of the preprocessor.
pub(crate) const HEADERS: &str = "headers.d";
const ASSEMBLER: &str = "assembler.d";

/// Returns the arguments that make the preprocessor write a report of the files it reads.
pub(crate) fn write_headers(report: &str) -> [String; 5] {
    ["-MD", "-MF", report, "-MT", "unit"].map(str::to_owned)
}

/// Returns the arguments that make the assembler report the files it reads.
pub(crate) fn write_assembler(family: Family) -> impl Iterator<Item = &'static str> {
    let gcc = "-Wa,--MD,assembler.d";
    (family == Family::Gcc).then_some(gcc).into_iter()
}

/// Returns the names of both reports. If the unit was preprocessed separately, the preprocessor's report already
/// exists.
pub(crate) fn written(family: Family, lean: bool) -> impl Iterator<Item = &'static str> {
    lean.then_some(HEADERS).into_iter().chain((family == Family::Gcc).then_some(ASSEMBLER))
}

/// Lists the headers that belong neither to the unit nor to the compiler.
///
/// # Errors
///
/// Fails if a header is neither a system header nor in a directory that an op named.
pub(crate) fn headers(prepared: &Prepared<'_>, scratch: &Scratch) -> Result<Vec<PathBuf>, CompileError> {
    let named = prepared.header_dirs().map(|(_, directory)| PathBuf::from(directory));
    let system = prepared.compiler.system_headers.iter().cloned();
    let allowed: BTreeSet<PathBuf> =
        if prepared.lean { BTreeSet::new() } else { system.chain(named).map(|path| real(&path)).collect() };
    let headers = reported(prepared, scratch, HEADERS)?;
    let is_allowed = |file: &&PathBuf| {
        let path = real(file);
        allowed.iter().any(|directory| path.starts_with(directory))
    };
    match headers.iter().find(|file| !is_allowed(file)) {
        Some(file) => Err(CompileError::Outside { at: place(prepared, file), path: file.clone() }),
        None => Ok(headers),
    }
}

/// Lists the headers in a report of the preprocessor that belong neither to the unit nor to the compiler.
pub(crate) fn reported(
    prepared: &Prepared<'_>,
    scratch: &Scratch,
    report: &str,
) -> Result<Vec<PathBuf>, CompileError> {
    let files = told(prepared.compiler, scratch, report)?.into_iter();
    let real = |file: PathBuf| match file.strip_prefix(scratch.root()) {
        Ok(name) => prepared.real_path(name),
        Err(_) => file,
    };
    Ok(files.map(real).collect())
}

/// Checks the files that the assembler read.
pub(crate) fn assembler(prepared: &Prepared<'_>, scratch: &Scratch, input: &str) -> Result<(), CompileError> {
    // clang does not report these files, but without assembler text it reads none.
    if prepared.compiler.family != Family::Gcc && !mentions_assembler(prepared) {
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

/// A compiler that has just compiled a unit in its directory with these arguments.
pub(crate) struct Reader<'a> {
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) compiler: &'a Compiler,
    pub(crate) scratch: &'a Scratch,
    pub(crate) arguments: &'a [String],
}

impl Reader<'_> {
    /// Returns a file outside the unit that a lean unit read, or a directive that can read one.
    pub(crate) fn outside(&self, input: &str) -> Result<Option<PathBuf>, CompileError> {
        if let Some(file) = told(self.compiler, self.scratch, HEADERS)?.into_iter().next() {
            return Ok(Some(file));
        }
        let refused = |ended: &Ended| CompileError::Link { words: ended.stderr.clone() };
        Ok(self.assembler(input, &refused)?.map(PathBuf::from))
    }

    /// Returns a file that the assembler read, or a directive that can read one.
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
            Family::Clang | Family::Zig => Ok(directive(&self.assembly(input, refused)?)),
        }
    }

    /// Compiles the unit to assembler text.
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

/// Returns the files in a make rule that belong neither to the unit nor to the compiler's own headers.
fn told(compiler: &Compiler, scratch: &Scratch, rule: &str) -> Result<Vec<PathBuf>, CompileError> {
    let rule = scratch.read(rule)?;
    let own = real(&compiler.own_headers);
    let files = dependencies(&String::from_utf8_lossy(&rule)).into_iter();
    let files = files.map(|file| scratch.root().join(file));
    Ok(files
        .filter(|file| {
            let path = real(file);
            // A path that leads out of the directory may name existing files on another machine, even if it does not
            // exist here.
            let leaves = path.components().any(|part| part == Component::ParentDir);
            leaves || !path.starts_with(scratch.root()) && !path.starts_with(&own)
        })
        .collect())
}

fn real(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the location of a file's name in the unit.
fn place(prepared: &Prepared<'_>, file: &Path) -> Option<String> {
    locate(prepared, &file.display().to_string())
}

/// Returns the location of words in the unit's text or in its files.
fn locate(prepared: &Prepared<'_>, words: &str) -> Option<String> {
    let locator = prepared.locator();
    locator.find_words(words).or_else(|| {
        prepared.sources.iter().find_map(|(source, text)| {
            let line = text.lines().position(|line| line.contains(words))?;
            Some(format!("{source}:{}", line + 1))
        })
    })
}

/// Removes line markers such as `# 3 "unit.c" 1`.
fn without_markers(text: &str) -> String {
    let is_marker = |line: &&str| {
        let number = line.strip_prefix('#').map(str::trim_start);
        number.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    text.split_inclusive('\n').filter(|line| !is_marker(line)).collect()
}

/// Returns whether the unit's text can contain assembler text.
fn mentions_assembler(prepared: &Prepared<'_>) -> bool {
    let mut texts = std::iter::once(&*prepared.text).chain(prepared.sources.values().map(|text| &**text));
    // Token pasting can create any word.
    !prepared.lean || texts.any(|text| text.contains("asm") || text.contains("##") || text.contains("\\\n"))
}

/// Directives that read a file, and directives that can assemble the name of such a directive.
const DIRECTIVES: &[&str] =
    &[".incbin", ".include", ".macro", ".altmacro", ".irp", ".irpc", ".rept", ".bundle_lock"];

fn directive(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|end: char| end.is_whitespace() || end == ';');
    words.into_iter().find(|word| DIRECTIVES.contains(word)).map(str::to_owned)
}

/// Returns the prerequisites of make rules. They are separated by blanks; a backslash escapes a blank or `#`, `$$` is
/// `$`, and a backslash at the end continues a line.
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
    fn file_directives_are_found_in_assembler() {
        for text in ["\t.incbin \"x\"\n", "nop;.INCBIN \"x\"\n", ".macro m a b\n.\\a\\b \"x\"\n.endm\n"] {
            assert!(directive(text).is_some(), "{text}");
        }
        assert_eq!(directive("\t.string \"incbin\"\n\tmovl %eax, %ebx\n"), None);
    }
}
