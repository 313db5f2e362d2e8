//! Methods and attributes of arrays: the subset of NumPy's that the library has functions for.

use super::Ops;
use super::operand::Operands;
use crate::rows;
use crate::shape::ShapeI;
use precast_graph::{
    BuildError, FunctionGraph, Keywords, MakeNodeError, OpLibrary as _, Operand, Prop, VarId,
};

/// The methods of NumPy's arrays that call the function of the same name with the array as first argument. `sort`,
/// which sorts in place, and `view`, which reinterprets the bytes as another dtype, are excluded.
const METHODS: &[&str] = &[
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "astype",
    "clip",
    "conj",
    "conjugate",
    "copy",
    "cumprod",
    "cumsum",
    "diagonal",
    "dot",
    "flatten",
    "max",
    "mean",
    "min",
    "nonzero",
    "prod",
    "ravel",
    "repeat",
    "reshape",
    "round",
    "searchsorted",
    "squeeze",
    "std",
    "sum",
    "swapaxes",
    "take",
    "trace",
    "transpose",
    "var",
];

const ATTRIBUTES: [&str; 8] = ["T", "mT", "dtype", "imag", "ndim", "real", "shape", "size"];

/// Returns the function of a method.
pub(super) fn method(name: &str) -> Option<String> {
    (METHODS.contains(&name) && rows::find(name).is_some()).then(|| name.to_owned())
}

/// Returns the names of methods and attributes, sorted.
pub(super) fn names() -> Vec<String> {
    let known = METHODS.iter().copied().filter(|name| method(name).is_some()).chain(ATTRIBUTES);
    let mut names: Vec<String> = known.map(str::to_owned).collect();
    names.sort();
    names
}

/// Evaluates the attribute of a value; `None` if arrays have no such attribute.
pub(super) fn attribute(
    ops: &Ops,
    graph: &mut FunctionGraph,
    name: &str,
    value: &Operand,
) -> Option<Result<Operand, BuildError>> {
    ATTRIBUTES.contains(&name).then(|| {
        let args = [value.clone()];
        let mut of = Operands { graph, library: ops, function: name, args: &args };
        let x = of.variable(0)?;
        match name {
            "T" | "real" | "imag" => {
                let function = if name == "T" { "transpose" } else { name };
                let missing = || MakeNodeError::prop(name, "function", "is missing");
                ops.call(of.graph, function, &args, &Keywords::new()).ok_or_else(missing)?
            }
            "mT" => matrix_transpose(&mut of, x).map(Operand::Var),
            "dtype" => Ok(Prop::DType(of.graph.ty(x).dtype()).into()),
            "ndim" => Ok(i64::try_from(of.graph.ty(x).ndim()).unwrap_or(i64::MAX).into()),
            "shape" => extents(&mut of, x).map(Operand::List),
            _ => {
                let (mut size, missing) =
                    (Operand::from(1_i64), || MakeNodeError::prop(name, "function", "is missing"));
                for extent in extents(&mut of, x)? {
                    size = ops
                        .call(of.graph, "mul", &[size, extent], &Keywords::new())
                        .ok_or_else(missing)??;
                }
                Ok(size)
            }
        }
    })
}

/// Returns the extents, which promote like Python integers.
fn extents(of: &mut Operands<'_>, x: VarId) -> Result<Vec<Operand>, BuildError> {
    (0..of.graph.ty(x).ndim()).map(|axis| of.apply(ShapeI { axis }, &[x]).map(Operand::Weak)).collect()
}

/// Swaps the last two axes.
fn matrix_transpose(of: &mut Operands<'_>, x: VarId) -> Result<VarId, BuildError> {
    let ndim = of.graph.ty(x).ndim();
    if ndim < 2 {
        let (op, found) = (of.function.to_owned(), of.graph.ty(x).to_string());
        let expected = "at least 2 dimensions".to_owned();
        return Err(MakeNodeError::Input { op, input: 0, found, expected }.into());
    }
    let order = (0..ndim - 2).chain([ndim - 1, ndim - 2]).map(Some).collect();
    of.apply(crate::DimShuffle::new(order), &[x])
}
