//! An op's own headers: which `#include` means which file, and where it stands in the SourceSet.
//!
//! Own files have logical names below the op's: `#include "helper.h"` in `op/src/f.c` is `op/src/helper.h`, else it is looked
//! for in the relative `header_dirs`. Directives that name an own file are rewritten to its logical name, so that they work
//! wherever the text is put, and whatever other ops call their headers. What is not an own file is left to the compiler.

use super::error::{ExternalError, SourceLine};
use crate::module::SourceSet;
use precast_core::names::{excerpt, is_hidden};

/// An `#include` with its name written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// Its line in the text, from 1.
    pub line: u32,
    /// What it names, without quotes or brackets.
    pub name: String,
    /// Whether it stands in quotes: looked for beside the including file first.
    pub is_quoted: bool,
}

/// The includes of a C text, in order; those that macros name are not seen.
#[must_use]
pub fn includes(text: &str) -> Vec<Include> {
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(line, content)| {
            let (_, operand) = directive(content)?;
            let (is_quoted, name) = named(operand)?;
            Some(Include { line, name: name.to_owned(), is_quoted })
        })
        .collect()
}

/// The own file that an include means: the first that `exists`, beside the including file, then in `directories`.
///
/// # Errors
/// The name leads out of the op's directory.
pub fn own_file(
    from: &str,
    include: &Include,
    directories: &[String],
    exists: impl Fn(&str) -> bool,
) -> Result<Option<String>, ExternalError> {
    let escape = || ExternalError::Include {
        place: SourceLine { file: from.to_owned(), line: include.line },
        name: include.name.clone(),
    };
    let is_absolute = include.name.starts_with('/') || include.name.contains([':', '\\']);
    if is_absolute {
        return Err(escape());
    }
    let beside = from.rsplit_once('/').map_or("", |(directory, _)| directory);
    let relative = directories.iter().map(String::as_str).filter(|directory| !directory.starts_with('/'));
    let places = include.is_quoted.then_some(beside).into_iter().chain(relative);
    let mut escapes = include.name.split('/').any(|part| part == "..");
    for place in places {
        if let Some(candidate) = normalise(place, &include.name) {
            if exists(&candidate) {
                return Ok(Some(candidate));
            }
            escapes &= !include.is_quoted;
        }
    }
    if escapes { Err(escape()) } else { Ok(None) }
}

/// Reads a header of a declaration, which includes it from beside the files: `<math.h>`, `"own.h"`, or a bare name, which may
/// be either.
///
/// # Errors
/// Text that cannot stand in an `#include`.
pub fn header(text: &str) -> Result<Include, ExternalError> {
    let (is_quoted, name) =
        named(text).filter(|(_, name)| name.len() + 2 == text.len()).unwrap_or((true, text));
    if name.is_empty() || name.contains(|c: char| is_hidden(c) || matches!(c, '"' | '<' | '>' | '\\')) {
        let problem = format!("has `{}`, which cannot be the name of a header", excerpt(text));
        return Err(ExternalError::Setting { key: "headers", problem });
    }
    Ok(Include { line: 1, name: name.to_owned(), is_quoted })
}

/// The own file that a header of a declaration means: the first that `exists`, beside the files, then in `directories`.
#[must_use]
pub fn own_header(text: &str, directories: &[String], exists: impl Fn(&str) -> bool) -> Option<String> {
    own_file("", &header(text).ok()?, directories, exists).ok().flatten()
}

/// `a/b` and `../c.h` make `a/c.h`; `None` if that leads out.
#[must_use]
pub fn normalise(directory: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Own files of an op, for rewriting.
pub(super) struct Own<'a> {
    pub(super) op: &'a str,
    pub(super) sources: &'a SourceSet,
    pub(super) directories: &'a [String],
}

