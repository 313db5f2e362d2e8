//! Resolution of an op's own headers: which file each `#include` refers to, and the file's name in the SourceSet.
//!
//! Own files have logical names below the op's name: `#include "helper.h"` in `op/src/f.c` refers to `op/src/helper.h`.
//! If that file does not exist, the relative `header_dirs` are searched. Directives that refer to an own file are
//! rewritten to its logical name, so that the text can be placed anywhere. Headers of other ops may have the same
//! names. All other includes are left to the compiler.

use super::error::{ExternalError, SourceLine};
use crate::module::SourceSet;
use crate::tokens::header_name;
use precast_core::names::{excerpt, is_hidden};

/// An `#include` directive with a literal name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// The line of the directive in the text, from 1.
    pub line: u32,
    /// The name, without quotes or brackets.
    pub name: String,
    /// Whether the name is in quotes: then the directory of the including file is searched first.
    pub is_quoted: bool,
}

/// Returns the includes of a C text in order. An `#include` whose operand is a macro is skipped.
#[must_use]
pub fn includes(text: &str) -> Vec<Include> {
    let lines = (1..).zip(text.lines());
    lines
        .filter_map(|(line, content)| {
            let (_, operand) = directive(content)?;
            let (is_quoted, name) = header_name(operand)?;
            Some(Include { line, name: name.to_owned(), is_quoted })
        })
        .collect()
}

/// Returns the own file that an include refers to: the first name that `exists`, next to the
/// including file, then in `directories`.
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

/// Parses a header of a declaration: `<math.h>`, `"own.h"`, or a bare name, which counts as quoted. A quoted name is
/// looked up next to the op's files first.
///
/// # Errors
/// The text is not valid as the operand of an `#include`.
pub fn header(text: &str) -> Result<Include, ExternalError> {
    let (is_quoted, name) =
        header_name(text).filter(|(_, name)| name.len() + 2 == text.len()).unwrap_or((true, text));
    if name.is_empty() || name.contains(|c: char| is_hidden(c) || matches!(c, '"' | '<' | '>' | '\\')) {
        let problem = format!("has `{}`, which is not a valid header name", excerpt(text));
        return Err(ExternalError::Setting { key: "headers", problem });
    }
    Ok(Include { line: 1, name: name.to_owned(), is_quoted })
}

/// Returns the own file that a header of a declaration refers to: the first name that `exists`, next to the
/// op's files, then in `directories`.
#[must_use]
pub fn own_header(text: &str, directories: &[String], exists: impl Fn(&str) -> bool) -> Option<String> {
    own_file("", &header(text).ok()?, directories, exists).ok().flatten()
}

/// Joins a directory and a relative name: `a/b` and `../c.h` make `a/c.h`. Returns `None` if
/// the name leads out of the root.
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

/// The own files of an op, for rewriting includes.
pub(super) struct Own<'a> {
    pub(super) op: &'a str,
    pub(super) sources: &'a SourceSet,
    pub(super) directories: &'a [String],
}

impl Own<'_> {
    /// Returns the text with its includes of own files rewritten. `from` is the relative name of the file, and `line`
    /// is the line number of the first line of the text.
    pub(super) fn rewrite(&self, from: &str, line: u32, text: &str) -> Result<String, ExternalError> {
        let mut result = String::with_capacity(text.len());
        for (number, content) in (line..).zip(text.split_inclusive('\n')) {
            let found = directive(content).and_then(|(head, operand)| Some((head, header_name(operand)?)));
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

    /// Prepends the name of the op to the name of the file.
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

/// Splits an include directive into the part before its operand, and the operand with the rest of the line.
fn directive(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start_matches('\u{feff}').trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include").filter(|rest| !rest.starts_with("_next"))?;
    let operand = rest.trim_start();
    Some((&line[..line.len() - operand.len()], operand))
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
    fn header_is_own_file_or_system_file() {
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
    fn includes_outside_the_op_are_rejected() {
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
