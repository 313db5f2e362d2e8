//! Stores elsewhere: what a transport has to do, and all that is done with what it brings.
//!
//! ```text
//! Source  asked by what ─▶ names of records;  an item ─▶ bytes, at most so many      Sink  takes items
//!    │                                                                                 ▲
//! Remote  a Source and the store that keeps what came: a layer                        push  a store into a Sink
//! ```
//! A transport knows nothing of records, keys or trust, and nothing is believed because of it. What arrives is held against its
//! name, asked for its signatures and published to the local store by the path of every other publish, before anybody sees
//! it: then it is served from there, like anything else in a store. So a remote that lies costs time, and never a result.
//!
//! A source that fails is an event and a miss, and is left alone for a while, so that the layers beside it go on.
//! Transports are `precast-remote`'s; the traits are synchronous, since who resolves a graph waits in any case.

mod at_once;
mod error;
mod fetch;
mod item;
mod layer;
mod pages;
mod push;
mod question;
mod records;

pub use at_once::AT_ONCE;
pub use error::RemoteError;
pub use item::{Item, Wanted};
pub use layer::Remote;
pub use pages::Pages;
pub use push::{PushError, Pushed};

pub use crate::store::RecordName;

use std::fmt;

/// A place that has what stores are made of.
pub trait Source: fmt::Debug + Send + Sync {
    /// What messages call it: a URL without credentials.
    fn name(&self) -> &str;

    /// Finds the names of the records that may be what is wanted. What they are is found out by reading them.
    ///
    /// # Errors
    ///
    /// The place cannot be asked.
    fn records(&self, wanted: &Wanted) -> Result<Vec<RecordName>, RemoteError>;

    /// Lists the names of entries.
    ///
    /// # Errors
    ///
    /// The place cannot be asked.
    fn entries(&self) -> Result<Vec<String>, RemoteError>;

    /// Gets the bytes of an item; `None` where there is none.
    ///
    /// # Errors
    ///
    /// The place cannot be asked, or the item is longer than `limit` bytes.
    fn get(&self, item: &Item, limit: u64) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Gets several items, each up to its [`Item::limit`]; at once, where the transport can.
    ///
    /// # Errors
    ///
    /// As [`Source::get`], for each.
    fn get_all(&self, items: &[Item]) -> Vec<Result<Option<Vec<u8>>, RemoteError>> {
        items.iter().map(|item| self.get(item, item.limit())).collect()
    }

    /// Checks that there is a store which this precast can read.
    ///
    /// # Errors
    ///
    /// There is none, a newer precast wrote it, or the place cannot be asked.
    fn check(&self) -> Result<(), RemoteError> {
        let Some(bytes) = self.get(&Item::Store, Item::Store.limit())? else {
            return Err(RemoteError::NoStore { place: self.name().to_owned() });
        };
        crate::store::check_format(&bytes)
            .map_err(|why| RemoteError::Foreign { place: self.name().to_owned(), why })
    }
}

/// A place that takes what stores are made of.
pub trait Sink: Source {
    /// Puts an item where there is none; `false` where there is one, which stays.
    ///
    /// # Errors
    ///
    /// The place cannot be written.
    fn put_new(&self, item: &Item, bytes: &[u8]) -> Result<bool, RemoteError>;

    /// Puts an item in place of any that is there.
    ///
    /// # Errors
    ///
    /// The place cannot be written.
    fn put(&self, item: &Item, bytes: &[u8]) -> Result<(), RemoteError>;
}
