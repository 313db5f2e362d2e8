//! Against servers that others wrote: `cargo xtask remotes` starts BuildGrid, and says here where it is.
//!
//! `PRECAST_TEST_REAPI` is the server, `PRECAST_TEST_REAPI_WORKER` the command of a worker, to which its name and the identity of
//! the toolchain are added.

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Instant;

use precast_build::{Executed, Execution, Manifest, Plan, execute};
use precast_compile::{Parallel, Progress, Toolchain};
use precast_remote::Patience;
use precast_remote::reapi::{Farm, RemoteCache, Server};
use precast_store::key::Language;
use precast_store::{ActionCache, Store};

use super::{declared, toolchain, variants};

const UNITS: usize = 200;

/// Functions of one argument; each two of them make a unit.
const FUNCTIONS: [&str; 15] = [
    "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "abs", "floor", "ceil", "sinh", "cosh", "expm1",
    "log1p", "arctan",
];

fn many() -> Plan {
    let pairs = FUNCTIONS.iter().flat_map(|a| FUNCTIONS.iter().map(move |b| (a, b)));
    let graphs = pairs.take(UNITS).map(|(a, b)| {
        format!(
            "[[graph]]\nname = \"{a}_{b}\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"sum({a}(x) * {b}(y))\"]\n"
        )
    });
    let text = graphs.collect();
    declared(Manifest::parse("precast.toml".as_ref(), text).unwrap())
}

/// A worker, ended with the value.
struct Worker(Child);

impl Worker {
    fn start(command: &str, name: &str, toolchain: &Toolchain) -> Self {
        let mut words = command.split(' ');
        let id = toolchain.id(Language::C).unwrap().to_string();
        let mut command = Command::new(words.next().unwrap());
        Self(command.args(words).args([name, &id]).spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn timed(
    what: &str,
    plan: &Plan,
    (store, cache): (Option<&Store>, Option<&dyn ActionCache>),
    toolchain: &Toolchain,
    progress: &dyn Fn(Progress),
) -> Executed {
    let (parallel, variants) = (Parallel::Jobs(NonZeroUsize::new(8).unwrap()), variants());
    let start = Instant::now();
    let execution = Execution { store, cache, toolchain, variants: &variants, parallel, progress };
    let executed = execute(plan, &execution).unwrap();
    eprintln!("{what}: {} units in {:.1} s", executed.artifacts.len(), start.elapsed().as_secs_f64());
    executed
}

#[test]
fn a_real_farm_and_cache_give_the_bytes_of_this_machine() {
    let (Ok(server), Ok(worker)) =
        (std::env::var("PRECAST_TEST_REAPI"), std::env::var("PRECAST_TEST_REAPI_WORKER"))
    else {
        return eprintln!("skipped: no server of the Remote Execution API; `cargo xtask remotes` starts one");
    };
    let server: Server = server.parse().unwrap();
    let plan = many();
    assert!(plan.units.len() >= UNITS, "{}", plan.units.len());
    let quiet = |_| {};
    let here = timed("compiled here", &plan, (None, None), &toolchain(), &quiet);

    let first = RefCell::new(Some(Worker::start(&worker, "first", &toolchain())));
    let _second = Worker::start(&worker, "second", &toolchain());
    let on_farm = || {
        let patience = Patience { tries: 9, ..Patience::default() };
        let farm = Arc::new(Farm::new(server.clone(), patience, Vec::new()).unwrap());
        (toolchain().running_on(farm.clone()), farm)
    };
    let directory = tempfile::tempdir().unwrap();
    let store = |name: &str| Store::create(directory.path().join(name)).unwrap();
    let (toolchain, farm) = on_farm();
    // One of two workers is killed in the middle of what it does.
    let kill = |progress| {
        if matches!(progress, Progress::Finished { done, .. } if done >= UNITS / 3) {
            drop(first.borrow_mut().take());
        }
    };
    let there = timed("compiled on the farm", &plan, (Some(&store("farm")), None), &toolchain, &kill);
    eprintln!("  {:?}", farm.report());
    assert!(first.borrow().is_none());
    assert_eq!(there.artifacts, here.artifacts);
    assert!(store("farm").verify().unwrap().is_intact());

    let (toolchain, farm) = on_farm();
    let again = timed("known to the farm", &plan, (None, None), &toolchain, &quiet);
    assert_eq!(again.artifacts, here.artifacts);
    let report = farm.report();
    assert_eq!((report.ran, report.known), (0, plan.units.len() as u64));

    let cache = || RemoteCache::new(server.clone(), Patience::default(), None).unwrap();
    let given = cache();
    timed("compiled here, and given", &plan, (None, Some(&given)), &super::toolchain(), &quiet);
    assert!(given.report().warnings.is_empty(), "{:?}", given.report());
    let taken = timed("taken", &plan, (Some(&store("cache")), Some(&cache())), &super::toolchain(), &quiet);
    assert_eq!((taken.fetched, taken.compiled, &taken.artifacts), (plan.units.len(), 0, &here.artifacts));
    assert!(store("cache").verify().unwrap().is_intact());
}
