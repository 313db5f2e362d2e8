//! CustomGradient: a value whose gradient a graph computes.

use super::body::{Body, expect_type};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, tensor};
use crate::gradient::rules::Pulled;
use precast_codegen::Node;
use precast_graph::{Array, Gradients, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "custom_gradient";

/// An op that returns its first input. Its gradients by other inputs are the results of a graph, the *rule*; by the first
/// input it has none. The rewrite `simplify` removes the op, so that it has no cost.
///
/// # Shapes
/// ```text
/// custom_gradient   x, inputs  ->  x
/// rule              the gradient by the result, inputs  ->  gradients by some of the inputs
/// ```
///
/// # Source
/// JAX, `jax.custom_vjp`.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomGradient {
    /// The rule.
    pub rule: Body,
    /// The positions of the inputs by which the rule returns gradients, ascending. Position 0 is that of the value.
    pub by: Vec<usize>,
}

impl CustomGradient {
    /// Rebuilds a `CustomGradient` from its props.
    ///
    /// # Errors
    /// A prop that is missing, unknown or of the wrong kind, or a rule whose results do not fit its inputs.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["rule", "by"])?;
        let rule = Body::from_prop(NAME, "rule", props.get("rule"))?;
        let positions = declared.list("by").ok_or_else(|| declared.wrong("by", "a list of positions"))?;
        let by = positions.iter().map(|position| match position {
            Prop::Int(position) => usize::try_from(*position).ok(),
            _ => None,
        });
        let by: Option<Vec<usize>> = by.collect();
        let made = Self { rule, by: by.ok_or_else(|| declared.wrong("by", "a list of positions"))? };
        made.check()?;
        Ok(Arc::new(made))
    }

    /// Checks that the results of the rule are gradients by inputs.
    pub(crate) fn check(&self) -> Result<(), MakeNodeError> {
        let wrong = |problem: String| MakeNodeError::Value { op: NAME.to_owned(), problem };
        let (inputs, results) = (self.rule.inputs(), self.rule.outputs());
        let is_ascending = self.by.is_sorted_by(|a, b| a < b) && self.by.first() != Some(&0);
        if !is_ascending || self.by.last().is_some_and(|last| *last >= inputs.len()) {
            return Err(wrong(format!("`by` is {:?}, expected ascending positions of inputs", self.by)));
        }
        if self.by.len() != results.len() {
            let (found, expected) = (results.len(), self.by.len());
            return Err(wrong(format!("the rule has {found} results, expected {expected}")));
        }
        for (position, found) in self.by.iter().zip(&results) {
            let (input, expected) = (position - 1, &inputs[*position]);
            if !expected.dtype().is_float() {
                return Err(wrong(format!(
                    "input {input} has type `{expected}`, which has no gradient\nhint: return `None` for it"
                )));
            }
            let fits = |(a, b): (&precast_graph::Extent, &precast_graph::Extent)| {
                a == b || [a, b].contains(&&precast_graph::Extent::Unknown)
            };
            let is_like = found.dtype() == expected.dtype()
                && found.ndim() == expected.ndim()
                && found.shape().iter().zip(expected.shape()).all(fits);
            if !is_like {
                return Err(wrong(format!(
                    "the gradient by input {input} has type `{found}`, expected `{expected}`"
                )));
            }
        }
        Ok(())
    }
}

impl Op for CustomGradient {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let by = self.by.iter().map(|position| Prop::Int(i64::try_from(*position).unwrap_or(i64::MAX)));
        Props::from([
            ("by".to_owned(), Prop::List(by.collect())),
            ("rule".to_owned(), Prop::Graph(self.rule.graph().clone())),
        ])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let expected = self.rule.inputs();
        MakeNodeError::expect_inputs(NAME, expected.len(), inputs)?;
        tensor(NAME, 0, inputs)?;
        for (position, (found, expected)) in inputs.iter().zip(&expected).enumerate() {
            expect_type(NAME, position, found, expected)?;
        }
        Ok(vec![inputs[0].clone()])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        let mut gradients: Gradients = vec![None; at.inputs.len()];
        let Some(Some(gradient)) = at.gradients.first() else { return Some(Ok(gradients)) };
        let inputs = [&[*gradient], &at.inputs[1..]].concat();
        let found = match at.graph.inline(self.rule.graph(), &inputs) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        for (position, gradient) in self.by.iter().zip(found) {
            gradients[*position] = Some(gradient);
        }
        Some(Ok(gradients))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Ok(vec![inputs[0].clone()])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl Called for CustomGradient {
    const HEADER: &'static str = "precast/ops/shape.h";

    fn call(&self, _node: &Node) -> Call {
        Call::of("pc_view", Vec::new())
    }
}
called!(CustomGradient);
