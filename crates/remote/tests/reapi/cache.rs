//! The action cache.

use std::sync::Arc;

use minisign::KeyPair;
use precast_remote::reapi::{Access, RemoteCache};
use precast_store::archive::OBJECT;
use precast_store::{ActionCache, CachedAction, Fingerprint, Keyring, Store};
use precast_testkit::compiler::toolchain;
use precast_testkit::farm::{Code, Faults, Server, State};

use super::{build, local, patience, small};

pub(super) fn cache(server: &Server) -> RemoteCache {
    RemoteCache::new(server.url.parse().unwrap(), &Access::default(), patience(), None).unwrap()
}

#[test]
fn one_store_uses_results_of_another() {
    let (server, plan) = (Server::start(), small());
    let units = plan.units.len();
    let directory = tempfile::tempdir().unwrap();
    let store = |name: &str| Store::create(directory.path().join(name)).unwrap();
    let first = cache(&server);
    let made = build(&plan, Some(&store("one")), Some(&first), &toolchain()).unwrap();
    assert_eq!((made.hits, made.fetched, made.compiled), (0, 0, units));
    assert_eq!((first.report().found, first.report().given), (0, units as u64));
    let two = store("two");
    let taken = build(&plan, Some(&two), Some(&cache(&server)), &toolchain()).unwrap();
    assert_eq!((taken.hits, taken.fetched, taken.compiled), (0, units, 0));
    assert_eq!(taken.artifacts, made.artifacts);
    assert!(two.verify().unwrap().is_intact());
    // The store has the units now, so the cache is not used.
    server
        .faults(Faults { refuse: [("get action", (Code::Internal, u32::MAX))].into(), ..Faults::default() });
    let again = build(&plan, Some(&two), Some(&cache(&server)), &toolchain()).unwrap();
    assert_eq!((again.hits, again.fetched, again.compiled), (units, 0, 0));
    // The cache also works without a store.
    server.faults(Faults::default());
    assert_eq!(build(&plan, None, Some(&cache(&server)), &toolchain()).unwrap().artifacts, made.artifacts);
}

#[test]
fn faulty_cache_costs_only_time() {
    let (server, plan) = (Server::start(), small());
    let units = plan.units.len();
    let made = local(&plan);
    build(&plan, None, Some(&cache(&server)), &toolchain()).unwrap();
    let refused = |call, code| Faults { refuse: [(call, (code, u32::MAX))].into(), ..Faults::default() };
    for (faults, told) in [
        (refused("get action", Code::Unavailable), "skipped for the rest of this build"),
        (refused("get action", Code::PermissionDenied), "permission denied"),
        (refused("find missing", Code::ResourceExhausted), "quota exceeded"),
        (refused("read blobs", Code::Internal), "server error"),
        (Faults { lie: u32::MAX, ..Faults::default() }, "content that does not match digest"),
    ] {
        server.faults(faults.clone());
        let cache = cache(&server);
        let built = build(&plan, None, Some(&cache), &toolchain()).unwrap();
        assert_eq!((built.compiled, &built.artifacts), (units, &made.artifacts), "{faults:?}");
        let warnings: Vec<String> = cache.report().warnings.into_keys().collect();
        assert!(warnings.iter().any(|warning| warning.contains(told)), "{faults:?}: {warnings:?}");
    }
    // The client waits out a temporary error.
    server.faults(Faults {
        refuse: [("get action", (Code::ResourceExhausted, 2))].into(),
        ..Faults::default()
    });
    let cache = cache(&server);
    assert_eq!(build(&plan, None, Some(&cache), &toolchain()).unwrap().fetched, units);
    assert_eq!(cache.report().repeated.values().sum::<u64>(), 2);
}

