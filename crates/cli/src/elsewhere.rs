//! What of a build happens elsewhere: the cache that it shares, the farm that compiles for it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use precast_compile::{Parallel, Toolchain};
use precast_remote::Patience;
use precast_remote::reapi::{Farm, RemoteCache, Report};
use precast_store::{ActionCache, Keyring};

use crate::args::ElsewhereArgs;
use crate::error::Failure;
use crate::term;

/// How often a server is asked: a farm that is restarted is back within a minute.
const TRIES: u32 = 9;

/// How many compilers run on a farm at once where nothing else is said.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// The cache and the farm that a command line names.
pub(crate) struct Elsewhere {
    cache: Option<RemoteCache>,
    farm: Option<Arc<Farm>>,
}

impl Elsewhere {
    /// Prepares both; nobody is asked yet.
    pub(crate) fn new(args: ElsewhereArgs, keyring: Option<Arc<Keyring>>) -> Result<Self, Failure> {
        let started = |error| Failure::new("there is no thread for what happens elsewhere").because(error);
        let cache = args.remote_cache.map(|server| RemoteCache::new(server, Patience::default(), keyring));
        let patience = Patience { tries: TRIES, ..Patience::default() };
        let farm = args.remote_exec.map(|server| Farm::new(server, patience, args.remote_property));
        Ok(Self {
            cache: cache.transpose().map_err(started)?,
            farm: farm.transpose().map_err(started)?.map(Arc::new),
        })
    }

    /// Has a toolchain's compiler run on the farm, if there is one.
    pub(crate) fn compiling(&self, toolchain: Toolchain) -> Toolchain {
        match &self.farm {
            Some(farm) => toolchain.running_on(Arc::<Farm>::clone(farm)),
            None => toolchain,
        }
    }

    pub(crate) fn cache(&self) -> Option<&dyn ActionCache> {
        self.cache.as_ref().map(|cache| cache as &dyn ActionCache)
    }

    /// How many compilers run at once.
    pub(crate) fn parallel(&self, jobs: Option<NonZeroUsize>) -> Parallel {
        let jobs = jobs.or(self.farm.as_ref().map(|_| AT_ONCE));
        jobs.map_or(Parallel::Auto, Parallel::Jobs)
    }

    /// Tells what happened there, also of a build that failed.
    pub(crate) fn tell(&self) {
        if let Some(farm) = &self.farm {
            let report = farm.report();
            term::note(&format!("the farm compiled {} unit(s), and had {} before", report.ran, report.known));
            repetitions("farm", &report);
        }
        if let Some(cache) = &self.cache {
            let report = cache.report();
            repetitions("cache", &report);
            for (warning, count) in &report.warnings {
                let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
                term::warning(&format!("{warning}{times}"));
            }
        }
    }
}

fn repetitions(of: &str, report: &Report) {
    if let Some(repeated) = report.repetitions() {
        term::note(&format!("the {of} was asked again: {repeated}"));
    }
}
