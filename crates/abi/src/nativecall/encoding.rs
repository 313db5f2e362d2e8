//! The four ways to store a signature in a table, behind one interface.
//!
//! | encoding | a word is | an entry | needs |
//! |---|---|---|---|
//! | [`Text`], approach 2 | 8 bytes of text | words, function | nothing: tables and needles are constants |
//! | [`Compact`], approach 2 | up to 15 symbols | words, function | nothing |
//! | `Id`, approach 1A | a number | number, text, function | the registry |
//! | `Interned`, approach 1B | an address | address, function | the registry, owners |
//!
//! `CEP1000.md` has the figures and says which to use when; precast's own tables are [`Text`] and [`Compact`].

use super::needle::{IN_PLACE_BYTES, Needle};
use super::signature::{ParseSignatureError, Signature, checked};
use super::{chunks, compact, grammar};
use std::marker::PhantomData;

/// How signatures are stored in a table.
pub trait Encoding {
    /// What keeps the words of a key valid.
    type Held: std::fmt::Debug + Send + Sync + 'static;

    /// 64-bit words from one place where an entry may begin to the next.
    const STEP: usize = 2;

    /// The key of a signature.
    fn key(signature: &Signature) -> Key<Self>;

    /// The word between those of the key and the function, where the layout has one.
    #[must_use]
    fn label(_: &Key<Self>) -> Option<u64> {
        None
    }
}

/// An encoding that needs nothing but the words themselves.
pub trait Verbatim: Encoding {
    /// Whether the text ends in a word of an entry.
    fn is_last(word: u64) -> bool;

    /// The signature that the words of one entry say.
    fn decode(words: &[u64]) -> Option<Signature>;
}

/// A signature, ready to be looked for in tables of one encoding.
pub struct Key<E: Encoding + ?Sized> {
    needle: Needle,
    held: E::Held,
    encoding: PhantomData<fn() -> E>,
}

impl<E: Encoding> Key<E> {
    /// The key of a signature.
    #[must_use]
    pub fn new(signature: &Signature) -> Self {
        E::key(signature)
    }

    /// The words to compare.
    #[must_use]
    #[inline]
    pub const fn words(&self) -> &[u64] {
        self.needle.words()
    }

    /// A key of one word.
    #[cfg(feature = "registry")]
    pub(super) const fn one(word: u64, held: E::Held) -> Self {
        Self { needle: Needle::one(word), held, encoding: PhantomData }
    }

    /// The words, and what keeps them valid.
    pub(super) fn into_parts(self) -> (Needle, E::Held) {
        (self.needle, self.held)
    }
}

/// The canonical text in chunks of 8 bytes.
#[derive(Debug, Clone, Copy)]
pub struct Text;

/// Four or eight bits a symbol.
#[derive(Debug, Clone, Copy)]
pub struct Compact;

/// Constants of both verbatim encodings.
macro_rules! verbatim {
    ($encoding:ident, $module:ident) => {
        impl Key<$encoding> {
            /// The key of a literal.
            ///
            /// # Panics
            /// If the text is not canonical, or has more than 49 bytes ([`Key::parse`] takes more); in a `const`, that
            /// is an error of the compiler.
            #[must_use]
            pub const fn literal(text: &str) -> Self {
                assert!(grammar::check(text.as_bytes()).is_ok(), "not a canonical CEP 1000 signature");
                assert!(text.len() <= IN_PLACE_BYTES, "a literal key has at most 49 bytes");
                let mut words = [0; 7];
                let len = $module::encode(text.as_bytes(), &mut words);
                Self { needle: Needle::new(words, len), held: (), encoding: PhantomData }
            }

            /// The key of a canonical text, made without allocating.
            ///
            /// # Errors
            /// Text that is not canonical.
            pub fn parse(text: &str) -> Result<Self, ParseSignatureError> {
                checked(text)?;
                let needle = Needle::of(text.as_bytes(), $module::encode);
                Ok(Self { needle, held: (), encoding: PhantomData })
            }
        }

        impl Encoding for $encoding {
            type Held = ();

            fn key(signature: &Signature) -> Key<Self> {
                let needle = Needle::of(signature.as_str().as_bytes(), $module::encode);
                Key { needle, held: (), encoding: PhantomData }
            }
        }

        impl Verbatim for $encoding {
            fn is_last(word: u64) -> bool {
                $module::is_last(word)
            }

            fn decode(words: &[u64]) -> Option<Signature> {
                let signature = Signature::parse(&String::from_utf8($module::decode(words)).ok()?).ok()?;
                // A text has one encoding; anything else in the words is damage.
                (Self::key(&signature).words() == words).then_some(signature)
            }
        }
    };
}

verbatim!(Text, chunks);
verbatim!(Compact, compact);

impl Key<Text> {
    /// The key of a literal, if it is short enough for one.
    pub(super) const fn constant(text: &str) -> Option<Self> {
        if text.len() <= IN_PLACE_BYTES { Some(Self::literal(text)) } else { None }
    }
}

/// Neither an address of a string nor a number nor text. A registry that is not ours may refuse a signature, as one with a
/// limit does; its key is this word, which no table takes.
pub(super) const NOWHERE: u64 = u64::MAX;

impl<E: Encoding> std::fmt::Debug for Key<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Key").field(&self.words()).finish()
    }
}
