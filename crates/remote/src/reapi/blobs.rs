//! Content-addressed storage: small blobs are sent in batches, each large one in a separate stream.

use std::collections::BTreeSet;

use bazel_remote_apis::google::bytestream::byte_stream_client::ByteStreamClient;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest};
use bazel_remote_apis::google::rpc;
use tonic::{Code, Status};

use super::api::content_addressable_storage_client::ContentAddressableStorageClient;
use super::api::{
    BatchReadBlobsRequest, BatchUpdateBlobsRequest, FindMissingBlobsRequest, batch_update_blobs_request,
};
use super::connection::{CallError, Connection};
use super::digest::Name;
use super::tree::Blobs;

/// The maximum number of blob bytes in one message: gRPC's own limit is 4 MiB, which includes names.
const BATCH: u64 = 3 << 20;

/// The maximum number of blobs in one message.
const COUNT: usize = 2000;

/// The number of bytes of a large blob in one message.
const CHUNK: usize = 1 << 20;

impl Connection {
    /// Returns the blobs that the server does not have.
    pub(super) async fn missing(&self, names: &[Name]) -> Result<BTreeSet<Name>, CallError> {
        let mut missing = BTreeSet::new();
        for names in names.chunks(COUNT) {
            let request = FindMissingBlobsRequest {
                instance_name: self.instance(),
                blob_digests: names.iter().map(Name::digest).collect(),
                ..FindMissingBlobsRequest::default()
            };
            let asked = self.call("query missing blobs", async || {
                ContentAddressableStorageClient::new(self.channel().await?)
                    .find_missing_blobs(request.clone())
                    .await
            });
            let digests = asked.await?.into_inner().missing_blob_digests;
            for digest in &digests {
                let name = Name::read(Some(digest)).filter(|name| names.contains(name));
                missing.insert(name.ok_or_else(|| CallError::wrong("an unrequested digest"))?);
            }
        }
        Ok(missing)
    }

    /// Uploads the blobs that the server does not have.
    pub(super) async fn upload(&self, blobs: &Blobs) -> Result<(), CallError> {
        let names: Vec<Name> = blobs.keys().cloned().collect();
        let missing = self.missing(&names).await?;
        let (small, large): (Vec<&Name>, Vec<&Name>) =
            missing.iter().partition(|name| name.size <= BATCH / 2);
        for names in batches(&small) {
            self.write_batch(names, blobs).await?;
        }
        for name in large {
            self.write_stream(name, &blobs[name]).await?;
        }
        Ok(())
    }

    async fn write_batch(&self, names: &[&Name], blobs: &Blobs) -> Result<(), CallError> {
        let requests = names.iter().map(|name| batch_update_blobs_request::Request {
            digest: Some(name.digest()),
            data: blobs[*name].to_vec(),
            ..Default::default()
        });
        let request = BatchUpdateBlobsRequest {
            instance_name: self.instance(),
            requests: requests.collect(),
            ..BatchUpdateBlobsRequest::default()
        };
        self.call("store blobs", async || {
            let mut client = ContentAddressableStorageClient::new(self.channel().await?);
            let answer = client.batch_update_blobs(request.clone()).await?.into_inner();
            if answer.responses.len() != request.requests.len() {
                return Err(Status::data_loss("results for other blobs than requested"));
            }
            answer.responses.iter().try_for_each(|blob| refused(blob.status.as_ref()))
        })
        .await
    }

    async fn write_stream(&self, name: &Name, bytes: &[u8]) -> Result<(), CallError> {
        self.call_for("store a blob", name.size, async || {
            let resource =
                self.place.resource(&format!("uploads/{}/blobs/{}/{}", self.uuid(), name.hash, name.size));
            let mut offset = 0;
            let chunks: Vec<WriteRequest> = bytes
                .chunks(CHUNK)
                .map(|chunk| {
                    let write_offset = offset;
                    offset += chunk.len() as i64;
                    WriteRequest {
                        // Only the first message needs the name.
                        resource_name: if write_offset == 0 { resource.clone() } else { String::new() },
                        write_offset,
                        finish_write: offset as u64 == name.size,
                        data: chunk.to_vec(),
                    }
                })
                .collect();
            let mut client = ByteStreamClient::new(self.channel().await?);
            let written = client.write(tokio_stream::iter(chunks)).await?.into_inner().committed_size;
            if u64::try_from(written) == Ok(name.size) {
                return Ok(());
            }
            Err(Status::aborted(format!("stored {written} of {} bytes", name.size)))
        })
        .await
    }

