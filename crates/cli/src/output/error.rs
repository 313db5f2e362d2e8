//! Errors as users see them: the failed operation, its causes, hints, and an exit code.
//!
//! ```text
//! error: cannot load a module for `add(f32[?], f32[?]) -> f32[?]`
//!   caused by: archive `91ac…` needs `avx512f`, which this CPU lacks
//!   hint: `precast ls --signature 'add(*)'` shows the variants in the store
//! ```
//!
//! Every typed error of the libraries turns into a [`Failure`] by `?`. A line of a message that begins with `hint:`
//! is a hint and moves to the end.

use std::error::Error;
use std::sync::LazyLock;

use precast_build::DeclareError;
use precast_core::event::split_hints;
use precast_core::trust::{KEYRING, SIGN};
use precast_store::FindError;

/// The exit code of the process. README.md documents the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Ok,
    /// The command failed.
    Error,
    /// The command line is invalid.
    Usage,
    /// A cache miss, and the policy forbids compiling.
    Miss,
    /// `verify` found damage.
    Damaged,
    /// An op violates its contract.
    Violation,
    /// One action gave different bytes.
    Different,
    /// A required signature is missing or not trusted.
    Unsigned,
    /// The exit code of a program that the command ran.
    Program(u8),
}

impl Exit {
    /// Returns the more severe of two findings about layers. From severe to mild: different bytes, damage, unreadable
    /// files, missing signatures.
    pub(crate) fn graver(self, other: Self) -> Self {
        const GRAVITY: [Exit; 5] = [Exit::Ok, Exit::Unsigned, Exit::Error, Exit::Damaged, Exit::Different];
        let gravity = |exit: Self| GRAVITY.iter().position(|known| *known == exit);
        if gravity(other) > gravity(self) { other } else { self }
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Ok => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Miss => 3,
            Exit::Damaged => 4,
            Exit::Violation => 5,
            Exit::Different => 6,
            Exit::Unsigned => 7,
            Exit::Program(code) => code,
        }
    }
}

type Cause = Box<dyn Error + Send + Sync>;

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: Option<String>,
    cause: Option<Cause>,
    hints: Vec<String>,
}

/// A failure as text, without colours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) message: String,
    pub(crate) causes: Vec<String>,
    pub(crate) hints: Vec<String>,
}

