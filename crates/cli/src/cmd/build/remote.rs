//! The other machines of a build: stores to fetch from, the cache, and the farm.

use std::num::NonZeroUsize;
use std::sync::Arc;

use precast_compile::{Parallel, Toolchain};
use precast_core::redact::UrlText;
use precast_store::remote::{Remote, Wanted};
use precast_store::{ActionCache, Keyring, Store};

use super::Planned;
use crate::args::{BuildArgs, LayerArgs};
use crate::elsewhere::Elsewhere;
use crate::error::Failure;
use crate::{events, layers};

/// The other machines that a command line names.
pub(super) struct Remotes {
    elsewhere: Elsewhere,
    urls: Vec<UrlText>,
    keyring: Option<Arc<Keyring>>,
}

impl Remotes {
    /// Prepares the other machines; no request is sent yet.
    pub(super) fn new(args: &BuildArgs) -> Result<Self, Failure> {
        let keyring = match args.remote.is_empty() && args.elsewhere.remote_cache.is_none() {
            true => None,
            false => {
                let keyring = args.keyring.clone();
                layers::open_keyring(&LayerArgs { keyring, ..LayerArgs::default() })?
            }
        };
        let elsewhere = Elsewhere::new(&args.elsewhere, keyring.clone())?;
        if !args.remote.is_empty() && keyring.is_none() {
            return Err(layers::no_keyring());
        }
        Ok(Self { elsewhere, urls: args.remote.clone(), keyring })
    }

    /// Returns whether artifacts may come from other machines.
    pub(super) fn is_any(&self) -> bool {
        self.cache().is_some() || !self.urls.is_empty()
    }

    /// Returns a toolchain whose compiler runs on the farm, if there is a farm.
    pub(super) fn compiling(&self, toolchain: Toolchain) -> Toolchain {
        self.elsewhere.compiling(toolchain)
    }

    /// Returns the cache of actions.
    pub(super) fn cache(&self) -> Option<&dyn ActionCache> {
        self.elsewhere.cache()
    }

    /// Returns how many compilers run at once.
    pub(super) fn parallel(&self, jobs: Option<NonZeroUsize>) -> Parallel {
        self.elsewhere.parallel(jobs)
    }

    /// Fetches the wanted actions from the remote stores into `store`, if enough keys have signed them.
    pub(super) fn prefetch(&self, planned: &Planned<'_>, store: Option<&Store>) -> Result<(), Failure> {
        let (Some(store), Some(keyring)) = (store, &self.keyring) else { return Ok(()) };
        if self.urls.is_empty() {
            return Ok(());
        }
        let wanted = wanted(planned);
        for url in &self.urls {
            let source = Arc::new(precast_remote::Files::open(
                &url.expose().parse()?,
                precast_remote::Patience::default(),
            )?);
            let remote =
                Remote::new(source, store.clone().trusting(Arc::clone(keyring))).on_event(events::hear);
            remote.prefetch(&wanted)?;
        }
        Ok(())
    }

    /// Reports remote activity, also after a failed build.
    pub(super) fn tell(&self) {
        self.elsewhere.tell();
    }
}

/// Lists the actions of a plan: those of the compiler, or without one the pinned actions.
fn wanted(planned: &Planned<'_>) -> Vec<Wanted> {
    let Planned { plan, variants, .. } = planned;
    let Some(toolchain) = &planned.toolchain else {
        let pins = planned.pinned().into_iter().flat_map(|lock| &lock.pins);
        let pins = pins.filter(|pin| variants.iter().any(|variant| pin.is_for(variant)));
        return pins.map(|pin| Wanted::Action(pin.action)).collect();
    };
    let pairs = plan.units.iter().flat_map(|unit| variants.iter().map(move |variant| (unit, variant)));
    // Compilation reports a unit that cannot be compiled.
    let actions = pairs.filter_map(|(unit, variant)| precast_compile::action(unit, toolchain, variant).ok());
    actions.map(|inputs| Wanted::Action(inputs.key())).collect()
}
