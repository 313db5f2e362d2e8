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
use crate::for_each_dtype;
use crate::function::{CallError, Function};
use crate::loader::{LoadEntryError, Loader};
use crate::native::{ArrayRef, BindNativeError, Native, NativeType};
use crate::value::{Array, DType, Element};
use ndarray::{ArrayD, Dimension};
use std::sync::OnceLock;

/// Why a call of a generated function failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The embedded bundle cannot be opened.
    #[error("cannot open the embedded bundle")]
    Open(#[source] std::sync::Arc<OpenBundleError>),
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
    /// A result has another dtype or rank than its type says, against the contract of its module.
    #[error("`{name}` gave `{found}`, expected `{expected}`")]
    Result {
        /// The graph.
        name: &'static str,
        /// What the result is.
        found: String,
        /// What its declared type is.
        expected: String,
    },
}

/// The bundle behind generated functions, opened by the first call.
#[derive(Debug)]
pub struct Model {
    bundle: &'static [u8],
    loader: OnceLock<Result<Loader, ModelError>>,
}

impl Model {
    /// A model that opens these bytes when they are needed.
    #[must_use]
    pub const fn new(bundle: &'static [u8]) -> Self {
        Self { bundle, loader: OnceLock::new() }
    }

    /// Gives the graphs by name.
    ///
    /// # Errors
    /// The bytes are no bundle that this program reads.
    pub fn loader(&self) -> Result<&Loader, ModelError> {
        let open = || Loader::embedded(self.bundle).map_err(|source| ModelError::Open(source.into()));
        self.loader.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

/// A named graph of a model, loaded by its first call.
#[derive(Debug)]
pub struct Handle {
    name: &'static str,
    function: OnceLock<Function>,
}

impl Handle {
    /// The graph of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, function: OnceLock::new() }
    }

    /// The function.
    ///
    /// # Errors
    /// The bundle cannot be opened, or nothing in it serves the graph on this host.
    pub fn function(&self, model: &Model) -> Result<&Function, ModelError> {
        if let Some(function) = self.function.get() {
            return Ok(function);
        }
        let loaded = model.loader()?.entry(self.name);
        let function =
            loaded.map_err(|source| ModelError::Load { name: self.name, source: source.into() })?;
        Ok(self.function.get_or_init(|| function))
    }

    /// Calls the function.
    ///
    /// # Errors
    /// As [`Handle::function`] and [`Function::call`].
    pub fn call(&self, model: &Model, inputs: &[ArrayRef<'_>]) -> Result<Results, ModelError> {
        let arrays = self.function(model)?.call(inputs)?.into_iter();
        Ok(Results { name: self.name, arrays })
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

/// The results of a call, taken in order.
#[derive(Debug)]
pub struct Results {
    name: &'static str,
    arrays: std::vec::IntoIter<Array>,
}

impl Results {
    /// The next result.
    ///
    /// # Errors
    /// It is not of the type that it is taken as, or there is none.
    pub fn take<T: FromResult>(&mut self) -> Result<T, ModelError> {
        let array = self.arrays.next();
        let found = array.as_ref().map_or_else(|| "nothing".to_owned(), |array| array.ty().to_string());
        array.and_then(T::from_result).ok_or_else(|| ModelError::Result {
            name: self.name,
            found,
            expected: T::expected(),
        })
    }
}

/// What a result can be taken as: an array of a dtype and rank, or the element of one without dimensions.
pub trait FromResult: Sized {
    /// The value, if the array is one.
    fn from_result(array: Array) -> Option<Self>;

    /// The type, for messages.
    fn expected() -> String;
}

impl<T: Element, D: Dimension> FromResult for ndarray::Array<T, D>
where
    ArrayD<T>: TryFrom<Array>,
{
    fn from_result(array: Array) -> Option<Self> {
        ArrayD::<T>::try_from(array).ok()?.into_dimensionality().ok()
    }

    fn expected() -> String {
        let extents = D::NDIM.map_or_else(|| "..".to_owned(), |ndim| vec!["?"; ndim].join(","));
        format!("{}[{extents}]", T::DTYPE)
    }
}

macro_rules! elements {
    ($($variant:ident => $element:ty),*) => {$(
        impl FromResult for $element {
            fn from_result(array: Array) -> Option<Self> {
                let array = ArrayD::<$element>::try_from(array).ok()?;
                (array.ndim() == 0).then(|| array.first().copied()).flatten()
            }

            fn expected() -> String {
                format!("{}[]", DType::$variant)
            }
        }
    )*};
}
for_each_dtype!(elements);