#[test]
fn results_with_missing_blobs_are_misses() {
    let (server, plan) = (Server::start(), small());
    let made = build(&plan, None, Some(&cache(&server)), &toolchain()).unwrap();
    server.state().blobs.clear();
    let cache = cache(&server);
    let built = build(&plan, None, Some(&cache), &toolchain()).unwrap();
    assert_eq!((built.fetched, &built.artifacts), (0, &made.artifacts));
    assert!(cache.report().warnings.is_empty(), "{:?}", cache.report());
    // The units are uploaded again.
    assert_eq!(build(&plan, None, Some(&cache), &toolchain()).unwrap().fetched, plan.units.len());
}

#[test]
fn incomplete_results_are_compiled_and_extras_ignored() {
    let (server, plan) = (Server::start(), small());
    let directory = tempfile::tempdir().unwrap();
    let store = |name: &str| Store::create(directory.path().join(name)).unwrap();
    let (one, units) = (store("one"), plan.units.len());
    build(&plan, Some(&one), Some(&cache(&server)), &toolchain()).unwrap();
    let actions: Vec<_> = one.records().map(|record| record.unwrap().action).collect();
    let mut given: Vec<CachedAction> = cache(&server).find(&actions).into_iter().flatten().collect();
    assert_eq!(given.len(), units);
    let foreign: Fingerprint = "ab".repeat(32).parse().unwrap();
    for CachedAction { record, .. } in &mut given {
        record.members[0].fingerprints.push(foreign);
        record.members[0].fingerprints.sort_unstable();
    }
    cache(&server).put(&given);
    let two = store("two");
    let taken = build(&plan, Some(&two), Some(&cache(&server)), &toolchain()).unwrap();
    assert_eq!((taken.fetched, taken.compiled), (units, 0));
    assert!(two.find_fingerprint(&foreign).unwrap().is_empty(), "it leads to a module of another graph");
    for CachedAction { record, archive, .. } in &mut given {
        archive.members.remove(OBJECT).unwrap();
        (record.digest, record.size) = (archive.pack().unwrap().0, archive.size());
    }
    cache(&server).put(&given);
    let three = store("three");
    let compiled = build(&plan, Some(&three), Some(&cache(&server)), &toolchain()).unwrap();
    assert_eq!((compiled.fetched, compiled.compiled), (0, units));
    let again = build(&plan, Some(&three), None, &toolchain()).unwrap();
    assert_eq!((again.hits, again.compiled), (units, 0));
}

/// A change of the server's content.
type Change<'a> = &'a dyn Fn(&mut State);

