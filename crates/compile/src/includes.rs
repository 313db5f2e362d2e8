//! Include checks: whether a unit includes only its own files and the compiler's freestanding headers (*lean*), or more.
//!
//! The directives are read without a preprocessor, so an include in a false `#if` counts too, and the file that a macro
//! names is unknown. Both can make a lean unit count as not lean, never the reverse. The exception is `#if
//! __STDC_HOSTED__`, which is false in every lean unit because lean units are compiled freestanding. They are also
//! compiled with `-nostdinc`, and the compiler reports which files it read ([`crate::reads`]). So a mistake here ends
//! in an error, not in a header missing from the hash.

use std::borrow::Cow;
use std::collections::BTreeSet;

use precast_codegen::SourceSet;
use precast_codegen::tokens::{header_name, literal};

use crate::error::CompileError;

/// Headers of every compiler that do not need a C library.
const FREESTANDING: &[&str] = &[
    "float.h",
    "iso646.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdnoreturn.h",
];

/// Checks the directives of the unit's text and of its files. Returns `None` for a lean unit, else a description of the
/// first include that makes the unit not lean.
///
/// # Errors
///
/// A file uses `#embed`, which reads bytes that no key covers. Or it uses `__has_include` on a file of the system. Or
/// the name of a file is not a plain relative path.
pub(crate) fn check(
    unit_file: &str,
    text: &str,
    sources: &SourceSet,
) -> Result<Option<String>, CompileError> {
    let text = without_comments(text);
    let headers: Vec<_> = sources.iter().map(|(name, text)| (name, without_comments(text))).collect();
    let mut more = scan(unit_file, "", &text, sources)?;
    if may_paste_question(std::iter::once(&*text).chain(headers.iter().map(|(_, text)| &**text))) {
        more.get_or_insert_with(|| "a file named by a macro".to_owned());
    }
    for (name, text) in headers {
        if name.split('/').any(|part| matches!(part, "" | "." | "..")) || name.contains(['\\', ':', '\0']) {
            return Err(CompileError::SourceName { name: name.clone() });
        }
        let directory = name.rsplit_once('/').map_or("", |(directory, _)| directory);
        let found = scan(name, directory, &text, sources)?;
        more = more.or(found);
    }
    Ok(more)
}

/// Describes the first include of a text without comments that refers neither to a file of the unit nor to a header of
/// the compiler.
fn scan(
    file: &str,
    directory: &str,
    text: &str,
    sources: &SourceSet,
) -> Result<Option<String>, CompileError> {
    let (mut more, mut hosted) = (None, false);
    let has_questions = QUESTIONS.iter().any(|word| text.contains(word));
    for line in text.lines() {
        if has_questions {
            question(file, line, directory, sources)?;
        }
        let line = line.trim_start();
        let Some(directive) = line.strip_prefix('#').or_else(|| line.strip_prefix("%:")) else { continue };
        let directive = directive.trim_start();
        // Skip up to the next conditional directive of any kind. This may skip too few lines, but never too many.
        if ["if", "el", "endif"].iter().any(|word| directive.starts_with(word)) {
            hosted = directive.trim_end() == "if __STDC_HOSTED__";
        }
        if hosted {
            continue;
        }
        if directive.starts_with("embed") {
            return Err(CompileError::Embed { at: Some(file.to_owned()), what: "#embed".to_owned() });
        }
        let operand =
            ["include_next", "include", "import"].iter().find_map(|word| directive.strip_prefix(word));
        if let Some(operand) = operand.map(str::trim).filter(|name| !is_own(name, directory, sources)) {
            more.get_or_insert_with(|| format!("`{operand}`"));
        }
    }
    Ok(more)
}

/// Operators that test whether a file exists. The output of `-MD` does not list these files.
const QUESTIONS: &[&str] = &["__has_include", "__has_embed"];

/// Checks the files that a line tests for. The unit's own files and the compiler's are covered by the
/// key; any other file is an error.
fn question(file: &str, line: &str, directory: &str, sources: &SourceSet) -> Result<(), CompileError> {
    match questions(line).find(|name| !is_own(name, directory, sources)) {
        Some(name) => Err(CompileError::HasInclude { at: file.to_owned(), name }),
        None => Ok(()),
    }
}

