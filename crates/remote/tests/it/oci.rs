//! Releases in a registry.

use std::sync::Mutex;

use precast_remote::oci::{Attached, Kind, Registry as RemoteUrl, Release};
use precast_remote::{OpenRemoteError, Options};
use precast_store::remote::RemoteError;
use precast_store::write_bundle;
use precast_testkit::servers::{Fault, Registry, Server, sha256};

use crate::http::{ISA, impatient, unit};
use crate::sample::entry;
use crate::signer::Signer;

fn place(url: &str) -> RemoteUrl {
    RemoteUrl::open(&url.parse().unwrap(), impatient()).unwrap()
}

/// Returns a bundle of the sample's unit.
pub(crate) fn bundle() -> Vec<u8> {
    let (archive, record) = unit("entry", ISA);
    let pack = archive.get("unit.so").unwrap().to_vec();
    write_bundle(&[(record, pack)], &[entry("score")], "precast test").unwrap()
}

fn push(
    registry: &Registry,
    release: &str,
    bytes: &[u8],
    signatures: Option<String>,
) -> precast_remote::oci::Pushed {
    let attached = signatures.into_iter().map(Attached::Signatures).collect();
    place(&registry.url(release)).push(Kind::Bundle, "model.precast", bytes.to_vec(), attached).unwrap()
}

#[test]
fn pulled_release_equals_the_pushed_one() {
    for lists_referrers in [false, true] {
        let registry = Registry::new(lists_referrers);
        let (bytes, signer) = (bundle(), Signer::new("alice"));
        let signatures = signer.sign(&bytes);
        let pushed = push(&registry, "me/model:1", &bytes, Some(signatures.clone()));
        let by_digest = registry.url(&format!("me/model@{}", pushed.digest));
        for url in [registry.url("me/model:1"), by_digest] {
            let Release { digest, kind, name, bytes: pulled, signatures: found, envelopes } =
                place(&url).pull().unwrap();
            assert_eq!((digest, kind, name.as_str()), (pushed.digest.clone(), Kind::Bundle, "model.precast"));
            assert_eq!(pulled, bytes);
            assert_eq!(found.trim(), signatures.trim());
            assert_eq!(envelopes, [""; 0]);
        }
        // A repeated push sends nothing; a different signature is added.
        let again = push(&registry, "me/model:1", &bytes, Some(signatures.clone()));
        assert_eq!((again.digest, again.sent), (pushed.digest.clone(), 0));
        let other = Signer::new("bob").sign(&bytes);
        push(&registry, "me/model:1", &bytes, Some(other.clone()));
        let both = place(&registry.url("me/model:1")).pull().unwrap().signatures;
        assert!(both.contains(signatures.trim()) && both.contains(other.trim()), "{both}");
        // Envelopes do not change the release, and the newest comes first where the list has an order.
        for text in ["{\"one\": 1}", "{\"two\": 2}"] {
            let attached = vec![Attached::Provenance(text.to_owned())];
            let url = registry.url("me/model:1");
            let stated = place(&url).push(Kind::Bundle, "model.precast", bytes.clone(), attached).unwrap();
            assert_eq!((stated.digest, stated.attached), (pushed.digest.clone(), 1));
        }
        let mut envelopes = place(&registry.url("me/model:1")).pull().unwrap().envelopes;
        if !lists_referrers {
            assert_eq!(envelopes[0], "{\"two\": 2}");
        }
        envelopes.sort_unstable();
        assert_eq!(envelopes, ["{\"one\": 1}", "{\"two\": 2}"]);
        let contents = registry.contents.lock().unwrap();
        assert_eq!(contents.manifests.contains_key(&pushed.digest.replace(':', "-")), !lists_referrers);
    }
}

#[test]
fn releases_share_common_layers() {
    let registry = Registry::new(false);
    let mut state = 7_u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let first: Vec<u8> = (0..2 << 20).map(|_| noise()).collect();
    let mut second = first.clone();
    second.splice(900_000..900_000, *b"one kernel more");
    let one = push(&registry, "me/model:1", &first, None);
    let two = push(&registry, "me/model:2", &second, None);
    assert!(one.layers > 4 && two.sent <= 2, "{one:?} {two:?}");
    assert_eq!(place(&registry.url("me/model:2")).pull().unwrap().bytes, second);
    assert_eq!(place(&registry.url("me/model:1")).pull().unwrap().bytes, first);
}

