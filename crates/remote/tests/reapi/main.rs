//! The cache and the farm against a faulty server: no wrong result is accepted, nothing hangs, and no cache error
//! ends a build.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod access;
mod cache;
mod farm;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use precast_build::{Declared, ExecuteError, Executed, Execution, Manifest, Plan, execute, plan_after};
use precast_compile::{Parallel, Toolchain};
use precast_ops::Ops;
use precast_remote::Patience;
use precast_remote::reapi::{Access, Farm};
use precast_store::{ActionCache, Store};
use precast_testkit::compiler::{toolchain, variants};
use precast_testkit::farm::Server;

/// Returns short time limits, so that tests end.
fn patience() -> Patience {
    let pause = Duration::from_millis(1);
    Patience { tries: 4, pause, answer: Duration::from_secs(20), ..Patience::default() }
}

fn declared(manifest: Manifest) -> Plan {
    let mut declared = Declared::new(Ops::standard());
    let declaring = manifest.declare(&mut declared);
    plan_after(declaring, &declared).unwrap()
}

/// Returns a plan of a graph and two ops, which are a few units.
fn small() -> Plan {
    let text = "[[op]]\nname = \"add\"\ndtypes = [\"f32\", \"f64\"]\nndim = [1]\n\n[[graph]]\nname = \"score\"\n\
         inputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"sum(exp(-x*x)*y)\"]\n";
    declared(Manifest::parse(Path::new("precast.toml"), text.to_owned()).unwrap())
}

fn build(
    plan: &Plan,
    store: Option<&Store>,
    cache: Option<&dyn ActionCache>,
    toolchain: &Toolchain,
) -> Result<Executed, ExecuteError> {
    let parallel = Parallel::Jobs(NonZeroUsize::new(4).unwrap());
    let variants = &variants();
    execute(plan, &Execution { store, cache, parallel, ..Execution::new(toolchain, variants) })
}

/// Builds locally, without a store or a cache.
fn local(plan: &Plan) -> Executed {
    build(plan, None, None, &toolchain()).unwrap()
}

fn farm(server: &Server) -> Arc<Farm> {
    let farm = Farm::new(server.url.parse().unwrap(), &Access::default(), patience(), Vec::new());
    Arc::new(farm.unwrap())
}

fn on_farm(server: &Server) -> (Arc<Farm>, Toolchain) {
    let farm = farm(server);
    let toolchain = toolchain().running_on(farm.clone());
    (farm, toolchain)
}
