//! Cached lists of names: one list serves all lookups in it for a minute, so that few lists are read.
//!
//! | | lookup | read |
//! |---|---|---|
//! | a web server | the records of a key or an action | the shard's list, or the page of it |
//! | a bucket | the records of an action | the shard's names if they are few, else the names with the prefix |
//! | | the records of a key | the names in its directory |
//!
//! So a build of n actions lists 256 shards of a bucket, and n more prefixes if the shards are long.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use precast_store::remote::{Item, Pages, RemoteError, Source as _};

use crate::Files;
use crate::files::At;
use crate::wait::wait;

/// The maximum number of names that a bucket may list for one lookup.
const LISTED: usize = 100_000;

/// The number of names on one page of a bucket's list. Lists of shards with fewer names are cached.
const FEW: usize = 1000;

/// The lifetime of a cached list.
const FRESH: Duration = Duration::from_secs(60);

/// The error message for a list with a missing page.
const MISSING: &str = "the list names a missing page\nhint: run `precast index` to rewrite the lists";

/// Names, one per line. `None` if the list does not exist or is too long to cache.
type List = Option<Arc<str>>;

/// The result of reading a list, and the time when it was read.
type Answer = (Instant, Result<List, RemoteError>);

/// A cached list. A thread that reads the list holds the lock.
type Slot = Arc<Mutex<Option<Answer>>>;

/// The cached lists, by item.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<BTreeMap<Item, Slot>>);

impl Lists {
    /// Returns a fresh list from the cache, or reads it. A caller that needs a list which another thread is reading
    /// waits for that thread and shares its result. Lookups in other lists are not blocked.
    fn kept(&self, of: &Item, read: impl FnOnce() -> Result<List, RemoteError>) -> Result<List, RemoteError> {
        let asked = Instant::now();
        let slot = {
            let mut lists = lock(&self.0);
            // A thread that is reading a list holds a reference to its slot.
            lists.retain(|_, slot| Arc::strong_count(slot) > 1 || lock(slot).as_ref().is_some_and(is_fresh));
            Arc::clone(lists.entry(of.clone()).or_default())
        };
        let mut kept = lock(&slot);
        if let Some(answer) = kept.as_ref().filter(|answer| is_fresh(answer) || answer.0 >= asked) {
            return answer.1.clone();
        }
        let answer = read();
        *kept = Some((Instant::now(), answer.clone()));
        answer
    }

    fn forget_one(&self, of: &Item) {
        lock(&self.0).remove(of);
    }

    /// Clears the cache, since names were added.
    pub(crate) fn forget(&self) {
        lock(&self.0).clear();
    }
}

fn is_fresh((read, list): &Answer) -> bool {
    list.is_ok() && read.elapsed() < FRESH
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Files {
    /// Returns the names in a directory of the store that start with `prefix`, as paths relative to that directory.
    pub(crate) fn names(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        if self.at.lists {
            return self.listed(directory, prefix);
        }
        let list = match self.page(directory, prefix)? {
            Ok(list) => list,
            Err(_) => {
                // The cached list may be outdated.
                self.lists.forget_one(&Item::Index(directory.to_owned()));
                self.page(directory, prefix)?.map_err(|page| RemoteError::Damaged {
                    place: self.at.place(&page.path()),
                    why: MISSING.to_owned(),
                })?
            }
        };
        Ok(beginning(&list, prefix))
    }

    /// Returns the list of a directory, or the page of it that covers a prefix. A missing list counts as empty. Returns
    /// the item of a missing page in `Err`.
    fn page(&self, directory: &str, prefix: &str) -> Result<Result<Arc<str>, Item>, RemoteError> {
        let list = self.index(&Item::Index(directory.to_owned()))?.unwrap_or_default();
        let Some(pages) = Pages::find(&list) else { return Ok(Ok(list)) };
        let page = Item::Page(pages.directory(directory, prefix));
        let found = self.index(&page)?;
        if found.is_none() {
            self.lists.forget_one(&page);
        }
        Ok(found.ok_or(page))
    }

    /// Returns a list file stored next to the store.
    fn index(&self, item: &Item) -> Result<List, RemoteError> {
        self.lists.kept(item, || {
            let bytes = self.get(item, item.limit())?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into()))
        })
    }

    /// Returns the names that a bucket lists.
    fn listed(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        // A subdirectory has few names, and an empty prefix selects all names, so neither is cached.
        if prefix.is_empty() || prefix.contains('/') {
            return self.ask(directory, prefix, LISTED);
        }
        let kept = self.lists.kept(&Item::Index(directory.to_owned()), || {
            let names = self.ask(directory, "", FEW)?;
            Ok((names.len() < FEW).then(|| names.join("\n").into()))
        })?;
        match kept {
            Some(list) => Ok(beginning(&list, prefix)),
            None => self.ask(directory, prefix, LISTED),
        }
    }

    fn ask(&self, directory: &str, prefix: &str, most: usize) -> Result<Vec<String>, RemoteError> {
        let (at, below, prefix) = (self.at.clone(), directory.to_owned(), prefix.to_owned());
        let patience = at.patience.all(Item::Index(String::new()).limit());
        wait(&self.at.place(directory), patience, async move {
            at.patience.retry(|| at.list(&below, &prefix, most)).await
        })?
    }
}

/// Returns the names of a list that start with a prefix.
fn beginning(list: &str, prefix: &str) -> Vec<String> {
    list.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect()
}

impl At {
    /// Returns the names that start with a prefix, in listing order. If `most` is [`FEW`], the
    /// listing stops at that many names.
    async fn list(&self, directory: &str, prefix: &str, most: usize) -> Result<Vec<String>, RemoteError> {
        // A bucket can list only whole directories, or the names after a given name.
        let within = prefix.rsplit_once('/').map(|(start, _)| format!("{directory}/{start}"));
        let (root, within) = (self.path(directory), self.path(within.as_deref().unwrap_or(directory)));
        let mut found = if prefix.is_empty() || prefix.contains('/') {
            self.server.list(Some(&within))
        } else {
            self.server.list_with_offset(Some(&within), &root.clone().join(prefix))
        };
        let (mut names, silence) = (Vec::new(), self.patience.silence);
        while let Some(item) =
            tokio::time::timeout(silence, found.next()).await.map_err(|_| self.slow(directory))?
        {
            let location = item.map_err(|error| self.failed(directory, &error))?.location;
            let path = location.as_ref().strip_prefix(root.as_ref()).map(|path| path.trim_start_matches('/'));
            match path {
                Some(path) if path.starts_with(prefix) => names.push(path.to_owned()),
                Some(path) if path > prefix && self.sorts => break,
                _ => {}
            }
            if names.len() == FEW && most == FEW {
                break;
            }
            if names.len() > LISTED {
                let why = format!("it has more than {LISTED} names");
                return Err(RemoteError::Damaged { place: self.place(directory), why });
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests;
