//! `Builder::remote`: the Rust API with a remote store, and with one that fails.

use std::path::Path;
use std::time::{Duration, Instant};

use ndarray::ArrayD;
use ndarray_npy::ReadNpyExt as _;
use precast_remote::{Options, Patience};
use precast_runtime::{ArrayRef, CodeOrigin, Event, Policy, Runtime};
use precast_store::Event as StoreEvent;
use precast_testkit::servers::{Fault, Server};

use crate::elsewhere::released;
use crate::sandbox::{Sandbox, assert_close};

/// Returns a runtime whose only layer is the remote, with this directory as the cache for fetched artifacts.
fn runtime(place: &Sandbox, url: &str, cache: &Path) -> Runtime {
    let ms = Duration::from_millis;
    let patience =
        Patience { connection: ms(500), silence: ms(250), answer: ms(500), tries: 2, pause: ms(5) };
    let options = Options { cache: Some(cache.to_owned()), patience, ..Options::default() };
    let builder = Runtime::builder().policy(Policy::Strict).keyring(place.path("precast.keyring"));
    builder.remote_with(url, options).build().unwrap()
}

/// Returns the value of `score` and the layer that served it, or the reason for the miss.
fn score(place: &Sandbox, runtime: &Runtime) -> Result<(f64, String), String> {
    let function = runtime.entry("score").map_err(|error| error.to_string())?;
    let inputs = ["x.npy", "y.npy", "z.npy"]
        .map(|name| ArrayD::<f64>::read_npy(fs_err::File::open(place.path(name)).unwrap()).unwrap());
    let inputs: Vec<_> = inputs.into_iter().map(precast_runtime::Array::from).collect();
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(ArrayRef::from).collect();
    let found = function.call(&inputs).map_err(|error| error.to_string())?;
    let CodeOrigin::Artifact { layer, .. } = &function.provenance()[0].served else {
        panic!("not an artifact")
    };
    let precast_runtime::Array::F64(value) = &found[0] else { panic!("not f64") };
    Ok((value.sum(), layer.clone()))
}

fn told(runtime: &Runtime) -> String {
    let layer =
        |event: Event| if let Event::Layer(event) = event { Some(format!("{event}\n")) } else { None };
    runtime.stats().events.into_iter().filter_map(layer).collect()
}

/// Returns whether the server of the remote could not be reached.
fn is_unreachable(runtime: &Runtime) -> bool {
    let is_it = |event: &Event| matches!(event, Event::Layer(StoreEvent::Unreachable { .. }));
    runtime.stats().events.iter().any(is_it)
}

fn published() -> (Sandbox, f64, Server) {
    let (place, expected) = released();
    place.run_bare(&["index"]).ok();
    let server = Server::files(place.path("artifacts"));
    (place, expected, server)
}

#[test]
fn program_continues_after_its_server_is_gone() {
    let (place, expected, server) = published();
    let cache = place.path("cache");
    let first = runtime(&place, &server.url, &cache);
    let (value, layer) = score(&place, &first).unwrap();
    assert_close(value, expected);
    assert!(layer.contains(&server.url), "{layer}");
    assert!(told(&first).contains(&format!("from `{}`", server.url)), "{}", told(&first));
    server.fault("", Fault::Cut, usize::MAX);
    let offline = runtime(&place, &server.url, &cache);
    assert_close(score(&place, &offline).unwrap().0, expected);
    assert!(is_unreachable(&offline));
    // With an empty cache the lookup misses and reports the reason.
    let empty = runtime(&place, &server.url, &place.path("empty"));
    assert!(score(&place, &empty).unwrap_err().contains("score"));
    assert!(is_unreachable(&empty));
}

#[test]
fn remote_damage_is_reported_as_a_miss() {
    let (place, expected, server) = published();
    for (number, part) in ["/objects/", "/records/", "/entries/"].into_iter().enumerate() {
        for (kind, fault) in [Fault::Wrong, Fault::Zeros, Fault::Endless].into_iter().enumerate() {
            server.fault(part, fault, usize::MAX);
            let found = runtime(&place, &server.url, &place.path(format!("damaged-{number}-{kind}")));
            assert!(score(&place, &found).is_err(), "{part} {fault:?}");
            let told = told(&found);
            assert!(told.contains(part), "{part} {fault:?}: {told}");
            server.heal();
        }
    }
    let found = runtime(&place, &server.url, &place.path("damaged-0-0"));
    assert_close(score(&place, &found).unwrap().0, expected);
}

#[test]
fn wait_never_exceeds_the_limit() {
    let (place, _, server) = published();
    for fault in [Fault::Silent, Fault::Slow] {
        server.fault("", fault, usize::MAX);
        let cache = place.path(format!("{fault:?}"));
        let start = Instant::now();
        let found = runtime(&place, &server.url, &cache);
        assert!(score(&place, &found).is_err());
        // Two tries of at most half a second, the pause, and the same again as a margin for a busy machine.
        assert!(start.elapsed() < Duration::from_secs(10), "{fault:?}: {:?}", start.elapsed());
        assert!(is_unreachable(&found));
        // The remote is in its back-off period: the next lookup sends no request.
        let asked = server.asked().len();
        assert!(score(&place, &found).is_err() && server.asked().is_empty() && asked > 0);
        server.heal();
    }
}

#[test]
fn remote_layer_requires_a_keyring() {
    let error = Runtime::builder().remote("http://127.0.0.1:1").build().err().unwrap().to_string();
    assert!(error.contains("keyring"), "{error}");
}
