//! Events: damage that a reader skipped, non-reproducible builds, and what happened at remotes.
//!
//! None of these is an error for the caller, which sees a miss at most. They are passed to the observer of a store or a
//! bundle, so that a library never prints.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::key::{ActionKey, Digest};
#[cfg(feature = "signed")]
use crate::keyring::Cause;

/// An event that the operator of a program should know about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A file, or a part of a bundle, is damaged. It was not used.
    Damaged {
        /// The path, or the bundle and its part.
        place: String,
        /// The defect.
        reason: String,
        /// The path that it was moved to. `None` if the directory is not writable, or for a part of a bundle.
        quarantined: Option<PathBuf>,
    },
    /// A record or an entry was written by a newer precast, or has content that this version cannot read. It was skipped.
    Unreadable {
        /// The path, or the bundle and its part.
        place: String,
        /// The reason.
        reason: String,
    },
    /// One action gave two different results. Both are kept.
    NotReproducible {
        /// The action.
        action: ActionKey,
        /// The digests of the results, the newest last.
        digests: Vec<Digest>,
    },
    /// Signatures are required, and too few are valid. The artifact was not used.
    #[cfg(feature = "signed")]
    Unsigned {
        /// The path.
        place: String,
        /// The valid signatures, and why the remaining ones do not count.
        reason: String,
        /// The cause to remedy first.
        cause: Cause,
    },
    /// A remote store did not answer, or its answer was invalid. It is skipped for a while.
    Unreachable {
        /// The store: a URL without credentials.
        remote: String,
        /// The reason.
        reason: String,
        /// How long it is skipped, in seconds.
        seconds: u64,
    },
    /// An artifact was fetched from a remote store and saved locally.
    Fetched {
        /// The module's signature and the ISA level.
        what: String,
        /// The remote.
        remote: String,
        /// Size of its archive, in bytes.
        bytes: u64,
    },
    /// A remote name or tag refers to an earlier version again. Either the later version was withdrawn, or somebody replays
    /// old signatures.
    WentBack {
        /// The item that went back: an entry with its name, or the release.
        what: String,
        /// The remote: a URL without credentials.
        remote: String,
    },
    /// The target of a remote tag cannot be compared with its previous target, or is not remembered.
    NotCompared {
        /// The remote: a URL without credentials.
        remote: String,
        /// The reason.
        reason: String,
    },
    /// `verify` found a record with a missing pointer and restored the pointer.
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
                write!(f, "{} is damaged and was skipped: {reason}", quoted(place))?;
                // What was moved has its old name in a directory of its own, below this one.
                let directory = quarantined.as_ref().and_then(|path| path.ancestors().nth(2));
                directory.map_or(Ok(()), |path| write!(f, "; moved to `{}`", path.display()))
            }
            Self::Unreadable { place, reason } => write!(f, "{} was skipped: {reason}", quoted(place)),
            #[cfg(feature = "signed")]
            Self::Unsigned { place, reason, .. } => {
                write!(f, "{} was skipped: not {reason}", quoted(place))
            }
            Self::NotReproducible { action, digests } => {
                let digests: Vec<String> = digests.iter().map(Digest::short).collect();
                write!(
                    f,
                    "action `{}` is not reproducible: it produced `{}`",
                    action.short(),
                    digests.join("`, `")
                )
            }
            Self::Unreachable { remote, reason, seconds } => {
                let (reason, hints) = split_hints(reason);
                write!(f, "cannot use remote `{remote}`, next attempt in {seconds} s: {reason}")?;
                hints.iter().try_for_each(|hint| write!(f, "\nhint: {hint}"))
            }
            Self::Fetched { what, remote, bytes } => {
                write!(f, "fetched {what} from `{remote}` ({bytes} bytes)")
            }
            Self::WentBack { what, remote } => {
                write!(
                    f,
                    "{what} of `{remote}` went back to an earlier version, signed before the last one\nhint: ask the \
                     signers whether they withdrew the last version"
                )
            }
            Self::NotCompared { remote, reason } => {
                write!(f, "cannot compare `{remote}` with its previous target: {reason}")
            }
            Self::PointerRestored { place } => {
                write!(f, "restored missing {}", quoted(place))
            }
        }
    }
}

impl Event {
    /// Returns whether [`lines`] folds this event with similar events of other places.
    #[must_use]
    pub fn folds(&self) -> bool {
        self.parts().is_some()
    }

    /// Returns whether the event only reports a repair. A restored pointer was missing because of a crash, and nothing is
    /// lost.
    #[must_use]
    pub const fn is_repair(&self) -> bool {
        matches!(self, Self::PointerRestored { .. })
    }

    /// Returns kind, place and reason of an event that can be folded.
    fn parts(&self) -> Option<(u8, &str, &str)> {
        match self {
            Self::Unreadable { place, reason } => Some((0, place, reason)),
            #[cfg(feature = "signed")]
            Self::Unsigned { place, reason, .. } => Some((1, place, reason)),
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

/// Renders events for people, in order and without duplicates. Events that differ only in their places become one line,
/// which names the first place.
///
/// # Examples
/// ```
/// use precast_core::event::{Event, lines};
/// let newer = |place: &str| Event::Unreadable { place: place.to_owned(), reason: "written by a newer precast".to_owned() };
/// let told = lines(&[newer("a"), newer("b"), newer("a"), newer("c")]);
/// assert_eq!(told, ["`a` was skipped: written by a newer precast (and 2 more like this)"]);
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
    let line = |(event, places): (&Event, BTreeSet<&str>)| match places.len() {
        0 | 1 => event.to_string(),
        count => format!("{event} (and {} more like this)", count - 1),
    };
    told.into_iter().map(line).collect()
}

/// A callback for events, or none.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Listener>>);

type Listener = dyn Fn(&Event) + Send + Sync;

impl Observer {
    /// Creates an observer that calls `observer` for each event.
    pub fn new(observer: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    /// Passes an event to the callback, if one is set.
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

/// Renders an error with all its sources: `a: b: c`. After an error that spans several lines, each source is on its own
/// line. All hints follow at the end, without duplicates.
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

/// Implements `Debug` for errors as their [`chain`]. A program prints it if its `main` returns the error or unwraps it.
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

/// Adds the hints that are not in the list yet.
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

/// Joins messages into one, with `gap` between them. Their hints come last, without duplicates. Empty messages are skipped.
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

/// Splits the hints off a message: the lines that begin with `hint:`. The messages of all errors use this form.
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
    fn bundle_parts_are_quoted_once() {
        let unreadable =
            |place: &str| Event::Unreadable { place: place.to_owned(), reason: "old".to_owned() };
        assert_eq!(unreadable("records/x").to_string(), "`records/x` was skipped: old");
        let part = "bundle `n.precast`, record `e98f`";
        assert_eq!(unreadable(part).to_string(), "bundle `n.precast`, record `e98f` was skipped: old");
    }
}
