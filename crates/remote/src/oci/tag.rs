//! What a tag meant: keys say who made a release and not which is the latest, so that one which was signed once could come back.
//!
//! ```text
//! <cache>/meant     bundle <content id>              a line for each release that the tag was seen to mean and that was signed,
//!                   export <content id> model=7      in the order in which they came; of an export with its number, if it has one
//! ```
//! The content is what was signed, a bundle's bytes or an export's statement: a registry may put another manifest around it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use precast_core::event::Event;
use precast_store::Release;
use precast_store::key::ContentId;

use super::{Kind, layer};
use crate::url::Place;
use crate::{OpenRemoteError, Options, cache};

/// So many releases are remembered, and the latest of each name.
const REMEMBERED: usize = 1000;

/// A signed release, by what was signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    kind: Kind,
    content: ContentId,
    /// The number, if it is an export that has one.
    release: Option<Release>,
}

impl Signed {
    /// A bundle, by its bytes.
    #[must_use]
    pub fn bundle(bytes: &[u8]) -> Self {
        Self { kind: Kind::Bundle, content: ContentId::of(bytes), release: None }
    }

    /// An export, by its statement, with its number.
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

    /// Tells whether a tag that meant `other` after this one went on: no number that this one has says otherwise.
    fn is_before(&self, other: &Self) -> bool {
        match (&self.release, &other.release) {
            (Some(own), Some(other)) => own.name != other.name,
            (Some(_), None) => false,
            (None, _) => self.kind == other.kind,
        }
    }

    /// Tells whether the numbers alone say that it is older; an export without a number is older than one with.
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

/// A release beside what its tag meant before.
#[derive(Debug)]
pub struct Compared {
    place: String,
    signed: Signed,
    /// None where the place is a digest, or there is no memory.
    tag: Option<Tag>,
    required: bool,
}

impl Compared {
    pub(crate) fn new(place: &Place, signed: Signed, options: &Options) -> Result<Self, OpenRemoteError> {
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

    /// Tells whether it is from before the last one.
    #[must_use]
    pub fn went_back(&self) -> bool {
        self.tag.as_ref().is_some_and(|tag| tag.went_back(&self.signed))
    }

    /// Remembers it.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn note(&self) -> io::Result<()> {
        self.tag.as_ref().map_or(Ok(()), |tag| tag.note(&self.signed))
    }

    /// Tells that what the tag means is not remembered; an error where it has to be.
    ///
    /// # Errors
    ///
    /// It has to be.
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

/// The releases that a tag meant.
#[derive(Debug)]
pub(super) struct Tag {
    cache: PathBuf,
    meant: Vec<Signed>,
}

impl Tag {
    /// Reads what is remembered below a directory.
    fn read(cache: &Path) -> io::Result<Self> {
        let bytes = match fs_err::read(cache.join("meant")) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        let meant = String::from_utf8_lossy(&bytes).lines().filter_map(Signed::parse).collect();
        Ok(Self { cache: cache.to_owned(), meant })
    }

    /// Tells whether a release is from before the last one: its number is lower, or the tag meant it before it meant another.
    fn went_back(&self, signed: &Signed) -> bool {
        let mut after = self.meant.iter().skip_while(|known| !known.is(signed)).skip(1);
        self.meant.iter().any(|known| signed.is_below(known)) || after.any(|known| signed.is_before(known))
    }

    /// Remembers a release. One that was seen before stays where it is.
    fn note(&self, signed: &Signed) -> io::Result<()> {
        if self.meant.iter().any(|known| known.is(signed)) {
            return Ok(());
        }
        cache::make(&self.cache)?;
        // Others note theirs meanwhile.
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
    fn a_bundle_that_the_tag_meant_before_another_is_an_earlier_one() {
        let (meant, a, b) = (Meant::new(), bundle("a"), bundle("b"));
        for next in [&a, &b] {
            assert!(!meant.goes(next));
            meant.note(&[next]);
        }
        // Whoever takes the earlier one nevertheless has not forgotten the later.
        meant.note(&[&a]);
        assert!(meant.goes(&a) && !meant.goes(&b) && !meant.goes(&bundle("c")));
        // Numbers are of exports: a bundle, which has none, is not older for that.
        meant.note(&[&export("model=7")]);
        assert!(!meant.goes(&b) && !meant.goes(&bundle("c")));
    }

    #[test]
    fn the_number_of_an_export_decides_whatever_was_taken_in_between() {
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
        // Of another name: the last one counts.
        meant.note(&[&export("other=1")]);
        assert!(meant.goes(&export("model=8")) && !meant.goes(&export("model=9")));
    }

    #[test]
    fn the_latest_of_a_name_is_not_forgotten_and_what_means_nothing_is_passed_over() {
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
        // What cannot be read is no empty list.
        fs_err::remove_file(&path).unwrap();
        fs_err::create_dir(&path).unwrap();
        assert!(Tag::read(path.parent().unwrap()).is_err());
    }
}
