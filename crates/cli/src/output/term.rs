//! The terminal: the only module of the workspace's libraries and tools that prints for users.
//!
//! Anstream decides whether to use colours (a terminal, `NO_COLOR`, `CLICOLOR_FORCE`, `TERM`). A closed reader, as in
//! `precast ls | head`, ends the output and is not an error. Everything is printed without secrets.
#![allow(clippy::print_stderr, reason = "this is where messages are printed")]

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style, Styles};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use precast_core::names::is_hidden;

use crate::error::{Failure, Rendered};
use crate::secrets::hide;

/// The style of headings of tables and of `--help`.
pub(crate) const HEADING: Style = AnsiColor::Green.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// The colours of `--help`.
pub(crate) const STYLES: Styles = Styles::styled()
    .header(HEADING)
    .usage(HEADING)
    .literal(HINT)
    .placeholder(AnsiColor::Cyan.on_default())
    .error(ERROR)
    .valid(HINT)
    .invalid(WARNING);

/// Prints text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_as_it_is(&shown(&hide(text)))
}

fn print_as_it_is(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new("cannot write to the standard output").because(error))
        }
        _ => Ok(()),
    }
}

/// Prints a value as indented JSON to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new("cannot render the result as JSON").because(error))?;
    text.push('\n');
    // Indented, each string is on a line of its own, so the text stays valid JSON.
    print_as_it_is(&hide(&text))
}

/// Escapes characters that a terminal would act upon or not show, because names and words come from untrusted files.
/// Colours stay.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let colour = rest
            .strip_prefix("\x1b[")
            .map(|tail| tail.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        if let Some(behind) = colour.and_then(|tail| tail.strip_prefix('m')) {
            out.push_str(&rest[..rest.len() - behind.len()]);
            rest = behind;
        } else if let Some(acting) = rest.chars().next() {
            out.extend(acting.escape_unicode());
            rest = &rest[acting.len_utf8()..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns whether a character is hidden, other than line breaks and tabs.
fn acts(c: char) -> bool {
    is_hidden(c) && c != '\n' && c != '\t'
}

/// Prints a message of clap: help, version, or an error in the command line.
pub(crate) fn usage(message: &clap::Error) -> u8 {
    let text = message.render();
    // clap quotes arguments, which may contain secrets. Without them, its styles are kept.
    if message.use_stderr() && hide(&text.to_string()) != text.to_string() {
        to_stderr(&text.to_string());
    } else {
        // A failure to print this cannot be reported.
        let _ = message.print();
    }
    u8::try_from(message.exit_code()).unwrap_or(1)
}

/// Prints an error, its causes and its hints.
pub(crate) fn error(error: &Rendered) {
    let mut text = format!("{ERROR}error:{ERROR:#} {}\n", error.message.replace('\n', "\n    "));
    for cause in &error.causes {
        text.push_str(&format!("  caused by: {}\n", cause.replace('\n', "\n    ")));
    }
    for hint in &error.hints {
        text.push_str(&format!("  {HINT}hint:{HINT:#} {hint}\n"));
    }
    to_stderr(&text);
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    to_stderr(&format!("{WARNING}warning:{WARNING:#} {text}\n"));
}

/// Prints a line about the progress of the command.
pub(crate) fn note(text: &str) {
    to_stderr(&format!("{text}\n"));
}

fn to_stderr(text: &str) {
    // A failure to print this cannot be reported.
    let _ = anstream::stderr().lock().write_all(shown(&hide(text)).as_bytes());
}

/// Creates a progress bar of `len` steps, which shows only on a terminal.
pub(crate) fn progress(len: u64) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30.green} {pos}/{len} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(len).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn control_characters_are_escaped_and_colors_kept() {
        let coloured = "\x1b[1m\x1b[31merror:\x1b[0m a\tb\n";
        assert_eq!(shown(coloured), coloured);
        for (text, expected) in [
            ("a\rb", "a\\u{d}b"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("\x1b[2Jx\x1b[", "\\u{1b}[2Jx\\u{1b}["),
            ("\u{202e}f64\u{2066}", "\\u{202e}f64\\u{2066}"),
            ("ä, 数, 🦀", "ä, 数, 🦀"),
        ] {
            assert_eq!(shown(text), expected);
        }
    }
}
