//! Tests with S3. Its address comes from the environment, so the proxy of all these tests listens at
//! `AWS_ENDPOINT_URL`.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use precast_remote::{Files, Options, Patience};
use precast_store::remote::{Item, RecordName, RemoteError, Sink as _, Source as _, Wanted};
use precast_store::{ActionKey, Layer, RecordId};
use precast_testkit::servers::Server;

use super::told;
use crate::between;
use crate::http::{ISA, impatient, served, unit};
use crate::sample::entry;
use crate::signer::Signer;

/// Returns the proxy of the bucket's server, for one test at a time, and the URL of a directory in the bucket.
fn bucket(name: &str) -> Option<(MutexGuard<'static, Server>, String)> {
    static PROXY: OnceLock<Mutex<Server>> = OnceLock::new();
    let (address, bucket) = (told("PRECAST_TEST_S3", "a bucket")?, told("PRECAST_TEST_BUCKET", "a bucket")?);
    let here = std::env::var("AWS_ENDPOINT_URL").unwrap();
    let start = || Mutex::new(Server::before_at(here.trim_start_matches("http://"), &address));
    let proxy = PROXY.get_or_init(start).lock().unwrap_or_else(PoisonError::into_inner);
    proxy.heal();
    // The name is short and the same in every process, because servers that store objects as files limit the length
    // of names.
    Some((proxy, format!("s3://{bucket}/{name}")))
}

fn files(url: &str, patience: Patience) -> Files {
    Files::open(&url.parse().unwrap(), patience).unwrap()
}

#[test]
fn bucket_store_is_pushed_and_is_a_layer() {
    let Some((_proxy, url)) = bucket("kernels") else { return };
    let served = served();
    let (archive, other) = unit("other", ISA);
    served.store.publish(&archive, &other).unwrap();
    served.signer.sign_all(&served.store);
    let sink = files(&url, Patience::default());
    assert!(matches!(sink.check(), Err(RemoteError::NoStore { .. })));
    let names = BTreeSet::from(["score".to_owned()]);
    let pushed = served.store.push(&sink, Some(&names)).unwrap();
    assert_eq!((pushed.records, pushed.entries), (1, 1));
    assert!(sink.records(&Wanted::Key(other.members[0].key)).unwrap().is_empty());
    let pushed = served.store.push(&sink, None).unwrap();
    assert_eq!((pushed.records, pushed.entries), (2, 1));
    // Everything exists, so nothing is sent. A corrupt object is replaced.
    assert_eq!(served.store.push(&sink, None).unwrap().sent, 0);
    sink.put(&Item::Object(other.digest), b"garbage").unwrap();
    assert!(!sink.put_new(&Item::Object(other.digest), b"other garbage").unwrap(), "there is one");
    let options = Options { cache: Some(served.directory.path().join("cache")), ..Options::default() };
    let open = || -> Layer { precast_remote::open(&url, served.signer.keyring(), &options).unwrap() };
    assert!(open().find(&other.members[0].key).unwrap().is_empty(), "garbage was believed");
    assert_eq!(served.store.push(&sink, None).unwrap().sent, 1);
    let layer = open();
    let found = layer.find(&other.members[0].key).unwrap();
    assert_eq!(layer.load(&found[0]).unwrap().unwrap(), archive.get("unit.so").unwrap());
    assert_eq!(layer.entries().unwrap(), [entry("score")]);
    assert_eq!(sink.records(&Wanted::Action(other.action)).unwrap().len(), 1);
    // Signatures that two signers add one after another both remain.
    let bob = Signer::new("bob");
    let (_, record) = unit("entry", ISA);
    bob.sign_all(&served.store);
    served.store.push(&sink, None).unwrap();
    let options = Options { cache: Some(served.directory.path().join("bob's")), ..Options::default() };
    let layer = precast_remote::open(&url, bob.keyring(), &options).unwrap();
    assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1);
}

#[test]
fn concurrent_bucket_pushes_leave_one_store() {
    let Some((_proxy, url)) = bucket("shared") else { return };
    let served = Arc::new(served());
    for seed in 0..8 {
        let (archive, record) = unit(&seed.to_string(), ISA);
        served.store.publish(&archive, &record).unwrap();
    }
    served.signer.sign_all(&served.store);
    let sink = || files(&url, Patience::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| served.store.push(&sink(), None).unwrap());
        }
    });
    assert_eq!(served.store.push(&sink(), None).unwrap().sent, 0);
}

#[test]
fn failing_bucket_is_a_miss_with_reason() {
    let Some((proxy, url)) = bucket("failing") else { return };
    let served = served();
    served.store.push(&files(&url, Patience::default()), None).unwrap();
    between::a_store_fails(&served, &proxy, &url, "list-type=", &between::FAULTS);
}

#[test]
fn failed_bucket_push_is_completed_by_the_next() {
    let Some((proxy, url)) = bucket("pushed") else { return };
    between::a_push_fails(&served(), &proxy, &files(&url, impatient()));
}

#[test]
fn long_bucket_shard_lists_only_wanted_names() {
    const NAMES: u32 = 1001;
    let Some((proxy, url)) = bucket("long") else { return };
    let files = files(&url, Patience::default());
    let name = |number: u32| {
        let mut bytes = [0xab; 32];
        bytes[1..5].copy_from_slice(&number.to_be_bytes());
        RecordName { action: ActionKey::from_bytes(bytes), id: RecordId::from_bytes([7; 32]) }
    };
    std::thread::scope(|scope| {
        for first in 0..8 {
            let put = |number| files.put(&Item::Record(name(number)), b"a record").unwrap();
            scope.spawn(move || (first..NAMES).step_by(8).for_each(put));
        }
    });
    proxy.asked();
    for number in [0, 500, NAMES - 1] {
        assert_eq!(files.records(&Wanted::Action(name(number).action)).unwrap(), [name(number)]);
    }
    assert!(files.records(&Wanted::Action(name(NAMES).action)).unwrap().is_empty());
    let lists = proxy.asked().iter().filter(|asked| asked.contains("list-type=")).count();
    assert_eq!(lists, 1 + 4, "one that says that it is long, and one for each");
}

#[test]
fn key_error_states_the_key_length() {
    // S3 allows 1024 bytes.
    let Some((_proxy, url)) = bucket(&"long".repeat(300)) else { return };
    let item = Item::Object(unit("entry", ISA).1.digest);
    let length = 4 * 300 + 1 + item.path().len();
    match files(&url, impatient()).put(&item, b"bytes") {
        Err(RemoteError::Unreachable { reason, .. }) => {
            assert!(reason.contains(&length.to_string()), "{reason}");
        }
        Ok(()) => eprintln!("skipped: keys that are too long: this server takes any"),
        Err(other) => panic!("{other}"),
    }
}
