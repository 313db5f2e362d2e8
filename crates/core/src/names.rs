//! The rule for the names of inputs, outputs and variables, and the escaping of untrusted text.
//!
//! Names come from untrusted sources: a graph in JSON, a record, a bundle. They are written to Rust and C source, web
//! pages, terminals and file names. [`check_name`] admits only names that are harmless in all of them, wherever a graph or
//! a program is created. Writers escape names nevertheless, each for its own language, with [`visible`] for invisible
//! characters.

use std::borrow::Cow;

/// Maximum length of a name, in bytes.
pub const NAME_LIMIT_BYTES: usize = 255;

/// The error for text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid name `{name}`: expected 1 to {NAME_LIMIT_BYTES} bytes of letters, digits, `_`, `-` and `.`, beginning \
     with a letter, a digit or `_`"
)]
pub struct NameError {
    /// The beginning of the text, with hidden characters escaped.
    pub name: String,
}

/// Checks the name of an input, an output or a variable. A name is 1 to 255 bytes of letters and digits of any script, `_`,
/// `-` and `.`. The first character is a letter, a digit or `_`.
///
/// # Errors
/// The text is not such a name.
///
/// # Examples
/// ```
/// use precast_core::names::check_name;
///
/// assert!(["x", "größe", "layer.0.weight", "fn"].into_iter().all(|name| check_name(name).is_ok()));
/// assert!(["", "a b", "../x", "x\n", "*/", "\u{202e}x"].into_iter().all(|name| check_name(name).is_err()));
/// ```
pub fn check_name(name: &str) -> Result<(), NameError> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_short = name.len() <= NAME_LIMIT_BYTES;
    if is_short && name.starts_with(is_word) && name.chars().all(|c| is_word(c) || matches!(c, '-' | '.')) {
        return Ok(());
    }
    Err(NameError { name: excerpt(name) })
}

/// Returns the beginning of a text, at most 40 characters, with hidden characters escaped.
#[must_use]
pub fn excerpt(text: &str) -> String {
    let mut characters = text.chars();
    let shown: String = characters.by_ref().take(40).collect();
    let end = if characters.next().is_some() { "…" } else { "" };
    one_line(&shown).into_owned() + end
}

/// Returns whether a terminal or an editor would interpret a character instead of showing it. Such characters are controls,
/// line and paragraph separators, direction marks, joiners and tags.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let is_mark = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    is_mark || c.is_control()
}

/// Escapes hidden characters except line breaks and tabs: `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    spell_out(text, |c| is_hidden(c) && c != '\n' && c != '\t')
}

/// Escapes every hidden character, so that the text stays on one line.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    spell_out(text, is_hidden)
}

fn spell_out(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' if is_spelled(c) => out.push_str("\\n"),
            c if is_spelled(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{NAME_LIMIT_BYTES, check_name, excerpt, one_line, visible};

    #[test]
    fn words_and_keywords_are_valid_names() {
        let long = "x".repeat(NAME_LIMIT_BYTES);
        for name in ["x", "_", "ä", "数据", "x1", "1", "a.b-c", "lambda", "fn", "NULL", "__MODEL", &long] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn hostile_names_are_invalid() {
        let (long, huge) = ("x".repeat(NAME_LIMIT_BYTES + 1), "x".repeat(1 << 20));
        for name in [
            "",
            " ",
            "a b",
            "a\nb",
            "\0",
            "\x1b[2J",
            "\"",
            "'",
            "*/",
            "</script>",
            "\u{202e}",
            "a\u{200b}b",
            "../x",
            "/x",
            ".x",
            "-x",
            "a\\b",
            "`",
            "x\r",
            "a:b",
            "@SVG@",
            &long,
            &huge,
        ] {
            let error = check_name(name).unwrap_err();
            assert!(
                error.to_string().len() < 700
                    && !error.to_string().contains(['\n', '\0', '\x1b', '\u{202e}'])
            );
        }
    }

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(visible("ä\n\t🦀"), "ä\n\t🦀");
        assert_eq!(visible("\x1b]0;\u{202e}\r"), "\\u{1b}]0;\\u{202e}\\u{d}");
        assert_eq!(one_line("a\nb"), "a\\nb");
        assert_eq!(excerpt(&"\0".repeat(50)), "\\u{0}".repeat(40) + "…");
    }
}
