//! The history of a tag. Signatures identify the signer of a release, but do not show which release is the latest.
//! Without a history, a registry could return an older signed release.
//!
//! ```text
//! <cache>/meant     bundle <content id>              a line for each signed release that the tag was seen to refer to,
//!                   export <content id> model=7      in order of arrival; with the number of an export, if it has one
//! ```
//! The content is the signed part: a bundle's bytes or an export's statement. A registry may wrap it in a different
//! manifest.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use precast_core::event::Event;
use precast_store::Release;
use precast_store::key::ContentId;

use super::{Kind, layer};
use crate::url::RemoteUrl;
use crate::{OpenRemoteError, Options, cache};

/// The number of releases that are remembered, in addition to the latest of each name.
const REMEMBERED: usize = 1000;

/// A signed release, identified by its signed content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    kind: Kind,
    content: ContentId,
    /// The number of an export, if it has one.
    release: Option<Release>,
}

impl Signed {
    /// Creates the entry of a bundle from its bytes.
    #[must_use]
    pub fn bundle(bytes: &[u8]) -> Self {
        Self { kind: Kind::Bundle, content: ContentId::of(bytes), release: None }
    }

    /// Creates the entry of an export from its statement and its number.
    #[must_use]
    pub fn export(statement: &[u8], release: Option<Release>) -> Self {
        Self { kind: Kind::Export, content: ContentId::of(statement), release }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let kind = match words.next()? {
            "bundle" => Kind::Bundle,
            "export" => Kind::Export,
            _ => return None,
        };
        Some(Self {
            kind,
            content: words.next()?.parse().ok()?,
            release: words.next().and_then(|release| release.parse().ok()),
        })
    }

    fn is(&self, other: &Self) -> bool {
        (self.kind, self.content) == (other.kind, other.content)
    }

    /// Returns whether `other` after this release is a step forward in order of arrival. Numbers take precedence: a
    /// number of this release can contradict that order.
    fn is_before(&self, other: &Self) -> bool {
        match (&self.release, &other.release) {
            (Some(own), Some(other)) => own.name != other.name,
            (Some(_), None) => false,
            (None, _) => self.kind == other.kind,
        }
    }

    /// Returns whether this release is older by number alone. An export without a number is older than one with a
    /// number.
    fn is_below(&self, other: &Self) -> bool {
        match (&self.release, &other.release) {
            (Some(own), Some(other)) => own.name == other.name && own.number < other.number,
            (None, Some(_)) => self.kind == other.kind,
            (_, None) => false,
        }
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == Kind::Bundle { "bundle" } else { "export" };
        write!(formatter, "{kind} {}", self.content)?;
        self.release.as_ref().map_or(Ok(()), |release| write!(formatter, " {release}"))
    }
}

/// A release, compared with the earlier releases of its tag.
#[derive(Debug)]
pub struct Compared {
    place: String,
    signed: Signed,
    /// The history; `None` if the place is a digest or the history cannot be read.
    tag: Option<Tag>,
    required: bool,
}

impl Compared {
    pub(crate) fn new(place: &RemoteUrl, signed: Signed, options: &Options) -> Result<Self, OpenRemoteError> {
        let asked = std::env::var_os("PRECAST_REMOTE_HISTORY").is_some_and(|value| value == "required");
        let required = options.require_history || asked;
        let mut compared = Self { place: place.to_string(), signed, tag: None, required };
        if place.is_by_digest() {
            return Ok(compared);
        }
        match cache::of(place, options).and_then(|cache| Tag::read(&cache)) {
            Ok(tag) => compared.tag = Some(tag),
            Err(error) => compared.forgets(options, &error.to_string())?,
        }
        Ok(compared)
    }

    /// Returns whether the release is older than the last one.
    #[must_use]
    pub fn went_back(&self) -> bool {
        self.tag.as_ref().is_some_and(|tag| tag.went_back(&self.signed))
    }

    /// Adds the release to the history.
    ///
    /// # Errors
    ///
    /// Fails if the file system refuses.
    pub fn note(&self) -> io::Result<()> {
        self.tag.as_ref().map_or(Ok(()), |tag| tag.note(&self.signed))
    }

    /// Reports that the history of the tag is not available; fails if it is required.
    ///
    /// # Errors
    ///
    /// Fails if a history is required.
    pub fn forgets(&self, options: &Options, why: &str) -> Result<(), OpenRemoteError> {
        let (place, why) = (self.place.clone(), crate::shortened(why));
        if self.required {
            return Err(OpenRemoteError::NoHistory { place, why });
        }
        options.observer.tell(&Event::NotCompared { remote: place, reason: why });
        Ok(())
    }

    pub(super) fn tell_back(&self, options: &Options) {
        let (what, remote) = ("the release".to_owned(), self.place.clone());
        options.observer.tell(&Event::WentBack { what, remote });
    }
}

/// The releases that a tag referred to.
#[derive(Debug)]
pub(super) struct Tag {
    cache: PathBuf,
    meant: Vec<Signed>,
}

