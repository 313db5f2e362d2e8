//! Opens the layers that a command line names, to inspect them or to run from them.
//!
//! Without `--store` and `--bundle` the default is the store in `PRECAST_STORE`. Commands that only inspect layers
//! fall back to `./artifacts`. Commands that load code, or report whether it would be loaded, do not: they must not
//! run code just because it is in the current directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use precast_graph::FunctionGraph;
use precast_ops::Ops;
use precast_runtime::{BuildRuntimeError, Event, Policy, Runtime};
use precast_store::Event as StoreEvent;
use precast_store::{
    Bundle, CreateError, Keyring, KeyringError, Layer, OpenBundleError, OpenSignedError, Store, trust,
};

use crate::args::LayerArgs;
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{events, term};

/// The environment variable that names a store.
const VARIABLE: &str = "PRECAST_STORE";

/// The default store of a directory.
const DEFAULT: &str = "artifacts";

/// Returns the store that `PRECAST_STORE` names.
fn from_environment() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns the store that `build` publishes to.
pub(crate) fn to_build(named: Option<PathBuf>) -> PathBuf {
    named.or_else(from_environment).unwrap_or_else(|| DEFAULT.into())
}

/// Returns the stores to run from.
pub(crate) fn to_run(args: &LayerArgs) -> Vec<PathBuf> {
    if args.is_empty() {
        return from_environment().into_iter().collect();
    }
    args.store.clone()
}

/// Returns the stores to inspect.
pub(crate) fn to_look(args: &LayerArgs) -> Vec<PathBuf> {
    let mut stores = to_run(args);
    if stores.is_empty() && args.is_empty() && is_store(Path::new(DEFAULT)) {
        stores.push(DEFAULT.into());
    }
    stores
}

/// Returns the path of the keyring that signatures are checked against, if any.
pub(crate) fn keyring(args: &LayerArgs) -> Result<Option<PathBuf>, Failure> {
    Ok(trust::keyring_setting(args.keyring.clone())?)
}

/// Opens the keyring that signatures are checked against.
pub(crate) fn open_keyring(args: &LayerArgs) -> Result<Option<Arc<Keyring>>, Failure> {
    let opened = Keyring::open_setting(args.keyring.clone()).map_err(keyring_failure)?;
    Ok(opened.map(Arc::new))
}

/// Returns the failure for a keyring that cannot be used. A keyring that is not valid today counts as a missing
/// signature.
pub(crate) fn keyring_failure(error: KeyringError) -> Failure {
    let is_dated = is_dated(&error);
    let failure = Failure::from(error);
    if is_dated { failure.exiting(Exit::Unsigned) } else { failure }
}

/// Returns whether a keyring is not valid today.
fn is_dated(error: &KeyringError) -> bool {
    matches!(error, KeyringError::Expired { .. } | KeyringError::Clock { .. })
}

fn is_store(path: &Path) -> bool {
    path.join("STORE").is_file()
}

/// Opens layers to inspect. Damage is reported as a warning.
pub(crate) fn open(args: &LayerArgs, stores: &[PathBuf]) -> Result<Vec<Layer>, Failure> {
    let mut layers = Vec::new();
    let keyring = open_keyring(args)?;
    for path in &args.bundle {
        let layer = match &keyring {
            None => Layer::open_bundle(path)?,
            Some(keyring) => Layer::open_signed_bundle(path, keyring).map_err(unsigned)?,
        };
        layers.push(layer.on_event(events::hear));
    }
    for path in stores {
        let store = match &keyring {
            None => Store::open(path)?,
            Some(keyring) => Store::open_signed(path, Arc::clone(keyring))?,
        };
        layers.push(Layer::from(store).on_event(events::hear));
    }
    #[cfg(feature = "remote")]
    for url in &args.remote {
        let keyring = keyring.as_ref().ok_or_else(no_keyring)?;
        let observer = precast_core::event::Observer::new(events::hear);
        let options = precast_remote::Options { observer, ..precast_remote::Options::default() };
        let layer = precast_remote::open(url.expose(), Arc::clone(keyring), &options);
        layers.push(layer.map_err(remote_failure)?.on_event(events::hear));
    }
    Ok(layers)
}

