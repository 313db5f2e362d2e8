//! Scalar ops: what happens to one element. [`crate::Elemwise`] maps them over tensors, [`crate::Composite`] chains them.
//!
//! ```text
//! row       what a row of `crate::rows` says of a scalar op
//! table     how a row of `crate::rows` becomes an op: its type rule, its C, its headers; arms: the macros of a row
//! integer, float, complex    arithmetic that Rust's own methods do not have, as c/precast/ops/scalar does it
//! cast      Cast and Identity, which are ops with a type rule of their own
//! value     one element of any dtype
//! ```
//! A scalar op promotes nothing: it states for which exact dtypes it exists. Casts are inserted where graphs are built.
//! An op of one's own implements [`ScalarOp`] with C of its own; it may fail, by inserting `sub.fail` where it finds an error.

mod arms;
mod cast;
mod complex;
mod float;
mod integer;
mod row;
mod table;
mod value;

pub use cast::{Cast, Identity};
pub(crate) use complex::ComplexNumber;
pub(crate) use float::{maximum, minimum};
pub(crate) use row::{Gives, Promotion, Scalar};
pub(crate) use table::LIBRARY;
pub use table::{find, names};
pub use value::Value;
pub(crate) use value::{collect, elements};

use precast_codegen::{LinkError, SourceSet, Sub};
use precast_graph::{DType, PerformError, Props};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An operation on single elements. Immutable; equal when Rust type, name and props are.
pub trait ScalarOp: Any + fmt::Debug + Send + Sync {
    /// The name: `add`. Lower case, unique in a library.
    fn name(&self) -> &str;

    /// What signatures print: the name, and the props in braces.
    fn label(&self) -> String {
        let props: Vec<String> = self.props().iter().map(|(name, prop)| format!("{name}={prop}")).collect();
        if props.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}{{{}}}", self.name(), props.join(","))
        }
    }

    /// The declared props; with the name they decide equality.
    fn props(&self) -> Props {
        Props::new()
    }

    /// Number of inputs.
    fn arity(&self) -> usize;

    /// The dtype of the result for exactly these dtypes; `None` if they are not supported. `inputs` has `arity` entries.
    fn output(&self, inputs: &[DType]) -> Option<DType>;

    /// The dtypes of the results, for ops with several.
    fn outputs(&self, inputs: &[DType]) -> Option<Vec<DType>> {
        self.output(inputs).map(|dtype| vec![dtype])
    }

    /// Computes the results for one element of each input, whose dtypes are supported.
    ///
    /// # Errors
    /// Values that the op refuses at run time, as its C code does.
    fn perform(&self, inputs: &[Value]) -> Result<Vec<Value>, PerformError>;

    /// Statements that assign `outputs` from `inputs`, all names of C variables of these dtypes; inserted in a loop.
    /// `ctx` is in scope; on an error set its slot and insert `sub.fail`.
    ///
    /// # Errors
    /// Dtypes that this op has no C for.
    fn c_code(
        &self,
        dtypes: &[DType],
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError>;

    /// Headers that the code for these dtypes needs, those of this crate and others. By default `precast/ops/scalar.h`,
    /// which has the arithmetic of every dtype; naming fewer makes compilation quicker.
    fn c_headers(&self, _dtypes: &[DType]) -> Vec<String> {
        vec!["precast/ops/scalar.h".to_owned()]
    }

    /// Helper functions at file scope; equal texts appear once in a module.
    fn c_support_code(&self) -> Vec<String> {
        Vec::new()
    }

    /// Own headers by logical name; those of this crate need not be given.
    fn c_sources(&self) -> SourceSet {
        SourceSet::new()
    }

    /// Arguments to add to the compiler's.
    fn c_compile_args(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the C is a few instructions: fusion computes such an op with more others in one loop, or once more.
    fn is_cheap(&self) -> bool {
        false
    }

    /// As [`precast_codegen::COp::content_id`]: `None` for ops whose C is not of this crate.
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

/// The scalar op of a name and props, as written by [`ScalarOp::name`] and [`ScalarOp::props`]; `None` if the library has
/// none of that name.
///
/// # Errors
/// Props that the op lacks or that are of the wrong kind.
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

/// The dtype combinations that an op supports, in words: `f32, f64` or `bool×f32×f32, …`.
#[must_use]
pub fn supported(op: &dyn ScalarOp) -> String {
    let names = signatures(op).into_iter().map(|dtypes| {
        let same = dtypes.windows(2).all(|pair| pair[0] == pair[1]);
        let shown = if same { &dtypes[..dtypes.len().min(1)] } else { &dtypes[..] };
        shown.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join("×")
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Every combination of input dtypes that an op supports, in the order of [`DType::ALL`]; none for more than 4 inputs.
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
