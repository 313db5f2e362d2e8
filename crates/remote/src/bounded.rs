//! The HTTP client of buckets and web servers. It limits the length of responses and keeps credentials out of redirects.
//!
//! The caller limits the length of a fetched file. Errors, lists and responses to uploads are limited here. A
//! redirect to another origin is sent without the headers that identify the sender: `Authorization`, cookies,
//! and all `x-amz-` headers. The latter include S3's session token and keys. A redirect from an encrypted URL to
//! an unencrypted one is rejected.

use std::time::Duration;

use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, LOCATION, PROXY_AUTHORIZATION};
use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use object_store::ClientOptions;
use object_store::client::{
    ClientConfigKey, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::Url;

/// The maximum length of a list page or a response to an upload, in bytes. A bucket lists a thousand names per page.
const ANSWER: usize = 16 << 20;

/// The maximum length of an error body, in bytes.
const ERROR: usize = 64 << 10;

/// The maximum number of redirects.
const REDIRECTS: usize = 10;

/// Connector for buckets and web servers.
#[derive(Debug)]
pub(crate) struct Bounded {
    /// The connection timeout.
    pub(crate) connection: Duration,
    /// Headers that authenticate the sender, for the first origin only.
    pub(crate) headers: HeaderMap,
}

#[derive(Debug)]
struct Service {
    client: reqwest::Client,
    headers: HeaderMap,
}

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let allows_http = options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
        let client = reqwest::Client::builder()
            .user_agent(concat!("precast/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connection)
            .redirect(reqwest::redirect::Policy::none())
            .https_only(!allows_http)
            .dns_resolver(crate::wait::Names)
            .http1_only()
            .build();
        let failed = |error| object_store::Error::Generic { store: "HTTP", source: Box::new(error) };
        Ok(HttpClient::new(Service { client: client.map_err(failed)?, headers: self.headers.clone() }))
    }
}

#[async_trait::async_trait]
impl HttpService for Service {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        request.headers_mut().extend(self.headers.clone());
        for _ in 0..REDIRECTS {
            let asked = request.clone();
            let answer = self.client.call(request).await?;
            match redirected(asked, &answer)? {
                Ok(next) => request = next,
                Err(asked) => return Ok(bounded(&asked, answer)),
            }
        }
        Err(refused("too many redirects"))
    }
}

fn refused(why: &'static str) -> HttpError {
    HttpError::new_boxed(HttpErrorKind::Decode, why.into())
}

/// Returns the request to send next if the response redirects a request that only reads,
/// else returns the request in `Err`.
fn redirected(
    mut asked: HttpRequest,
    answer: &HttpResponse,
) -> Result<Result<HttpRequest, HttpRequest>, HttpError> {
    let redirects = [
        StatusCode::MOVED_PERMANENTLY,
        StatusCode::FOUND,
        StatusCode::SEE_OTHER,
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    ];
    let reads = matches!(*asked.method(), Method::GET | Method::HEAD);
    let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let Some(location) = location.filter(|_| reads && redirects.contains(&answer.status())) else {
        return Ok(Err(asked));
    };
    let wrong = || refused("redirect to an invalid URL");
    let from: Url = asked.uri().to_string().parse().map_err(|_| wrong())?;
    let to = from.join(location).map_err(|_| wrong())?;
    if from.scheme() == "https" && to.scheme() != "https" {
        return Err(refused("redirect to an unencrypted URL"));
    }
    if from.origin() != to.origin() {
        forget_who_asks(asked.headers_mut());
    }
    *asked.uri_mut() = to.as_str().parse().map_err(|_| wrong())?;
    Ok(Ok(asked))
}

fn forget_who_asks(headers: &mut HeaderMap) {
    let is_secret = |name: &http::HeaderName| {
        [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, HOST].contains(name)
            || name.as_str().starts_with("x-amz-")
    };
    let secret: Vec<_> = headers.keys().filter(|name| is_secret(name)).cloned().collect();
    secret.iter().for_each(|name| drop(headers.remove(name)));
}

fn bounded(asked: &HttpRequest, answer: HttpResponse) -> HttpResponse {
    let is_list = asked.uri().query().is_some_and(|query| query.contains("list-type="));
    let limit = match answer.status() {
        status if !status.is_success() => ERROR,
        _ if asked.method() == Method::GET && !is_list => return answer,
        _ => ANSWER,
    };
    let failed = |error| HttpError::new_boxed(HttpErrorKind::Decode, error);
    answer.map(|body| HttpResponseBody::new(Limited::new(body, limit).map_err(failed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_stay_with_their_origin() {
        let next = |to: &str| {
            let asked = http::Request::get("https://bucket.example:443/key")
                .header("authorization", "AWS4")
                .header("x-amz-security-token", "secret")
                .header("range", "bytes=0-1")
                .body(object_store::client::HttpRequestBody::empty());
            let answer = http::Response::builder().status(302).header("location", to);
            let body = HttpResponseBody::new(http_body_util::Empty::new().map_err(|never| match never {}));
            redirected(asked.unwrap(), &answer.body(body).unwrap()).map(|next| next.ok().unwrap())
        };
        let names =
            |to: &str| next(to).unwrap().headers().keys().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names("https://cdn.example/key"), ["range"]);
        assert_eq!(names("https://bucket.example:444/key"), ["range"]);
        assert_eq!(names("/other").len(), 3);
        assert!(next("http://bucket.example/key").is_err());
    }
}