/// Returns the operands of [`QUESTIONS`] in a line: `<name>`, `"name"`, or the words of a macro.
fn questions(line: &str) -> impl Iterator<Item = String> {
    let found = QUESTIONS.iter().flat_map(|word| line.match_indices(word));
    found.filter_map(|(at, word)| {
        let rest = &line[at + word.len()..];
        let rest = rest.strip_prefix("_next").unwrap_or(rest);
        if rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_') {
            return None;
        }
        let operand = rest.trim_start().strip_prefix('(');
        // `#ifdef __has_include` and `defined(__has_include)` ask about the compiler.
        let before = line[..at].trim_end().trim_end_matches('(').trim_end();
        if operand.is_none() && ["ifdef", "ifndef", "defined"].iter().any(|word| before.ends_with(word)) {
            return None;
        }
        let operand = operand.unwrap_or(rest).trim_start();
        let name = operand.split_inclusive(['>', '"']).take(if operand.starts_with('"') { 2 } else { 1 });
        Some(name.collect())
    })
}

/// Returns whether texts may test for files, or include files, that are not below the directories in which headers are
/// searched.
pub(crate) fn may_search_elsewhere<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> bool {
    let is_below = |name: &str| match header_name(name) {
        Some((_, name)) => !name.starts_with('/') && name.split('/').all(|part| part != ".."),
        None => false,
    };
    let leads_elsewhere = |line: &str| {
        let operand = line.trim_start().strip_prefix('#').map(str::trim_start);
        let operand = operand.and_then(|rest| rest.strip_prefix("include"));
        operand.is_some_and(|operand| operand.contains("..")) || !questions(line).all(|name| is_below(&name))
    };
    let is_asking = |text: &str| {
        (text.contains("..") || QUESTIONS.iter().any(|word| text.contains(word)))
            && without_comments(text).lines().any(leads_elsewhere)
    };
    if texts.clone().any(is_asking) {
        return true;
    }
    let texts: Vec<_> = texts.map(without_comments).collect();
    may_paste_question(texts.iter().map(|text| &**text))
}

/// Returns whether macros could paste one of [`QUESTIONS`] together from words of the texts, which are without comments.
/// If so, the unit must be preprocessed to find out.
fn may_paste_question<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> bool {
    if !texts.clone().any(|text| text.contains("##") || text.contains("%:%:")) {
        return false;
    }
    let is_word = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
    // Short words are skipped: any text can be built from pieces of one or two letters, but not by accident.
    let is_piece = |word: &str| word.len() > 2 || word.bytes().all(|byte| byte == b'_');
    let is_part = |word: &&str| {
        !word.is_empty()
            && is_piece(word)
            && QUESTIONS.iter().any(|question| question != word && question.contains(word))
    };
    let mut parts: BTreeSet<String> = BTreeSet::new();
    for text in texts {
        let words = text.split(|end: char| !is_word(end));
        parts.extend(words.filter(is_part).map(str::to_owned));
    }
    QUESTIONS.iter().any(|question| {
        // The prefix lengths of `question` that the parts can form.
        let mut reached = BTreeSet::from([0]);
        while let Some(start) = reached.pop_first() {
            let rest = &question[start..];
            if rest.is_empty() {
                return true;
            }
            reached.extend(
                parts.iter().filter(|part| rest.starts_with(part.as_str())).map(|part| start + part.len()),
            );
        }
        false
    })
}

fn is_own(operand: &str, directory: &str, sources: &SourceSet) -> bool {
    let Some((is_quoted, name)) = header_name(operand) else { return false };
    let is_beside =
        is_quoted && !directory.is_empty() && sources.contains_key(&format!("{directory}/{name}"));
    // The intrinsics' headers include a `mm_malloc.h` that needs a C library; a unit may bring its own.
    let is_intrinsic = name.ends_with("intrin.h") && sources.contains_key("mm_malloc.h");
    is_beside || sources.contains_key(name) || FREESTANDING.contains(&name) || is_intrinsic
}

