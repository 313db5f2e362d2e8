//! The targets of the header's opaque pointers.

use crate::failure::{ArgumentError, SignatureError, text};
use precast_core::program::Port;
use precast_core::{Extent, Loader};
use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

/// `precast_bundle`
pub(crate) struct BundleHandle {
    pub(crate) loader: Loader,
    /// The names of its entries, created on first use.
    names: OnceLock<Vec<CString>>,
}

impl BundleHandle {
    pub(crate) fn new(bundle: precast_core::Bundle) -> Self {
        Self { loader: Loader::new(bundle), names: OnceLock::new() }
    }

    pub(crate) fn names(&self) -> &[CString] {
        self.names.get_or_init(|| self.loader.entries().into_iter().map(text).collect())
    }
}

/// `precast_function`
pub(crate) struct FunctionHandle {
    pub(crate) function: precast_core::Function,
    pub(crate) inputs: Vec<OwnedPort>,
    pub(crate) outputs: Vec<OwnedPort>,
    pub(crate) signature: Option<CString>,
}

/// The data that a `precast_port` points to.
pub(crate) struct OwnedPort {
    name: CString,
    ty: CString,
    shape: Vec<i64>,
    dtype: i32,
}

/// `precast_port`
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PortView {
    pub(crate) name: *const c_char,
    pub(crate) ty: *const c_char,
    pub(crate) shape: *const i64,
    pub(crate) ndim: i32,
    pub(crate) dtype: i32,
}

impl FunctionHandle {
    pub(crate) fn new(function: precast_core::Function) -> Self {
        let signature = function.native_function().ok().map(|native| text(native.signature()));
        let owned = |ports: &[Port]| ports.iter().map(OwnedPort::new).collect();
        let (inputs, outputs) = (owned(function.inputs()), owned(function.outputs()));
        Self { function, inputs, outputs, signature }
    }

    /// Returns the address of the plain C function, if its signature matches `asked`.
    pub(crate) fn native(&self, asked: &str) -> Result<*const c_void, SignatureError> {
        let native =
            self.function.native_function().map_err(|reason| SignatureError::None(reason.clone()))?;
        let found = native.signature();
        if asked == found || found.strip_suffix('~') == Some(asked) {
            return Ok(native.address());
        }
        Err(SignatureError::Other { found: found.to_owned(), asked: asked.to_owned() })
    }
}

impl OwnedPort {
    fn new(Port { name, ty }: &Port) -> Self {
        let extent = |extent: &Extent| match extent {
            Extent::Unknown => -1,
            Extent::Fixed(n) => i64::try_from(*n).unwrap_or(i64::MAX),
        };
        Self {
            name: text(name.as_str()),
            ty: text(ty.to_string()),
            shape: ty.shape().iter().map(extent).collect(),
            dtype: ty.dtype().typenum(),
        }
    }

    fn view(&self) -> PortView {
        PortView {
            name: self.name.as_ptr(),
            ty: self.ty.as_ptr(),
            shape: self.shape.as_ptr(),
            ndim: self.shape.len() as i32,
            dtype: self.dtype,
        }
    }
}

/// Returns the port of an index.
pub(crate) fn port(ports: &[OwnedPort], what: &'static str, index: usize) -> Result<PortView, ArgumentError> {
    let found = ports.get(index).map(OwnedPort::view);
    found.ok_or(ArgumentError::Index { what, index, count: ports.len() })
}
