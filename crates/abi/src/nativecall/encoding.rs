//! The four ways to store a signature in a table, behind one interface.
//!
//! | encoding | a word is | an entry is | needs |
//! |---|---|---|---|
//! | [`Text`], approach 2 | 8 bytes of text | words, function | nothing: tables and needles are constants |
//! | [`Compact`], approach 2 | up to 15 symbols | words, function | nothing |
//! | `registry::Id`, approach 1A | a number | number, text, function | the registry |
//! | `registry::Interned`, approach 1B | an address | address, function | the registry, owners |
//!
//! `CEP1000.md` has measurements and recommends when to use which. precast's own tables use [`Text`] and [`Compact`].

use super::needle::{IN_PLACE_BYTES, Needle};
use super::signature::{ParseSignatureError, Signature, checked};
use super::{chunks, compact, grammar};
use std::marker::PhantomData;

/// A way to store signatures in a table.
pub trait Encoding {
    /// The value that keeps the words of a key valid.
    type Held: std::fmt::Debug + Send + Sync + 'static;

    /// The distance, in 64-bit words, between positions where an entry may start.
    const STEP: usize = 2;

    /// Creates the key of a signature.
    fn key(signature: &Signature) -> Key<Self>;

    /// Returns the word between the key and the function, if the layout has one.
    #[must_use]
    fn label(_: &Key<Self>) -> Option<u64> {
        None
    }
}

/// An encoding in which the words themselves contain the whole signature.
pub trait Verbatim: Encoding {
    /// Returns whether the text ends in this word of an entry.
    fn is_last(word: u64) -> bool;

    /// Decodes the signature from the words of one entry.
    fn decode(words: &[u64]) -> Option<Signature>;
}

/// A signature, prepared for lookups in tables of one encoding.
pub struct Key<E: Encoding + ?Sized> {
    needle: Needle,
    held: E::Held,
    encoding: PhantomData<fn() -> E>,
}

impl<E: Encoding> Key<E> {
    /// Creates the key of a signature.
    #[must_use]
    pub fn new(signature: &Signature) -> Self {
        E::key(signature)
    }

    /// Returns the words to compare.
    #[must_use]
    #[inline]
    pub const fn words(&self) -> &[u64] {
        self.needle.words()
    }

    /// Creates a key of these words. `held` keeps them valid.
    pub(super) const fn of(needle: Needle, held: E::Held) -> Self {
        Self { needle, held, encoding: PhantomData }
    }

    /// Returns the words and the value that keeps them valid.
    pub(super) fn into_parts(self) -> (Needle, E::Held) {
        (self.needle, self.held)
    }
}

/// The canonical text in chunks of 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Text;

/// Four or eight bits per symbol.
#[derive(Debug, Clone, Copy)]
pub struct Compact;

/// Implements the constructors of both verbatim encodings.
macro_rules! verbatim {
    ($encoding:ident, $module:ident) => {
        impl Key<$encoding> {
            /// Creates the key of a literal.
            ///
            /// # Panics
            /// Panics if the text is not canonical, or longer than 49 bytes ([`Key::parse`] accepts longer texts). In a
            /// `const`, this is a compile error.
            #[must_use]
            pub const fn literal(text: &str) -> Self {
                assert!(grammar::check(text.as_bytes()).is_ok(), "not a canonical CEP 1000 signature");
                assert!(text.len() <= IN_PLACE_BYTES, "a literal key must have at most 49 bytes");
                let mut words = [0; 7];
                let len = $module::encode(text.as_bytes(), &mut words);
                Self::of(Needle::new(words, len), ())
            }

            /// Creates the key of a canonical text. Keys of up to 49 bytes do not allocate.
            ///
            /// # Errors
            /// Fails if the text is not canonical.
            pub fn parse(text: &str) -> Result<Self, ParseSignatureError> {
                checked(text)?;
                let needle = Needle::of(text.as_bytes(), $module::encode);
                Ok(Self::of(needle, ()))
            }
        }

        impl Encoding for $encoding {
            type Held = ();

            fn key(signature: &Signature) -> Key<Self> {
                Key::of(Needle::of(signature.as_str().as_bytes(), $module::encode), ())
            }
        }

        impl Verbatim for $encoding {
            fn is_last(word: u64) -> bool {
                $module::is_last(word)
            }

            fn decode(words: &[u64]) -> Option<Signature> {
                let signature = Signature::parse(&String::from_utf8($module::decode(words)).ok()?).ok()?;
                // Each text has exactly one encoding, so any other words are corrupt.
                (Self::key(&signature).words() == words).then_some(signature)
            }
        }
    };
}

verbatim!(Text, chunks);
verbatim!(Compact, compact);

impl Key<Text> {
    /// Creates the key of a literal, if it is short enough.
    pub(super) const fn constant(text: &str) -> Option<Self> {
        if text.len() <= IN_PLACE_BYTES { Some(Self::literal(text)) } else { None }
    }
}

/// A word that is neither the address of a string, nor a number, nor text. A foreign registry may reject a signature,
/// for example because of a size limit. The key of a rejected signature is this word, which no table accepts.
pub(super) const NOWHERE: u64 = u64::MAX;

impl<E: Encoding> std::fmt::Debug for Key<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Key").field(&self.words()).finish()
    }
}