impl Own<'_> {
    /// The text with its includes of own files rewritten; `from` is the relative name of the file, and `line` the line that
    /// the text begins with.
    pub(super) fn rewrite(&self, from: &str, line: u32, text: &str) -> Result<String, ExternalError> {
        let mut result = String::with_capacity(text.len());
        for (number, content) in (line..).zip(text.split_inclusive('\n')) {
            let found = directive(content).and_then(|(head, operand)| Some((head, named(operand)?)));
            let Some((head, (is_quoted, name))) = found else {
                result.push_str(content);
                continue;
            };
            let include = Include { line: number, name: name.to_owned(), is_quoted };
            let exists = |candidate: &str| self.sources.contains_key(candidate);
            match own_file(from, &include, self.directories, exists).map_err(|error| self.locate(error))? {
                Some(own) => {
                    let end = content.find(name).map_or(content.len(), |at| at + name.len() + 1);
                    result.push_str(&format!("{head}\"{}/{own}\"{}", self.op, &content[end..]));
                }
                None => result.push_str(content),
            }
        }
        Ok(result)
    }

    /// Puts the op in front of the file's name.
    fn locate(&self, error: ExternalError) -> ExternalError {
        match error {
            ExternalError::Include { place, name } => {
                let file = format!("{}/{}", self.op, place.file);
                ExternalError::Include { place: SourceLine { file, ..place }, name }
            }
            other => other,
        }
    }
}

/// An include directive: all up to its operand, and the operand.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start_matches('\u{feff}').trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include").filter(|rest| !rest.starts_with("_next"))?;
    let operand = rest.trim_start();
    Some((&line[..line.len() - operand.len()], operand))
}

fn named(operand: &str) -> Option<(bool, &str)> {
    let between =
        |open: char, close: char| operand.strip_prefix(open)?.split_once(close).map(|(name, _)| name);
    match between('"', '"') {
        Some(name) => Some((true, name)),
        None => between('<', '>').map(|name| (false, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(from: &str, text: &str) -> Result<String, String> {
        let sources = ["helper.h", "src/near.h", "inc/far.h"]
            .map(|name| (name.to_owned(), "".into()))
            .into_iter()
            .collect();
        let directories = ["inc".to_owned(), "/usr/include/x".to_owned()];
        let own = Own { op: "op", sources: &sources, directories: &directories };
        own.rewrite(from, 7, text).map_err(|error| error.to_string())
    }

    #[test]
    fn own_headers_get_their_logical_names() {
        for (from, text, expected) in [
            ("f.c", "#include \"helper.h\"\n", "#include \"op/helper.h\"\n"),
            ("src/f.c", " # include \"near.h\" // x\n", " # include \"op/src/near.h\" // x\n"),
            ("src/f.c", "#include \"../helper.h\"", "#include \"op/helper.h\""),
            ("f.c", "#include <far.h>\n", "#include \"op/inc/far.h\"\n"),
            ("f.c", "#include <helper.h>\n", "#include <helper.h>\n"),
            ("f.c", "#include \"math.h\"\n", "#include \"math.h\"\n"),
            ("f.c", "#include HEADER\n", "#include HEADER\n"),
        ] {
            assert_eq!(rewrite(from, text).unwrap(), expected);
        }
    }

    #[test]
    fn a_header_is_an_own_file_or_one_of_the_system() {
        let own = |text: &str| {
            own_header(text, &["inc".to_owned()], |name| ["near.h", "inc/far.h"].contains(&name))
        };
        for text in ["far.h", "<far.h>", "\"far.h\""] {
            assert_eq!(own(text).as_deref(), Some("inc/far.h"), "{text}");
        }
        assert_eq!(own("near.h").as_deref(), Some("near.h"));
        assert_eq!(["<near.h>", "math.h", "../../near.h", "/near.h"].map(own), [None, None, None, None]);
        for text in ["", "a\n#define x", "<a.h", "a.h>", "\"a\"b\"", "a\0", "<>"] {
            assert!(header(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn includes_that_lead_out_are_refused() {
        for text in [
            "\n#include \"../../etc\"\n",
            "\n#include </etc/passwd>\n",
            "\n#include <../x.h>",
            "\n#include \"c:x.h\"",
        ] {
            let problem = rewrite("src/f.c", text).unwrap_err();
            assert!(problem.starts_with("op/src/f.c:8: `#include` of "), "{problem}");
        }
    }
}
