//! A store directory in a bucket or on a web server.
//!
//! Buckets can list names. Web servers cannot, so `precast index` writes lists next to the store when it is copied
//! there (`index/`, in the store's FORMAT.md). A name missing from a list is not found, and an artifact found through a
//! list is verified like any other.

use std::sync::Arc;

use futures_util::future::join_all;
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, Error, GetOptions, ObjectStore, PutMode, PutOptions, RetryConfig};
use precast_store::remote::{Item, RecordName, RemoteError, Sink, Source, Wanted};

use crate::bounded::Bounded;
use crate::gather::Stopped;
use crate::lists::Lists;
use crate::url::RemoteUrl;
use crate::wait::wait;
use crate::{OpenRemoteError, Patience, words};

/// A bucket or a web server with a store directory.
#[derive(Debug)]
pub struct Files {
    pub(crate) at: At,
    /// The cached lists of names.
    pub(crate) lists: Lists,
}

/// The parts of [`Files`] that an asynchronous task needs for a request.
#[derive(Debug, Clone)]
pub(crate) struct At {
    pub(crate) name: Arc<str>,
    pub(crate) server: Arc<dyn ObjectStore>,
    pub(crate) root: Path,
    /// Whether the server can list names.
    pub(crate) lists: bool,
    /// Whether names are listed in order. All buckets do this except directory buckets.
    pub(crate) sorts: bool,
    pub(crate) patience: Patience,
}

impl Files {
    /// Opens a bucket or a web server without connecting to it.
    ///
    /// The credentials, region and endpoint of a bucket are read from the environment: `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `AWS_ALLOW_HTTP`, `AWS_SKIP_SIGNATURE` and
    /// similar variables. Credentials in a URL are sent without encryption only to this machine, or if
    /// `PRECAST_ALLOW_HTTP` is `true`.
    ///
    /// # Errors
    ///
    /// The URL names neither a bucket nor a web server, a variable that configures the bucket is invalid, or
    /// credentials would be sent without encryption.
    pub fn open(place: &RemoteUrl, patience: Patience) -> Result<Self, OpenRemoteError> {
        crate::tls::provide();
        let name = place.to_string();
        let refused = |source: Error| OpenRemoteError::Transport { place: name.clone(), why: words(&source) };
        // Retries and delays are handled here, so that a truncated body counts as a failure like any other.
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let options = |allow_http| {
            let options = ClientOptions::new().with_timeout_disabled();
            options.with_connect_timeout(patience.connection).with_allow_http(allow_http)
        };
        let connector = |headers| Bounded { connection: patience.connection, headers };
        let (server, root, lists): (Arc<dyn ObjectStore>, _, _) = match place {
            RemoteUrl::S3 { bucket, prefix } => {
                let bucket = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
                let bucket = bucket.with_http_connector(connector(http::HeaderMap::new()));
                let server = bucket.with_client_options(options(is_allowed("AWS_ALLOW_HTTP")));
                let server = server.build().map_err(refused)?;
                (Arc::new(server), Path::from(prefix.as_str()), true)
            }
            RemoteUrl::Http { url, credentials } => {
                let is_exposed = credentials.is_some() && !place.is_private();
                if is_exposed && !is_allowed("PRECAST_ALLOW_HTTP") {
                    return Err(OpenRemoteError::Exposed { place: name });
                }
                let headers = credentials.as_deref().map(authorization).unwrap_or_default();
                let server = HttpBuilder::new().with_url(url).with_retry(retry);
                let server = server.with_client_options(options(url.starts_with("http://")));
                let server = server.with_http_connector(connector(headers));
                (Arc::new(server.build().map_err(refused)?), Path::default(), false)
            }
            _ => return Err(OpenRemoteError::NotFiles { place: name }),
        };
        // The names of directory buckets have this suffix.
        let sorts = !matches!(place, RemoteUrl::S3 { bucket, .. } if bucket.ends_with("--x-s3"));
        let at = At { name: name.into(), server, root, lists, sorts, patience };
        Ok(Self { at, lists: Lists::default() })
    }

    fn put_as(&self, item: &Item, bytes: &[u8], mode: PutMode) -> Result<bool, RemoteError> {
        if !self.at.lists {
            return Err(RemoteError::Denied {
                place: self.at.name.to_string(),
                reason: "web servers are read-only".to_owned(),
                remedy: "copy the store to the server's directory, and write its lists with `precast index`",
            });
        }
        let (at, item, bytes) = (self.at.clone(), item.clone(), bytes::Bytes::copy_from_slice(bytes));
        let patience = at.patience.all(bytes.len() as u64);
        let put = wait(&self.at.place(&item.path()), patience, async move {
            at.patience.retry(|| at.put(&item, bytes.clone(), mode.clone())).await
        })?;
        self.lists.forget();
        put
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
    /// Returns the name of a path for messages.
    pub(crate) fn place(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    pub(crate) fn path(&self, path: &str) -> Path {
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
            Err(Stopped::Held(error)) => {
                return Err(RemoteError::Here { place: self.place(path), reason: error.to_string() });
            }
            Err(Stopped::Failed(error)) => return Err(self.failed(path, &error)),
        };
        if (bytes.len() as u64) < expected {
            let reason = format!("truncated after {} of {expected} bytes", bytes.len());
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

    pub(crate) fn slow(&self, path: &str) -> RemoteError {
        RemoteError::Unreachable { place: self.place(path), reason: "no response, or too slow".to_owned() }
    }

    pub(crate) fn failed(&self, path: &str, error: &Error) -> RemoteError {
        let (place, reason) = (self.place(path), words(error));
        match error {
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                let remedy = if self.lists {
                    "set credentials in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or set \
                     `AWS_SKIP_SIGNATURE=true` for anonymous access"
                } else {
                    "put credentials into the URL: `https://user:password@host/path`"
                };
                RemoteError::Denied { place, reason, remedy }
            }
            // Servers that store objects as files limit the length of names.
            _ => {
                let length = self.path(path).as_ref().len();
                RemoteError::Unreachable { place, reason: format!("{reason} (the key has {length} bytes)") }
            }
        }
    }
}

/// Returns whether an environment variable is set to `true`.
fn is_allowed(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "true")
}

/// Returns the `Authorization` header for credentials.
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
