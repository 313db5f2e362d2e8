//! A store directory in a bucket or on a web server.
//!
//! Buckets list names by themselves. A web server lists none, so whoever copied the store there wrote the lists beside it
//! (`index/`, in the store's FORMAT.md); what a list lacks is not found, and what it names is verified as anything is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, Error, GetOptions, ObjectStore, PutMode, PutOptions, RetryConfig};
use precast_store::remote::{Item, Pages, RecordName, RemoteError, Sink, Source, Wanted};

use crate::bounded::Bounded;
use crate::gather::Stopped;
use crate::url::Place;
use crate::wait::wait;
use crate::{OpenRemoteError, Patience, words};

/// Most names that a bucket lists for one question.
const LISTED: usize = 100_000;

/// How long a list of names stands.
const FRESH: Duration = Duration::from_secs(60);

/// What is wrong with a list whose page is missing.
const MISSING: &str = "the list names a page that is missing\nhint: `precast index` writes the lists again";

/// A list with when it was read, or that there is none.
type Kept = (Instant, Option<Arc<str>>);

/// A bucket or a web server that has a store directory.
#[derive(Debug)]
pub struct Files {
    at: At,
    /// The lists of names that were read, by their directory.
    lists: Mutex<BTreeMap<String, Kept>>,
}

/// What a task needs to ask.
#[derive(Debug, Clone)]
struct At {
    name: Arc<str>,
    server: Arc<dyn ObjectStore>,
    root: Path,
    /// Whether the server lists names.
    lists: bool,
    patience: Patience,
}

impl Files {
    /// Opens a bucket or a web server; nothing is asked yet.
    ///
    /// Credentials of a bucket, its region and its endpoint are taken from the environment: `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`, `AWS_SKIP_SIGNATURE` and others of their kind.
    ///
    /// # Errors
    ///
    /// The place is of another kind, or the environment names a bucket's server in words that mean nothing.
    pub fn open(place: &Place, patience: Patience) -> Result<Self, OpenRemoteError> {
        crate::tls::provide();
        let name = place.to_string();
        let refused = |source: Error| OpenRemoteError::Transport { place: name.clone(), why: words(&source) };
        // Tries and pauses are ours, so that a body that is cut counts as a failure like any other.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let options =
            || ClientOptions::new().with_timeout_disabled().with_connect_timeout(patience.connection);
        let (server, root, lists): (Arc<dyn ObjectStore>, _, _) = match place {
            Place::S3 { bucket, prefix } => {
                let allow_http = std::env::var_os("AWS_ALLOW_HTTP").is_some_and(|value| value == "true");
                let options = options().with_allow_http(allow_http);
                let bucket = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
                let bucket = bucket.with_http_connector(Bounded::default());
                let server = bucket.with_client_options(options).build().map_err(refused)?;
                (Arc::new(server), Path::from(prefix.as_str()), true)
            }
            Place::Http { url, credentials } => {
                let options = options().with_allow_http(url.starts_with("http://"));
                let options = match credentials {
                    Some(credentials) => options.with_default_headers(authorization(credentials)),
                    None => options,
                };
                let server = HttpBuilder::new().with_url(url).with_retry(retry).with_client_options(options);
                let server = server.with_http_connector(Bounded::default());
                (Arc::new(server.build().map_err(refused)?), Path::default(), false)
            }
            _ => return Err(OpenRemoteError::NotFiles { place: name }),
        };
        let at = At { name: name.into(), server, root, lists, patience };
        Ok(Self { at, lists: Mutex::default() })
    }

    /// The names below a directory of the store that begin so: their paths below it.
    fn names(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        if self.at.lists {
            let (at, below) = (self.at.clone(), directory.to_owned());
            let patience = at.patience.all(Item::Index(String::new()).limit());
            let prefix = prefix.to_owned();
            return wait(&self.at.place(directory), patience, async move {
                at.patience.retry(|| at.list(&below, &prefix)).await
            })?;
        }
        let list = match self.page(directory, prefix)? {
            Ok(list) => list,
            Err(_) => {
                // The list that is kept may be of before.
                self.lists.lock().unwrap_or_else(PoisonError::into_inner).remove(directory);
                self.page(directory, prefix)?.map_err(|page| RemoteError::Damaged {
                    place: self.at.place(&Item::Index(page).path()),
                    why: MISSING.to_owned(),
                })?
            }
        };
        Ok(list.lines().filter(|line| line.starts_with(prefix)).map(str::to_owned).collect())
    }

