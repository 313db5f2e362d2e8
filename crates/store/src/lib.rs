//! Keys, archive and bundle formats, and the content-addressed store on disk.
//!
//! One noun a folder:
//!
//! | module | what it is | touches files |
//! |---|---|---|
//! | [`key`] | the three identities (what is wanted, how it was made, what came out), their documents and diffs | no |
pub mod key;
