//! Functions of the text form that are not elementwise, by name, and what their files share.

use super::axes::{
    diff, expand_dims, flip, matrix_transpose, moveaxis, repeat, roll, squeeze, stacked, swapaxes, tile,
};
use super::contract::{einsum, inner, outer, tensordot, vdot};
use super::diagonal::{diag, diagonal, tri, triangle};
use super::fill::{append, at_least, broadcast_to, full, like, linspace};
use super::index::{subtensor, take, write};
use super::linalg::product;
use super::mask::{boolean_index, compress, count_nonzero, nonzero};
use super::operand::Operands;
use super::order::{searchsorted, sort, topk, unique};
use super::quantile::{median, quantile};
use super::reduce::{argmax, cumulative, reduce, spread};
use super::shape::{
    alloc, arange, array, assert, eye, filled, flatten, join, make_vector, reshape, shape_i, split, stack,
};
use super::soft::{isclose, log_softmax, logsumexp, norm, ptp, relu, softmax};
use super::{cast, dimshuffle, first, transpose};
use crate::combinations::Combine;
use crate::index::{
    AdvancedIncSubtensor1, AdvancedSubtensor1, BooleanIndex, IncSubtensor, Nonzero, Selector, Subtensor,
};
use crate::rows::{Keyword, Row, structural_rows};
use crate::shape::{
    ARange, Alloc, Assert, DeepCopy, Eye, Join, MakeVector, Reshape, Shape, ShapeI, Split, View,
};
use crate::{Argmax, BatchedDot, CumOp, DimShuffle, Dot, Matmul, Reduce, SearchSorted, Sort};
use precast_graph::{
    Array, BuildError, DType, Extent, Literal, MakeNodeError, Op, Operand, Prop, Props, Type, VarId,
};
use std::sync::Arc;

