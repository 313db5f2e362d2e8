//! Scalar ops: operations on one element. [`crate::Elemwise`] maps them over tensors, [`crate::Composite`] chains
//! them.
//!
//! ```text
//! row       the columns of a row of `crate::rows` for a scalar op
//! table     how a row of `crate::rows` becomes an op: its type rule, its C, its headers; arms: the macros of a row
//! integer, float, complex    arithmetic that Rust does not have, with the formulas of c/precast/ops/scalar
//! cast      Cast and Identity, which have their own type rules
//! block     functions that kernels call by block, and their regions
//! value     one element of any dtype
//! ```
//! A scalar op never promotes: it supports an exact set of dtypes. Casts are inserted where graphs are built. A
//! custom op implements [`ScalarOp`] with its own C code; the code may fail by inserting `sub.fail` where it detects
//! an error.

mod arms;
mod block;
mod cast;
mod complex;
mod float;
mod integer;
mod row;
mod table;
mod value;

pub use block::BlockFunction;
pub use cast::{Cast, Identity};
pub(crate) use complex::ComplexNumber;
pub(crate) use float::{maximum, minimum};
pub(crate) use row::{Gives, Promotion, Scalar};
pub(crate) use table::{LIBRARY, is_wide};
pub use table::{find, names};
pub use value::Value;
pub(crate) use value::{collect, elements};

use precast_codegen::{LinkError, SourceSet, Sub};
use precast_graph::{DType, PerformError, Props};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An operation on single elements. It is immutable; two ops are equal if their Rust type, name and props are equal.
pub trait ScalarOp: Any + fmt::Debug + Send + Sync {
    /// Returns the name, e.g. `add`. It is lower case and unique in a library.
    fn name(&self) -> &str;

    /// Returns the label for signatures: the name, followed by the props in braces.
    fn label(&self) -> String {
        let props: Vec<String> = self.props().iter().map(|(name, prop)| format!("{name}={prop}")).collect();
        if props.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}{{{}}}", self.name(), props.join(","))
        }
    }

    /// Returns the declared props; together with the name they decide equality.
    fn props(&self) -> Props {
        Props::new()
    }

    /// Returns the number of inputs.
    fn arity(&self) -> usize;

    /// Returns the dtype of the result for exactly these dtypes; `None` if they are not supported. `inputs` has
    /// `arity` entries.
    fn output(&self, inputs: &[DType]) -> Option<DType>;

    /// Returns the dtypes of the results, for ops with several results.
    fn outputs(&self, inputs: &[DType]) -> Option<Vec<DType>> {
        self.output(inputs).map(|dtype| vec![dtype])
    }

    /// Computes the results for one element of each input. The dtypes of the inputs must be supported.
    ///
    /// # Errors
    /// A value that the op rejects at run time, as its C code does.
    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError>;

    /// Returns statements that assign `outputs` from `inputs`, all names of C variables of these dtypes. The
    /// statements are inserted in a loop. `ctx` is in scope; to fail, set its error slot and insert `sub.fail`.
    ///
    /// # Errors
    /// Dtypes for which this op has no C code.
    fn c_code(
        &self,
        dtypes: &[DType],
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError>;

    /// Returns the statement of [`ScalarOp::c_code`] for loops over elements of 64 bits, where truth values are variables
    /// of type `int64_t` that hold 0 or 1. `None` if the op has no such form; then it takes and gives no truth values, or
    /// no loop of that kind has it.
    fn c_code_wide(&self, _dtypes: &[DType], _inputs: &[String], _outputs: &[String]) -> Option<String> {
        None
    }

    /// Returns the headers that the code for these dtypes needs, from this crate and other crates. The default is
    /// `precast/ops/scalar.h`, which has the arithmetic of every dtype; fewer headers compile faster.
    fn c_headers(&self, _dtypes: &[DType]) -> Vec<String> {
        vec!["precast/ops/scalar.h".to_owned()]
    }

    /// Returns helper functions at file scope; equal texts appear once in a module.
    fn c_support_code(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the op's own headers by logical name; the headers of this crate are always available.
    fn c_sources(&self) -> SourceSet {
        SourceSet::new()
    }

    /// Returns additional compiler arguments.
    fn c_compile_args(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the C code is a few instructions. Fusion puts more of such ops into one loop, or recomputes
    /// them.
    fn is_cheap(&self) -> bool {
        false
    }

    /// Returns the function that kernels call by block for these dtypes, instead of repeating the code of
    /// [`ScalarOp::c_code`]; both have the same results.
    fn block(&self, _dtypes: &[DType]) -> Option<BlockFunction> {
        None
    }

    /// Returns [`precast_codegen::COp::content_id`]: `None` for ops whose C code is not part of this crate.
    fn content_id(&self) -> Option<String> {
        None
    }
}

impl PartialEq for dyn ScalarOp {
    fn eq(&self, other: &Self) -> bool {
        let (a, b): (&dyn Any, &dyn Any) = (self, other);
        a.type_id() == b.type_id() && self.name() == other.name() && self.props() == other.props()
    }
}

/// Returns the scalar op with this name and these props, as returned by [`ScalarOp::name`] and [`ScalarOp::props`].
/// `None` if the library has no op of that name.
///
/// # Errors
/// A prop that is missing or of the wrong kind.
pub fn from_props(
    name: &str,
    props: &Props,
) -> Option<Result<Arc<dyn ScalarOp>, precast_graph::MakeNodeError>> {
    match name {
        "cast" => Some(Cast::from_props(props)),
        "composite" => Some(crate::composite::Composite::from_props(props)),
        _ => find(name).map(Ok),
    }
}

/// Returns whether kernels compute an op of 16-bit floats as a [`BlockFunction`] of f32 between casts.
pub(crate) fn is_block_of_halves(op: &dyn ScalarOp, dtypes: &[DType]) -> bool {
    dtypes.iter().all(|dtype| table::is_half(*dtype)) && op.block(&vec![DType::F32; dtypes.len()]).is_some()
}

/// Describes the dtype combinations that an op supports: `f32, f64` or `bool×f32×f32, …`.
#[must_use]
pub fn supported(op: &dyn ScalarOp) -> String {
    let names = signatures(op).into_iter().map(|dtypes| {
        let same = dtypes.windows(2).all(|pair| pair[0] == pair[1]);
        let shown = if same { &dtypes[..dtypes.len().min(1)] } else { &dtypes[..] };
        shown.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join("×")
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Returns every combination of input dtypes that an op supports, in the order of [`DType::ALL`]; empty for more than
/// 4 inputs.
#[must_use]
pub fn signatures(op: &dyn ScalarOp) -> Vec<Vec<DType>> {
    let mut all: Vec<Vec<DType>> = vec![Vec::new()];
    if op.arity() > 4 {
        return Vec::new();
    }
    for _ in 0..op.arity() {
        all = all.iter().flat_map(|head| DType::ALL.map(|d| [head.as_slice(), &[d]].concat())).collect();
    }
    all.retain(|dtypes| op.outputs(dtypes).is_some());
    all
}
