//! How a list of names is cut in pages.
//!
//! ```text
//! index/keys/ab         a list, or `pages 4`
//! index/pages/keys/ab/cd      then: what begins with `abcd`
//! ```

use std::fmt;

/// No page is meant to be longer, in bytes: some three hundred names. `crates/bench/REGISTRY.md` says why.
const LONGEST: usize = 64 << 10;

/// The digits that lists are called after, unless they are cut.
const DIGITS: usize = 2;

/// Most digits of a name that a page is called after.
const MOST: usize = 8;

/// How many digits of its names a page is called after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages(usize);

impl Pages {
    /// Gives the pages of a list of so many bytes; none if it stays one. Names are hashes, so pages are of one size.
    #[must_use]
    pub fn of(len: usize) -> Option<Self> {
        let mut digits = DIGITS;
        let mut page = len;
        while page > LONGEST && digits < MOST {
            (digits, page) = (digits + 1, page / 16);
        }
        (digits > DIGITS).then_some(Self(digits))
    }

    /// Finds what a list says, if it is in pages.
    #[must_use]
    pub fn find(list: &str) -> Option<Self> {
        let digits = list.strip_prefix("pages ")?.strip_suffix('\n')?.parse().ok()?;
        (DIGITS + 1..=MOST).contains(&digits).then_some(Self(digits))
    }

    /// Gives the directory that the page of a name below `directory` is called after ([`super::Item::Page`]).
    #[must_use]
    pub fn directory(self, directory: &str, name: &str) -> String {
        format!("pages/{directory}/{}", name.get(DIGITS..self.0).unwrap_or_default())
    }

    /// Gives the directories that all its pages are called after.
    pub(crate) fn all(self, directory: &str) -> impl Iterator<Item = String> {
        let digits = self.0 - DIGITS;
        (0..1_usize << (4 * digits)).map(move |page| format!("pages/{directory}/{page:0digits$x}"))
    }

    /// Tells whether one of its pages may be called so.
    pub(crate) fn has(self, page: &str) -> bool {
        page.len() == self.0 - DIGITS
    }
}

/// Renders what the list says.
impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pages {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_as_long_as_they_are_meant_to_be() {
        assert_eq!(Pages::of(LONGEST), None);
        for (len, digits) in [(LONGEST + 1, 3), (16 * LONGEST, 3), (17 * LONGEST, 4), (usize::MAX, 8)] {
            let pages = Pages::of(len).unwrap();
            assert_eq!(pages, Pages(digits), "{len}");
            assert_eq!(Pages::find(&pages.to_string()), Some(pages));
        }
        assert_eq!(Pages(4).directory("keys/ab", "abcdef/0-1"), "pages/keys/ab/cd");
        let all: Vec<String> = Pages(4).all("keys/ab").collect();
        assert!(all.len() == 256 && all[0].ends_with("/00") && all[0xcd] == "pages/keys/ab/cd");
        assert!(Pages(4).has("cd") && !Pages(4).has("c"));
        for wrong in ["", "pages 2\n", "pages 9\n", "pages 3", "pages -3\n", "pages 3\nmore\n"] {
            assert_eq!(Pages::find(wrong), None, "{wrong}");
        }
    }
}