#[test]
fn mismatched_results_are_rejected() {
    let (server, plan) = (Server::start(), small());
    build(&plan, None, Some(&cache(&server)), &toolchain()).unwrap();
    let good = server.state().actions.clone();
    assert!(good.len() > 1);
    let refusals: [(&str, Change<'_>); 4] = [
        ("belongs to action", &|state| {
            let mut results: Vec<_> = good.values().cloned().collect();
            results.rotate_left(1);
            state.actions = good.keys().cloned().zip(results).collect();
        }),
        ("expected at most", &|state| {
            for digest in state.actions.values_mut().flat_map(|result| &mut result.output_files) {
                digest.digest.as_mut().unwrap().size_bytes = 1 << 50;
            }
        }),
        ("missing digest of", &|state| {
            for digest in state.actions.values_mut().flat_map(|result| &mut result.output_files) {
                digest.digest.as_mut().unwrap().size_bytes = -1;
            }
        }),
        ("result without", &|state| {
            state.actions.values_mut().for_each(|result| result.output_files.clear());
        }),
    ];
    let made = local(&plan);
    for (told, change) in refusals {
        server.state().actions = good.clone();
        change(&mut server.state());
        let cache = cache(&server);
        let built = build(&plan, None, Some(&cache), &toolchain()).unwrap();
        assert_eq!((built.fetched, &built.artifacts), (0, &made.artifacts), "{told}");
        let warnings: Vec<String> = cache.report().warnings.into_keys().collect();
        assert!(warnings.iter().any(|warning| warning.contains(told)), "{told}: {warnings:?}");
    }
}

#[test]
fn large_blobs_survive_cut_streams() {
    let (server, plan) = (Server::start(), small());
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    build(&plan, Some(&store), None, &toolchain()).unwrap();
    let mut record = store.records().next().unwrap().unwrap();
    let mut archive = store.load(&record).unwrap();
    // Bytes that cannot be compressed.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    archive.members.insert("noise".to_owned(), noise.take(5 << 20).collect());
    (record.digest, record.size) = (archive.digest().unwrap(), archive.size());
    let given = CachedAction { record: record.clone(), archive, signatures: String::new() };
    let cache = cache(&server);
    server.faults(Faults {
        cut: 2,
        refuse: [("write stream", (Code::Unavailable, 1))].into(),
        ..Faults::default()
    });
    cache.put(std::slice::from_ref(&given));
    assert_eq!(cache.find(&[record.action]), [Some(given)]);
    assert_eq!(cache.report().repeated.values().sum::<u64>(), 3);
    server.faults(Faults { cut: u32::MAX, ..Faults::default() });
    assert_eq!(cache.find(&[record.action]), [None]);
}

#[test]
fn keyring_requires_signed_results() {
    let (server, plan) = (Server::start(), small());
    build(&plan, None, Some(&cache(&server)), &toolchain()).unwrap();
    let key = KeyPair::generate_unencrypted_keypair().unwrap();
    let public = key.pk.to_base64();
    let text = format!("format=1\nversion=1\nexpires=2999-12-31\nthreshold=1\nkey={public} r\n");
    let keyring = Arc::new(Keyring::parse(&text).unwrap());
    let trusting = || {
        let keyring = Some(Arc::clone(&keyring));
        RemoteCache::new(server.url.parse().unwrap(), &Access::default(), patience(), keyring).unwrap()
    };
    let cache = trusting();
    assert_eq!(build(&plan, None, Some(&cache), &toolchain()).unwrap().fetched, 0);
    let warnings: Vec<String> = cache.report().warnings.into_keys().collect();
    assert!(warnings[0].contains("not signed"), "{warnings:?}");
    // Signed by that key, the results are accepted, and the signatures are in the store.
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let made = build(&plan, Some(&store), None, &toolchain()).unwrap();
    for record in store.records() {
        let record = record.unwrap();
        let signed = store.signed_of(&record).unwrap();
        let signature = minisign::sign(None, &key.sk, &*signed.bytes, None, None).unwrap().to_string();
        let mut record = record;
        for member in &mut record.members {
            let (_, module) = plan
                .units
                .iter()
                .flat_map(|unit| unit.members())
                .find(|(key, _)| *key == member.key)
                .unwrap();
            member.document = Some(module.document());
        }
        let archive = store.load(&record).unwrap();
        cache.put(&[CachedAction { record, archive, signatures: signature }]);
    }
    let other = tempfile::tempdir().unwrap();
    let other = Store::create(other.path()).unwrap();
    let taken = build(&plan, Some(&other), Some(&trusting()), &toolchain()).unwrap();
    assert_eq!((taken.fetched, &taken.artifacts), (plan.units.len(), &made.artifacts));
    let other = other.trusting(keyring);
    for (key, _) in plan.units.iter().flat_map(|unit| unit.members()) {
        assert_eq!(other.find(key).unwrap().len(), 1);
    }
}

/// A process in which no thread can be started: the stack that each would get is larger than the address space.
#[test]
fn cache_misses_without_threads() {
    const CHILD: &str = "PRECAST_REAPI_TEST_NO_THREAD";
    let Ok(url) = std::env::var(CHILD) else {
        let server = Server::start();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let name = "cache::cache_misses_without_threads";
        child.args(["--exact", name, "--test-threads=1"]).env(CHILD, &server.url);
        // For the child alone: this process has its threads.
        child.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
        assert!(child.status().unwrap().success());
        return;
    };
    assert!(std::thread::Builder::new().spawn(|| ()).is_err());
    let opened = RemoteCache::new(url.parse().unwrap(), &Access::default(), patience(), None);
    if let Ok(cache) = opened {
        let key = precast_store::key::ActionKey::from_bytes([1; 32]);
        assert_eq!(cache.find(&[key]), [None]);
    }
}
