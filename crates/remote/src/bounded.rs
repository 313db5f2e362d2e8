//! What a transport reads whole is bounded here: errors, lists and answers to what was sent. What is fetched is bounded by who asks.

use http_body_util::{BodyExt as _, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};

/// Longest page of a list, or answer to what was sent, in bytes: a bucket lists a thousand names a page.
const ANSWER: usize = 16 << 20;

/// Longest text of an error, in bytes.
const ERROR: usize = 64 << 10;

/// Connects as object_store does.
#[derive(Debug, Default)]
pub(crate) struct Bounded(ReqwestConnector);

#[derive(Debug)]
struct Service(HttpClient);

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service(self.0.connect(options)?)))
    }
}

#[async_trait::async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_list = request.uri().query().is_some_and(|query| query.contains("list-type="));
        let is_fetched = request.method() == http::Method::GET && !is_list;
        let answer = self.0.execute(request).await?;
        let limit = match answer.status() {
            status if !status.is_success() => ERROR,
            _ if is_fetched => return Ok(answer),
            _ => ANSWER,
        };
        let failed = |error| HttpError::new_boxed(HttpErrorKind::Decode, error);
        Ok(answer.map(|body| HttpResponseBody::new(Limited::new(body, limit).map_err(failed))))
    }
}
