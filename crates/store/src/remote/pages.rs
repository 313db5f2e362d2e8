//! Splits a list of names into pages.
//!
//! ```text
//! index/keys/ab               a list, or `pages 4`
//! index/pages/keys/ab/cd      in the latter case: the names that begin with `abcd`
//! ```

use std::fmt;

/// The maximum length of a page in bytes: some three hundred names. `crates/bench/REGISTRY.md` gives the reasons.
const LONGEST: usize = 64 << 10;

/// The number of digits in the name of an unsplit list.
const DIGITS: usize = 2;

/// The maximum number of digits that identify a page.
const MOST: usize = 8;

/// The number of leading digits of the names that identify a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages(usize);

impl Pages {
    /// Returns the pages for a list of `len` bytes; `None` if it stays a single list. The names are hashes, so all
    /// pages have about the same size.
    #[must_use]
    pub fn of(len: usize) -> Option<Self> {
        let mut digits = DIGITS;
        let mut page = len;
        while page > LONGEST && digits < MOST {
            (digits, page) = (digits + 1, page / 16);
        }
        (digits > DIGITS).then_some(Self(digits))
    }

    /// Parses a list that states its pages; `None` for a list of names.
    #[must_use]
    pub fn find(list: &str) -> Option<Self> {
        let digits = list.strip_prefix("pages ")?.strip_suffix('\n')?.parse().ok()?;
        (DIGITS + 1..=MOST).contains(&digits).then_some(Self(digits))
    }

    /// Returns the directory name of the page that contains a name below `directory` ([`super::Item::Page`]).
    #[must_use]
    pub fn directory(self, directory: &str, name: &str) -> String {
        format!("pages/{directory}/{}", name.get(DIGITS..self.0).unwrap_or_default())
    }

    /// Returns the directory names of all pages.
    pub(crate) fn all(self, directory: &str) -> impl Iterator<Item = String> {
        let digits = self.0 - DIGITS;
        (0..1_usize << (4 * digits)).map(move |page| format!("pages/{directory}/{page:0digits$x}"))
    }

    /// Returns whether a page can have this name.
    pub(crate) fn has(self, page: &str) -> bool {
        page.len() == self.0 - DIGITS
    }
}

/// Renders the content of a list that is split into pages.
impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pages {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_intended_length() {
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
