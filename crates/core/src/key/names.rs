//! Names used in keys, records and messages: enumerations with one text for each variant.

use std::fmt;
use std::str::FromStr;

/// An unknown name of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{found}`, expected one of {expected}")]
pub struct ParseNameError {
    /// The kind of name, such as `profile`.
    pub what: &'static str,
    /// The text.
    pub found: String,
    /// The valid names.
    pub expected: &'static str,
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $what:literal, $expected:literal, {
        $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $($(#[$variant_doc])* #[cfg_attr(feature = "serde", serde(rename = $text))] $variant),+
        }

        impl $name {
            /// Returns the name used in keys, records and messages.
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
names! {
    /// The environment that calls a module's entry functions.
    HostAbi, "host ABI", "`native`, `cpython`", {
        /// No Python in the process: `pc_object`, `pc_context`.
        Native = "native",
        /// An extension module that CPython loads and calls.
        Cpython = "cpython",
    }
}

names! {
    /// The purpose of a build.
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
        /// gnu++17. One C++ fragment makes the whole module C++.
        Cxx = "c++",
    }
}

names! {
    /// The kind of work that an action does.
    ActionKind, "action", "`compile`, `link`, `entry`", {
        /// Compiles a unit of modules to an object and a shared object.
        Compile = "compile",
        /// Links the objects of several archives.
        Link = "link",
        /// Gives a graph a name.
        Entry = "entry",
    }
}