/// Returns the failure for a remote without a keyring: artifacts of a remote must be signed.
#[cfg(feature = "remote")]
pub(crate) fn no_keyring() -> Failure {
    Failure::usage("a remote needs a keyring")
        .hint(format!("name a keyring with `--keyring FILE`, or in `{}`", trust::KEYRING))
}

/// Returns the failure for a remote that cannot be opened.
#[cfg(feature = "remote")]
fn remote_failure(error: precast_remote::OpenRemoteError) -> Failure {
    let is_unsigned =
        matches!(&error, precast_remote::OpenRemoteError::Release { source, .. } if source.is_unsigned());
    let failure = Failure::from(error);
    if is_unsigned { failure.exiting(Exit::Unsigned) } else { failure }
}

/// Opens a bundle whose parts are listed or compared; damage has its own exit code.
pub(crate) fn open_bundle(path: &Path) -> Result<Bundle, Failure> {
    Bundle::open_unsigned(path).map_err(|error| match (&error, Kind::at(path)) {
        (OpenBundleError::Magic { .. }, Ok(kind)) => {
            Failure::new(format!("`{}` is {kind}, expected a bundle", path.display()))
                .hint("write a bundle with `precast build --bundle FILE`")
        }
        _ if error.is_damage() => Failure::from(error).exiting(Exit::Damaged),
        _ => error.into(),
    })
}

/// Returns the failure for a missing signature, or for signatures that cannot be checked.
pub(crate) fn unsigned(error: OpenSignedError) -> Failure {
    let is_unsigned = error.is_unsigned();
    let failure = Failure::from(error);
    if is_unsigned { failure.exiting(Exit::Unsigned) } else { failure }
}

/// Opens layers to inspect; fails without any layer.
pub(crate) fn open_some(args: &LayerArgs) -> Result<Vec<Layer>, Failure> {
    let layers = open(args, &to_look(args))?;
    if layers.is_empty() { Err(none()) } else { Ok(layers) }
}

/// Returns the failure for a command line that names no layer.
pub(crate) fn none() -> Failure {
    Failure::new("no store or bundle found").hint(how())
}

/// Finds the declared graph of an entry; the first layer with this name wins.
pub(crate) fn find_graph(layers: &[Layer], name: &str, ops: &Ops) -> Result<Option<FunctionGraph>, Failure> {
    for layer in layers {
        if let Some(entry) = layer.find_entry(name)? {
            let graph = precast_graph::json::parse(&entry.declared, ops);
            return graph.map(Some).map_err(|error| {
                Failure::new(format!("cannot read the graph of entry `{name}` in {}", layer)).because(error)
            });
        }
    }
    Ok(None)
}

/// Returns the failure for an entry that no layer has, with the known names.
pub(crate) fn no_entry(args: &LayerArgs, name: &str, known: &[String]) -> Failure {
    let failure = Failure::new(format!("miss: entry `{name}` not found")).exiting(Exit::Miss);
    failure.hint(match no_layer_hint(args) {
        Some(hint) => hint,
        None if known.is_empty() => "run `precast build` to create entries from a manifest".to_owned(),
        None => format!("use one of `{}`", known.join("`, `")),
    })
}

/// Returns a hint about naming a layer, if none is named; there may be a store nearby.
pub(crate) fn no_layer_hint(args: &LayerArgs) -> Option<String> {
    if !to_run(args).is_empty() || !args.is_empty() {
        return None;
    }
    Some(if is_store(Path::new(DEFAULT)) {
        format!("use the store in this directory with `--store {DEFAULT}`")
    } else {
        how()
    })
}

/// Explains how to name a layer.
fn how() -> String {
    format!(
        "name a store or bundle with `--store DIR` or `--bundle FILE`, or in `{VARIABLE}`; create one with \
             `precast build`"
    )
}

