//! Functions made of others: calls of rows from inside a row, in NumPy's own words.
//!
//! What a composition means is so what its parts mean: promotion, NaN, empty arrays, and the bits of every way to serve a graph.

use super::bind::bind;
use super::operand::Operands;
use crate::DimShuffle;
use crate::rows;
use crate::shape::{Assert, ShapeI};
use precast_graph::{Array, BuildError, Extent, Keywords, MakeNodeError, Operand, Prop, VarId};

impl Operands<'_> {
    /// What a function of the library makes of some arguments.
    pub(super) fn call<const N: usize>(
        &mut self,
        function: &str,
        args: [Operand; N],
    ) -> Result<VarId, BuildError> {
        self.call_with(function, &args, &[])
    }

    /// The same with arguments by name.
    pub(super) fn call_with(
        &mut self,
        function: &str,
        args: &[Operand],
        named: &[(&str, Operand)],
    ) -> Result<VarId, BuildError> {
        let missing = || MakeNodeError::prop(self.function, "function", format!("`{function}` is no row"));
        let row = rows::find(function).ok_or_else(missing)?;
        let apply = super::function_of(row).ok_or_else(missing)?;
        let keywords: Keywords =
            named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let (args, props) =
            bind(function, row, args, &keywords).map_err(|error| self.within(error.into()))?;
        let result = apply(&mut Operands { graph: self.graph, function, args: &args }, row, &props);
        let result = result.map_err(|error| self.within(error))?;
        let Operand::Var(result) = result else { return Err(missing().into()) };
        Ok(result)
    }

    /// The extent of a dimension, which promotes as a number of Python's.
    pub(super) fn extent(&mut self, tensor: VarId, axis: usize) -> Result<Operand, BuildError> {
        Ok(match self.graph.ty(tensor).shape().get(axis) {
            Some(Extent::Fixed(n)) => i64::try_from(*n).unwrap_or(i64::MAX).into(),
            _ => Operand::Weak(self.apply(ShapeI { axis }, &[tensor])?),
        })
    }

    /// The extent of a dimension if it is known when the graph is built: that of a type, or of a constant.
    pub(super) fn known_extent(&self, tensor: VarId, axis: usize) -> Option<i64> {
        let of_constant = || self.graph.constants().find(|(constant, _)| *constant == tensor);
        match self.graph.ty(tensor).shape().get(axis)? {
            Extent::Fixed(extent) => i64::try_from(*extent).ok(),
            Extent::Unknown => i64::try_from(of_constant()?.1.shape()[axis]).ok(),
        }
    }

    /// All extents.
    pub(super) fn extents_of(&mut self, tensor: VarId) -> Result<Vec<Operand>, BuildError> {
        (0..self.graph.ty(tensor).ndim()).map(|axis| self.extent(tensor, axis)).collect()
    }

    /// The number of dimensions.
    pub(super) fn ndim(&self, tensor: VarId) -> usize {
        self.graph.ty(tensor).ndim()
    }

    /// Axes in a new order; `None` for a new one of extent 1.
    pub(super) fn shuffled(
        &mut self,
        tensor: VarId,
        order: impl IntoIterator<Item = Option<usize>>,
    ) -> Result<VarId, BuildError> {
        let order: Vec<Option<usize>> = order.into_iter().collect();
        if order.len() == self.ndim(tensor) && order.iter().enumerate().all(|(d, axis)| *axis == Some(d)) {
            return Ok(tensor);
        }
        self.apply(DimShuffle::new(order), &[tensor])
    }

    /// A slice along one axis, `bounds` named by the letters of `entry` (`b`, `e`, `s`).
    pub(super) fn slice(
        &mut self,
        tensor: VarId,
        axis: usize,
        entry: &str,
        bounds: &[Operand],
    ) -> Result<VarId, BuildError> {
        let items = (0..axis).map(|_| String::new()).chain([entry.to_owned()]);
        let index = Operand::List(items.map(|item| Prop::Str(item).into()).collect());
        let args = [&[Operand::Var(tensor)], bounds].concat();
        self.call_with("subtensor", &args, &[("index", index)])
    }

    /// The tensor; an error with these words when it is run unless a condition is true.
    pub(super) fn demand(
        &mut self,
        tensor: VarId,
        condition: VarId,
        message: &str,
    ) -> Result<VarId, BuildError> {
        self.apply(Assert { message: message.to_owned() }, &[tensor, condition])
    }

    /// An optional argument as an integer without dimensions.
    pub(super) fn integer_or(&mut self, position: usize, default: i64) -> Result<VarId, BuildError> {
        match self.args.get(position) {
            None | Some(Operand::None) => Ok(self.graph.constant(Array::from(default))),
            Some(_) => self.integer(position),
        }
    }

    /// An error of a part of this function, which names the function as well. The op of a function is not a part of it.
    pub(super) fn within(&self, error: BuildError) -> BuildError {
        match &error {
            BuildError::MakeNode(refused)
                if rows::find(self.function).is_some_and(|row| row.name == refused.op()) =>
            {
                error
            }
            _ => error.within(self.function),
        }
    }

    /// An error of this function in words.
    pub(super) fn error(&self, problem: impl Into<String>) -> BuildError {
        MakeNodeError::Value { op: self.function.to_owned(), problem: problem.into() }.into()
    }
}
