//! Stores results of actions, and blobs.

use bazel_remote_apis::google::bytestream::byte_stream_server::ByteStream;
use bazel_remote_apis::google::bytestream::{
    QueryWriteStatusRequest, QueryWriteStatusResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use bazel_remote_apis::google::rpc;
use tonic::{Code, Request, Response, Status, Streaming, async_trait};

use super::{Answer, Service, State, Stream, api};

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
        self.answer("find missing").await;
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