#[test]
fn lying_registry_returns_no_release() {
    let registry = Registry::new(false);
    let bytes = bundle();
    let digest = push(&registry, "me/model:1", &bytes, None).digest;
    let pull = |name: &str| place(&registry.url(name)).pull();
    let by_digest = format!("me/model@{digest}");
    for fault in [
        Fault::Wrong,
        Fault::Half,
        Fault::Cut,
        Fault::Zeros,
        Fault::Silent,
        Fault::Status(500),
        Fault::Status(429),
    ] {
        for part in ["/blobs/", "/manifests/"] {
            registry.server.fault(part, fault, usize::MAX);
            let error = pull(&by_digest).unwrap_err();
            assert!(!error.to_string().is_empty(), "{part} {fault:?}");
            registry.server.heal();
        }
    }
    for fault in [Fault::Half, Fault::Cut, Fault::Status(500), Fault::Status(429)] {
        registry.server.fault("/blobs/", fault, 1);
        registry.server.fault("/manifests/", fault, 1);
        assert_eq!(pull(&by_digest).unwrap().bytes, bytes, "{fault:?}");
    }
    // Another manifest behind the digest, and a manifest of another type.
    let mut contents = registry.contents.lock().unwrap();
    let (kind, body) = contents.manifests[&digest].clone();
    let other = String::from_utf8(body.clone()).unwrap().replace("model.precast", "other.precast");
    contents.manifests.insert(digest.clone(), (kind.clone(), other.into_bytes()));
    let strange = String::from_utf8(body).unwrap().replace("vnd.precast.bundle", "vnd.somebody.else");
    contents.manifests.insert("strange".to_owned(), (kind, strange.into_bytes()));
    drop(contents);
    assert!(matches!(pull(&by_digest), Err(RemoteError::Damaged { .. })));
    let error = pull("me/model:strange").unwrap_err().to_string();
    assert!(error.contains("not a precast release") && error.contains("vnd.somebody.else"), "{error}");
    assert!(matches!(pull("me/model:none"), Err(RemoteError::NoRelease { .. })));
}

