//! The three identities of an artifact. This module touches no file, clock, environment or process.
//!
//! * [`BuildKey`] identifies *the wanted module*. Any host can compute it, without a compiler or file system.
//! * [`ActionKey`] identifies *how* it is built. Builders compute it; a new compiler is a new action.
//! * [`Digest`] identifies *the result*: a hash of an archive's canonical uncompressed tar.
//!
//! They are separate types, and no function accepts a bare hex string in their place. [`Fingerprint`] is an alias of a
//! `BuildKey` that makes code generation unnecessary. Losing all fingerprints costs time but never correctness.
//!
//! # Every input against every hash
//!
//! | input | `BuildKey` | `ActionKey` | `Digest` | why |
//! |---|---|---|---|---|
//! | [`FORMAT_EPOCH`] | yes | through its inputs | no | a new module contract makes old artifacts unreachable, never wrong |
//! | [`ARCHIVE_EPOCH`] | – | yes | in the manifest | metadata can change alone, but one action must give the same bytes |
//! | host ABI | yes | through | – | the same C text makes different calls under another host |
//! | profile (release, debug, asan) | yes | through | – | the profile decides which checks are compiled in |
//! | language | yes | through | – | C and C++ give the same text different meanings |
//! | module text, with `@M@` for its own name | yes | through | the file itself | types, edges, slots, entry order; not its name |
//! | SourceSet: logical name → content | yes | through | the files themselves | all included headers are part of the program |
//! | flags of the ops, normalised, in order | yes | yes (full list) | – | `-D` and `-f` change the results |
//! | library names | yes | by content, in `linked` | – | a module that calls BLAS is another module |
//! | kind (compile, link, entry) | – | yes | – | the same input can have several products |
//! | neighbours in the unit | – | yes (`inputs`, in order) | – | a function's machine code may depend on its neighbours |
//! | target, ISA level | – | yes | – | a host without a compiler looks up the `BuildKey` and picks an admissible variant |
//! | toolchain | – | yes | – | a new gcc causes a rebuild; a host without gcc still hits |
//! | printable signatures ([`KeyDocument::ops`]) | – | – | the manifest | for people; derived from the text |
//! | versions given by authors ([`KeyDocument::versions`]) | – | – | – | a promise that is checked; the content decides |
//! | fingerprints | – | – | – | an alias that can be derived again |
//! | absolute paths, current directory, user, host, umask, locale, clock, `-j` | – | – | – | builds must not depend on them |
//! | zstd level, zstd version | – | – | – | transport only: the digest covers the uncompressed tar |
//! | process-dependent hashes (`std::hash`), map iteration order, `usize` | – | – | – | differ between machines |
//!
//! A module's name is derived *from* its key, so the key cannot cover the name. Paths, users, hosts and the other inputs of
//! that row must not change a single bit of the output, and builds are tested for it.
//!
//! # Encoding
//!
//! Every hash here is BLAKE3 in `derive_key` mode, with one context string per hash (the constants of [`context`]). The
//! input is the bytes from [`Canonical`]: for each value a tag byte, then a length or a fixed-width little-endian
//! number, then the value. Two different sequences of values never have the same bytes. Texts and sources are
//! represented by their [`ContentId`]. A [`KeyDocument`] of a few hundred bytes is therefore enough to recompute, and
//! so to check, a `BuildKey`.

mod action;
mod build;
mod diff;
mod signature;
mod version;

pub use action::{ARCHIVE_EPOCH, ActionInputs};
pub use build::BuildInputs;
pub use diff::{Diff, Difference, nearest};
pub use precast_core::key::{
    ActionKey, ActionKind, BuildKey, Canonical, ContentId, Digest, FORMAT_EPOCH, Fingerprint, GenerationId,
    HostAbi, KeyDocument, Language, ParseHashError, ParseNameError, Profile, RecordId, ToolchainId,
    Versioned, context,
};
pub use signature::{Signature, SignatureDiff};
pub use version::{ChangedFile, StaleVersion, ambiguous, stale};
