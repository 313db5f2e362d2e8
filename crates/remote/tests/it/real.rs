//! Servers that others have written; `cargo xtask remotes` installs and starts them, and says where they are.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;

use precast_remote::oci::{Attached, Kind, Registry};
use precast_remote::{Files, Options, Patience};
use precast_store::remote::{Item, RemoteError, Sink as _, Source as _, Wanted};
use precast_store::{Layer, write_bundle};

use crate::http::{ISA, served, unit};
use crate::sample::entry;
use crate::signer::Signer;

/// What `cargo xtask remotes` says of a server; what is skipped is skipped aloud.
fn told(variable: &str, what: &str) -> Option<String> {
    let told = std::env::var(variable).ok();
    if told.is_none() {
        eprintln!("skipped: {what}: `cargo xtask remotes` starts one");
    }
    told
}

/// Makes a bucket, as nobody in particular.
fn bucket(address: &str, name: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("PUT /{name} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

fn files(url: &str) -> Files {
    Files::open(&url.parse().unwrap(), Patience::default()).unwrap()
}

#[test]
fn a_store_in_a_bucket_is_pushed_and_is_a_layer() {
    let Some(address) = told("PRECAST_TEST_S3", "a bucket") else { return };
    bucket(&address, "kernels");
    let (url, served) = (format!("s3://kernels/{}", std::process::id()), served());
    let (archive, other) = unit("other", ISA);
    served.store.publish(&archive, &other).unwrap();
    served.signer.sign_all(&served.store);
    let sink = files(&url);
    assert!(matches!(sink.check(), Err(RemoteError::NoStore { .. })));
    let names = BTreeSet::from(["score".to_owned()]);
    let pushed = served.store.push(&sink, Some(&names)).unwrap();
    assert_eq!((pushed.records, pushed.entries), (1, 1));
    assert!(sink.records(&Wanted::Key(other.members[0].key)).unwrap().is_empty());
    let pushed = served.store.push(&sink, None).unwrap();
    assert_eq!((pushed.records, pushed.entries), (2, 1));
    // All is there: nothing is sent. What is damaged is put again.
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
    // Two who sign one after another are both there.
    let bob = Signer::new("bob");
    let (_, record) = unit("entry", ISA);
    bob.sign_all(&served.store);
    served.store.push(&sink, None).unwrap();
    let options = Options { cache: Some(served.directory.path().join("bob's")), ..Options::default() };
    let layer = precast_remote::open(&url, bob.keyring(), &options).unwrap();
    assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1);
}

#[test]
fn two_who_push_at_once_leave_one_store() {
    let Some(address) = told("PRECAST_TEST_S3", "a bucket") else { return };
    bucket(&address, "shared");
    let (url, served) = (format!("s3://shared/{}", std::process::id()), Arc::new(served()));
    for seed in 0..8 {
        let (archive, record) = unit(&seed.to_string(), ISA);
        served.store.publish(&archive, &record).unwrap();
    }
    served.signer.sign_all(&served.store);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| served.store.push(&files(&url), None).unwrap());
        }
    });
    assert_eq!(served.store.push(&files(&url), None).unwrap().sent, 0);
}

#[test]
fn a_plain_web_server_serves_a_store() {
    let Some(python) = told("PRECAST_TEST_PYTHON", "a web server") else { return };
    let served = served();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = Command::new(python);
    server
        .args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()])
        .current_dir(served.store.path());
    let mut server = server.stderr(std::process::Stdio::null()).spawn().unwrap();
    let url = format!("http://127.0.0.1:{port}");
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let options = Options { cache: Some(served.directory.path().join("cache")), ..Options::default() };
    let layer = precast_remote::open(&url, served.signer.keyring(), &options).unwrap();
    let (archive, record) = unit("entry", ISA);
    let found = layer.find(&record.members[0].key).unwrap();
    let loaded = layer.load(&found[0]).unwrap().unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(loaded, archive.get("unit.so").unwrap());
}

#[test]
fn a_registry_and_skopeo_have_what_was_pushed_byte_for_byte() {
    let Some(address) = told("PRECAST_TEST_REGISTRY", "a registry") else { return };
    let (archive, record) = unit("entry", ISA);
    // Longer than a layer is.
    let mut state = 3_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let more: Vec<u8> = (0..1 << 20).map(|_| noise()).collect();
    let pack = archive.get("unit.so").unwrap().to_vec();
    let bundle = write_bundle(&[(record, pack)], &[entry("score")], "precast test").unwrap();
    let signer = Signer::new("alice");
    for (tag, bytes) in [("small", bundle), ("large", more)] {
        let place = |name: &str| format!("oci://{address}/me/model{name}").parse().unwrap();
        let open = |name: &str| Registry::open(&place(name), Patience::default()).unwrap();
        let attached = vec![Attached::Signatures(signer.sign(&bytes)), Attached::Sbom("{}".to_owned())];
        let pushed =
            open(&format!(":{tag}")).push(Kind::Bundle, "model.precast", bytes.clone(), attached).unwrap();
        let pulled = open(&format!("@{}", pushed.digest)).pull().unwrap();
        assert_eq!((pulled.bytes == bytes, pulled.digest), (true, pushed.digest.clone()));
        assert!(signer.keyring().check(&bytes, &pulled.signatures).is_ok(), "{}", pulled.signatures);
        // Another client, to a directory and back under another name.
        let directory = tempfile::tempdir().unwrap();
        let copied = directory.path().join("copied");
        let skopeo = |args: &[&str]| {
            assert!(Command::new("skopeo").args(args).status().unwrap().success(), "{args:?}");
        };
        let (from, here) =
            (format!("docker://{address}/me/model@{}", pushed.digest), format!("dir:{}", copied.display()));
        skopeo(&["copy", "--src-tls-verify=false", &from, &here]);
        let manifest: serde_json::Value =
            serde_json::from_slice(&fs_err::read(copied.join("manifest.json")).unwrap()).unwrap();
        let layers = manifest["layers"].as_array().unwrap();
        let blob = |layer: &serde_json::Value| {
            let digest = layer["digest"].as_str().unwrap();
            fs_err::read(copied.join(digest.strip_prefix("sha256:").unwrap())).unwrap()
        };
        assert_eq!(layers.iter().flat_map(blob).collect::<Vec<u8>>(), bytes);
        assert_eq!(layers.len() > 1, tag == "large");
        let back = format!("docker://{address}/me/other:{tag}");
        skopeo(&["copy", "--dest-tls-verify=false", &here, &back]);
        let other = format!("oci://{address}/me/other:{tag}").parse().unwrap();
        let pulled = Registry::open(&other, Patience::default()).unwrap().pull().unwrap();
        assert_eq!((pulled.bytes == bytes, pulled.digest), (true, pushed.digest));
    }
}
