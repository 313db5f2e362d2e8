//! What the functions that `precast-build` generates from a manifest stand on: one Rust function for each named graph, with
//! the rank and dtype of every argument in its type.
//!
//! ```text
//! [[graph]] name = "score" …  ──build.rs──▶  pub fn score(x: impl Into<ArrayView1<f64>>, …) -> Result<f64, ModelError>
//! ```
//! The function of a graph of C scalars calls the plain C function that its module has, where it has one ([`NativeHandle`]).
//!
//! A graph that is renamed, an argument that is added or another dtype is a compile error of the program that calls it.

use crate::bundle::OpenBundleError;
use crate::function::CallError;
use crate::loader::{LoadEntryError, Loader};
use crate::native::{BindNativeError, Native, NativeType};
use crate::typed::{Arguments, OtherTypesError, Outcomes, Typed};
use std::sync::OnceLock;

/// Why a call of a generated function failed.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The embedded bundle cannot be opened.
    #[error("cannot open the embedded bundle")]
    Open(#[source] std::sync::Arc<OpenBundleError>),
    /// A function of a library was called before the program gave the library its loader.
    #[error(
        "the library has no loader for its graphs\nhint: call the library's `use_loader` once, with the `loader()?` of the \
         program's own `include_model!`"
    )]
    NoLoader,
    /// The graph cannot be loaded on this host.
    #[error("cannot load `{name}`")]
    Load {
        /// The graph.
        name: &'static str,
        /// Why not.
        source: std::sync::Arc<LoadEntryError>,
    },
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The native function has another signature than the graph's types say.
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
        /// What it is.
        source: OtherTypesError,
    },
}

crate::debug_as_chain!(ModelError);

/// The graphs behind generated functions.
#[derive(Debug)]
pub struct Model {
    /// The bundle, opened by the first call; a library has none.
    bundle: Option<&'static [u8]>,
    opened: OnceLock<Result<Loader, ModelError>>,
    /// What the program that links a library gave it.
    given: OnceLock<&'static Loader>,
}

impl Model {
    /// A model that opens these bytes when they are needed.
    #[must_use]
    pub const fn new(bundle: &'static [u8]) -> Self {
        Self { bundle: Some(bundle), opened: OnceLock::new(), given: OnceLock::new() }
    }

    /// The model of a library, whose graphs are in the bundle of the program that links it.
    #[must_use]
    pub const fn of_program() -> Self {
        Self { bundle: None, opened: OnceLock::new(), given: OnceLock::new() }
    }

    /// Makes a loader serve the functions of a library. Returns whether it does: the first one stays.
    pub fn use_loader(&self, loader: &'static Loader) -> bool {
        self.bundle.is_none() && self.given.set(loader).is_ok()
    }

    /// Gives the graphs by name.
    ///
    /// # Errors
    /// The bytes are no bundle that this program reads; of a library, no loader was given.
    pub fn loader(&self) -> Result<&Loader, ModelError> {
        let Some(bundle) = self.bundle else { return self.given.get().copied().ok_or(ModelError::NoLoader) };
        let open = || Loader::embedded(bundle).map_err(|source| ModelError::Open(source.into()));
        self.opened.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

/// A named graph of a model, as a function of these arguments and results; loaded by its first call.
#[derive(Debug)]
pub struct Handle<I, O> {
    name: &'static str,
    function: OnceLock<Typed<I, O>>,
}

impl<I: Arguments, O: Outcomes> Handle<I, O> {
    /// The graph of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, function: OnceLock::new() }
    }

    /// The function.
    ///
    /// # Errors
    /// The bundle cannot be opened, nothing in it serves the graph on this host, or it has other types there.
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
    /// That of the graph of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, native: OnceLock::new() }
    }

    /// The native function; `None` where the graph has none, and is called with arrays.
    ///
    /// # Errors
    /// As [`Handle::function`]; a function of another type.
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
    fn a_library_is_served_by_the_first_loader_that_it_is_given() {
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
    fn debug_of_an_error_is_its_chain_of_messages() {
        static BROKEN: Model = Model::new(b"junk");
        let error = BROKEN.loader().unwrap_err();
        let debug = format!("{error:?}");
        assert_eq!(debug, crate::event::chain(&error));
        assert!(debug.starts_with("cannot open the embedded bundle: ") && !debug.contains('{'), "{debug}");
    }
}
