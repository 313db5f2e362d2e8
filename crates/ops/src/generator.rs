//! The version of the code generator, and the detection of output of other versions.

use std::fmt;

/// This version, with a digest of the sources that generate C. Two programs with the same generator produce the same
/// module from the same graph. Bundles and the recipes of entries begin with this string.
pub const GENERATOR: &str = include!(concat!(env!("OUT_DIR"), "/generator.rs"));

/// The number of digest digits in messages.
const DIGITS: usize = 8;

/// Another version of precast that created a bundle or an entry. Its display form follows the words "made by".
///
/// # Examples
/// ```
/// use precast_ops::{GENERATOR, OtherVersion};
/// assert_eq!(OtherVersion::of(GENERATOR), None);
/// let other = OtherVersion::of("precast 0.0.9+0123456789abcdef release fuse").unwrap();
/// assert_eq!(other.found.as_deref(), Some("0.0.9+01234567"));
/// assert!(other.to_string().starts_with("another version of precast (0.0.9+01234567, this is "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OtherVersion {
    /// The version, with the first digits of its digest; `None` if it is not recorded.
    pub found: Option<String>,
}

impl OtherVersion {
    /// The hint line of a message.
    pub const HINT: &str = "hint: rebuild it with this version, or look it up with the version that built it";

    /// Parses the generator of a bundle or the recipe of an entry; `None` for this version.
    #[must_use]
    pub fn of(stated: &str) -> Option<Self> {
        (!stated.starts_with(GENERATOR)).then(|| Self { found: version(stated) })
    }

    /// Returns the version of this program, with the first digits of its digest.
    #[must_use]
    pub fn this() -> String {
        version(GENERATOR).unwrap_or_default()
    }
}

impl fmt::Display for OtherVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let this = Self::this();
        match &self.found {
            Some(found) => write!(f, "another version of precast ({found}, this is {this})"),
            None => write!(f, "another version of precast (unknown; this is {this})"),
        }
    }
}

/// Parses the version at the start of a generator string. Early versions only had a digest, which names no version.
fn version(stated: &str) -> Option<String> {
    let version = stated.strip_prefix("precast ")?.split([' ', ',']).next()?;
    Some(match version.split_once('+') {
        Some((version, digest)) => format!("{version}+{}", digest.get(..DIGITS).unwrap_or(digest)),
        None => version.to_owned(),
    })
}
