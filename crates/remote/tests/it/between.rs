//! Tests through a proxy that injects network faults, in front of a local or a third-party server. No fault may cause
//! a wrong result or a hang. Each must be reported, and the remaining layers must keep working.

use std::time::{Duration, Instant};

use precast_remote::oci::{Attached, Kind, Registry};
use precast_remote::{OpenRemoteError, Options};
use precast_store::remote::RemoteError;
use precast_store::{Layer, Record, Store};
use precast_testkit::servers::{self, Fault, Server};

use crate::http::{CodeOrigin, EventLog, ISA, hearing, impatient, served, told, unit};
use crate::oci::bundle;
use crate::sample::entry;
use crate::signer::Signer;

/// A time longer than all time limits of these tests together.
const HANG: Duration = Duration::from_secs(10);

/// The faults of networks and servers.
pub(crate) const FAULTS: [Fault; 12] = [
    Fault::Cut,
    Fault::Half,
    Fault::Wrong,
    Fault::Zeros,
    Fault::Missing,
    Fault::Silent,
    Fault::Slow,
    Fault::Endless,
    Fault::Status(429),
    Fault::Status(500),
    Fault::EndlessStatus(500),
    Fault::Digest,
];

/// A subset of the faults that causes no waiting; `faults` and `oci` cover the rest.
const SOME: [Fault; 4] = [Fault::Cut, Fault::Wrong, Fault::EndlessStatus(500), Fault::Digest];

/// Looks up the sample's unit and entry in a layer; returns whether each was found, and the reported events.
fn ask(layer: &Layer, heard: &EventLog) -> (bool, bool, String) {
    let (archive, record) = unit("entry", ISA);
    let begin = Instant::now();
    let named = layer.find_entry("score").unwrap();
    assert!(named.is_none() || named == Some(entry("score")), "a wrong answer");
    let found = layer.find(&record.members[0].key).unwrap();
    let loaded = found.first().map(|record| layer.load(record).unwrap());
    let loaded = loaded.and_then(Result::ok);
    assert!(loaded.is_none() || loaded.as_deref() == archive.get("unit.so"), "a wrong answer");
    assert!(begin.elapsed() < HANG, "a hang: {:?}", begin.elapsed());
    (loaded.is_some(), named.is_some(), told(heard))
}

/// Tests a store behind a proxy with every fault in every part; `lists` is the part of URLs that lists names.
pub(crate) fn a_store_fails(served: &CodeOrigin, proxy: &Server, url: &str, lists: &str, faults: &[Fault]) {
    let (_, record) = unit("entry", ISA);
    let local = Layer::from(served.store.clone());
    for part in ["/STORE", lists, "/records/", ".documents", ".minisig", "/objects/", "/roots/", "/entries/"]
    {
        for &fault in faults {
            proxy.fault(part, fault, usize::MAX);
            let (layer, heard) = served.layer_at(url, &format!("cache {part} {fault:?}").replace('/', "-"));
            let (module, named, told) = ask(&layer, &heard);
            proxy.heal();
            // Content is still valid if only a header states a wrong digest, or if the response states no digest at
            // all.
            assert!(!module || !named || fault == Fault::Digest, "{part} {fault:?} was believed: {told}");
            let is_told = told.lines().any(|line| !line.contains("fetched "));
            // A missing response may be correct, and so may a list that names no record of a key.
            let may_be_right = matches!(fault, Fault::Missing | Fault::Digest)
                || (part == lists && matches!(fault, Fault::Wrong | Fault::Zeros));
            assert!(is_told || may_be_right, "{part} {fault:?} was not told of");
            assert_eq!(local.find(&record.members[0].key).unwrap().len(), 1, "a layer beside it");
        }
    }
    for fault in [Fault::Cut, Fault::Half, Fault::Status(429), Fault::Status(500)] {
        ["/STORE", lists, "/records/", "/objects/", "/roots/", "/entries/"]
            .iter()
            .for_each(|part| proxy.fault(part, fault, 1));
        let (layer, heard) = served.layer_at(url, &format!("once {fault:?}"));
        let (module, named, told) = ask(&layer, &heard);
        proxy.heal();
        assert!(module && named, "{fault:?}, once: {told}");
    }
    let options = Options {
        cache: Some(served.directory.path().join("nobody's")),
        patience: impatient(),
        ..Options::default()
    };
    let layer = precast_remote::open(url, Signer::new("mallory").keyring(), &options).unwrap();
    let (layer, heard) = hearing(layer);
    let (module, named, told) = ask(&layer, &heard);
    assert!(!module && !named && told.contains("is by an unlisted key"), "{told}");
}

