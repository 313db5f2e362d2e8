//! The inputs of a [`BuildKey`]: everything that decides what a module computes, and nothing about how it is built.
//!
//! The hash is taken through the [`KeyDocument`], which holds long texts by their [`ContentId`]: the document that a record
//! keeps for `explain` is thereby the preimage of the key, and a reader can check one against the other.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{BuildKey, ContentId, KeyDocument};

/// Version of the module contract. Raising it makes every older artifact unreachable.
pub const FORMAT_EPOCH: u64 = 1;

/// Says that a text is not one of the names that an enumeration has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`, expected one of {expected}")]
pub struct ParseNameError {
    /// What was being read, such as `profile`.
    pub what: &'static str,
    /// The text.
    pub found: String,
    /// The names there are.
    pub expected: &'static str,
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $what:literal, $expected:literal, {
        $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Gives the name used in keys, records and messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $name {
            type Err = ParseNameError;

            fn from_str(text: &str) -> Result<Self, ParseNameError> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(ParseNameError { what: $what, found: text.to_owned(), expected: $expected }),
                }
            }
        }
    };
}
pub(crate) use names;

names! {
    /// The world that a module's entry functions are called from.
    HostAbi, "host ABI", "`native`", {
        /// No Python in the process: `pc_object`, `pc_context`.
        Native = "native",
    }
}

names! {
    /// What a build is for.
    Profile, "profile", "`release`, `debug`, `asan`", {
        /// Optimised.
        Release = "release",
        /// With debug information and checks.
        Debug = "debug",
        /// Under AddressSanitizer and UndefinedBehaviorSanitizer.
        Asan = "asan",
    }
}

names! {
    /// The language of a module's text.
    Language, "language", "`c`, `c++`", {
        /// gnu11.
        C = "c",
        /// gnu++17; one C++ fragment makes the whole module C++.
        Cxx = "c++",
    }
}

/// Everything that decides what a module computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildInputs {
    /// The host ABI.
    pub host_abi: HostAbi,
    /// The profile.
    pub profile: Profile,
    /// The language of `text`.
    pub language: Language,
    /// The generated module, with `@M@` where its own name will stand.
    pub text: String,
    /// Logical name → content of every own C file and header that the text includes, however deep.
    pub sources: BTreeMap<String, Arc<str>>,
    /// Flags that the ops ask for, normalised; their order counts.
    pub flags: Vec<String>,
    /// System libraries that the ops ask for, without `lib` and suffix; their order counts.
    pub libraries: Vec<String>,
}

impl BuildInputs {
    /// Computes what is wanted.
    #[must_use]
    pub fn key(&self) -> BuildKey {
        self.document(Vec::new()).key()
    }

    /// Makes the document that a miss is diffed against; `ops` are the printable signatures of the module's Applies.
    #[must_use]
    pub fn document(&self, ops: Vec<String>) -> KeyDocument {
        let sources = self.sources.iter().map(|(name, text)| (name.clone(), ContentId::of(text.as_bytes())));
        KeyDocument {
            epoch: FORMAT_EPOCH,
            host_abi: self.host_abi,
            profile: self.profile,
            language: self.language,
            ops,
            text: ContentId::of(&self.text),
            sources: sources.collect(),
            flags: self.flags.clone(),
            libraries: self.libraries.clone(),
            versions: Vec::new(),
        }
    }
}
