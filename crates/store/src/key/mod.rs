//! The three identities of an artifact, and nothing else: no file, clock, environment or process is touched here.
//!
//! * [`BuildKey`] says *what* is wanted. Any host can compute it: no compiler, no file system.
//! * [`ActionKey`] says *how* it was made. Builders compute it; a new compiler is a new action.
//! * [`Digest`] says *what came out*: a hash of an archive's canonical uncompressed tar.
//!
//! They are different types, and no function takes a bare hex string in their place. [`Fingerprint`] is an alias of a
//! `BuildKey` that skips code generation: losing all of them costs time, never correctness.
//!
//! # Every input against every hash
//!
//! | input | `BuildKey` | `ActionKey` | `Digest` | why |
//! |---|---|---|---|---|
//! | [`FORMAT_EPOCH`] | yes | through its inputs | no | a change of the module contract makes every old artifact unreachable, never wrong |
//! | [`ARCHIVE_EPOCH`] | – | yes | in the manifest | what an archive says of itself may change though the machine code does not: same action, same bytes |
//! | host ABI | yes | through | – | the same C text means other calls under another host |
//! | profile (release, debug, asan) | yes | through | – | the caller asks for checks, or for none |
//! | language | yes | through | – | C and C++ give the same text different meanings |
//! | module text, with `@M@` for its own name | yes | through | the file itself | types, edges, slots and entry order are all in the text; the module's name is made *from* the key, so it cannot be in it |
//! | SourceSet: logical name → content | yes | through | the files themselves | own headers are part of the program, however deep |
//! | flags of the ops, normalised, in order | yes | yes (full list) | – | `-D` and `-f` change what is computed |
//! | library names | yes | by content, in `linked` | – | a module that calls BLAS is another module |
//! | kind (compile, link, entry) | – | yes | – | one input, several products |
//! | neighbours in the unit | – | yes (`inputs`, in order) | – | a function's machine code may depend on its neighbours |
//! | target, ISA level | – | yes | – | *not* in the `BuildKey`: a host without a compiler looks up by it and picks an admissible variant |
//! | toolchain | – | yes | – | a new gcc rebuilds; a host without gcc still hits |
//! | printable signatures ([`KeyDocument::ops`]) | – | – | the manifest | for people: derived from what the text already says |
//! | versions that authors give ([`KeyDocument::versions`]) | – | – | – | a promise, checked: content decides |
//! | fingerprints | – | – | – | an alias, re-derivable |
//! | absolute paths, current directory, user, host, umask, locale, clock, `-j` | – | – | – | they must not change a bit, and builds are held to it |
//! | zstd level, zstd version | – | – | – | transport only: the digest is over the uncompressed tar |
//! | process-dependent hashes (`std::hash`), map iteration order, `usize` | – | – | – | not equal on two machines |
//!
//! # Encoding
//!
//! Every hash here is BLAKE3 in `derive_key` mode, with one context string a hash (the constants of [`context`]), over the
//! bytes that [`Canonical`] makes: a tag byte, then a length or a fixed-width little-endian number, then the value. No two
//! different sequences of values have the same bytes. Texts and sources enter by their [`ContentId`], so that a
//! [`KeyDocument`] of a few hundred bytes is enough to recompute, and so to check, a `BuildKey`.

mod action;
mod build;
mod diff;
mod signature;
mod version;

pub use action::{ARCHIVE_EPOCH, ActionInputs};
pub use build::BuildInputs;
pub use diff::{Diff, Difference, nearest};
pub use precast_core::key::{
    ActionKey, ActionKind, BuildKey, Canonical, ContentId, Digest, FORMAT_EPOCH, Fingerprint, HostAbi,
    KeyDocument, Language, ParseHashError, ParseNameError, Profile, RecordId, ToolchainId, Versioned,
    context,
};
pub use signature::{Signature, SignatureDiff};
pub use version::{ChangedFile, StaleVersion, ambiguous, stale};