    /// The list of a directory, empty where there is none, or the page of it that has a prefix; what it is called after where
    /// it is missing.
    fn page(&self, directory: &str, prefix: &str) -> Result<Result<Arc<str>, String>, RemoteError> {
        let list = self.index(directory)?.unwrap_or_default();
        let Some(pages) = Pages::find(&list) else { return Ok(Ok(list)) };
        let page = pages.directory(directory, prefix);
        Ok(self.index(&page)?.ok_or(page))
    }

    /// The list of a directory that lies beside the store, or a page; that there is no page is not kept.
    fn index(&self, directory: &str) -> Result<Option<Arc<str>>, RemoteError> {
        let lists = || self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, list)) = lists().get(directory).filter(|(read, _)| read.elapsed() < FRESH) {
            return Ok(list.clone());
        }
        // Nobody who asks for another list waits for this one.
        let item = Item::Index(directory.to_owned());
        let bytes = self.get(&item, item.limit())?;
        let list: Option<Arc<str>> = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into());
        let mut lists = lists();
        lists.retain(|_, (read, _)| read.elapsed() < FRESH);
        if list.is_some() || !directory.starts_with("pages/") {
            lists.insert(directory.to_owned(), (Instant::now(), list.clone()));
        }
        Ok(list)
    }

    fn put_as(&self, item: &Item, bytes: &[u8], mode: PutMode) -> Result<bool, RemoteError> {
        if !self.at.lists {
            return Err(RemoteError::Denied {
                place: self.at.name.to_string(),
                reason: "a web server is only read".to_owned(),
                remedy: "copy the store to the server's directory, and write its lists with `precast index`",
            });
        }
        let (at, item, bytes) = (self.at.clone(), item.clone(), bytes::Bytes::copy_from_slice(bytes));
        let patience = at.patience.all(bytes.len() as u64);
        wait(&self.at.place(&item.path()), patience, async move {
            at.patience.retry(|| at.put(&item, bytes.clone(), mode.clone())).await
        })?
    }
}

impl Source for Files {
    fn name(&self) -> &str {
        &self.at.name
    }

    fn records(&self, wanted: &Wanted) -> Result<Vec<RecordName>, RemoteError> {
        let paths = self.names(&wanted.directory(), &wanted.prefix())?;
        let mut names: Vec<RecordName> = paths.iter().filter_map(|path| wanted.find(path)).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    fn entries(&self) -> Result<Vec<String>, RemoteError> {
        self.names("roots/entry", "")
    }

    fn get(&self, item: &Item, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let (at, path) = (self.at.clone(), item.path());
        wait(&self.at.place(&path), at.patience.all(limit), async move {
            at.patience.retry(|| at.get(&path, limit)).await
        })?
    }

    fn get_all(&self, items: &[Item]) -> Vec<Result<Option<Vec<u8>>, RemoteError>> {
        let (at, asked) = (self.at.clone(), items.to_vec());
        let limit = items.iter().map(Item::limit).max().unwrap_or_default();
        let got = wait(&self.at.name, at.patience.all(limit), async move {
            let at = &at;
            join_all(asked.iter().map(|item| async move {
                let path = item.path();
                at.patience.retry(|| at.get(&path, item.limit())).await
            }))
            .await
        });
        got.unwrap_or_else(|error| items.iter().map(|_| Err(error.clone())).collect())
    }
}

impl Sink for Files {
    fn put_new(&self, item: &Item, bytes: &[u8]) -> Result<bool, RemoteError> {
        self.put_as(item, bytes, PutMode::Create)
    }