/// Builds the runtime of a command line.
pub(crate) fn runtime(
    args: &LayerArgs,
    policy: Policy,
    writable: Option<&Path>,
    ops: Ops,
) -> Result<Runtime, Failure> {
    let mut builder = Runtime::builder().ops(ops);
    builder = args.bundle.iter().fold(builder, |builder, path| builder.bundle_file(path));
    // Modules compiled here are unsigned. With a keyring, a store is written to, and trusted for these modules, only
    // if requested.
    let keyring = keyring(args)?;
    let is_open = keyring.is_none();
    builder = keyring.iter().fold(builder, |builder, path| builder.keyring(path));
    let compiles = policy.compiles();
    let stores = to_run(args);
    let target = writable.or(stores.first().map(PathBuf::as_path)).filter(|_| compiles).map(Path::to_owned);
    for path in &stores {
        // A missing or unfinished store is created if modules may be compiled into it: another process may be creating
        // it, or was killed. A read-only store is still used.
        let is_target = target.as_ref() == Some(path);
        let is_usable =
            || is_open && if is_store(path) { Store::create(path).is_ok() } else { creates(policy) };
        let publish = is_target && (writable.is_some() || is_usable());
        builder = if publish { builder.writable(path) } else { builder.store(path) };
    }
    if let Some(path) = target.filter(|target| !stores.contains(target)) {
        builder = builder.writable(path);
    }
    #[cfg(feature = "remote")]
    if !args.remote.is_empty() {
        keyring.ok_or_else(no_keyring)?;
        builder = args.remote.iter().fold(builder, |builder, url| builder.remote(url.expose()));
    }
    builder.policy(policy).build().map_err(|error| {
        let unsigned = match &error {
            BuildRuntimeError::Signed(error) => error.is_unsigned(),
            BuildRuntimeError::Keyring(error) => is_dated(error),
            #[cfg(feature = "remote")]
            BuildRuntimeError::Remote(precast_remote::OpenRemoteError::Release { source, .. }) => {
                source.is_unsigned()
            }
            _ => false,
        };
        let failure = Failure::from(error);
        if unsigned { failure.exiting(Exit::Unsigned) } else { failure }
    })
}

/// Returns whether a missing store is created: under a policy that compiles, if `auto` has a compiler.
fn creates(policy: Policy) -> bool {
    policy != Policy::Auto || precast_compile::Toolchain::find(None).is_ok()
}

/// Reports why compiled modules were not kept, if the first store should have kept them and no layer did.
fn tell_unkept(runtime: &Runtime, args: &LayerArgs) {
    let took_up = |event: &Event| {
        matches!(event, Event::Published { .. } | Event::NotPublished { .. } | Event::Private { .. })
    };
    let stats = runtime.stats();
    if stats.compiled == 0 || stats.events.iter().any(took_up) {
        return;
    }
    let refused = to_run(args)
        .into_iter()
        .next()
        .filter(|path| is_store(path))
        .and_then(|path| Store::create(path).err());
    if let Some(error) = refused {
        let reason = match error {
            CreateError::Write { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let reason = reason.lines().next().unwrap_or_default();
        term::warning(&format!("compiled modules are not stored: {reason}"));
    }
}

/// Reports fetched artifacts.
pub(crate) fn tell_fetched(runtime: &Runtime) {
    for event in runtime.stats().events {
        if let Event::Layer(event @ StoreEvent::Fetched { .. }) = event {
            events::hear(&event);
        }
    }
}

/// Waits until pending modules are compiled and published, then reports problems that did not stop the command; with
/// `all`, reports every event.
pub(crate) fn tell(runtime: &Runtime, args: &LayerArgs, all: bool) {
    // Pending work may still fail, and the next process can use the finished artifacts.
    runtime.flush();
    tell_unkept(runtime, args);
    for event in runtime.stats().events {
        match event {
            Event::NotPublished { .. }
            | Event::NotSwapped { .. }
            | Event::Stale(_)
            | Event::NotLoaded { .. }
            | Event::NotRecorded { .. } => term::warning(&event.to_string()),
            Event::Layer(
                event @ (StoreEvent::Damaged { .. }
                | StoreEvent::Unsigned { .. }
                | StoreEvent::Unreachable { .. }
                | StoreEvent::WentBack { .. }
                | StoreEvent::NotCompared { .. }),
            ) => {
                events::hear(&event);
            }
            event if all => term::note(&event.to_string()),
            _ => {}
        }
    }
}
