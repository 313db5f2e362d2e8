//! `einsum_operand`: prepares a tensor for `einsum` by broadcasting extents of 1 to those of another tensor.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, axis, of, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

/// A label that a tensor shares with another tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The axis of the tensor, and the axis of the other tensor.
    pub axes: [usize; 2],
    /// The label, for messages.
    pub label: char,
    /// The operands of `einsum` with these extents, for messages.
    pub operands: [usize; 2],
    /// Whether an extent of 1 is broadcast; otherwise it is only checked.
    pub stretch: bool,
}

/// An op that returns the first tensor, with labelled axes that fit those of the second: the extents are equal, or
/// one of them is 1.
///
/// # Shapes
/// `(tensor, other) -> tensor`. The result is a view of the first input, or a copy if an axis is broadcast.
///
/// # Errors
/// At run time: different extents, neither of which is 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EinsumOperand {
    /// The axes to compare.
    pub pairs: Vec<Pair>,
}

impl EinsumOperand {
    /// The name in JSON.
    pub const NAME: &str = "einsum_operand";

    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// `pairs` is missing, or is not a list with six integers per pair.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(Self::NAME, props, &["pairs"])?;
        let wrong = || declared.wrong("pairs", "a list of six integers a pair");
        let count = |item: &Prop| match item {
            Prop::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        };
        let numbers: Option<Vec<usize>> =
            declared.list("pairs").ok_or_else(wrong)?.iter().map(count).collect();
        let numbers = numbers.filter(|numbers| numbers.len().is_multiple_of(6)).ok_or_else(wrong)?;
        let pair = |pair: &[usize]| {
            let label = u32::try_from(pair[2]).ok().and_then(char::from_u32).filter(char::is_ascii)?;
            Some(Pair {
                axes: [pair[0], pair[1]],
                label,
                operands: [pair[3], pair[4]],
                stretch: pair[5] != 0,
            })
        };
        let pairs: Option<Vec<Pair>> = numbers.chunks_exact(6).map(pair).collect();
        Ok(Arc::new(Self { pairs: pairs.ok_or_else(wrong)? }))
    }

    /// Returns the pairs as numbers.
    fn numbers(&self) -> Vec<i64> {
        let numbers = self.pairs.iter().flat_map(|pair| {
            let ([own, other], [first, second]) = (pair.axes, pair.operands);
            [own, other, pair.label as usize, first, second, usize::from(pair.stretch)]
        });
        numbers.map(|n| i64::try_from(n).unwrap_or(i64::MAX)).collect()
    }
}

impl Pair {
    /// Returns the error for two extents, if they do not fit.
    fn misfit(&self, own: u64, other: u64) -> Option<String> {
        let [first, second] = self.operands;
        (own != other && own != 1 && other != 1).then(|| {
            let label = self.label;
            format!("extents of `{label}` differ: {own} in operand {first}, {other} in operand {second}")
        })
    }

    /// Returns the extent of the result, for extents that fit.
    fn fitted(&self, own: u64, other: u64) -> u64 {
        if self.stretch && own == 1 { other } else { own }
    }
}

impl Op for EinsumOperand {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn props(&self) -> Props {
        Props::from([("pairs".to_owned(), Prop::List(self.numbers().into_iter().map(Prop::Int).collect()))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(Self::NAME, 2, inputs)?;
        let (own, other) = (tensor(Self::NAME, 0, inputs)?, tensor(Self::NAME, 1, inputs)?);
        let mut shape = own.shape.clone();
        for pair in &self.pairs {
            let [a, b] = pair.axes;
            axis(Self::NAME, a, own.shape.len())?;
            axis(Self::NAME, b, other.shape.len())?;
            shape[a] = match (own.shape[a], other.shape[b]) {
                (Extent::Fixed(own), Extent::Fixed(other)) => {
                    if let Some(problem) = pair.misfit(own, other) {
                        return Err(MakeNodeError::Value { op: Self::NAME.to_owned(), problem });
                    }
                    Extent::Fixed(pair.fitted(own, other))
                }
                (Extent::Fixed(own), _) if own != 1 || !pair.stretch => Extent::Fixed(own),
                (own, _) if !pair.stretch => own,
                _ => Extent::Unknown,
            };
        }
        Ok(vec![of(own.dtype, shape)])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::shape::broadcast(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let own = inputs[0].shape();
        let mut shape = own.to_vec();
        for pair in &self.pairs {
            let [own, other] = [own[pair.axes[0]] as u64, inputs[1].shape()[pair.axes[1]] as u64];
            if let Some(problem) = pair.misfit(own, other) {
                return Err(PerformError::value(Self::NAME, problem));
            }
            shape[pair.axes[0]] = pair.fitted(own, other) as usize;
        }
        elements::room(Self::NAME, &shape)?;
        let positions = elements::broadcast(own, &shape)
            .ok_or_else(|| elements::not_broadcast(Self::NAME, own, &shape))?;
        Ok(vec![elements::pick(Self::NAME, inputs[0], &shape, &positions)?])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl Called for EinsumOperand {
    const HEADER: &'static str = "precast/ops/einsum.h";

    fn call(&self, _node: &Node) -> Call {
        let count = i64::try_from(self.pairs.len()).unwrap_or(i64::MAX);
        Call::of("pc_einsum_operand", [vec![count], self.numbers()].concat())
    }
}
called!(EinsumOperand);
