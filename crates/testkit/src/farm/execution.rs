//! Executes actions, each as a process of this machine, in a directory with its inputs.

use std::path::Path;
use std::process::Command as Process;

use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::{protobuf, rpc};
use prost::Message as _;
use tonic::{Code, Request, Response, Status, async_trait};

use super::{Answer, Service, State, Stream, api};

#[async_trait]
impl api::execution_server::Execution for Service {
    type ExecuteStream = Stream<Operation>;
    type WaitExecutionStream = Stream<Operation>;

    async fn execute(&self, request: Request<api::ExecuteRequest>) -> Answer<Self::ExecuteStream> {
        self.answer("execute").await;
        drop(self.called("execute")?);
        let request = request.into_inner();
        let (digest, anew) = (request.action_digest.unwrap(), request.skip_cache_lookup);
        let service = self.clone();
        let done = tokio::task::spawn_blocking(move || service.done(&digest, anew)).await.unwrap()?;
        let begun = Operation { name: done.name.clone(), ..Operation::default() };
        let mut state = self.0.lock().unwrap();
        let mut parts = vec![Ok(begun), Ok(done.clone())];
        if State::take(&mut state.faults.leave) {
            parts.pop();
            if !state.faults.forget {
                state.operations.insert(done.name.clone(), done);
            }
        }
        Ok(Response::new(tokio_stream::iter(parts)))
    }

    async fn wait_execution(
        &self,
        request: Request<api::WaitExecutionRequest>,
    ) -> Answer<Self::WaitExecutionStream> {
        let state = self.called("wait")?;
        let operation = state.operations.get(&request.into_inner().name).cloned();
        let operation = operation.ok_or_else(|| Status::not_found("no such operation"))?;
        Ok(Response::new(tokio_stream::iter(vec![Ok(operation)])))
    }
}

impl Service {
    /// Executes an action, or finds its cached result.
    fn done(&self, digest: &api::Digest, anew: bool) -> Result<Operation, Status> {
        let known = self.0.lock().unwrap().actions.get(&digest.hash).cloned().filter(|_| !anew);
        let (result, cached_result) = match known {
            Some(result) => (result, true),
            None => {
                self.spend()?;
                (self.run(digest)?, false)
            }
        };
        let is_late = !cached_result && State::take(&mut self.0.lock().unwrap().faults.late);
        let status = is_late.then(|| rpc::Status {
            code: Code::DeadlineExceeded as i32,
            message: "the action was stopped".to_owned(),
            ..rpc::Status::default()
        });
        let response = api::ExecuteResponse {
            result: Some(result),
            cached_result,
            status,
            ..api::ExecuteResponse::default()
        };
        let any = protobuf::Any { type_url: String::new(), value: response.encode_to_vec() };
        let result = Some(operation::Result::Response(any));
        Ok(Operation { name: format!("operations/{}", digest.hash), done: true, result, metadata: None })
    }

    /// Uses up a part of the quota, if there is one.
    fn spend(&self) -> Result<(), Status> {
        let left = &mut self.0.lock().unwrap().faults.quota;
        if left.as_mut().is_none_or(State::take) {
            return Ok(());
        }
        Err(Status::resource_exhausted("the quota of this month"))
    }

    fn blob(&self, digest: Option<&api::Digest>) -> Result<Vec<u8>, Status> {
        let found = self.0.lock().unwrap().blobs.get(&digest.unwrap().hash).cloned();
        found.ok_or_else(|| Status::failed_precondition("an input is missing"))
    }

    fn run(&self, digest: &api::Digest) -> Result<api::ActionResult, Status> {
        let action = api::Action::decode(&*self.blob(Some(digest))?).unwrap();
        let command = api::Command::decode(&*self.blob(action.command_digest.as_ref())?).unwrap();
        let root = tempfile::tempdir().unwrap();
        self.unpack(action.input_root_digest.as_ref(), root.path())?;
        let variables = command.environment_variables.iter().map(|one| (&one.name, &one.value));
        let mut process = Process::new(&command.arguments[0]);
        process.args(&command.arguments[1..]).env_clear().envs(variables).current_dir(root.path());
        let ended = process.output().unwrap();
        let mut state = self.0.lock().unwrap();
        let mut exit_code = ended.status.code().unwrap();
        let mut stdout_raw = ended.stdout;
        let is_question = command.arguments[0] == "sha256sum";
        if is_question && state.faults.other_tools {
            stdout_raw[0] = if stdout_raw[0] == b'0' { b'1' } else { b'0' };
        }
        if !is_question && State::take(&mut state.faults.kill) {
            exit_code = 137;
        }
        let mut output_files = Vec::new();
        for path in &command.output_paths {
            if let Ok(bytes) = fs_err::read(root.path().join(path)) {
                let digest = Some(state.put(bytes));
                output_files.push(api::OutputFile { path: path.clone(), digest, ..Default::default() });
            }
        }
        state.commands.push(command);
        let stderr_digest = Some(state.put(ended.stderr));
        let result =
            api::ActionResult { output_files, exit_code, stdout_raw, stderr_digest, ..Default::default() };
        if exit_code == 0 && !action.do_not_cache {
            state.actions.insert(digest.hash.clone(), result.clone());
        }
        Ok(result)
    }

    fn unpack(&self, digest: Option<&api::Digest>, to: &Path) -> Result<(), Status> {
        let directory = api::Directory::decode(&*self.blob(digest)?).unwrap();
        assert!(directory.files.is_sorted_by_key(|file| &file.name), "the one form has names in order");
        for file in &directory.files {
            fs_err::write(to.join(&file.name), self.blob(file.digest.as_ref())?).unwrap();
        }
        for below in &directory.directories {
            fs_err::create_dir(to.join(&below.name)).unwrap();
            self.unpack(below.digest.as_ref(), &to.join(&below.name))?;
        }
        Ok(())
    }
}
