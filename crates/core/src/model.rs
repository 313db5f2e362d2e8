//! Support code for the functions that `precast-build` generates from a manifest. Each named graph becomes a Rust function
//! with the rank and dtype of every argument in its type.
//!
//! ```text
//! [[graph]] name = "score" …  ──build.rs──▶  pub fn score(x: impl Into<ArrayView1<f64>>, …) -> Result<f64, ModelError>
//! ```
//! The function of a graph of C scalars calls the plain C function of its module, if there is one ([`NativeHandle`]).
//!
//! Renaming a graph, adding an argument or changing a dtype causes a compile error in the program that calls it.

use crate::bundle::OpenBundleError;
use crate::function::CallError;
use crate::loader::{LoadEntryError, Loader};
use crate::native::{BindNativeError, Native, NativeType};
use crate::typed::{Arguments, OtherTypesError, Outcomes, Typed};
use std::sync::OnceLock;

/// The reason why a call of a generated function failed.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The embedded bundle cannot be opened.
    #[error("cannot open the embedded bundle")]
    Open(#[source] std::sync::Arc<OpenBundleError>),
    /// A library function was called before the program passed its loader to the library.
    #[error(
        "no loader is set for the library's graphs\nhint: call the library's `use_loader` once, with the `loader()?` \
         of the program's own `include_model!`"
    )]
    NoLoader,
    /// The graph cannot be loaded on this host.
    #[error("cannot load `{name}`")]
    Load {
        /// The graph.
        name: &'static str,
        /// The reason.
        source: std::sync::Arc<LoadEntryError>,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The native function has another signature than the types of the graph.
    #[error("cannot call `{name}`")]
    Native {
        /// The graph.
        name: &'static str,
        /// Both signatures.
        source: BindNativeError,
    },
    /// The graph has other types than the program was compiled with.
    #[error("cannot call `{name}`")]
    Types {
        /// The graph.
        name: &'static str,
        /// The types found.
        source: OtherTypesError,
    },
}

crate::debug_as_chain!(ModelError);

/// The bundle or loader behind generated functions.
#[derive(Debug)]
pub struct Model {
    /// The bundle, opened by the first call. `None` for a library.
    bundle: Option<&'static [u8]>,
    opened: OnceLock<Result<Loader, ModelError>>,
    /// The loader that the program passed to a library.
    given: OnceLock<&'static Loader>,
}

impl Model {
    /// Creates a model that opens `bundle` on first use.
    #[must_use]
    pub const fn new(bundle: &'static [u8]) -> Self {
        Self { bundle: Some(bundle), opened: OnceLock::new(), given: OnceLock::new() }
    }

    /// Creates the model of a library, whose graphs are in the bundle of the program that links it.
    #[must_use]
    pub const fn of_program() -> Self {
        Self { bundle: None, opened: OnceLock::new(), given: OnceLock::new() }
    }

    /// Sets the loader of a library's functions. Returns `false` if a loader is already set, or if the model has its own
    /// bundle.
    pub fn use_loader(&self, loader: &'static Loader) -> bool {
        self.bundle.is_none() && self.given.set(loader).is_ok()
    }

    /// Returns the loader of the graphs.
    ///
    /// # Errors
    /// The bytes are not a readable bundle, or the loader of a library has not been set.
    pub fn loader(&self) -> Result<&Loader, ModelError> {
        let Some(bundle) = self.bundle else { return self.given.get().copied().ok_or(ModelError::NoLoader) };
        let open = || Loader::embedded(bundle).map_err(|source| ModelError::Open(source.into()));
        self.opened.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

/// A named graph of a model as a typed function, loaded by the first call.
#[derive(Debug)]
pub struct Handle<I, O> {
    name: &'static str,
    function: OnceLock<Typed<I, O>>,
}

impl<I: Arguments, O: Outcomes> Handle<I, O> {
    /// Creates the handle of the graph called `name`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, function: OnceLock::new() }
    }

    /// Returns the function, and loads it on first use.
    ///
    /// # Errors
    /// The bundle cannot be opened, the graph cannot be loaded on this host, or it has other types.
    #[inline]
    pub fn function(&self, model: &Model) -> Result<&Typed<I, O>, ModelError> {
        match self.function.get() {
            Some(function) => Ok(function),
            None => self.load(model),
        }
    }

    #[cold]
    fn load(&self, model: &Model) -> Result<&Typed<I, O>, ModelError> {
        let loaded = model.loader()?.entry(self.name);
        let function =
            loaded.map_err(|source| ModelError::Load { name: self.name, source: source.into() })?;
        let function = function.typed();
        let function = function.map_err(|source| ModelError::Types { name: self.name, source })?;
        Ok(self.function.get_or_init(|| function))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// As [`Handle::function`] and [`Function::call`](crate::Function::call).
    #[inline]
    pub fn call(&self, model: &Model, arguments: I::Given<'_>) -> Result<O, ModelError> {
        Ok(self.function(model)?.call(arguments)?)
    }
}

/// The native function of a named graph of C scalars, bound by its first call.
#[derive(Debug)]
pub struct NativeHandle<F> {
    name: &'static str,
    native: OnceLock<Option<Native<F>>>,
}

impl<F: NativeType> NativeHandle<F> {
    /// Creates the handle of the graph called `name`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, native: OnceLock::new() }
    }

    /// Returns the native function, or `None` if the graph has none and must be called with arrays.
    ///
    /// # Errors
    /// As [`Handle::function`], or the native function has another type.
    #[inline]
    pub fn find(&self, model: &Model) -> Result<Option<&Native<F>>, ModelError> {
        match self.native.get() {
            Some(native) => Ok(native.as_ref()),
            None => self.bind(model),
        }
    }

    #[cold]
    fn bind(&self, model: &Model) -> Result<Option<&Native<F>>, ModelError> {
        let loaded = model.loader()?.entry(self.name);
        let function =
            loaded.map_err(|source| ModelError::Load { name: self.name, source: source.into() })?;
        let native = match function.native() {
            Ok(native) => Some(native),
            Err(BindNativeError::None(_)) => None,
            Err(source) => return Err(ModelError::Native { name: self.name, source }),
        };
        Ok(self.native.get_or_init(|| native).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::{Handle, Model, ModelError};
    use crate::Loader;
    use crate::bundle::{Bundle, write_bundle};

    static HANDLE: Handle<(f64,), f64> = Handle::new("score");

    #[test]
    fn first_loader_serves_a_library() {
        static LIBRARY: Model = Model::of_program();
        assert!(matches!(HANDLE.call(&LIBRARY, (1.0,)), Err(ModelError::NoLoader)));
        let loader = || -> &'static Loader {
            let bytes = write_bundle(&[], &[], "test").unwrap();
            Box::leak(Box::new(Loader::new(Bundle::from_bytes(bytes).unwrap())))
        };
        let first = loader();
        assert!(LIBRARY.use_loader(first) && !LIBRARY.use_loader(loader()));
        assert!(std::ptr::eq(LIBRARY.loader().unwrap(), first));
        assert!(matches!(HANDLE.call(&LIBRARY, (1.0,)), Err(ModelError::Load { name: "score", .. })));
    }

    #[test]
    fn debug_shows_the_chain_of_messages() {
        static BROKEN: Model = Model::new(b"junk");
        let error = BROKEN.loader().unwrap_err();
        let debug = format!("{error:?}");
        assert_eq!(debug, crate::event::chain(&error));
        assert!(debug.starts_with("cannot open the embedded bundle: ") && !debug.contains('{'), "{debug}");
    }
}