/// Applies a function to the arguments of a call.
pub(crate) type Function = fn(&mut Operands<'_>, &Row, &Props) -> Result<VarId, BuildError>;

macro_rules! library {
    ($(#[doc = $help:literal] $name:ident($($x:ident),* $(; $more:ident)?) [$($alias:ident)*] {$($keyword:ident = $default:expr),* $(; $($named:ident = $else:expr),*)?}
       = [$($apply:ident)?] [$($op:ident $(by $by:ident)?)?] [$($cases:ident)?] $builder:ident;)*) => {
        /// The rows of functions that are not elementwise.
        pub(crate) const STRUCTURAL: &[Row] = &[$(Row {
            name: stringify!($name),
            aliases: &[$(stringify!($alias)),*],
            arguments: &[$(stringify!($x),)* $(concat!(stringify!($more), "…"))?],
            keywords: &[
                $(Keyword { name: stringify!($keyword), default: stringify!($default), positional: true },)*
                $($(Keyword { name: stringify!($named), default: stringify!($else), positional: false },)*)?
            ],
            help: $help.trim_ascii(),
            apply: only::<Function>(&[$($apply)?]),
            register: |library| library$(.with_c::<$op>().with_name(stringify!($name), factory!($name $op $(by $by)?)))?,
            combinations: only::<Combine>(&[$(|at| at.$cases())?]),
            scalar: None,
        }),*];
    };
}
macro_rules! factory {
    ($name:ident $op:ident) => {
        $op::from_props
    };
    ($name:ident $op:ident by name) => {
        |props| $op::from_props(stringify!($name), props)
    };
}
structural_rows!(library);

/// What a column says, if anything.
const fn only<T: Copy>(column: &[T]) -> Option<T> {
    match column {
        [said, ..] => Some(*said),
        [] => None,
    }
}

impl Operands<'_> {
    /// Checks the number of arguments against a range.
    pub(super) fn expect_between(&self, least: usize, most: usize) -> Result<(), MakeNodeError> {
        let found = self.args.len();
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let expected =
            if most == usize::MAX { format!("at least {least}") } else { format!("{least} to {most}") };
        Err(MakeNodeError::Arity { op: self.function.to_owned(), expected, found })
    }

    /// Applies an op and gives its first result.
    pub(super) fn apply(&mut self, op: impl Op, inputs: &[VarId]) -> Result<VarId, BuildError> {
        first(self.graph.apply(Arc::new(op), inputs)?, self.function)
    }

    /// An argument as an integer without dimensions.
    pub(super) fn integer(&mut self, position: usize) -> Result<VarId, BuildError> {
        let found = match &self.args[position] {
            Operand::Var(v) | Operand::Weak(v) if is_integer(self.graph.ty(*v)) => {
                return self.cast(*v, DType::I64);
            }
            Operand::Var(v) | Operand::Weak(v) => self.graph.ty(*v).to_string(),
            Operand::Literal(Literal::Int(_)) => return self.cast_argument(position, DType::I64),
            other => other.describe(),
        };
        let (op, expected) = (self.function.to_owned(), "an integer without dimensions".to_owned());
        Err(MakeNodeError::Input { op, input: position, found, expected }.into())
    }

    /// Arguments from `start` on as integers without dimensions.
    pub(super) fn integers(&mut self, start: usize) -> Result<Vec<VarId>, BuildError> {
        (start..self.args.len()).map(|position| self.integer(position)).collect()
    }

    /// Arguments from `start` on as extents: one integer each, or one vector of as many as its type says.
    pub(super) fn extents(&mut self, start: usize) -> Result<Vec<VarId>, BuildError> {
        if let [Operand::Var(vector)] = &self.args[start..]
            && let [Extent::Fixed(count)] = self.graph.ty(*vector).shape()
        {
            let (vector, count) = (*vector, i64::try_from(*count).unwrap_or(i64::MAX));
            return (0..count).map(|position| self.element(vector, position)).collect();
        }
        self.integers(start)
    }

    /// An element of a vector of integers.
    fn element(&mut self, vector: VarId, position: i64) -> Result<VarId, BuildError> {
        let position = self.graph.constant(Array::from(position));
        let element = self.apply(Subtensor { index: vec![Selector::Index] }, &[vector, position])?;
        let args = [Operand::Var(element)];
        Operands { graph: self.graph, function: self.function, args: &args }.integer(0)
    }

    /// A vector of integers as a constant.
    pub(super) fn vector(&mut self, list: &[i64]) -> VarId {
        self.graph.constant(Array::from(ndarray::Array1::from(list.to_vec())))
    }

    /// An axis that may be counted from the end.
    pub(super) fn axis(&self, axis: i64, ndim: usize) -> Result<usize, MakeNodeError> {
        let rank = i64::try_from(ndim).unwrap_or(i64::MAX);
        let counted = if axis < 0 { axis + rank } else { axis };
        usize::try_from(counted).ok().filter(|a| *a < ndim).ok_or_else(|| {
            MakeNodeError::prop(
                self.function,
                "axis",
                format!("is {axis}, out of range for {ndim} dimension(s)"),
            )
        })
    }
}

/// Whether a type is one integer.
fn is_integer(ty: &Type) -> bool {
    ty.ndim() == 0 && ty.dtype().is_integer()
}

/// A list of integers, or a single one as a list of one; `None` when the prop is not there.
pub(super) fn list(function: &str, prop: &str, props: &Props) -> Result<Option<Vec<i64>>, MakeNodeError> {
    let items = match props.get(prop) {
        None => return Ok(None),
        Some(Prop::List(items)) => items.clone(),
        Some(item) => vec![item.clone()],
    };
    let integer = |item: Prop| match item {
        Prop::Int(n) => Ok(n),
        other => Err(MakeNodeError::prop(
            function,
            prop,
            format!("is `{other}`, expected an integer or a list of them"),
        )),
    };
    items.into_iter().map(integer).collect::<Result<Vec<_>, _>>().map(Some)
}
