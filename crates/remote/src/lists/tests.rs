//! Tests of how often a bucket is listed, and for how many names.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use precast_store::key::{ActionKey, ContentId, RecordId};
use precast_store::remote::{RecordName, Sink as _, Wanted};

use super::*;
use crate::Patience;

/// A bucket that counts its list requests and the names that it returns.
#[derive(Debug, Default)]
struct Counting {
    bucket: InMemory,
    lists: AtomicUsize,
    names: Arc<AtomicUsize>,
}

type Names = BoxStream<'static, Result<ObjectMeta>>;

impl Counting {
    fn counted(&self, names: Names) -> Names {
        let counter = Arc::clone(&self.names);
        self.lists.fetch_add(1, Ordering::Relaxed);
        names.inspect(move |_| _ = counter.fetch_add(1, Ordering::Relaxed)).boxed()
    }

    fn take(&self) -> (usize, usize) {
        (self.lists.swap(0, Ordering::Relaxed), self.names.swap(0, Ordering::Relaxed))
    }
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bucket.fmt(f)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Counting {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.bucket.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.bucket.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.bucket.get_opts(at, options).await
    }

    fn delete_stream(&self, all: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.bucket.delete_stream(all)
    }

    fn list(&self, prefix: Option<&Path>) -> Names {
        self.counted(self.bucket.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> Names {
        self.counted(self.bucket.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.bucket.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.bucket.copy_opts(from, to, options).await
    }
}

fn bucket() -> (Arc<Counting>, Files) {
    let server = Arc::new(Counting::default());
    let at = At {
        name: "s3://bucket/p".into(),
        server: Arc::<Counting>::clone(&server),
        root: Path::from("p"),
        lists: true,
        sorts: true,
        patience: Patience::default(),
    };
    (server, Files { at, lists: Lists::default() })
}

/// Returns the name of a record, in a given shard if any.
fn name(number: usize, shard: Option<u8>) -> RecordName {
    let mut bytes = *ContentId::of(number.to_le_bytes()).as_bytes();
    bytes[0] = shard.unwrap_or(bytes[0]);
    RecordName { action: ActionKey::from_bytes(bytes), id: RecordId::from_bytes([7; 32]) }
}

fn put(files: &Files, name: RecordName) {
    for item in [Item::Record(name), Item::Documents(name), Item::RecordSignatures(name)] {
        files.put(&item, b"").unwrap();
    }
}

#[test]
fn many_actions_list_each_shard_once() {
    let (server, files) = bucket();
    let names: Vec<RecordName> = (0..3000).map(|number| name(number, None)).collect();
    names.iter().for_each(|name| put(&files, *name));
    std::thread::scope(|scope| {
        for some in names.chunks(names.len() / 8) {
            let files = &files;
            scope.spawn(move || {
                for name in some {
                    assert_eq!(files.records(&Wanted::Action(name.action)).unwrap(), [*name]);
                }
            });
        }
    });
    let (lists, read) = server.take();
    assert!((200..=256).contains(&lists), "{lists}");
    assert_eq!(read, 3 * names.len());
    // The cached list also answers for a missing name. A new name is found at once.
    let new = name(3000, None);
    assert_eq!(files.records(&Wanted::Action(new.action)).unwrap(), []);
    assert_eq!(server.take().0, 0);
    put(&files, new);
    assert_eq!(files.records(&Wanted::Action(new.action)).unwrap(), [new]);
}

#[test]
fn long_shard_lists_only_wanted_names() {
    let (server, files) = bucket();
    let names: Vec<RecordName> = (0..FEW).map(|number| name(number, Some(0xab))).collect();
    names.iter().for_each(|name| put(&files, *name));
    for name in &names[..10] {
        assert_eq!(files.records(&Wanted::Action(name.action)).unwrap(), [*name]);
    }
    assert_eq!(files.records(&Wanted::Action(name(FEW, Some(0xab)).action)).unwrap(), []);
    let (lists, read) = server.take();
    assert_eq!(lists, 1 + 11);
    // A thousand names show that the shard is long. Each lookup then reads its own names and the name after them.
    assert!((FEW..=FEW + 11 * 4).contains(&read), "{read}");
}
