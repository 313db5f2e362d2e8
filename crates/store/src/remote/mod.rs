//! Remote stores: the interface of transports, and the handling of fetched data.
//!
//! ```text
//! Source  query ─▶ names of records;  item ─▶ bytes, up to a limit      Sink  accepts items
//!    │                                                                      ▲
//! Remote  a Source and a local store for fetched data: a layer          push  a store into a Sink
//! ```
//! A transport knows nothing of records, keys or trust, and its data is not trusted. Each fetched item is checked
//! against its name, its signatures are verified, and it is published to the local store like any other artifact. Only
//! then is it served, from the local store. A malicious remote can therefore cost time, but never cause a wrong result.
//!
//! A failure of the source is an event and a miss. The source is then not queried for a while, so that the other layers
//! are not delayed. Transports are in `precast-remote`. The traits are synchronous, because resolving a graph waits for
//! them in any case.

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

/// A remote location that serves the files of a store.
pub trait Source: fmt::Debug + Send + Sync {
    /// Returns the name for messages: a URL without credentials.
    fn name(&self) -> &str;

    /// Finds the names of records that may match `wanted`. Callers must read the records to be sure.
    ///
    /// # Errors
    ///
    /// The source cannot be queried.
    fn records(&self, wanted: &Wanted) -> Result<Vec<RecordName>, RemoteError>;

    /// Lists the names of entries.
    ///
    /// # Errors
    ///
    /// The source cannot be queried.
    fn entries(&self) -> Result<Vec<String>, RemoteError>;

    /// Fetches the bytes of an item; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// The source cannot be queried, or the item is longer than `limit` bytes.
    fn get(&self, item: &Item, limit: u64) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Fetches several items, each up to its [`Item::limit`]; concurrently if the transport can.
    ///
    /// # Errors
    ///
    /// Fails for each item as [`Source::get`].
    fn get_all(&self, items: &[Item]) -> Vec<Result<Option<Vec<u8>>, RemoteError>> {
        items.iter().map(|item| self.get(item, item.limit())).collect()
    }

    /// Checks that the source is a store that this version of precast can read.
    ///
    /// # Errors
    ///
    /// The source is not a store, a newer precast wrote it, or it cannot be queried.
    fn check(&self) -> Result<(), RemoteError> {
        let Some(bytes) = self.get(&Item::Store, Item::Store.limit())? else {
            return Err(RemoteError::NoStore { place: self.name().to_owned() });
        };
        crate::store::check_format(&bytes)
            .map_err(|why| RemoteError::Foreign { place: self.name().to_owned(), why })
    }
}

/// A remote location that stores can be pushed to.
pub trait Sink: Source {
    /// Writes an item unless it exists. Returns `false` if it exists; the existing item is not changed.
    ///
    /// # Errors
    ///
    /// The sink cannot be written.
    fn put_new(&self, item: &Item, bytes: &[u8]) -> Result<bool, RemoteError>;

    /// Writes an item, replacing an existing one.
    ///
    /// # Errors
    ///
    /// The sink cannot be written.
    fn put(&self, item: &Item, bytes: &[u8]) -> Result<(), RemoteError>;
}
