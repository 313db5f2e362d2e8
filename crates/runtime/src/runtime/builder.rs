//! Builds a runtime: layers in order, a policy, a library of ops.

use super::Runtime;
use crate::error::BuildRuntimeError;
use crate::filter::Casting;
use crate::policy::Policy;
use crate::resolve::Resolver;
use crate::stats::{Event, Recorder};
use precast_core::event::Observer;
use precast_ops::Ops;
#[cfg(feature = "record")]
use precast_ops::Serve;
use precast_store::{Bundle, Keyring, Layer, OpenSignedError, Store};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A builder for a [`Runtime`]. Layers are searched in the order in which they are added.
#[derive(Default)]
#[must_use]
pub struct Builder {
    layers: Vec<Source>,
    keyring: Option<PathBuf>,
    policy: Policy,
    ops: Option<Ops>,
    #[cfg(feature = "record")]
    recording: Option<crate::recording::Recording>,
    debug: Option<bool>,
    libraries: precast_core::Libraries,
    casting: Casting,
}

/// A requested layer.
enum Source {
    Embedded(&'static [u8]),
    Bundle(PathBuf),
    Store(PathBuf),
    Writable(PathBuf),
    #[cfg(feature = "remote")]
    Remote(String, precast_remote::Options),
}

/// The variable that enables debug mode.
const DEBUG: &str = "PRECAST_DEBUG";

impl Builder {
    /// Adds a bundle that is embedded in the binary: `precast::include_bundle!()`.
    pub fn bundle(mut self, bytes: &'static [u8]) -> Self {
        self.layers.push(Source::Embedded(bytes));
        self
    }

    /// Adds a bundle file. It is read into memory once.
    pub fn bundle_file(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Bundle(path.as_ref().to_owned()));
        self
    }

