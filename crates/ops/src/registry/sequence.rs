//! Sequences of tensors: several tensors, or the rows of one tensor, over which NumPy's functions iterate.
//!
//! ```text
//! concatenate([x, y])   two tensors                  concatenate(x)   x[0], x[1], …: the first two axes become one
//! stack([x, y])         along a new axis             stack(x)         the first axis moves
//! ```

use super::operand::Operands;
use precast_graph::{BuildError, Operand, VarId};

/// The tensors to combine.
pub(super) enum Sequence {
    Several(Vec<Operand>),
    RowsOf(VarId),
}

impl Operands<'_> {
    /// Returns the tensors of a call whose row accepts a sequence of rows.
    pub(super) fn sequence(&mut self) -> Result<Sequence, BuildError> {
        match self.args {
            [Operand::List(items)] if items.is_empty() => Err(self.error("takes at least one tensor")),
            [Operand::List(items)] => Ok(Sequence::Several(items.clone())),
            [_] => {
                let tensor = self.variable(0)?;
                match self.ndim(tensor) {
                    0 => Err(self.error("takes several tensors or the rows of one, found a number")),
                    _ => Ok(Sequence::RowsOf(tensor)),
                }
            }
            _ => Err(self.error("takes at least one tensor")),
        }
    }

    /// Concatenates the rows of a tensor along one of their axes.
    pub(super) fn rows_joined(&mut self, tensor: VarId, axis: usize) -> Result<VarId, BuildError> {
        let turned = self.rows_stacked(tensor, axis)?;
        let mut extents = self.extents_of(turned)?;
        let inner = extents.remove(axis + 1);
        extents[axis] = self.call("mul", [extents[axis].clone(), inner])?.into();
        self.call_with("reshape", &[&[turned.into()], extents.as_slice()].concat(), &[])
    }

    /// Stacks the rows of a tensor along a new axis, i.e. moves the first axis.
    pub(super) fn rows_stacked(&mut self, tensor: VarId, axis: usize) -> Result<VarId, BuildError> {
        let ndim = self.ndim(tensor);
        self.shuffled(tensor, (1..=axis).chain([0]).chain(axis + 1..ndim).map(Some))
    }
}