    fn put(&self, item: &Item, bytes: &[u8]) -> Result<(), RemoteError> {
        self.put_as(item, bytes, PutMode::Overwrite).map(drop)
    }
}

impl At {
    /// What messages call a path.
    fn place(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    fn path(&self, path: &str) -> Path {
        path.split('/').fold(self.root.clone(), |path, part| path.join(part))
    }

    async fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let got = tokio::time::timeout(self.patience.whole(limit), self.get_slowly(path, limit)).await;
        got.unwrap_or_else(|_| Err(self.slow(path)))
    }

    async fn get_slowly(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        let too_long = || RemoteError::TooLong { place: self.place(path), limit };
        let (at, silence) = (self.path(path), self.patience.silence);
        let asked = self.server.get_opts(&at, GetOptions::default());
        let answer = match tokio::time::timeout(silence, asked).await.map_err(|_| self.slow(path))? {
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed(path, &error)),
            Ok(answer) if answer.meta.size > limit => return Err(too_long()),
            Ok(answer) => answer,
        };
        let expected = answer.meta.size;
        let bytes = match self.patience.gather(limit, answer.into_stream()).await {
            Ok(bytes) => bytes,
            Err(Stopped::Slow) => return Err(self.slow(path)),
            Err(Stopped::TooLong) => return Err(too_long()),
            Err(Stopped::Failed(error)) => return Err(self.failed(path, &error)),
        };
        if (bytes.len() as u64) < expected {
            let reason = format!("it ended after {} bytes of {expected}", bytes.len());
            return Err(RemoteError::Unreachable { place: self.place(path), reason });
        }
        Ok(Some(bytes))
    }

    async fn put(&self, item: &Item, bytes: bytes::Bytes, mode: PutMode) -> Result<bool, RemoteError> {
        let path = item.path();
        let (at, patience) = (self.path(&path), self.patience.whole(bytes.len() as u64));
        let sent = self.server.put_opts(&at, bytes.into(), PutOptions { mode, ..PutOptions::default() });
        match tokio::time::timeout(patience, sent).await.map_err(|_| self.slow(&path))? {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failed(&path, &error)),
        }
    }

    async fn list(&self, directory: &str, prefix: &str) -> Result<Vec<String>, RemoteError> {
        // Of a prefix with a directory only that is listed, since shards may be large.
        let within = prefix.rsplit_once('/').map(|(start, _)| format!("{directory}/{start}"));
        let (root, within) = (self.path(directory), self.path(within.as_deref().unwrap_or(directory)));
        let (mut names, mut found) = (Vec::new(), self.server.list(Some(&within)));
        let silence = self.patience.silence;
        while let Some(item) =
            tokio::time::timeout(silence, found.next()).await.map_err(|_| self.slow(directory))?
        {
            let location = item.map_err(|error| self.failed(directory, &error))?.location;
            let below =
                location.as_ref().strip_prefix(root.as_ref()).map(|path| path.trim_start_matches('/'));
            names.extend(below.filter(|path| path.starts_with(prefix)).map(str::to_owned));
            if names.len() > LISTED {
                let why = format!("it lists more than {LISTED} names");
                return Err(RemoteError::Damaged { place: self.place(directory), why });
            }
        }
        Ok(names)
    }

    fn slow(&self, path: &str) -> RemoteError {
        RemoteError::Unreachable { place: self.place(path), reason: "it is silent, or too slow".to_owned() }
    }

    fn failed(&self, path: &str, error: &Error) -> RemoteError {
        let (place, reason) = (self.place(path), words(error));
        match error {
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                let remedy = if self.lists {
                    "`AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` say who asks; `AWS_SKIP_SIGNATURE=true` asks as nobody"
                } else {
                    "`https://user:password@host/path` says who asks"
                };
                RemoteError::Denied { place, reason, remedy }
            }
            _ => RemoteError::Unreachable { place, reason },
        }
    }
}

/// The header that says who asks.
fn authorization(credentials: &str) -> http::HeaderMap {
    use base64::Engine as _;
    let mut headers = http::HeaderMap::new();
    let value = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(credentials));
    if let Ok(mut value) = http::HeaderValue::from_str(&value) {
        value.set_sensitive(true);
        headers.insert(http::header::AUTHORIZATION, value);
    }
    headers
}