    /// Adds a store directory, read-only.
    pub fn store(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Store(path.as_ref().to_owned()));
        self
    }

    /// Adds a store directory to which modules compiled at run time are published; it is created if missing.
    pub fn writable(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Writable(path.as_ref().to_owned()));
        self
    }

    /// Adds a remote store, or a release in a registry: `https://host/path`, `s3://bucket/prefix`,
    /// `oci://host/repository:tag`. Fetched artifacts are kept in the user's cache.
    ///
    /// A remote host is not trusted, so a keyring with trusted keys is required ([`Builder::keyring`]). If a store is
    /// unreachable, an event is recorded, and only artifacts fetched earlier are available.
    #[cfg(feature = "remote")]
    pub fn remote(self, url: impl Into<String>) -> Self {
        self.remote_with(url, precast_remote::Options::default())
    }

    /// Adds a remote like [`Builder::remote`], with another cache directory and other time limits. The runtime
    /// replaces the observer in `options`; events are in [`Runtime::stats`].
    #[cfg(feature = "remote")]
    pub fn remote_with(mut self, url: impl Into<String>, options: precast_remote::Options) -> Self {
        self.layers.push(Source::Remote(url.into(), options));
        self
    }

    /// Uses only bundle files and stores that enough trusted keys of this keyring have signed:
    /// [`precast_store::keyring`]. A bundle embedded in the binary is as trusted as the binary. A store that this
    /// program writes to is protected by its owner and mode, since modules compiled here are not signed.
    /// The default is the keyring named by `PRECAST_KEYRING`, if set.
    pub fn keyring(mut self, path: impl AsRef<Path>) -> Self {
        self.keyring = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the policy for misses. The default is [`Policy::Auto`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Uses this library of ops instead of the standard one.
    pub fn ops(mut self, ops: Ops) -> Self {
        self.ops = Some(ops);
        self
    }

    /// Records every miss as a declaration in a manifest, `precast.toml`, for `precast build`. The manifest is
    /// created if missing, else extended; several threads and processes may record at once. The default
    /// is the manifest named by `PRECAST_RECORD`, if set.
    ///
    /// A failed write is an [`Event::NotRecorded`](crate::Event::NotRecorded), and changes no result.
    ///
    /// # Examples
    /// ```no_run
    /// use precast_runtime::{Policy, Runtime};
    /// let runtime = Runtime::builder().policy(Policy::Interpret).record("precast.toml").build()?;
    /// # Ok::<(), precast_runtime::BuildRuntimeError>(())
    /// ```
    #[cfg(feature = "record")]
    pub fn record(self, path: impl AsRef<Path>) -> Self {
        self.record_serve(path, &[Serve::Whole])
    }

    /// Records misses like [`Builder::record`], with the kinds of modules to compile for the graphs. `&[Serve::Ops]`
    /// compiles a module for each op, which also serves other graphs of these ops.
    #[cfg(feature = "record")]
    pub fn record_serve(mut self, path: impl AsRef<Path>, serve: &[Serve]) -> Self {
        let serve = serve.iter().copied().collect();
        self.recording = Some(crate::recording::Recording::new(path.as_ref(), serve));
        self
    }

    /// Checks, in every call, the C of each Apply against its contract, and the result against that of the Applies
    /// one by one: [`crate::debug`]. Slow; for development. The default is `true` if the environment has `PRECAST_DEBUG=1`.
    pub fn debug(mut self, debug: bool) -> Self {
        self.debug = Some(debug);
        self
    }

    /// Loads modules from files in `directory`, which profilers can read, instead of from memory. The files are kept.
    /// The default is the directory named by `PRECAST_PROFILING`, if set.
    pub fn profiling(mut self, directory: impl Into<PathBuf>) -> Self {
        self.libraries = self.libraries.profiling(directory.into());
        self
    }

    /// Sets the conversions that the `filter` of a user type may make in a call:
    /// [`TypeRules::filter`](precast_graph::TypeRules::filter). The defaults are `false` and `None`.
    pub fn filter(mut self, strict: bool, allow_downcast: Option<bool>) -> Self {
        self.casting = Casting { strict, allow_downcast };
        self
    }

    /// Opens the layers and returns the runtime. No module is loaded yet.
    ///
    /// # Errors
    /// Fails if a layer cannot be opened; if a keyring is missing, invalid or expired; if the file to record to is
    /// not a manifest; or if `PRECAST_ISA_LIMIT` is not an ISA level of this architecture.
    pub fn build(self) -> Result<Runtime, BuildRuntimeError> {
        precast_core::cpu::limit()?;
        let recorder = Arc::new(Recorder::default());
        let observer = {
            let recorder = Arc::clone(&recorder);
            Observer::new(move |event| recorder.tell(Event::Layer(event.clone())))
        };
        let keyring = Keyring::open_setting(self.keyring)?.map(Arc::new);
        let opened = self.layers.into_iter().map(|source| source.open(keyring.as_ref(), &observer));
        let layers = opened.collect::<Result<Vec<_>, _>>()?;
        #[cfg(feature = "record")]
        let recording = match self.recording {
            Some(recording) => recording.check().map(|()| Some(recording))?,
            None => crate::recording::Recording::from_environment(),
        };
        let told = || std::env::var_os(DEBUG).is_some_and(|value| !value.is_empty() && value != "0");
        Ok(Runtime {
            debug: self.debug.unwrap_or_else(told),
            casting: self.casting,
            #[cfg(feature = "record")]
            recording,
            policy: self.policy,
            ops: Arc::new(self.ops.unwrap_or_else(Ops::standard)),
            known_covers: Mutex::default(),
            checked: Mutex::default(),
            functions: Mutex::default(),
            resolver: Arc::new(Resolver::new(layers, recorder, self.policy, self.libraries)),
            #[cfg(feature = "jit")]
            engine: Arc::default(),
            #[cfg(feature = "jit")]
            background: crate::background::Background::default(),
        })
    }
}

impl Source {
    fn open(self, keyring: Option<&Arc<Keyring>>, observer: &Observer) -> Result<Layer, BuildRuntimeError> {
        let opened = match self {
            Self::Embedded(bytes) => {
                let name = "the embedded bundle".to_owned();
                match Bundle::from_static(bytes) {
                    Ok(bundle) => Ok(Layer::Bundle { name, bundle: Box::new(bundle) }),
                    Err(source) => Err(BuildRuntimeError::Bundle { name, source }),
                }
            }
            Self::Bundle(path) => {
                let opened = match keyring {
                    None => Layer::open_bundle(&path).map_err(OpenSignedError::from),
                    Some(keyring) => Layer::open_signed_bundle(&path, keyring),
                };
                opened.map_err(|error| match error {
                    OpenSignedError::Open(source) => {
                        BuildRuntimeError::Bundle { name: format!("bundle `{}`", path.display()), source }
                    }
                    other => BuildRuntimeError::Signed(other),
                })
            }
            Self::Store(path) => {
                let opened = match keyring {
                    None => Store::open(&path),
                    Some(keyring) => Store::open_signed(&path, Arc::clone(keyring)),
                };
                opened.map(Layer::from).map_err(|source| BuildRuntimeError::Store { path, source })
            }
            Self::Writable(path) => match Store::create(&path) {
                Ok(store) => Ok(Layer::Store { store, writable: true }),
                Err(source) => Err(BuildRuntimeError::Writable { path, source }),
            },
            #[cfg(feature = "remote")]
            Self::Remote(url, options) => {
                let keyring = keyring.ok_or(BuildRuntimeError::NoKeyring)?;
                let options = precast_remote::Options { observer: observer.clone(), ..options };
                Ok(precast_remote::open(&url, Arc::clone(keyring), &options)?)
            }
        };
        let observer = observer.clone();
        opened.map(|layer| layer.on_event(move |event| observer.tell(event)))
    }
}