/// Tests a registry behind a proxy with every fault in every part; `url` is `oci://host:port` of the proxy.
pub(crate) fn a_registry_fails(proxy: &Server, url: &str, faults: &[Fault]) {
    let (bytes, signer) = (bundle(), Signer::new("alice"));
    let directory = tempfile::tempdir().unwrap();
    let open = |name: &str| Registry::open(&format!("{url}/{name}").parse().unwrap(), impatient()).unwrap();
    let signatures = vec![Attached::Signatures(signer.sign(&bytes))];
    let push = |name: &str| open(name).push(Kind::Bundle, "model.precast", bytes.clone(), signatures.clone());
    let name = "me/failing:first".to_owned();
    let digest = push(&name).unwrap().digest;
    let by_digest = format!("me/failing@{digest}");
    let (_, record) = unit("entry", ISA);
    for part in ["/manifests/", "/blobs/", "/referrers/", ""] {
        for &fault in faults {
            let begin = Instant::now();
            proxy.fault(part, fault, usize::MAX);
            let pulled = open(&by_digest).pull();
            let options = Options {
                cache: Some(directory.path().join(format!("{part} {fault:?}").replace('/', "-"))),
                patience: impatient(),
                ..Options::default()
            };
            let layer = precast_remote::open(&format!("{url}/{name}"), signer.keyring(), &options);
            proxy.heal();
            assert!(begin.elapsed() < 3 * HANG, "{part} {fault:?}: a hang of {:?}", begin.elapsed());
            match pulled {
                Ok(release) => assert!(release.bytes == bytes, "{part} {fault:?}: a wrong answer"),
                Err(error) => assert!(error.to_string().contains('`'), "{part} {fault:?}: {error}"),
            }
            match layer {
                Ok(layer) => assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1),
                Err(OpenRemoteError::Release { source, .. }) => assert!(source.is_unsigned(), "{source}"),
                Err(OpenRemoteError::Remote(_)) => {}
                Err(error) => panic!("{part} {fault:?}: {error}"),
            }
        }
    }
    for fault in [Fault::Cut, Fault::Half, Fault::Status(429), Fault::Status(500)] {
        ["/manifests/", "/blobs/"].iter().for_each(|part| proxy.fault(part, fault, 1));
        assert!(open(&by_digest).pull().unwrap().bytes == bytes, "{fault:?}, once");
        // A push must succeed in spite of two faults, and the release must be complete.
        proxy.fault("/blobs/", fault, 2);
        let pushed = push(&format!("me/failing-push:{fault:?}").replace(['(', ')'], "-"));
        proxy.heal();
        let pushed = pushed.unwrap_or_else(|error| panic!("{fault:?}, twice: {error}"));
        assert!(open(&format!("me/failing-push@{}", pushed.digest)).pull().unwrap().bytes == bytes);
    }
    proxy.fault("/blobs/uploads/", Fault::Status(500), usize::MAX);
    let error = open("me/never:1").push(Kind::Bundle, "other", vec![7; 100_000], Vec::new()).unwrap_err();
    proxy.heal();
    assert!(matches!(error, RemoteError::Unreachable { .. }), "{error}");
    assert!(matches!(open("me/never:1").pull(), Err(RemoteError::NoRelease { .. })));
}

/// Pushes a store through a faulty proxy. A push succeeds after one fault; with a permanent fault it fails with an
/// error, and a later push completes it.
pub(crate) fn a_push_fails(served: &CodeOrigin, proxy: &Server, sink: &dyn precast_store::remote::Sink) {
    for part in ["/STORE", "/objects/", "/records/", "/keys/", "/entries/", "/roots/"] {
        for fault in
            [Fault::Cut, Fault::Status(429), Fault::Status(500), Fault::EndlessStatus(500), Fault::Silent]
        {
            proxy.fault(part, fault, usize::MAX);
            let begin = Instant::now();
            let error = served.store.push(sink, None).unwrap_err();
            proxy.heal();
            assert!(begin.elapsed() < HANG, "{part} {fault:?}: a hang of {:?}", begin.elapsed());
            let told = precast_store::event::chain(&error);
            assert!(told.contains("cannot reach") && told.contains("hint: "), "{part} {fault:?}: {told}");
        }
        proxy.fault(part, Fault::Cut, 1);
        served.store.push(sink, None).unwrap();
        proxy.heal();
    }
    assert_eq!(served.store.push(sink, None).unwrap().sent, 0);
}

/// Adds pointers to a record under unused keys, so that lists become long.
pub(crate) fn fill(store: &Store, record: &Record, count: usize) {
    let shard = store.path().join("keys").join(&record.members[0].key.to_string()[..2]);
    let name = format!("{}-{}", record.action, record.id());
    for number in 0..count {
        let key = format!("{}{:062x}", &record.members[0].key.to_string()[..2], (number as u128) << 100);
        fs_err::create_dir(shard.join(&key)).unwrap();
        fs_err::write(shard.join(key).join(&name), b"").unwrap();
    }
}

#[test]
fn failing_store_is_a_miss_with_reason() {
    let served = served();
    let proxy = Server::before(served.server.address());
    a_store_fails(&served, &proxy, &proxy.url, "/index/keys", &SOME);
}

#[test]
fn registry_behind_failing_proxy_returns_no_release() {
    for lists_referrers in [false, true] {
        let registry = servers::Registry::new(lists_referrers);
        let proxy = Server::before(registry.server.address());
        a_registry_fails(&proxy, &proxy.url.replace("http://", "oci://"), &SOME);
    }
}
