//! Follows one action, from the queue to its result.

use std::time::{Duration, Instant};

use bazel_remote_apis::google::longrunning::{Operation, operation};
use prost::Message as _;
use tonic::{Code, Status};

use super::api::execution_client::ExecutionClient;
use super::api::{ActionResult, ExecuteRequest, ExecuteResponse, WaitExecutionRequest};
use super::connection::{CallError, Connection, passes};
use super::digest::Name;

/// The operation's name in messages.
const WHAT: &str = "run the compiler remotely";

/// The first exit code that stands for a signal.
const SIGNAL: i32 = 128;

impl Connection {
    /// Executes an action once, or returns a cached result of the farm if the caller allows that.
    pub(super) async fn execute(
        &self,
        action: &Name,
        anew: bool,
        limit: Duration,
    ) -> Result<(ActionResult, bool), CallError> {
        let ended = tokio::time::timeout(limit, self.known(action, anew)).await;
        let late = |_| Err(Status::deadline_exceeded(format!("no result within {limit:?}")));
        let operation = ended.unwrap_or_else(late).map_err(CallError::refused(WHAT))?;
        let response = match operation.result {
            Some(operation::Result::Response(any)) => ExecuteResponse::decode(&*any.value).ok(),
            Some(operation::Result::Error(error)) => return Err(refused(error.code, error.message)),
            None => None,
        };
        let response = response.ok_or_else(|| CallError::wrong("an operation without a response"))?;
        if let Some(status) = response.status.filter(|status| status.code != 0) {
            if status.code == Code::DeadlineExceeded as i32 {
                return Err(CallError::Late);
            }
            return Err(refused(status.code, status.message));
        }
        let result = response.result.ok_or_else(|| CallError::wrong("a response without a result"))?;
        if result.exit_code < 0 || result.exit_code >= SIGNAL {
            let how = format!("killed, with exit code {}", result.exit_code);
            return Err(refused(Code::Aborted as i32, how));
        }
        Ok((result, response.cached_result))
    }

    /// Follows an action until it is done; retries once if a helper may return better credentials.
    async fn known(&self, action: &Name, anew: bool) -> Result<Operation, Status> {
        let began = Instant::now();
        match self.operation(action, anew).await {
            Err(status) if self.may_be_known(&status, began).await => self.operation(action, anew).await,
            ended => ended,
        }
    }

    /// Follows an action until it is done. A stream that breaks earlier is resumed.
    async fn operation(&self, action: &Name, anew: bool) -> Result<Operation, Status> {
        let mut client = ExecutionClient::new(self.channel().await?);
        let request = ExecuteRequest {
            instance_name: self.instance(),
            skip_cache_lookup: anew,
            action_digest: Some(action.digest()),
            ..ExecuteRequest::default()
        };
        let mut stream = client.execute(request).await?.into_inner();
        let (mut name, mut broken) = (String::new(), 0);
        loop {
            let status = match stream.message().await {
                Ok(Some(operation)) if operation.done => return Ok(operation),
                Ok(Some(operation)) => {
                    (name, broken) = (operation.name, 0);
                    continue;
                }
                Ok(None) => Status::unavailable("the stream ended before the operation"),
                Err(status) => status,
            };
            broken += 1;
            if name.is_empty() || !passes(status.code()) || broken >= self.patience.tries {
                return Err(status);
            }
            self.pause(broken, "interrupted stream").await;
            let request = WaitExecutionRequest { name: name.clone() };
            // The credentials may have changed by now.
            let mut client = ExecutionClient::new(self.channel().await?);
            stream = match client.wait_execution(request).await {
                Ok(stream) => stream.into_inner(),
                // The server has forgotten the operation, or does not support waiting.
                Err(status) if matches!(status.code(), Code::NotFound | Code::Unimplemented) => {
                    return Err(Status::aborted(status.message()));
                }
                Err(status) => return Err(status),
            };
        }
    }
}

fn refused(code: i32, message: String) -> CallError {
    CallError::Refused { what: WHAT, code: Code::from(code), message }
}
