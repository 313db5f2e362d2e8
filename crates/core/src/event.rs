//! What a reader found and got over: damage, and builds that did not come out the same twice.
//!
//! None of these is an error for the caller, who sees a miss at most. They are values, handed to the observer that a
//! store or a bundle was given, so that a library never prints.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::key::{ActionKey, Digest};

/// Something that a program's operator should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A file, or a part of a bundle, is damaged. It was not served.
    Damaged {
        /// The path, or the bundle and its part.
        place: String,
        /// What is wrong with it.
        reason: String,
        /// Where it was moved to; none when the place cannot be written, or is part of a bundle.
        quarantined: Option<PathBuf>,
    },
    /// A record or an entry was written by a newer precast, or holds what this one cannot read. It was skipped.
    Unreadable {
        /// The path, or the bundle and its part.
        place: String,
        /// Why.
        reason: String,
    },
    /// One action gave two results. Both are kept.
    NotReproducible {
        /// The action.
        action: ActionKey,
        /// The results, the newest last.
        digests: Vec<Digest>,
    },
    /// Somebody asks for signatures, and too few are there. It was not served.
    Unsigned {
        /// The path.
        place: String,
        /// Whose are there, and why others do not count.
        reason: String,
    },
    /// A store elsewhere does not answer, or not as a store does. It is left alone for a while.
    Unreachable {
        /// The store: a URL without credentials.
        remote: String,
        /// Why.
        reason: String,
        /// How long it is left alone, in seconds.
        seconds: u64,
    },
    /// An artifact came from a store elsewhere, and is kept here.
    Fetched {
        /// The module's signature and the ISA level.
        what: String,
        /// Where from.
        remote: String,
        /// Length of its archive, in bytes.
        bytes: u64,
    },
    /// A name, or a tag, means elsewhere what it meant before it meant something else: that was taken back, or somebody plays back
    /// what was signed once.
    WentBack {
        /// What is an earlier one: an entry, with its name, or the release.
        what: String,
        /// The place: a URL without credentials.
        remote: String,
    },
    /// What a tag means elsewhere cannot be compared with what it meant before, or is not remembered.
    NotCompared {
        /// The place: a URL without credentials.
        remote: String,
        /// Why not.
        reason: String,
    },
    /// `verify` found a record without one of its pointers and put it back.
    PointerRestored {
        /// The pointer.
        place: String,
    },
}

/// Puts a place into back-ticks, unless parts of it are: "bundle `m.precast`, record `91ac…`".
fn quoted(place: &str) -> Cow<'_, str> {
    if place.contains('`') { place.into() } else { format!("`{place}`").into() }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { place, reason, quarantined } => {
                write!(f, "{} is damaged and was not used: {reason}", quoted(place))?;
                // What was moved has its old name in a directory of its own, below this one.
                let directory = quarantined.as_ref().and_then(|path| path.ancestors().nth(2));
                directory.map_or(Ok(()), |path| write!(f, "; moved to `{}`", path.display()))
            }
            Self::Unreadable { place, reason } => write!(f, "{} was skipped: {reason}", quoted(place)),
            Self::Unsigned { place, reason } => {
                write!(f, "{} was not used: it is not {reason}", quoted(place))
            }
            Self::NotReproducible { action, digests } => {
                let digests: Vec<String> = digests.iter().map(Digest::short).collect();
                write!(f, "action `{}` gave different results: `{}`", action.short(), digests.join("`, `"))
            }
            Self::Unreachable { remote, reason, seconds } => {
                let (reason, hints) = split_hints(reason);
                write!(f, "remote `{remote}` is left alone for {seconds} s: {reason}")?;
                hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
            }
            Self::Fetched { what, remote, bytes } => write!(f, "{what} came from `{remote}`, {bytes} bytes"),
            Self::WentBack { what, remote } => {
                write!(
                    f,
                    "{what} of `{remote}` is again an earlier one, which was signed before the last\nhint: ask those who sign whether they took the last one back"
                )
            }
            Self::NotCompared { remote, reason } => {
                write!(f, "`{remote}` is not compared with what it meant before: {reason}")
            }
            Self::PointerRestored { place } => {
                write!(f, "{} was missing and has been restored", quoted(place))
            }
        }
    }
}

impl Event {
    /// Whether the same may be said of many places: [`lines`] folds those.
    #[must_use]
    pub fn folds(&self) -> bool {
        self.parts().is_some()
    }

    /// Whether it tells of a repair alone: a pointer that was put back is what a crash left out, and nothing is lost.
    #[must_use]
    pub const fn is_repair(&self) -> bool {
        matches!(self, Self::PointerRestored { .. })
    }

    /// Of what can be folded: the kind, the place, the reason.
    fn parts(&self) -> Option<(u8, &str, &str)> {
        match self {
            Self::Unreadable { place, reason } => Some((0, place, reason)),
            Self::Unsigned { place, reason } => Some((1, place, reason)),
            Self::PointerRestored { place } => Some((2, place, "")),
            Self::Damaged { .. }
            | Self::NotReproducible { .. }
            | Self::Unreachable { .. }
            | Self::WentBack { .. }
            | Self::NotCompared { .. }
            | Self::Fetched { .. } => None,
        }
    }
}

