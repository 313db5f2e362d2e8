//! A server that does what the API says, and, where a test asks for it, what it must not.
//!
//! It is here for its faults. That the client speaks the API as others understand it is seen against BuildGrid
//! (`cargo xtask remotes`).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command as Process;
use std::sync::{Arc, Mutex, MutexGuard};

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream::byte_stream_server::{ByteStream, ByteStreamServer};
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use bazel_remote_apis::google::longrunning::{Operation, operation};
use bazel_remote_apis::google::{protobuf, rpc};
use precast_remote::reapi::Server as Place;
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use tokio::runtime::Runtime;
use tonic::transport::Server as Transport;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Request, Response, Status, Streaming, async_trait};

/// What goes wrong, and how often from now on.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    /// Calls that are refused, by their name: with what, and how often.
    pub(super) refuse: BTreeMap<&'static str, (Code, u32)>,
    /// Blobs that are read come with a byte changed.
    pub(super) lie: u32,
    /// Streams of large blobs that end in the middle.
    pub(super) cut: u32,
    /// Workers that are killed with what they compile.
    pub(super) kill: u32,
    /// Streams of operations that end before the operation.
    pub(super) leave: u32,
    /// Operations that are forgotten by those who come back to them.
    pub(super) forget: bool,
    /// A worker whose tools are others.
    pub(super) other_tools: bool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    pub(super) actions: BTreeMap<String, api::ActionResult>,
    pub(super) faults: Faults,
    /// How often each call was made.
    pub(super) calls: BTreeMap<&'static str, u32>,
    /// The commands that were run.
    pub(super) commands: Vec<api::Command>,
    operations: BTreeMap<String, Operation>,
}

#[derive(Clone, Default)]
struct Service(Arc<Mutex<State>>);

/// A server on the loopback; it ends with the value.
pub(super) struct Server {
    pub(super) place: Place,
    service: Service,
    _runtime: Runtime,
}

type Answer<T> = Result<Response<T>, Status>;
type Stream<T> = tokio_stream::Iter<std::vec::IntoIter<Result<T, Status>>>;

impl Server {
    pub(super) fn start() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        let service = Service::default();
        let router = Transport::builder()
            .add_service(api::capabilities_server::CapabilitiesServer::new(service.clone()))
            .add_service(api::action_cache_server::ActionCacheServer::new(service.clone()))
            .add_service(api::content_addressable_storage_server::ContentAddressableStorageServer::new(
                service.clone(),
            ))
            .add_service(api::execution_server::ExecutionServer::new(service.clone()))
            .add_service(ByteStreamServer::new(service.clone()));
        let incoming = {
            let _inside = runtime.enter();
            TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap()
        };
        let place = format!("grpc://{}/main", incoming.local_addr().unwrap()).parse().unwrap();
        runtime.spawn(router.serve_with_incoming(incoming));
        Self { place, service, _runtime: runtime }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.service.0.lock().unwrap()
    }

    pub(super) fn faults(&self, faults: Faults) {
        let mut state = self.state();
        state.faults = faults;
        state.operations.clear();
    }
}

impl State {
    fn take(count: &mut u32) -> bool {
        let is_left = *count > 0;
        *count = count.saturating_sub(1);
        is_left
    }

    fn put(&mut self, bytes: Vec<u8>) -> api::Digest {
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let size_bytes = bytes.len() as i64;
        self.blobs.insert(hash.clone(), bytes);
        api::Digest { hash, size_bytes }
    }

    fn read(&mut self, hash: &str) -> Option<Vec<u8>> {
        let mut bytes = self.blobs.get(hash)?.clone();
        if !bytes.is_empty() && Self::take(&mut self.faults.lie) {
            bytes[0] ^= 1;
        }
        Some(bytes)
    }
}

impl Service {
    /// Counts a call, and refuses it where that is asked for.
    fn called(&self, name: &'static str) -> Result<MutexGuard<'_, State>, Status> {
        let mut state = self.0.lock().unwrap();
        *state.calls.entry(name).or_default() += 1;
        if let Some((code, left)) = state.faults.refuse.get_mut(name)
            && State::take(left)
        {
            return Err(Status::new(*code, "as the test asks"));
        }
        Ok(state)
    }
}

#[async_trait]
impl api::capabilities_server::Capabilities for Service {
    async fn get_capabilities(
        &self,
        _: Request<api::GetCapabilitiesRequest>,
    ) -> Answer<api::ServerCapabilities> {
        drop(self.called("capabilities")?);
        Ok(Response::new(api::ServerCapabilities::default()))
    }
}

#[async_trait]
impl api::action_cache_server::ActionCache for Service {
    async fn get_action_result(
        &self,
        request: Request<api::GetActionResultRequest>,
    ) -> Answer<api::ActionResult> {
        let state = self.called("get action")?;
        let hash = request.into_inner().action_digest.unwrap().hash;
        state.actions.get(&hash).cloned().map(Response::new).ok_or_else(|| Status::not_found("none"))
    }

    async fn update_action_result(
        &self,
        request: Request<api::UpdateActionResultRequest>,
    ) -> Answer<api::ActionResult> {
        let mut state = self.called("update action")?;
        let request = request.into_inner();
        let result = request.action_result.unwrap();
        for file in &result.output_files {
            let digest = file.digest.as_ref().unwrap();
            assert!(state.blobs.contains_key(&digest.hash), "a result before its `{}`", file.path);
        }
        state.actions.insert(request.action_digest.unwrap().hash, result.clone());
        Ok(Response::new(result))
    }
}

#[async_trait]
impl api::content_addressable_storage_server::ContentAddressableStorage for Service {
    type GetTreeStream = Stream<api::GetTreeResponse>;
    type GetChunkMappingStream = Stream<api::GetChunkMappingResponse>;

