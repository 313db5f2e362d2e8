//! The overhead of remote compilation: units compiled locally, and by a server in this process that starts the same
//! compiler.
//!
//! The case covers hashing, the messages, and the server's directory for each action. It covers neither a network nor
//! a queue, and not the speed of a real farm's machines.

use super::{Bench, variant};
use crate::measure::{Runner, race};
use crate::report::{Figure, Found, Line};
use anyhow::{Context as _, Result, ensure};
use precast_build::{Declared, Executed, Execution, Manifest, Plan, execute, plan};
use precast_compile::{Parallel, Toolchain};
use precast_remote::Patience;
use precast_remote::reapi::{Access, Farm, RemoteCache};
use precast_store::ActionCache;
use precast_testkit::farm::Server;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

const ROUNDS: usize = 5;
/// The functions, each of which is one unit.
const FUNCTIONS: [&str; 12] =
    ["exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "floor", "sinh", "cosh", "expm1", "arctan"];
const PEER: &str = "compiled here";

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let (plan, here) = (units()?, Toolchain::find(None)?);
    let server = Server::start();
    let place = || server.url.parse();
    let farm = Farm::new(place()?, &Access::default(), Patience::default(), Vec::new())?;
    let there = Toolchain::find(None)?.running_on(Arc::new(farm));
    let cache = RemoteCache::new(place()?, &Access::default(), Patience::default(), None)?;
    let made: RefCell<Option<Executed>> = RefCell::default();
    let build = |toolchain: &Toolchain, cache: Option<&dyn ActionCache>| -> Result<()> {
        let variants = [variant(toolchain)?];
        let parallel = Parallel::Jobs(NonZeroUsize::new(1).context("one is not zero")?);
        let (store, progress) = (None, &|_| {});
        let built = execute(
            &plan,
            &Execution { store, cache, parallel, progress, ..Execution::new(toolchain, &variants) },
        )?;
        let mut made = made.borrow_mut();
        ensure!(made.as_ref().is_none_or(|made| made.artifacts == built.artifacts), "other bytes");
        *made = Some(built);
        Ok(())
    };
    build(&here, Some(&cache))?;
    let count = plan.units.len();
    let results = server.state().actions.clone();
    let mut runners = [
        Runner::new("on the farm", || {
            server.state().actions = results.clone();
            build(&there, None)
        }),
        Runner::new("known to the farm", || build(&there, None)),
        Runner::new("from the cache", || build(&here, Some(&cache))),
        Runner::new(PEER, || build(&here, None)),
    ];
    let samples = race(bench.rounds(ROUNDS), &mut runners)?;
    drop(runners);
    let samples: Vec<_> = samples.iter().map(|sample| sample.per(count)).collect();
    let line = |what: &str, at: usize| Line::new(what, &samples[at], &[(PEER, &samples[3])]);
    let mut found = Found::default();
    found.lines.push(line("a unit that the farm compiles", 0));
    found.lines.push(line("a unit that the farm has compiled before", 1));
    found.lines.push(line("a unit from the cache", 2));
    let [there, here] = [0, 3].map(|at| Figure::from(&samples[at]).median_ns);
    found.facts.push(format!(
        "{count} units, one at a time, byte-identical; an action costs {:.1} ms in addition to the compiler, {:.2} times the unit.",
        (there - here) / 1e6,
        there / here,
    ));
    Ok(found)
}

/// Returns a plan with one unit for each function.
fn units() -> Result<Plan> {
    let graph = |name: &&str| {
        format!(
            "[[graph]]\nname = \"{name}\"\ninputs = [\"x: f64[?]\"]\noutputs = [\"sum({name}(x) * x)\"]\n"
        )
    };
    let manifest = Manifest::parse(Path::new("precast.toml"), FUNCTIONS.iter().map(graph).collect())?;
    let mut declared = Declared::default();
    manifest.declare(&mut declared)?;
    Ok(plan(&declared)?)
}
