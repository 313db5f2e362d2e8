//! Tests of network and server faults: no wrong results, no hangs, a message for each fault, and unaffected
//! neighbouring layers.

use std::time::{Duration, Instant};

use precast_store::Event;
use precast_testkit::servers::Fault;

use crate::http::{CodeOrigin, ISA, served, told, unit};
use crate::sample::entry;

/// Looks up the sample's unit and entry in a layer; each result must be the pushed one or nothing.
fn ask(served: &CodeOrigin, cache: &str) -> (bool, bool, String) {
    let (archive, record) = unit("entry", ISA);
    let (layer, heard) = served.layer(cache);
    let begin = Instant::now();
    let found = layer.find(&record.members[0].key).unwrap();
    let loaded = found.first().map(|record| layer.load(record).unwrap().unwrap());
    if let Some(loaded) = &loaded {
        assert_eq!(loaded, archive.get("unit.so").unwrap(), "a wrong answer");
    }
    let named = layer.find_entry("score").unwrap();
    assert!(named.is_none() || named == Some(entry("score")), "a wrong answer");
    assert!(begin.elapsed() < Duration::from_secs(8), "a hang: {:?}", begin.elapsed());
    (loaded.is_some(), named.is_some(), told(&heard))
}

/// The parts of a store, as they occur in URLs.
const PARTS: [&str; 8] =
    ["/STORE", "/index/keys", "/records/", ".documents", ".minisig", "/objects/", "/roots/", "/entries/"];

#[test]
fn transient_faults_are_retried() {
    let served = served();
    for (at, fault) in [Fault::Cut, Fault::Half, Fault::Status(429), Fault::Status(500), Fault::Status(503)]
        .iter()
        .enumerate()
    {
        for part in PARTS {
            served.server.fault(part, *fault, 1);
        }
        let (module, named, told) = ask(&served, &format!("cache {at}"));
        assert!(module && named, "{fault:?}: {told}");
        served.server.heal();
    }
}

#[test]
fn permanent_faults_are_misses_with_reason() {
    stays(&[Fault::Cut, Fault::Half, Fault::Status(500), Fault::Endless]);
}

#[test]
fn wrong_answers_are_misses_with_reason() {
    stays(&[Fault::Wrong, Fault::Missing, Fault::Zeros]);
}

fn stays(faults: &[Fault]) {
    let served = served();
    for (at, part) in PARTS.iter().enumerate() {
        for fault in faults {
            served.server.fault(part, *fault, usize::MAX);
            let (module, named, told) = ask(&served, &format!("cache {at} {fault:?}"));
            served.server.heal();
            // A missing response may be correct, and so may an index that names no record of a key.
            let is_silent = match *part {
                "/index/keys" => matches!(fault, Fault::Missing | Fault::Wrong | Fault::Zeros),
                "/roots/" => *fault == Fault::Missing,
                _ => false,
            };
            let concerns_both = matches!(*part, "/STORE" | ".minisig");
            assert!(!module || !named, "{part} {fault:?} was believed: {told}");
            assert!(!concerns_both || (!module && !named), "{part} {fault:?}: {told}");
            let is_told = told.lines().any(|line| !line.contains("fetched "));
            assert!(is_silent || is_told, "{part} {fault:?} was not told of");
        }
    }
}

#[test]
fn silent_server_is_not_awaited() {
    let served = served();
    for (at, part) in ["/STORE", "/index/keys", "/objects/", "/roots/"].iter().enumerate() {
        for fault in [Fault::Silent, Fault::Slow] {
            served.server.fault(part, fault, usize::MAX);
            let (module, named, told) = ask(&served, &format!("cache {at} {fault:?}"));
            served.server.heal();
            assert!(!module || !named, "{part} {fault:?}: {told}");
            assert!(told.contains("next attempt in 30 s"), "{part} {fault:?}: {told}");
            assert!(told.contains("hint: "), "{told}");
        }
    }
}

#[test]
fn unreachable_server_is_asked_once() {
    let served = served();
    let (module, named, _) = ask(&served, "cache");
    assert!(module && named);
    served.server.fault("", Fault::Status(500), usize::MAX);
    served.server.asked();
    let (module, named, told) = ask(&served, "cache");
    assert!(module && named, "{told}");
    assert_eq!(told.matches("next attempt in").count(), 1, "{told}");
    let (_, other) = unit("other", ISA);
    let (layer, heard) = served.layer("cache");
    for member in &other.members {
        assert!(layer.find(&member.key).unwrap().is_empty());
    }
    assert_eq!(
        heard.lock().unwrap().iter().filter(|event| matches!(event, Event::Unreachable { .. })).count(),
        1
    );
    // Three tries for each of the two layers.
    assert_eq!(served.server.asked().len(), 6);
}

#[test]
fn concurrent_lookups_send_one_request() {
    let served = served();
    let (_, record) = unit("entry", ISA);
    let (layer, _) = served.layer("cache");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(layer.find(&record.members[0].key).unwrap().len(), 1));
        }
    });
    assert_eq!(served.server.asked().iter().filter(|path| path.contains("/objects/")).count(), 1);
}