    async fn find_missing_blobs(
        &self,
        request: Request<api::FindMissingBlobsRequest>,
    ) -> Answer<api::FindMissingBlobsResponse> {
        let state = self.called("find missing")?;
        let asked = request.into_inner().blob_digests.into_iter();
        let missing_blob_digests = asked.filter(|digest| !state.blobs.contains_key(&digest.hash)).collect();
        Ok(Response::new(api::FindMissingBlobsResponse { missing_blob_digests }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<api::BatchUpdateBlobsRequest>,
    ) -> Answer<api::BatchUpdateBlobsResponse> {
        let mut state = self.called("update blobs")?;
        let stored = request.into_inner().requests.into_iter().map(|blob| {
            let digest = state.put(blob.data);
            assert_eq!(Some(&digest), blob.digest.as_ref());
            api::batch_update_blobs_response::Response { digest: Some(digest), status: None }
        });
        let responses = stored.collect();
        Ok(Response::new(api::BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<api::BatchReadBlobsRequest>,
    ) -> Answer<api::BatchReadBlobsResponse> {
        let mut state = self.called("read blobs")?;
        let found = request.into_inner().digests.into_iter().map(|digest| {
            let data = state.read(&digest.hash);
            let code = if data.is_some() { Code::Ok } else { Code::NotFound };
            api::batch_read_blobs_response::Response {
                digest: Some(digest),
                data: data.unwrap_or_default(),
                status: Some(rpc::Status { code: code as i32, ..rpc::Status::default() }),
                ..Default::default()
            }
        });
        let responses = found.collect();
        Ok(Response::new(api::BatchReadBlobsResponse { responses }))
    }

    async fn get_tree(&self, _: Request<api::GetTreeRequest>) -> Answer<Self::GetTreeStream> {
        Err(Status::unimplemented("nobody asks"))
    }

    async fn split_blob(&self, _: Request<api::SplitBlobRequest>) -> Answer<api::SplitBlobResponse> {
        Err(Status::unimplemented("nobody asks"))
    }

    async fn get_chunk_mapping(
        &self,
        _: Request<api::GetChunkMappingRequest>,
    ) -> Answer<Self::GetChunkMappingStream> {
        Err(Status::unimplemented("nobody asks"))
    }

    async fn splice_blob(&self, _: Request<api::SpliceBlobRequest>) -> Answer<api::SpliceBlobResponse> {
        Err(Status::unimplemented("nobody asks"))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<api::RegisterChunkMappingRequest>>,
    ) -> Answer<api::RegisterChunkMappingResponse> {
        Err(Status::unimplemented("nobody asks"))
    }
}

#[async_trait]
impl ByteStream for Service {
    type ReadStream = Stream<ReadResponse>;

    async fn read(&self, request: Request<ReadRequest>) -> Answer<Self::ReadStream> {
        let mut state = self.called("read stream")?;
        let resource = request.into_inner().resource_name;
        let hash = resource.strip_prefix("main/blobs/").unwrap().split('/').next().unwrap();
        let bytes = state.read(hash).ok_or_else(|| Status::not_found("no such blob"))?;
        let mut chunks: Vec<_> =
            bytes.chunks(1 << 16).map(|data| Ok(ReadResponse { data: data.to_vec() })).collect();
        if State::take(&mut state.faults.cut) {
            chunks.truncate(chunks.len() / 2);
        }
        Ok(Response::new(tokio_stream::iter(chunks)))
    }

    async fn write(&self, request: Request<Streaming<WriteRequest>>) -> Answer<WriteResponse> {
        drop(self.called("write stream")?);
        let mut stream = request.into_inner();
        let (mut bytes, mut name, mut is_whole) = (Vec::new(), String::new(), false);
        while let Some(part) = stream.message().await? {
            assert_eq!(part.write_offset, bytes.len() as i64);
            name = if part.resource_name.is_empty() { name } else { part.resource_name };
            bytes.extend(part.data);
            is_whole = part.finish_write;
        }
        let digest = self.0.lock().unwrap().put(bytes);
        let end = format!("/blobs/{}/{}", digest.hash, digest.size_bytes);
        assert!(is_whole && name.starts_with("main/uploads/") && name.ends_with(&end), "{name}");
        Ok(Response::new(WriteResponse { committed_size: digest.size_bytes }))
    }

    async fn query_write_status(
        &self,
        _: Request<QueryWriteStatusRequest>,
    ) -> Answer<QueryWriteStatusResponse> {
        Err(Status::unimplemented("nobody asks"))
    }
}

#[async_trait]
impl api::execution_server::Execution for Service {
    type ExecuteStream = Stream<Operation>;
    type WaitExecutionStream = Stream<Operation>;

    async fn execute(&self, request: Request<api::ExecuteRequest>) -> Answer<Self::ExecuteStream> {
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
    /// Executes an action, or finds its result.
    fn done(&self, digest: &api::Digest, anew: bool) -> Result<Operation, Status> {
        let known = self.0.lock().unwrap().actions.get(&digest.hash).cloned().filter(|_| !anew);
        let (result, cached_result) = match known {
            Some(result) => (result, true),
            None => (self.run(digest)?, false),
        };
        let response =
            api::ExecuteResponse { result: Some(result), cached_result, ..api::ExecuteResponse::default() };
        let any = protobuf::Any { type_url: String::new(), value: response.encode_to_vec() };
        let result = Some(operation::Result::Response(any));
        Ok(Operation { name: format!("operations/{}", digest.hash), done: true, result, metadata: None })
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
