//! Branch: calls one of several graphs.

use super::body::{Body, expect_type, extents_table, meet};
use super::scan_code::check;
use crate::declared::{Declared, refuse};
use crate::elements;
use crate::elemwise::code::assigned;
use crate::gradient::rules::Pulled;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{
    Array, DType, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type,
};
use std::sync::Arc;

const NAME: &str = "branch";

/// An op that calls the graph at a position, and no other. A position below 0 selects the first graph, one above the last
/// selects the last.
///
/// # Shapes
/// ```text
/// branch   i64[] (position), inputs of each graph in turn  ->  the outputs of the selected graph
/// ```
/// The graphs have outputs of the same dtypes and ranks.
///
/// # Errors
/// At run time: those of the selected graph.
///
/// # Source
/// JAX, `jax.lax.switch` and `jax.lax.cond`.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The graphs.
    pub branches: Vec<Body>,
}

impl Branch {
    /// Rebuilds a Branch from its props.
    ///
    /// # Errors
    /// A prop that is missing, unknown or of the wrong kind, or graphs with different outputs.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["branches"])?;
        let graphs =
            declared.list("branches").ok_or_else(|| declared.wrong("branches", "a list of graphs"))?;
        let branches = graphs.iter().map(|graph| Body::from_prop(NAME, "branches", Some(graph)));
        let branch = Self { branches: branches.collect::<Result<_, _>>()? };
        branch.outputs()?;
        Ok(Arc::new(branch))
    }

    /// Returns the types of the outputs, which admit those of every graph.
    fn outputs(&self) -> Result<Vec<Type>, MakeNodeError> {
        let wrong = |problem: String| MakeNodeError::prop(NAME, "branches", problem);
        let Some((first, others)) = self.branches.split_first() else {
            return Err(wrong("is empty, expected at least one graph".to_owned()));
        };
        let mut types = first.outputs();
        for (branch, outputs) in others.iter().map(Body::outputs).enumerate() {
            if outputs.len() != types.len() {
                let (found, expected) = (outputs.len(), types.len());
                return Err(wrong(format!(
                    "has {found} outputs in graph {}, expected {expected}",
                    1 + branch
                )));
            }
            for (output, (ty, other)) in types.iter_mut().zip(&outputs).enumerate() {
                let met = meet(ty, other);
                *ty = met.ok_or_else(|| {
                    wrong(format!(
                        "has `{other}` as output {output} of graph {}, expected `{ty}`",
                        1 + branch
                    ))
                })?;
            }
        }
        Ok(types)
    }

    /// Returns the position of the first input of each graph, after the selecting one.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        let counts = self.branches.iter().map(|branch| branch.graph().inputs().len());
        let ends = counts.scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }
}

impl Op for Branch {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let graphs = self.branches.iter().map(|branch| Prop::Graph(branch.graph().clone()));
        Props::from([("branches".to_owned(), Prop::List(graphs.collect()))])
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        let types = self.outputs()?;
        let expected: Vec<Type> = self.branches.iter().flat_map(Body::inputs).collect();
        MakeNodeError::expect_inputs(NAME, 1 + expected.len(), inputs)?;
        if inputs[0] != Type::tensor(DType::I64, 0) {
            return Err(refuse(NAME, 0, &inputs[0], "the position of a graph, `i64[]`"));
        }
        for (position, expected) in expected.iter().enumerate() {
            if !matches!(expected, Type::Tensor(_)) {
                return Err(refuse(NAME, 1 + position, expected, "a tensor"));
            }
            expect_type(NAME, 1 + position, &inputs[1 + position], expected)?;
        }
        Ok(types)
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::control::branch(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        for (body, offset) in self.branches.iter().zip(self.offsets()) {
            body.check(NAME, 1 + offset, &inputs[1 + offset..])?;
        }
        let position = elements::integers(NAME, inputs[0])?.first().copied().unwrap_or_default();
        let position = usize::try_from(position).unwrap_or(0).min(self.branches.len() - 1);
        let offsets = self.offsets();
        let inputs = inputs[1..][offsets[position]..offsets[position + 1]].iter();
        let inputs: Vec<Array> = inputs.map(|array| (*array).clone()).collect();
        self.branches[position].perform(NAME, &inputs, String::new)
    }
}

const HEADER: &str = "precast/ops/branch.h";

impl CLinkerObject for Branch {
    fn c_headers(&self) -> Vec<String> {
        vec![HEADER.to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        closure(&self.c_headers())
    }
}

impl COp for Branch {
    fn bodies(&self) -> Vec<&FunctionGraph> {
        self.branches.iter().map(Body::lowered).collect()
    }

    fn c_code(
        &self,
        _: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let assign = assigned(outputs);
        let bodies: Vec<String> = (0..self.branches.len()).map(|i| format!("{name}_body{i}_run")).collect();
        let offsets: Vec<String> = self.offsets().iter().map(ToString::to_string).collect();
        let checks = self.branches.iter().zip(self.offsets());
        let checks = checks.map(|(body, offset)| {
            check(
                body.extents().map(|extents| extents_table(&extents, |_| false)).as_deref(),
                NAME,
                1 + offset,
                &sub.fail,
            )
        });
        let checks: String = checks.collect();
        let values = [
            ("CHECK", &*checks),
            ("BODIES", &*bodies.join(", ")),
            ("OFFSETS", &offsets.join(", ")),
            ("BRANCHES", &bodies.len().to_string()),
            ("N_OUT", &outputs.len().to_string()),
            ("ARGS", &(inputs.len() + outputs.len()).to_string()),
            ("INPUTS", &inputs.join(", ")),
            ("OUTPUTS", &outputs.join(", ")),
            ("ASSIGN", &assign),
            ("FAIL", &sub.fail),
        ];
        Ok(render(include_str!("../../c/branch.c.in"), &values))
    }

    fn content_id(&self) -> Option<String> {
        let ids = self.branches.iter().map(Body::content_id).collect::<Option<Vec<String>>>()?;
        Some(format!("branch({})", ids.join("; ")))
    }
}