impl Failure {
    /// Creates a failure from a message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Error, message: Some(message.into()), cause: None, hints: Vec::new() }
    }

    /// Creates a failure for an invalid command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).exiting(Exit::Usage)
    }

    /// Adds a cause.
    pub(crate) fn because(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds a message about the enclosing operation on top.
    pub(crate) fn within(self, message: impl Into<String>) -> Self {
        let Self { exit, message: inner, cause, hints } = self;
        let cause: Option<Cause> = match inner {
            None => cause,
            Some(inner) => Some(Box::new(Step { message: inner, cause })),
        };
        Self { exit, message: Some(message.into()), cause, hints }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the exit code.
    pub(crate) fn exiting(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Marks the failure as a missing signature: the artifact exists but is not signed, so the hints of a miss do not
    /// apply.
    pub(crate) fn unsigned(self) -> Self {
        Self { exit: Exit::Unsigned, hints: Vec::new(), ..self }
    }

    /// Returns the exit code.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Renders the failure: the message, its causes and its hints, each once.
    pub(crate) fn render(&self) -> Rendered {
        let (message, hints) = self.message.as_deref().map(split_hints).unzip();
        let mut levels: Vec<String> = message.into_iter().collect();
        let mut hints: Vec<String> = hints.unwrap_or_default();
        let mut next: Option<&(dyn Error + 'static)> =
            self.cause.as_deref().map(|cause| cause as &(dyn Error + 'static));
        while let Some(error) = next {
            let texts = texts(error);
            let several = texts.len() > 1;
            for text in texts {
                // If there are several mistakes, each keeps its own hint after it.
                let (text, mut found) = if several { (text, Vec::new()) } else { split_hints(&text) };
                hints.append(&mut found);
                // A transparent error has the text of its source, and some errors repeat the text of their source.
                if levels.last().is_none_or(|last| !last.ends_with(&text)) {
                    levels.push(text);
                }
            }
            next = error.source();
        }
        if levels.iter().chain(&hints).any(|text| text.contains("Too many open files")) {
            hints.push(DESCRIPTORS_HINT.to_owned());
        }
        let mut levels = levels.into_iter();
        let message = levels.next().unwrap_or_else(|| "unknown error".to_owned());
        hints.extend(self.hints.iter().cloned());
        let mut unique: Vec<String> = Vec::new();
        for hint in hints {
            let hint = if *HAS_KEY { hint.replace(SIGN, "") } else { hint };
            if !unique.contains(&hint) {
                unique.push(hint);
            }
        }
        Rendered { message, causes: levels.collect(), hints: unique }
    }
}

/// Whether the command line or the environment names a keyring or a key. Then a hint to sign and to name a keyring would
/// lead back to this command.
static HAS_KEY: LazyLock<bool> = LazyLock::new(|| {
    let is_key = |word: &str| ["--keyring", "--key", "--signer"].contains(&word);
    let mut words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
    words.any(|word| is_key(word.split_once('=').map_or(&*word, |(option, _)| option)))
        || std::env::var_os(KEYRING).is_some_and(|value| !value.is_empty())
});

/// A message between two other messages of a chain.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Step {
    message: String,
    #[source]
    cause: Option<Cause>,
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self { exit: exit_of(&error), message: None, cause: Some(Box::new(error)), hints: Vec::new() }
    }
}

/// Returns the exit code of an error: a damaged file that decides which release is served fails each command.
fn exit_of(error: &(dyn Error + 'static)) -> Exit {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.downcast_ref::<FindError>().is_some_and(FindError::is_damage) {
            return Exit::Damaged;
        }
        next = error.source();
    }
    Exit::Error
}

/// Returns the text of an error; for several mistakes at once, one text each.
fn texts(error: &(dyn Error + 'static)) -> Vec<String> {
    match error.downcast_ref::<DeclareError>() {
        Some(error) => error.problems.iter().map(ToString::to_string).collect(),
        None => vec![error.to_string()],
    }
}

/// The hint for a system's refusal to open more files, which may occur anywhere in the message of a tool or library.
const DESCRIPTORS_HINT: &str = "raise the limit of open files with `ulimit -n`, or use fewer jobs with `-j`";

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot publish\nhint: name another store")]
    struct Outer(#[source] std::io::Error);

    #[test]
    fn hints_follow_causes_in_order() {
        let failure = Failure::from(Outer(std::io::Error::other("disk is full"))).hint("free some");
        assert_eq!(
            failure.render(),
            Rendered {
                message: "cannot publish".into(),
                causes: vec!["disk is full".into()],
                hints: vec!["name another store".into(), "free some".into()],
            }
        );
    }

    #[test]
    fn hint_follows_its_mistake() {
        let manifest = "[[op]]\nname = 1\n[op]\n";
        let two = "isa = 3\n[[graph]]\nname = \"f\"\ninputs = 1\noutputs = [\"1\"]\n[[op]]\nname = 3\ndtypes = []\nndim = []\n";
        for (text, behind) in [(manifest, 0), (two, 2)] {
            let mut declared = precast_build::Declared::default();
            let read = precast_build::Manifest::parse(std::path::Path::new("precast.toml"), text.to_owned());
            let Err(error) = read.and_then(|manifest| manifest.declare(&mut declared)) else {
                panic!("a mistake")
            };
            let rendered = Failure::from(error).render();
            let inline = std::iter::once(&rendered.message)
                .chain(&rendered.causes)
                .filter(|text| text.contains("\nhint: "));
            assert_eq!(inline.count(), behind, "{rendered:?}");
        }
    }

    #[test]
    fn repeated_cause_is_printed_once() {
        let failure = Failure::new("cannot read `x`: gone").because(std::io::Error::other("gone"));
        assert_eq!(failure.render().causes, Vec::<String>::new());
    }
}
