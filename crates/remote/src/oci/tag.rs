//! What a tag meant: keys say who made a release and not which is the latest, so that one which was signed once could come back.
//!
//! ```text
//! <cache>/meant     sha256:…              a line for each release that the tag was seen to mean and that was signed,
//!                   sha256:… model=7      in the order in which they came; of an export with its number
//! ```

use std::path::{Path, PathBuf};

use precast_store::Release;

use super::{is_digest, layer};

/// So many releases are remembered.
const REMEMBERED: usize = 1000;

/// The releases that a tag meant.
#[derive(Debug)]
pub struct Tag {
    path: PathBuf,
    meant: Vec<(String, Option<Release>)>,
}

impl Tag {
    /// Reads what is remembered below a directory.
    pub(crate) fn read(cache: &Path) -> Self {
        let path = cache.join("meant");
        let text = fs_err::read_to_string(&path).unwrap_or_default();
        let line = |line: &str| {
            let (digest, release) = line.split_once(' ').unwrap_or((line, ""));
            is_digest(digest).then(|| (digest.to_owned(), release.parse().ok()))
        };
        Self { path, meant: text.lines().filter_map(line).collect() }
    }

    /// Tells whether a release is from before the last one: the tag meant it before, or its number, if it has one, is lower.
    #[must_use]
    pub fn went_back(&self, digest: &str, release: Option<&Release>) -> bool {
        let is_before = |(_, known): &(String, Option<Release>)| {
            let known = known.as_ref();
            known.is_some_and(|known| {
                release.is_none_or(|release| release.name == known.name && release.number < known.number)
            })
        };
        match self.meant.iter().position(|(known, _)| known == digest) {
            Some(at) => at + 1 < self.meant.len(),
            None => self.meant.iter().any(is_before),
        }
    }

    /// Remembers a release that is signed. One that was seen before stays where it is.
    ///
    /// # Errors
    ///
    /// The file system refuses.
    pub fn note(&mut self, digest: &str, release: Option<&Release>) -> std::io::Result<()> {
        if self.meant.iter().any(|(known, _)| known == digest) {
            return Ok(());
        }
        self.meant.push((digest.to_owned(), release.cloned()));
        let skipped = self.meant.len().saturating_sub(REMEMBERED);
        self.meant.drain(..skipped);
        let line = |(digest, release): &(String, Option<Release>)| match release {
            Some(release) => format!("{digest} {release}\n"),
            None => format!("{digest}\n"),
        };
        let text: String = self.meant.iter().map(line).collect();
        let cache = self.path.parent().unwrap_or(&self.path);
        layer::make(cache)?;
        layer::write(cache, &self.path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_from_before_the_last_one_is_known_by_its_digest_or_its_number() {
        let directory = tempfile::tempdir().unwrap();
        let cache = directory.path().join("new");
        let tag = || Tag::read(&cache);
        let digest = |digit: &str| format!("sha256:{}", digit.repeat(64));
        let number = |text: &str| text.parse::<Release>().ok();
        let (a, b) = (digest("a"), digest("b"));
        for digest in [&a, &b] {
            assert!(!tag().went_back(digest, None));
            tag().note(digest, None).unwrap();
        }
        // Whoever takes the earlier one nevertheless has not forgotten the later.
        tag().note(&a, None).unwrap();
        assert!(tag().went_back(&a, None) && !tag().went_back(&b, None));
        let c = digest("c");
        tag().note(&c, number("model=7").as_ref()).unwrap();
        let goes = |release: &str| tag().went_back(&digest("d"), number(release).as_ref());
        assert!(goes("model=6") && goes(""), "one without a number is none");
        assert!(!goes("model=7") && !goes("model=8") && !goes("other=1"));
        // What means nothing is passed over.
        fs_err::write(cache.join("meant"), format!("garbage\n{a} model\n{b}")).unwrap();
        assert!(tag().went_back(&a, None) && !tag().went_back(&b, None) && !tag().went_back(&c, None));
    }
}