/// Renders events for people, each once, in their order: what is said alike of many places is a line with the first of them.
///
/// # Examples
/// ```
/// use precast_core::event::{Event, lines};
/// let unsigned = |place: &str| Event::Unsigned { place: place.to_owned(), reason: "signed by 1 key".to_owned() };
/// let told = lines(&[unsigned("a"), unsigned("b"), unsigned("a"), unsigned("c")]);
/// assert_eq!(told, ["`a` was not used: it is not signed by 1 key; nor were 2 others"]);
/// ```
pub fn lines<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<String> {
    let mut told: Vec<(&Event, BTreeSet<&str>)> = Vec::new();
    for event in events {
        let alike = |known: &Event| match (known.parts(), event.parts()) {
            (Some((kind, _, why)), Some((other, _, reason))) => (kind, why) == (other, reason),
            _ => known == event,
        };
        let place = event.parts().map(|(_, place, _)| place);
        match told.iter_mut().find(|(known, _)| alike(known)) {
            Some((_, places)) => places.extend(place),
            None => told.push((event, place.into_iter().collect())),
        }
    }
    let line = |(event, places): (&Event, BTreeSet<&str>)| match (places.len(), event) {
        (0 | 1, _) => event.to_string(),
        (count, Event::PointerRestored { .. }) => format!("{event}; so have {} others", count - 1),
        (count, Event::Unsigned { .. }) => format!("{event}; nor were {} others", count - 1),
        (count, _) => format!("{event}; so were {} others", count - 1),
    };
    told.into_iter().map(line).collect()
}

/// Who is told of events.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Listener>>);

type Listener = dyn Fn(&Event) + Send + Sync;

impl Observer {
    /// Tells this observer.
    pub fn new(observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Hands an event over, if there is somebody.
    pub fn tell(&self, event: &Event) {
        if let Some(observer) = &self.0 {
            observer(event);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer(set)" } else { "Observer(none)" })
    }
}

/// Renders an error with all its sources: `a: b: c`, or each on a line of its own after one that shows a piece of text. What
/// they advise stands at the end, each remedy once.
///
/// # Examples
/// ```
/// use precast_core::event::chain;
/// let error = std::io::Error::other("no space left\nhint: free some");
/// assert_eq!(chain(&error), "no space left\nhint: free some");
/// ```
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let (mut text, mut hints) = split_hints(&error.to_string());
    for source in std::iter::successors(error.source(), |source| source.source()) {
        let gap = if text.contains('\n') { "\ncaused by: " } else { ": " };
        let (said, found) = split_hints(&source.to_string());
        text = format!("{text}{gap}{said}");
        add_hints(&mut hints, found);
    }
    with_hints(text, &hints)
}

/// Implements `Debug` for errors as their [`chain`]: what a program prints whose `main` returns one, or that unwraps one.
#[macro_export]
macro_rules! debug_as_chain {
    ($($error:ty),+ $(,)?) => {$(
        impl ::std::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&$crate::event::chain(self))
            }
        }
    )+};
}

/// Adds those that are not there yet.
fn add_hints(hints: &mut Vec<String>, found: Vec<String>) {
    for hint in found {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
}

fn with_hints(text: String, hints: &[String]) -> String {
    hints.iter().fold(text, |text, hint| format!("{text}\nhint: {hint}"))
}

/// Several messages as one, with `gap` between them: their hints stand last, each once. Empty ones are left out.
///
/// ```
/// let said = ["the first is damaged\nhint: build it again", "the second is damaged\nhint: build it again"];
/// let one = "the first is damaged; the second is damaged\nhint: build it again";
/// assert_eq!(precast_core::event::join(&said, "; "), one);
/// ```
#[must_use]
pub fn join(messages: &[impl AsRef<str>], gap: &str) -> String {
    let (mut texts, mut hints) = (Vec::new(), Vec::new());
    for message in messages {
        let (text, found) = split_hints(message.as_ref());
        texts.extend(Some(text).filter(|text| !text.is_empty()));
        add_hints(&mut hints, found);
    }
    with_hints(texts.join(gap), &hints)
}

/// Takes the remedies out of a message: the lines that begin with `hint:`. This is the one form that they have, in the
/// messages of all errors.
#[must_use]
pub fn split_hints(message: &str) -> (String, Vec<String>) {
    let (mut text, mut hints) = (Vec::new(), Vec::new());
    for line in message.lines() {
        match line.trim_start().strip_prefix("hint: ") {
            Some(hint) => hints.push(hint.to_owned()),
            None => text.push(line),
        }
    }
    (text.join("\n"), hints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_bundle_is_quoted_once() {
        let unreadable =
            |place: &str| Event::Unreadable { place: place.to_owned(), reason: "old".to_owned() };
        assert_eq!(unreadable("records/x").to_string(), "`records/x` was skipped: old");
        let part = "bundle `n.precast`, record `e98f`";
        assert_eq!(unreadable(part).to_string(), "bundle `n.precast`, record `e98f` was skipped: old");
    }
}