impl Tag {
    /// Reads the history from a directory.
    fn read(cache: &Path) -> io::Result<Self> {
        let bytes = match fs_err::read(cache.join("meant")) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let meant = String::from_utf8_lossy(&bytes).lines().filter_map(Signed::parse).collect();
        Ok(Self { cache: cache.to_owned(), meant })
    }

    /// Returns whether a release is older than the last one: its number is lower, or the tag has since moved on from
    /// it.
    fn went_back(&self, signed: &Signed) -> bool {
        let mut after = self.meant.iter().skip_while(|known| !known.is(signed)).skip(1);
        self.meant.iter().any(|known| signed.is_below(known)) || after.any(|known| signed.is_before(known))
    }

    /// Adds a release to the history. A known release keeps its position.
    fn note(&self, signed: &Signed) -> io::Result<()> {
        if self.meant.iter().any(|known| known.is(signed)) {
            return Ok(());
        }
        cache::make(&self.cache)?;
        // Another process may change the history concurrently.
        let directory = fs_err::File::open(&self.cache)?;
        directory.file().lock()?;
        let mut meant = Self::read(&self.cache)?.meant;
        if meant.iter().all(|known| !known.is(signed)) {
            meant.push(signed.clone());
        }
        let mut latest = BTreeMap::new();
        for release in meant.iter().filter_map(|known| known.release.as_ref()) {
            let number = latest.entry(release.name.clone()).or_insert(release.number);
            *number = release.number.max(*number);
        }
        let mut skipped = meant.len().saturating_sub(REMEMBERED);
        meant.retain(|known| {
            let is_latest = |release: &Release| latest.get(&release.name) == Some(&release.number);
            let is_skipped = skipped > 0 && !known.release.as_ref().is_some_and(is_latest);
            skipped -= usize::from(is_skipped);
            !is_skipped
        });
        let text: String = meant.iter().map(|known| format!("{known}\n")).collect();
        layer::write(&self.cache.join("meant"), text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Meant(tempfile::TempDir);

    impl Meant {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn tag(&self) -> Tag {
            Tag::read(&self.0.path().join("new")).unwrap()
        }

        fn note(&self, all: &[&Signed]) {
            all.iter().for_each(|signed| self.tag().note(signed).unwrap());
        }

        fn goes(&self, signed: &Signed) -> bool {
            self.tag().went_back(signed)
        }
    }

    fn bundle(bytes: &str) -> Signed {
        Signed::bundle(bytes.as_bytes())
    }

    fn export(release: &str) -> Signed {
        Signed::export(release.as_bytes(), release.parse().ok())
    }

    #[test]
    fn earlier_bundle_of_a_tag_is_detected() {
        let (meant, a, b) = (Meant::new(), bundle("a"), bundle("b"));
        for next in [&a, &b] {
            assert!(!meant.goes(next));
            meant.note(&[next]);
        }
        // Accepting the earlier release does not remove the later one from the history.
        meant.note(&[&a]);
        assert!(meant.goes(&a) && !meant.goes(&b) && !meant.goes(&bundle("c")));
        // Only exports have numbers, so a bundle is not older for lacking one.
        meant.note(&[&export("model=7")]);
        assert!(!meant.goes(&b) && !meant.goes(&bundle("c")));
    }

    #[test]
    fn export_number_decides_its_order() {
        let (meant, without) = (Meant::new(), Signed::export(b"none", None));
        meant.note(&[&export("model=7"), &export("model=8"), &export("model=5"), &without]);
        for (release, goes) in
            [("model=8", false), ("model=9", false), ("model=7", true), ("model=5", true), ("other=1", false)]
        {
            assert_eq!(meant.goes(&export(release)), goes, "{release}");
        }
        assert!(
            meant.goes(&without) && meant.goes(&Signed::export(b"other", None)),
            "one without a number is older"
        );
        // For another name, only its last number counts.
        meant.note(&[&export("other=1")]);
        assert!(meant.goes(&export("model=8")) && !meant.goes(&export("model=9")));
    }

    #[test]
    fn latest_release_of_a_name_is_kept() {
        let (meant, kept) = (Meant::new(), export("model=7"));
        meant.note(&[&kept]);
        let path = meant.tag().cache.join("meant");
        let many: String =
            (0..REMEMBERED).map(|number| format!("{}\n", bundle(&number.to_string()))).collect();
        let text =
            [format!("{kept}\nbundle\n\u{fffd} {kept}\n").as_bytes(), b"\xff\n", many.as_bytes()].concat();
        fs_err::write(&path, text).unwrap();
        meant.note(&[&bundle("the last")]);
        let read = meant.tag().meant;
        assert_eq!((read.len(), &read[0], &read[1]), (REMEMBERED, &kept, &bundle("2")));
        // An unreadable file does not count as an empty list.
        fs_err::remove_file(&path).unwrap();
        fs_err::create_dir(&path).unwrap();
        assert!(Tag::read(path.parent().unwrap()).is_err());
    }
}
