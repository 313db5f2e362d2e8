//! Native functions: the plain C function that a module of a scalar graph has in addition to its tensor entry.
//!
//! A graph of C scalars is `double f(double, double)` in C. Such a call uses no arrays, creates no frame and checks no
//! types. The types were compared once, as CEP 1000 signatures, when the function was bound (see [`super::typed`]). The
//! library stays loaded as long as the function or a handle to it lives.

use crate::blame;
use crate::native::load::LoadedModule;
use crate::program::{Port, Program, Register};
use crate::value::{DType, Type};
use precast_abi::module::NativeFn;
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// A plain C function that computes a graph of C scalars. It has no state, so any thread may call it at any time. Clones
/// share the function.
#[derive(Debug, Clone)]
pub struct NativeFunction(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    signature: String,
    function: NativeFn,
    /// The Applies, for messages.
    ops: String,
    /// Keeps the library loaded.
    _module: LoadedModule,
}

/// The reason why a native function is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoNative {
    /// An input or output is not a number.
    #[error("`{name}` is `{ty}`, expected a C scalar")]
    Array {
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
    },
    /// An input or output is a 16-bit float.
    #[error("`{name}` is `{ty}`, but C functions cannot take 16-bit floats")]
    Half {
        /// Its name.
        name: String,
        /// Its type.
        ty: String,
    },
    /// Several modules compute the graph: some ops have their own C code, or it is served in parts.
    #[error("the graph is computed by {modules} modules, expected one")]
    Modules {
        /// The number of modules.
        modules: usize,
    },
    /// The module is called with a constant, or with its arguments in another order.
    #[error(
        "the function takes its arguments in another order than its module, or the module takes a constant"
    )]
    Arguments,
    /// An op has params, which need an instance.
    #[error("an op has params, which need an instance")]
    Params,
    /// An op keeps state between calls.
    #[error("an op keeps state in its instance")]
    State,
    /// The module needs an instance for one of the reasons above. A compiled module does not say which.
    #[error(
        "the module needs an instance: an op has params, keeps state between calls, or computes with arrays"
    )]
    Instance,
    /// The signature is too long.
    #[error("the signature has more than 255 characters")]
    Long,
    /// The function is interpreted, or checked by debug mode.
    #[error("the function is interpreted or checked by debug mode")]
    Body,
    /// The program cannot be parsed.
    #[error("the program cannot be read; calls return the error")]
    Unreadable,
}

impl NativeFunction {
    /// Returns the native function of a program whose modules are loaded.
    ///
    /// # Errors
    /// The reason why it does not exist.
    pub(crate) fn of(program: &Program, modules: &[LoadedModule]) -> Result<Self, NoNative> {
        program.inputs.iter().chain(&program.outputs).try_for_each(number)?;
        let ([step], [module]) = (&*program.steps, modules) else {
            return Err(NoNative::Modules { modules: program.steps.len() });
        };
        let inputs = (0..program.inputs.len()).map(Register::Input);
        let own = inputs.chain((0..program.outputs.len()).map(Register::Output));
        if step.n_inputs != program.inputs.len() || !step.args.iter().copied().eq(own) {
            return Err(NoNative::Arguments);
        }
        let row = module.row();
        let function = row.function.filter(|_| row.n_slots == 0).ok_or(NoNative::Instance)?;
        // SAFETY: the handshake found the text, which is read-only data of the library that `module` keeps loaded.
        let signature = unsafe { CStr::from_ptr(row.native) }.to_string_lossy().into_owned();
        let ops = blame::all(&step.signatures);
        Ok(Self(Arc::new(Inner { signature, function, ops, _module: module.clone() })))
    }

    /// Returns the CEP 1000 signature, such as `dd)d~`.
    #[must_use]
    pub fn signature(&self) -> &str {
        &self.0.signature
    }

    /// Returns the address of the function, which is valid as long as this value or a clone of it lives.
    #[must_use]
    pub fn address(&self) -> *const c_void {
        self.0.function as *const c_void
    }

    /// Returns the function pointer.
    pub(super) fn function(&self) -> NativeFn {
        self.0.function
    }

    /// Returns the short signatures of the Applies.
    pub(super) fn ops(&self) -> &str {
        &self.0.ops
    }
}

/// Checks that an input or output is a number that C can pass.
fn number(Port { name, ty }: &Port) -> Result<(), NoNative> {
    let (name, shown) = (name.clone(), ty.to_string());
    let is_number = matches!(**ty, Type::Scalar(_)) || ty.as_user().is_some_and(|user| !user.is_opaque());
    if !is_number || ty.ndim() > 0 {
        return Err(NoNative::Array { name, ty: shown });
    }
    match ty.dtype() {
        DType::F16 | DType::Bf16 => Err(NoNative::Half { name, ty: shown }),
        _ => Ok(()),
    }
}