/// Starts a proxy that issues tokens, each valid for `requests` requests.
fn short_lived(registry: &Registry, requests: usize) -> Server {
    let made = Mutex::new((0, 0));
    Server::guarding(registry.server.address(), move |request| {
        let said = |name: &str| {
            let found = request.headers.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let mut made = made.lock().unwrap();
        if request.path.starts_with("/token") {
            *made = (made.0 + 1, 0);
            return Some((200, Vec::new(), format!("{{\"token\": \"token-{}\"}}", made.0).into_bytes()));
        }
        if said("authorization") == format!("Bearer token-{}", made.0) && made.1 < requests {
            made.1 += 1;
            return None;
        }
        let challenge = format!("Bearer realm=\"http://{}/token\",service=\"registry\"", said("host"));
        Some((401, vec![("www-authenticate".to_owned(), challenge)], br#"{"errors": []}"#.to_vec()))
    })
}

#[test]
fn expired_token_is_replaced_during_a_pull() {
    let registry = Registry::new(true);
    let bytes = bundle();
    push(&registry, "me/model:1", &bytes, Some(Signer::new("alice").sign(&bytes)));
    let pull = |requests: usize| {
        let server = short_lived(&registry, requests);
        let pulled = place(&format!("oci://{}/me/model:1", server.address())).pull();
        (pulled, server.asked().iter().filter(|asked| asked.contains("/token")).count())
    };
    for requests in [1, 2] {
        let (pulled, tokens) = pull(requests);
        assert_eq!(pulled.unwrap().bytes, bytes);
        assert!(tokens > 1, "{tokens}");
    }
    // If new tokens are rejected immediately, the client stops requesting more.
    let (pulled, tokens) = pull(0);
    assert!(matches!(pulled, Err(RemoteError::Denied { .. })), "{pulled:?}");
    assert!(tokens < 5, "{tokens}");
}

#[test]
fn signed_release_is_a_layer_without_its_registry() {
    let registry = Registry::new(false);
    let (bytes, signer) = (bundle(), Signer::new("alice"));
    let (archive, record) = unit("entry", ISA);
    let directory = tempfile::tempdir().unwrap();
    let options =
        Options { cache: Some(directory.path().to_owned()), patience: impatient(), ..Options::default() };
    let open =
        |signer: &Signer| precast_remote::open(&registry.url("me/model:1"), signer.keyring(), &options);
    push(&registry, "me/model:1", &bytes, None);
    let error = open(&signer).unwrap_err();
    assert!(matches!(&error, OpenRemoteError::Release { source, .. } if source.is_unsigned()), "{error:?}");
    push(&registry, "me/model:1", &bytes, Some(signer.sign(&bytes)));
    assert!(open(&Signer::new("mallory")).is_err());
    let check = || {
        let layer = open(&signer).unwrap();
        assert_eq!(layer.find_entry("score").unwrap(), Some(entry("score")));
        let found = layer.find(&record.members[0].key).unwrap();
        assert_eq!(layer.load(&found[0]).unwrap().unwrap(), archive.get("unit.so").unwrap());
    };
    check();
    registry.server.fault("", Fault::Cut, usize::MAX);
    check();
    // A modified cached bundle is fetched again, or the open fails.
    let kept = directory.path().read_dir().unwrap().next().unwrap().unwrap().path();
    let path = kept
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "precast"));
    fs_err::write(path.unwrap(), b"precastb").unwrap();
    assert!(open(&signer).is_err());
    registry.server.heal();
    check();
}

#[test]
fn manifests_follow_the_oci_specification() {
    let registry = Registry::new(false);
    let bytes = bundle();
    let pushed = push(&registry, "me/model:1", &bytes, Some(Signer::new("a").sign(&bytes)));
    let contents = registry.contents.lock().unwrap();
    let parse =
        |name: &str| serde_json::from_slice::<serde_json::Value>(&contents.manifests[name].1).unwrap();
    let manifest = parse("1");
    assert_eq!(manifest["artifactType"], "application/vnd.precast.bundle");
    assert_eq!(manifest["config"]["digest"], sha256(b"{}"));
    assert_eq!(manifest["layers"][0]["digest"], sha256(&bytes));
    let list = parse(&pushed.digest.replace(':', "-"));
    let about = parse(list["manifests"][0]["digest"].as_str().unwrap());
    assert_eq!(about["subject"]["digest"], *pushed.digest);
    assert_eq!(about["artifactType"], list["manifests"][0]["artifactType"]);
}

/// Starts a proxy that names this realm for tokens.
fn naming(registry: &Registry, realm: String) -> Server {
    Server::guarding(registry.server.address(), move |_| {
        let challenge = format!("Bearer realm=\"{realm}\",service=\"registry\"");
        Some((401, vec![("www-authenticate".to_owned(), challenge)], b"{}".to_vec()))
    })
}

#[test]
fn endless_token_response_is_cut_off() {
    let registry = Registry::new(false);
    let tokens = Server::new(|_| (200, Vec::new(), b"{}".to_vec()));
    let named = naming(&registry, format!("{}/token", tokens.url));
    let pull = || place(&format!("oci://{}/me/model:1", named.address())).pull();
    tokens.fault("", Fault::Endless, usize::MAX);
    assert!(matches!(pull(), Err(RemoteError::TooLong { .. })), "{:?}", pull());
    tokens.heal();
    tokens.fault("", Fault::EndlessStatus(403), usize::MAX);
    assert!(matches!(pull(), Err(RemoteError::Denied { .. })), "{:?}", pull());
}

#[test]
fn long_layer_resumes_where_it_was_cut() {
    let registry = Registry::new(false);
    let bytes: Vec<u8> = (0..3 << 20).map(|at: u32| (at >> 3) as u8).collect();
    let digest = push(&registry, "me/model:1", &bytes, None).digest;
    // Other clients push the whole file as one layer.
    let mut contents = registry.contents.lock().unwrap();
    let (kind, body) = contents.manifests[&digest].clone();
    let mut manifest: serde_json::Value = serde_json::from_slice(&body).unwrap();
    let layer = serde_json::json!([{
        "mediaType": "application/octet-stream", "digest": sha256(&bytes), "size": bytes.len(),
    }]);
    manifest["layers"] = layer;
    contents.blobs.insert(sha256(&bytes), bytes.clone());
    contents.manifests.insert("one".to_owned(), (kind, manifest.to_string().into_bytes()));
    drop(contents);
    let pull = || place(&registry.url("me/model:one")).pull();
    assert!(pull().unwrap().bytes == bytes);
    registry.server.fault("/blobs/", Fault::Half, 1);
    assert!(pull().unwrap().bytes == bytes);
    registry.server.fault("/blobs/", Fault::Wrong, usize::MAX);
    assert!(matches!(pull(), Err(RemoteError::Damaged { .. })));
}

#[test]
fn release_is_a_layer_without_a_cache() {
    let registry = Registry::new(false);
    let (bytes, signer) = (bundle(), Signer::new("alice"));
    let digest = push(&registry, "me/model:1", &bytes, Some(signer.sign(&bytes))).digest;
    let directory = tempfile::tempdir().unwrap();
    // A file in place of the home directory, so that not even root can create a directory there.
    let (home, child) = (directory.path().join("home"), std::env::var_os("PRECAST_TEST_NO_CACHE"));
    if child.is_none() {
        fs_err::write(&home, "").unwrap();
        let name = "oci::release_is_a_layer_without_a_cache";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args([name, "--exact"]).env("PRECAST_TEST_NO_CACHE", "1").env("PRECAST_CACHE", &home);
        let output = again.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let heard = std::sync::Arc::new(Mutex::new(Vec::new()));
    let sink = heard.clone();
    let observer = precast_store::event::Observer::new(move |event: &precast_store::Event| {
        sink.lock().unwrap().push(event.to_string());
    });
    let options = Options { patience: impatient(), observer, ..Options::default() };
    let required = Options { require_history: true, ..options.clone() };
    let by_digest = registry.url(&format!("me/model@{digest}"));
    for options in [&options, &required] {
        let layer = precast_remote::open(&by_digest, signer.keyring(), options).unwrap();
        assert_eq!(layer.find_entry("score").unwrap(), Some(entry("score")));
    }
    assert!(heard.lock().unwrap().is_empty(), "a digest needs no memory: {heard:?}");
    let by_tag = registry.url("me/model:1");
    let layer = precast_remote::open(&by_tag, signer.keyring(), &options).unwrap();
    assert_eq!(layer.find_entry("score").unwrap(), Some(entry("score")));
    assert_eq!(heard.lock().unwrap().len(), 1, "{heard:?}");
    let refused = precast_remote::open(&by_tag, signer.keyring(), &required);
    assert!(matches!(refused, Err(OpenRemoteError::NoHistory { .. })), "{refused:?}");
    // A store works too, in a temporary directory.
    let served = crate::http::served();
    let layer = precast_remote::open(&served.server.url, served.signer.keyring(), &options).unwrap();
    assert_eq!(layer.find_entry("score").unwrap(), Some(entry("score")));
}

#[test]
fn many_slow_layers_have_one_time_limit() {
    let registry = Registry::new(true);
    push(&registry, "me/model:1", &bundle(), None);
    {
        let mut contents = registry.contents.lock().unwrap();
        let (kind, manifest) = contents.manifests["1"].clone();
        let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        let mut layer = manifest["layers"][0].clone();
        (layer["size"], layer["digest"]) = (4.into(), sha256(b"slow").into());
        manifest["layers"] = vec![layer; 1000].into();
        contents.blobs.insert(sha256(b"slow"), b"slow".to_vec());
        contents.manifests.insert("1".to_owned(), (kind, manifest.to_string().into_bytes()));
    }
    // Each layer takes 0.4 s, which is within its own limit.
    registry.server.fault("/blobs/", Fault::Slow, usize::MAX);
    let begin = std::time::Instant::now();
    let pulled = place(&registry.url("me/model:1")).pull();
    assert!(matches!(pulled, Err(RemoteError::Unreachable { .. })), "{pulled:?}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
}
