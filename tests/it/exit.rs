//! Ends a process while it is still publishing; the next process must hit nevertheless.

use crate::process::{self, answer};
use precast::{FunctionGraph, Policy, Runtime};
use precast_graph::text::parse;
use precast_ops::Ops;
use std::path::Path;
use std::time::Duration;

/// The times between compilation and exit, in milliseconds; publishing takes a few.
const DELAYS: [u64; 6] = [0, 1, 2, 4, 8, 16];

fn graph() -> FunctionGraph {
    let inputs = [("x".to_owned(), "f64[?]".parse::<precast_graph::Type>().unwrap())];
    parse(&["x * 2.5 + 1"], &inputs, &Ops::standard()).unwrap()
}

/// Compiles, and ends the process while the runtime is alive, as for a runtime in a static.
pub(crate) fn role(place: &Path) -> String {
    let runtime = Runtime::builder().writable(place.join("store")).policy(Policy::Jit).build().unwrap();
    drop(runtime.function(&graph()).unwrap());
    // Like a static, it is never dropped.
    let _runtime = std::mem::ManuallyDrop::new(runtime);
    let delay = fs_err::read_to_string(place.join("delay")).unwrap();
    std::thread::sleep(Duration::from_millis(delay.parse().unwrap()));
    fs_err::write(place.join("answer"), "ended").unwrap();
    #[allow(clippy::exit, reason = "the end of the process is what is tested")]
    std::process::exit(0)
}

#[test]
fn exit_during_publish_leaves_a_hit() {
    for delay in DELAYS {
        let place = tempfile::tempdir().unwrap();
        fs_err::write(place.path().join("delay"), delay.to_string()).unwrap();
        assert_eq!(answer(process::role("exit", place.path()), place.path()), "ended");
        let store = place.path().join("store");
        let strict = Runtime::builder().store(store).policy(Policy::Strict).build().unwrap();
        assert!(strict.function(&graph()).is_ok(), "a miss {delay} ms after compiling");
    }
}