/// Joins continued lines and blanks comments; string literals stay. Returns a text without either unchanged.
fn without_comments(text: &str) -> Cow<'_, str> {
    let joined: Cow<'_, str> =
        if text.contains("\\\n") { text.replace("\\\n", "").into() } else { text.into() };
    if !joined.contains("/*") && !joined.contains("//") {
        return joined;
    }
    let mut out = String::with_capacity(joined.len());
    let mut rest = &*joined;
    while let Some(at) = memchr::memchr3(b'"', b'\'', b'/', rest.as_bytes()) {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let taken = if tail.starts_with("//") {
            tail.find('\n').unwrap_or(tail.len())
        } else if let Some(comment) = tail.strip_prefix("/*") {
            out.push(' ');
            comment.find("*/").map_or(tail.len(), |end| end + 4)
        } else {
            let taken = if tail.starts_with('/') { 1 } else { literal(tail) };
            out.push_str(&tail[..taken]);
            taken
        };
        rest = &tail[taken..];
    }
    out.push_str(rest);
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lean(text: &str) -> Result<bool, CompileError> {
        let own = [("a/b.h", "#include \"c.h\"\n"), ("a/c.h", "int c;\n")];
        let sources = own.into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
        check("unit.c", text, &sources).map(|more| more.is_none())
    }

    #[test]
    fn own_and_freestanding_headers_are_lean() {
        assert!(lean("#include <a/b.h>\n#include <stdint.h>\n # include \"a/c.h\"\nint x;\n").unwrap());
        assert!(lean("/* #include <math.h> */ // #include <math.h>\nchar *s = \"/*\"; // */\n").unwrap());
    }

    #[test]
    fn other_headers_are_not_lean() {
        for text in [
            "#include <math.h>\n",
            "%:include <math.h>\n",
            "#inc\\\nlude <math.h>\n",
            "#define H <stdint.h>\n#include H\n",
            "#include \"/etc/hosts\"\n",
            "#include \"../x.h\"\n",
            "char *s = \"/*\";\n#include <math.h>\n",
            "#include <immintrin.h>\n",
        ] {
            assert!(!lean(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn hosted_includes_are_ignored() {
        let inside = |head: &str| format!("#if {head}\n#include <math.h>\n#else\nint x;\n#endif\n");
        assert!(lean(&inside("__STDC_HOSTED__")).unwrap());
        assert!(!lean(&inside("!__STDC_HOSTED__")).unwrap());
        assert!(!lean("#if __STDC_HOSTED__\n#if 1\n#include <math.h>\n#endif\n#endif\n").unwrap());
        assert!(!lean("#if __STDC_HOSTED__\n#else\n#include <math.h>\n#endif\n").unwrap());
    }

    #[test]
    fn embed_is_rejected() {
        assert!(matches!(lean("#embed \"x\"\n"), Err(CompileError::Embed { .. })));
        assert!(lean("int f(struct s x) { return x.include; }\n").unwrap());
    }

    #[test]
    fn has_include_of_other_files_is_rejected() {
        for text in [
            "#if __has_include(<cblas.h>)\n#endif\n",
            "#if __has_include(\"/etc/hosts\")\n#endif\n",
            "#if 1 && __has_include ( \"../x.h\" )\n#endif\n",
            "#if __has_inc\\\nlude(<cblas.h>)\n#endif\n",
            "#define HAS __has_include\n#if HAS(<cblas.h>)\n#endif\n",
            "#define HAS(x) __has_include(x)\n",
            "#if __has_include_next(<cblas.h>)\n#endif\n",
            "#if __has_embed(<cblas.h>)\n#endif\n",
        ] {
            assert!(matches!(lean(text), Err(CompileError::HasInclude { .. })), "{text}");
        }
        for text in [
            "#ifdef __has_include\n#if __has_include(<stdint.h>) && __has_include(\"a/c.h\")\n#endif\n#endif\n",
            "#if defined(__has_include) || defined __has_include\n#endif\n",
            "#define PASTE(a, b) a##_##b\nint __x, _, __, include;\n",
        ] {
            assert!(lean(text).unwrap(), "{text}");
        }
        assert!(!lean("#define PASTE(a, b) a##b\n#if PASTE(__has_, include)(\"/x\")\n#endif\n").unwrap());
    }

    #[test]
    fn names_outside_the_directory_are_rejected() {
        let sources = [("../x.h".to_owned(), "".into())].into_iter().collect();
        assert!(matches!(check("unit.c", "", &sources), Err(CompileError::SourceName { .. })));
    }

    #[test]
    fn unclosed_comments_and_literals_end_with_the_text() {
        assert!(lean("int x; /* open").unwrap());
        assert!(lean("int x; /*/").unwrap());
        assert!(lean("char c = '\\").unwrap());
    }
}
