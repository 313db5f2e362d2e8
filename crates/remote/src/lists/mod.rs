//! Lists of names, and how few of them are read: one serves all who ask for what is on it, for a minute.
//!
//! | | asked for | read |
//! |---|---|---|
//! | a web server | the records of a key or an action | the shard's list, or the page of it |
//! | a bucket | the records of an action | the shard's names, if they are few; else those that begin so |
//! | | the records of a key | the names of its directory |
//!
//! So a build of n actions lists a bucket's 256 shards and, where they are long, n times besides.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use precast_store::remote::{Item, Pages, RemoteError, Source as _};

use crate::Files;
use crate::files::At;
use crate::wait::wait;

/// Most names that a bucket lists for one question.
const LISTED: usize = 100_000;

/// As many names as a bucket lists at once: shards that have fewer are kept.
const FEW: usize = 1000;

/// How long a list of names stands.
const FRESH: Duration = Duration::from_secs(60);

/// What is wrong with a list whose page is missing.
const MISSING: &str = "the list names a page that is missing\nhint: `precast index` writes the lists again";

/// Names, a line each; none where there is no list, or it is too long to be kept.
type List = Option<Arc<str>>;

/// What came of reading a list, and when that was.
type Answer = (Instant, Result<List, RemoteError>);

/// Locked while somebody reads it.
type Slot = Arc<Mutex<Option<Answer>>>;

/// The lists that were read, by what they are.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<BTreeMap<Item, Slot>>);

impl Lists {
    /// Gives a list that was read a moment ago, or reads it. Who wants one that another reads waits for that one and has what comes
    /// of it; nobody else does.
    fn kept(&self, of: &Item, read: impl FnOnce() -> Result<List, RemoteError>) -> Result<List, RemoteError> {
        let asked = Instant::now();
        let slot = {
            let mut lists = lock(&self.0);
            // Whoever reads one holds its slot too.
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

    /// Forgets all, as names have come.
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
    /// The names below a directory of the store that begin so: their paths below it.
    pub(crate) fn names(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        if self.at.lists {
            return self.listed(directory, prefix);
        }
        let list = match self.page(directory, prefix)? {
            Ok(list) => list,
            Err(_) => {
                // The list that is kept may be of before.
                self.lists.forget_one(&Item::Index(directory.to_owned()));
                self.page(directory, prefix)?.map_err(|page| RemoteError::Damaged {
                    place: self.at.place(&page.path()),
                    why: MISSING.to_owned(),
                })?
            }
        };
        Ok(beginning(&list, prefix))
    }

    /// The list of a directory, empty where there is none, or the page of it that has a prefix; the page itself where it is missing.
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

    /// A list that lies beside the store.
    fn index(&self, item: &Item) -> Result<List, RemoteError> {
        self.lists.kept(item, || {
            let bytes = self.get(item, item.limit())?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into()))
        })
    }

    /// What a bucket lists.
    fn listed(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        // A directory of its own has few names, and all are wanted where nothing is said.
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

/// The names of a list that begin so.
fn beginning(list: &str, prefix: &str) -> Vec<String> {
    list.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect()
}

impl At {
    /// The names that begin so, in their order; of more than are few, at least so many.
    async fn list(&self, directory: &str, prefix: &str, most: usize) -> Result<Vec<String>, RemoteError> {
        // What a bucket finds begins with whole directories, and comes after a name.
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
                let why = format!("it lists more than {LISTED} names");
                return Err(RemoteError::Damaged { place: self.place(directory), why });
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests;
