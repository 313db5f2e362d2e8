//! Requests to a registry: authentication, the recipients of credentials, and size limits of responses.
//!
//! ```text
//! request ─▶ registry ─▶ 401, `Bearer realm=…` ─▶ token (`token.rs`) ─▶ the request again
//! ```
//! Tokens go only to the registry's own origin; passwords go there and to its token server (`token.rs`). An upload or
//! a redirect to another host carries no credentials. Every body has a size limit, including the bodies of errors.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, StatusCode};
use oci_client::errors::{OciEnvelope, OciErrorCode};
use precast_store::remote::RemoteError;
use reqwest::{Response, Url};

use super::At;
use crate::gather::Stopped;
use crate::{Patience, shortened, words};

/// The maximum size of an error text or of a token server's response, in bytes.
pub(super) const SHORT: u64 = 64 << 10;

/// The purpose of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Pull,
    Push,
}

/// Returns the HTTP client of a registry.
pub(super) fn client(patience: Patience) -> reqwest::Result<reqwest::Client> {
    let client = reqwest::Client::builder().user_agent(concat!("precast/", env!("CARGO_PKG_VERSION")));
    client
        .connect_timeout(patience.connection)
        .read_timeout(patience.silence)
        .dns_resolver(crate::wait::Names)
        .build()
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    pub(super) fn new(method: Method, url: Url) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(super) fn accept(mut self, kind: &'static str) -> Self {
        self.headers.insert(ACCEPT, HeaderValue::from_static(kind));
        self
    }

    pub(super) fn body(mut self, kind: &'static str, body: Bytes) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        self.body = body;
        self
    }
}

impl At {
    /// Returns the URL of a path of the repository.
    pub(super) fn url(&self, path: &str) -> Result<Url, RemoteError> {
        let path = format!("/v2/{}/{path}", self.reference.repository());
        self.origin.join(&path).map_err(|error| self.damaged(error.to_string()))
    }

    /// Sends a request. If the registry asks for a token, gets one and sends the request again.
    pub(super) async fn send(&self, request: Request, purpose: Purpose) -> Result<Response, RemoteError> {
        let token = self.tokens.lock().await.get(&purpose).cloned();
        let answer = self.send_with(&request, token.as_deref()).await?;
        if answer.status() != StatusCode::UNAUTHORIZED || !self.is_own(&request.url) {
            return Ok(answer);
        }
        let challenges: Vec<HeaderValue> =
            answer.headers().get_all(WWW_AUTHENTICATE).iter().cloned().collect();
        match self.authorize(&challenges, purpose, token).await? {
            Some(other) => self.send_with(&request, Some(&other)).await,
            None => Ok(answer),
        }
    }

    async fn send_with(&self, request: &Request, token: Option<&str>) -> Result<Response, RemoteError> {
        let ask = self.client.request(request.method.clone(), request.url.clone());
        let ask = ask.headers(request.headers.clone());
        let ask = match (token, &self.login) {
            _ if !self.is_own(&request.url) => ask,
            (Some(token), _) => ask.bearer_auth(token),
            (None, Some(login)) => ask.basic_auth(&login.name, Some(&login.password)),
            (None, None) => ask,
        };
        let ask = if request.body.is_empty() { ask } else { ask.body(request.body.clone()) };
        let patience =
            self.patience.silence + self.patience.whole(request.body.len() as u64) - self.patience.whole(0);
        let sent = tokio::time::timeout(patience, ask.send()).await.map_err(|_| self.slow())?;
        sent.map_err(|error| self.unreachable(words(&error)))
    }

    fn is_own(&self, url: &Url) -> bool {
        url.origin() == self.origin.origin()
    }

    /// Returns the URL in the `Location` header; fails if it leads from an encrypted origin to an unencrypted one.
    pub(super) fn location(&self, answer: &Response) -> Result<Url, RemoteError> {
        let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let url = location.and_then(|location| answer.url().join(location).ok());
        let url = url.ok_or_else(|| self.damaged("the registry returned no upload location for a blob"))?;
        if self.origin.scheme() == "https" && url.scheme() != "https" {
            let why = "the registry redirected a blob upload to an unencrypted URL".to_owned();
            return Err(RemoteError::Foreign { place: self.place.clone(), why });
        }
        Ok(url)
    }

    /// Reads the body of a response, of at most `limit` bytes.
    pub(super) async fn body(&self, answer: Response, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let parts = Box::pin(answer.bytes_stream());
        self.patience.gather(limit, parts).await.map_err(|stopped| self.stopped(stopped, limit))
    }

    pub(super) fn stopped(&self, stopped: Stopped<reqwest::Error>, limit: u64) -> RemoteError {
        let place = self.place.clone();
        match stopped {
            Stopped::Slow => self.slow(),
            Stopped::TooLong => RemoteError::TooLong { place, limit },
            Stopped::Held(error) => RemoteError::Here { place, reason: error.to_string() },
            Stopped::Failed(error) => self.unreachable(words(&error)),
        }
    }

    /// Turns an unsuccessful response into an error. The body is read up to the limit of error texts, for the codes
    /// in it.
    pub(super) async fn refused(&self, answer: Response) -> RemoteError {
        let status = answer.status();
        let reason = format!("HTTP status {}", status.as_u16());
        match status {
            StatusCode::NOT_FOUND => RemoteError::NoRelease { place: self.place.clone() },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => self.denied(reason),
            status if !status.is_client_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                self.unreachable(reason)
            }
            _ => {
                let said = self.body(answer, SHORT).await.unwrap_or_default();
                self.said(&said).unwrap_or_else(|| self.unreachable(reason))
            }
        }
    }

    /// Returns the error in a response body that follows the form of the specification.
    fn said(&self, body: &[u8]) -> Option<RemoteError> {
        let said = serde_json::from_slice::<OciEnvelope>(body).ok()?;
        let is = |codes: &[OciErrorCode]| said.errors.iter().any(|error| codes.contains(&error.code));
        let text: Vec<String> = said.errors.iter().map(ToString::to_string).collect();
        let why = shortened(&text.join("; "));
        let place = self.place.clone();
        Some(match () {
            () if is(&[OciErrorCode::Unauthorized, OciErrorCode::Denied]) => self.denied(why),
            () if is(&[OciErrorCode::Toomanyrequests]) => self.unreachable(why),
            () => RemoteError::Foreign { place, why },
        })
    }
}
