//! Putting a runtime together: layers in order, a policy, a library of ops.

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

/// Puts a [`Runtime`] together. Layers are asked in the order in which they are added.
#[derive(Default)]
#[must_use]
pub struct Builder {
    layers: Vec<Source>,
    keyring: Option<PathBuf>,
    policy: Option<Policy>,
    ops: Option<Ops>,
    #[cfg(feature = "record")]
    recording: Option<crate::recording::Recording>,
    debug: Option<bool>,
    libraries: precast_core::Libraries,
    casting: Casting,
}

/// A layer that was asked for.
enum Source {
    Embedded(&'static [u8]),
    Bundle(PathBuf),
    Store(PathBuf),
    Writable(PathBuf),
    #[cfg(feature = "remote")]
    Remote(String, precast_remote::Options),
}

/// The variable that turns debug mode on.
const DEBUG: &str = "PRECAST_DEBUG";

impl Builder {
    /// Adds a bundle that is part of the binary: `precast::include_bundle!()`.
    pub fn bundle(mut self, bytes: &'static [u8]) -> Self {
        self.layers.push(Source::Embedded(bytes));
        self
    }

    /// Adds a bundle file. It is read into memory once.
    pub fn bundle_file(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Bundle(path.as_ref().to_owned()));
        self
    }

    /// Adds a store directory that is only read.
    pub fn store(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Store(path.as_ref().to_owned()));
        self
    }

    /// Adds a store directory to which modules compiled at run time are published; it is made if it does not exist.
    pub fn writable(mut self, path: impl AsRef<Path>) -> Self {
        self.layers.push(Source::Writable(path.as_ref().to_owned()));
        self
    }

    /// Adds a store, or a release in a registry, that is elsewhere: `https://host/path`, `s3://bucket/prefix`,
    /// `oci://host/repository:tag`. What comes from there is kept in this user's cache.
    ///
    /// Whoever answers for the place could send anything, so a keyring has to say whose signatures count
    /// ([`Builder::keyring`]). A store that cannot be reached is an event, and has what came from it before.
    #[cfg(feature = "remote")]
    pub fn remote(self, url: impl Into<String>) -> Self {
        self.remote_with(url, precast_remote::Options::default())
    }

    /// The same, with another directory for what comes, and other limits of time. Its observer is the runtime's: [`Runtime::stats`]
    /// has what is told.
    #[cfg(feature = "remote")]
    pub fn remote_with(mut self, url: impl Into<String>, options: precast_remote::Options) -> Self {
        self.layers.push(Source::Remote(url.into(), options));
        self
    }

    /// Believes bundle files and stores only what enough keys of this keyring have signed: [`precast_store::keyring`]. A bundle
    /// that is part of the binary is as trusted as the binary; a store that this program writes to is guarded by its owner and
    /// mode, since nobody signs what is compiled here. Without this it is the keyring that `PRECAST_KEYRING` names, if that is set.
    pub fn keyring(mut self, path: impl AsRef<Path>) -> Self {
        self.keyring = Some(path.as_ref().to_owned());
        self
    }

    /// Decides what is done about a miss. Without this: `jit` where that feature and a compiler are there, else `strict`.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Uses another library of ops than the standard one.
    pub fn ops(mut self, ops: Ops) -> Self {
        self.ops = Some(ops);
        self
    }

    /// Writes every miss down as a declaration in a manifest, `precast.toml`, for `precast build`. It is made where there is
    /// none, and added to where there is one; several threads and processes may do so at once. Without this it is the
    /// manifest that `PRECAST_RECORD` names, if that is set.
    ///
    /// What cannot be written is an [`Event::NotRecorded`](crate::Event::NotRecorded), and changes no result.
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

    /// As [`Builder::record`], and says what is to be compiled for the graphs: with `&[Serve::Ops]` a module for each of their
    /// ops, which serves other graphs of these ops too.
    #[cfg(feature = "record")]
    pub fn record_serve(mut self, path: impl AsRef<Path>, serve: &[Serve]) -> Self {
        let serve = serve.iter().copied().collect();
        self.recording = Some(crate::recording::Recording::new(path.as_ref(), serve));
        self
    }

    /// Checks, in every call, each Apply in C against its contract, and the result against that of the Applies one by one:
    /// [`crate::debug`]. Slow, for development. Without this it is so if the environment has `PRECAST_DEBUG=1`.
    pub fn debug(mut self, debug: bool) -> Self {
        self.debug = Some(debug);
        self
    }

    /// Loads modules from files in `directory`, which profilers can read, in place of memory. Without this `PRECAST_PROFILING`
    /// names the directory. The files stay.
    pub fn profiling(mut self, directory: impl Into<PathBuf>) -> Self {
        self.libraries = self.libraries.profiling(directory.into());
        self
    }

    /// Says how far the `filter` of a user type may convert what it is given at a call:
    /// [`TypeRules::filter`](precast_graph::TypeRules::filter). Without this not strict, and nothing said about downcasts.
    pub fn filter(mut self, strict: bool, allow_downcast: Option<bool>) -> Self {
        self.casting = Casting { strict, allow_downcast };
        self
    }

    /// Opens the runtime. Nothing is loaded yet.
    ///
    /// # Errors
    /// The first layer that cannot be opened; a keyring that is missing, invalid or expired; a file to record to that is not a manifest; a `PRECAST_ISA_LIMIT` that is no ISA
    /// level of this architecture.
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
                let store = Store::open(&path).map_err(|source| BuildRuntimeError::Store { path, source })?;
                Ok(Layer::from(match keyring {
                    None => store,
                    Some(keyring) => store.trusting(Arc::clone(keyring)),
                }))
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
