//! Composed functions: a row calls other rows, following NumPy's own definition.
//!
//! A composition inherits the semantics of its parts: promotion, NaN, empty arrays, and the bits for every way to
//! serve a graph.

use super::bind::bind;
use super::operand::Operands;
use crate::DimShuffle;
use crate::rows;
use crate::shape::{Assert, ShapeI};
use precast_core::native::ErrorKind;
use precast_graph::{Array, BuildError, Extent, Keywords, MakeNodeError, Operand, Prop, VarId, text};

impl Operands<'_> {
    /// Calls a function of the library.
    pub(super) fn call<const N: usize>(
        &mut self,
        function: &str,
        args: [Operand; N],
    ) -> Result<VarId, BuildError> {
        self.call_with(function, &args, &[])
    }

    /// Calls a function of the library with keyword arguments.
    pub(super) fn call_with(
        &mut self,
        function: &str,
        args: &[Operand],
        named: &[(&str, Operand)],
    ) -> Result<VarId, BuildError> {
        let missing =
            || MakeNodeError::prop(self.function, "function", format!("is `{function}`, which is not a row"));
        let row = rows::find(function).ok_or_else(missing)?;
        let apply = super::function_of(row).ok_or_else(missing)?;
        let keywords: Keywords =
            named.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let (args, props) =
            bind(function, row, args, &keywords).map_err(|error| self.within(error.into()))?;
        let result = apply(
            &mut Operands { graph: self.graph, library: self.library, function, args: &args },
            row,
            &props,
        );
        let result = result.map_err(|error| self.within(error))?;
        let Operand::Var(result) = result else { return Err(missing().into()) };
        Ok(result)
    }

    /// Returns the extent of a dimension, which promotes like a Python integer.
    pub(super) fn extent(&mut self, tensor: VarId, axis: usize) -> Result<Operand, BuildError> {
        Ok(match self.graph.ty(tensor).shape().get(axis) {
            Some(Extent::Fixed(n)) => i64::try_from(*n).unwrap_or(i64::MAX).into(),
            _ => Operand::Weak(self.apply(ShapeI { axis }, &[tensor])?),
        })
    }

    /// Returns the extent of a dimension if it is known when the graph is built, from the type or from a constant.
    pub(super) fn known_extent(&self, tensor: VarId, axis: usize) -> Option<i64> {
        let of_constant = || self.graph.constants().find(|(constant, _)| *constant == tensor);
        match self.graph.ty(tensor).shape().get(axis)? {
            Extent::Fixed(extent) => i64::try_from(*extent).ok(),
            Extent::Unknown => i64::try_from(of_constant()?.1.shape()[axis]).ok(),
        }
    }

    /// Returns all extents.
    pub(super) fn extents_of(&mut self, tensor: VarId) -> Result<Vec<Operand>, BuildError> {
        (0..self.graph.ty(tensor).ndim()).map(|axis| self.extent(tensor, axis)).collect()
    }

    /// Returns the number of dimensions.
    pub(super) fn ndim(&self, tensor: VarId) -> usize {
        self.graph.ty(tensor).ndim()
    }

    /// Reorders axes; `None` inserts a new axis of extent 1.
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

    /// Slices along one axis; the letters of `entry` (`b`, `e`, `s`) name the `bounds`.
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

    /// Returns the tensor, and fails with this message at run time unless the condition is true.
    pub(super) fn demand(
        &mut self,
        tensor: VarId,
        condition: VarId,
        message: &str,
    ) -> Result<VarId, BuildError> {
        self.apply(Assert { message: message.to_owned(), kind: ErrorKind::Assert }, &[tensor, condition])
    }

    /// Returns an optional argument as an integer without dimensions.
    pub(super) fn integer_or(&mut self, position: usize, default: i64) -> Result<VarId, BuildError> {
        match self.args.get(position) {
            None | Some(Operand::None) => Ok(self.graph.constant(Array::from(default))),
            Some(_) => self.integer(position),
        }
    }

    /// Adds this function to an error of one of its parts. The error of the function's own op stays unchanged.
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

    /// Evaluates an expression of the text form, in which names stand for operands.
    pub(super) fn expression(&mut self, text: &str, names: &[(&str, Operand)]) -> Result<VarId, BuildError> {
        text::evaluate(text, names, self.graph, self.library).map_err(|error| self.error(error.to_string()))
    }

    /// Evaluates expressions in order, and adds each value to the names that the later ones may use.
    pub(super) fn define<'n>(
        &mut self,
        names: &mut Vec<(&'n str, Operand)>,
        texts: &[(&'n str, &str)],
    ) -> Result<(), BuildError> {
        for (name, text) in texts {
            let made = self.expression(text, names)?;
            names.push((name, made.into()));
        }
        Ok(())
    }

    /// Creates an error of this function.
    pub(super) fn error(&self, problem: impl Into<String>) -> BuildError {
        MakeNodeError::Value { op: self.function.to_owned(), problem: problem.into() }.into()
    }
}