    /// Downloads blobs, each within its size limit, and verifies them.
    pub(super) async fn download(&self, wanted: &[(Name, u64)]) -> Result<Vec<Vec<u8>>, CallError> {
        if let Some((name, limit)) = wanted.iter().find(|(name, limit)| name.size > *limit) {
            return Err(CallError::wrong(format!("a file of {} bytes, expected at most {limit}", name.size)));
        }
        let distinct: BTreeSet<&Name> = wanted.iter().map(|(name, _)| name).collect();
        let (small, large): (Vec<&Name>, Vec<&Name>) =
            distinct.into_iter().partition(|name| name.size <= BATCH / 2);
        let mut found = std::collections::BTreeMap::new();
        for names in batches(&small) {
            found.extend(self.read_batch(names).await?);
        }
        for name in large {
            found.insert(name.clone(), self.read_stream(name).await?);
        }
        let give = |(name, _): &(Name, u64)| {
            let bytes = found.get(name).filter(|bytes| name.names(bytes));
            let wrong = || CallError::wrong(format!("content that does not match digest {}", name.hash));
            bytes.cloned().ok_or_else(wrong)
        };
        wanted.iter().map(give).collect()
    }

    async fn read_batch(&self, names: &[&Name]) -> Result<Vec<(Name, Vec<u8>)>, CallError> {
        let request = BatchReadBlobsRequest {
            instance_name: self.instance(),
            digests: names.iter().map(|name| name.digest()).collect(),
            ..BatchReadBlobsRequest::default()
        };
        self.call("read blobs", async || {
            let mut client = ContentAddressableStorageClient::new(self.channel().await?);
            let answer = client.batch_read_blobs(request.clone()).await?.into_inner();
            let mut found = Vec::new();
            for blob in answer.responses {
                refused(blob.status.as_ref())?;
                // Blobs that were not requested are ignored.
                let name = Name::read(blob.digest.as_ref()).filter(|name| names.contains(&name));
                found.extend(name.map(|name| (name, blob.data.to_vec())));
            }
            Ok(found)
        })
        .await
    }

    async fn read_stream(&self, name: &Name) -> Result<Vec<u8>, CallError> {
        self.call_for("read a blob", name.size, async || {
            let resource_name = self.place.resource(&format!("blobs/{}/{}", name.hash, name.size));
            let request = ReadRequest { resource_name, read_offset: 0, read_limit: 0 };
            let mut stream = ByteStreamClient::new(self.channel().await?).read(request).await?.into_inner();
            let mut bytes = Vec::new();
            while let Some(chunk) = stream.message().await? {
                if (bytes.len() + chunk.data.len()) as u64 > name.size {
                    return Err(Status::data_loss("more bytes than the digest states"));
                }
                bytes.extend_from_slice(&chunk.data);
            }
            // A stream that ends early may have been cut off.
            if bytes.len() as u64 == name.size { Ok(bytes) } else { Err(Status::aborted("truncated blob")) }
        })
        .await
    }
}

/// Groups blobs so that each group fits into a message.
fn batches<'a>(names: &'a [&'a Name]) -> impl Iterator<Item = &'a [&'a Name]> {
    let mut rest = names;
    std::iter::from_fn(move || {
        let mut size = 0;
        let fits = |name: &&&Name| {
            size += name.size;
            size <= BATCH
        };
        let count = rest.iter().take(COUNT).take_while(fits).count();
        let (batch, after) = rest.split_at(count);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

/// Returns the error of one blob of a batch, if any.
fn refused(status: Option<&rpc::Status>) -> Result<(), Status> {
    match status {
        Some(status) if status.code != 0 => Err(Status::new(Code::from(status.code), &*status.message)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_each_blob_once_within_limits() {
        let names: Vec<Name> = (0..5000_u64)
            .map(|at| Name { hash: format!("{at:064x}"), size: if at % 7 == 0 { BATCH / 2 } else { at } })
            .collect();
        let names: Vec<&Name> = names.iter().collect();
        let batches: Vec<&[&Name]> = batches(&names).collect();
        assert_eq!(batches.concat(), names);
        for batch in batches {
            assert!(batch.len() <= COUNT && batch.iter().map(|name| name.size).sum::<u64>() <= BATCH);
        }
    }
}
