//! SmallGraph: a graph of arrays of known extents as one op, whose C has no tensors between its steps.

use super::body::{check_extents, content_id, expect_type, extents_table, perform};
use super::fixed::{self, Facts, Fixed, Limits};
use super::scan_code::{check, known_check};
use crate::declared::{Declared, of};
use crate::elemwise::code::assigned;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{
    Array, Extent, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type, encode,
};
use std::sync::Arc;

const NAME: &str = "small_graph";

/// An op that computes a graph of small arrays of known extents.
///
/// The pass `small_graphs` creates it. The values of the graph are arrays in C variables, so its Applies cost neither
/// calls nor tensors. The extents, and the integers that extents and indices depend on, are props, so that the key
/// covers them. They are checked when the op is called.
///
/// # Errors
/// At run time: other extents or integers than the props state, and the errors of the Applies.
#[derive(Debug, Clone)]
pub struct SmallGraph {
    graph: Arc<FunctionGraph>,
    facts: Facts,
    fixed: Arc<Fixed>,
}

impl PartialEq for SmallGraph {
    fn eq(&self, other: &Self) -> bool {
        let Self { graph, facts, fixed: _ } = self;
        (graph, facts) == (&other.graph, &other.facts)
    }
}

impl SmallGraph {
    /// Creates the op; `None` if the facts do not determine the extents of all values, or an Apply has no C for them.
    /// Known integers that no extent and no index depends on are forgotten.
    pub(crate) fn new(graph: &FunctionGraph, facts: Facts) -> Option<Self> {
        let graph = encode::order(graph);
        let fixed = Fixed::of(&graph, facts, Limits::GRAPH)?.without_other_integers(&graph, Limits::GRAPH)?;
        Some(Self { facts: fixed.facts().clone(), fixed: Arc::new(fixed), graph: Arc::new(graph) })
    }

    /// Rebuilds the op from its props.
    ///
    /// # Errors
    /// A prop that is missing, unknown or of the wrong kind, or props that do not fit each other.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        Declared::new(NAME, props, &["body", "extents", "known"])?;
        let Some(Prop::Graph(graph)) = props.get("body") else {
            return Err(MakeNodeError::prop(NAME, "body", "is missing, expected a graph"));
        };
        if graph.constants().next().is_some() {
            return Err(MakeNodeError::prop(NAME, "body", "has constants; make them inputs"));
        }
        let facts = Facts::from_props(props).filter(|facts| facts.extents.len() == graph.inputs().len());
        let small = facts.and_then(|facts| Self::new(graph, facts));
        let small =
            small.ok_or_else(|| MakeNodeError::prop(NAME, "extents", "and `known` do not fit the body"))?;
        Ok(Arc::new(small))
    }

    /// Returns the graph.
    #[must_use]
    pub fn graph(&self) -> &FunctionGraph {
        &self.graph
    }

    /// Returns the number of loops and calls that the C consists of. Views and reshapes cost nothing.
    pub(crate) fn kernels(&self) -> usize {
        self.fixed.kernels()
    }

    fn extents(&self) -> Vec<Vec<Extent>> {
        self.facts.typed_extents()
    }
}

impl Op for SmallGraph {
    fn name(&self) -> &str {
        NAME
    }

    fn label(&self) -> String {
        let ops: Vec<String> = self.graph().applies().iter().map(|apply| apply.op.label()).collect();
        format!("{NAME}{{{}}}", ops.join("; "))
    }

    fn props(&self) -> Props {
        let mut props = Props::from([("body".to_owned(), Prop::Graph(Arc::clone(&self.graph)))]);
        props.extend(self.facts.props());
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        MakeNodeError::expect_inputs(NAME, self.facts.extents.len(), inputs)?;
        for (position, (found, expected)) in inputs.iter().zip(self.graph.inputs()).enumerate() {
            expect_type(NAME, position, found, self.graph.ty(*expected))?;
        }
        let extents = |j: usize| self.fixed.output(j).iter().map(|n| Extent::Fixed(*n as u64)).collect();
        let outputs = self.graph.outputs().iter().enumerate();
        Ok(outputs.map(|(j, output)| of(self.graph.ty(*output).dtype(), extents(j))).collect())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        check_extents(NAME, 0, inputs, &self.extents(), |_| false)?;
        self.facts.check_known(NAME, 0, inputs)?;
        let inputs: Vec<Array> = inputs.iter().map(|array| (*array).clone()).collect();
        perform(&self.graph, NAME, &inputs, String::new)
    }
}

impl CLinkerObject for SmallGraph {
    fn c_headers(&self) -> Vec<String> {
        fixed::headers(&self.fixed)
    }

    fn c_sources(&self) -> SourceSet {
        fixed::sources(&self.fixed)
    }

    fn c_support_code(&self) -> Vec<String> {
        fixed::support(&self.fixed)
    }

    fn c_compile_args(&self) -> Vec<String> {
        fixed::compile_args(&self.fixed)
    }
}

impl COp for SmallGraph {
    fn c_shared_code_apply(&self, _: &Node) -> Vec<String> {
        fixed::shared(&self.fixed)
    }

    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        fixed::graph_function(&self.fixed, name)
    }

    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        format!("pc_object *{name}_room;")
    }

    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        format!("pc_xdecref(self->{name}_room);\n")
    }

    fn c_code(
        &self,
        _: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let check = check(Some(&extents_table(&self.extents(), |_| false)), NAME, 0, &sub.fail)
            + &known_check(&self.facts, NAME, 0, &sub.fail);
        let values = [
            ("NAME", name),
            ("INPUTS", &inputs.join(", ")),
            ("OUTPUTS", &outputs.join(", ")),
            ("CHECK", &check),
            ("ASSIGN", &assigned(outputs)),
            ("FAIL", &sub.fail),
        ];
        Ok(render(include_str!("../../c/small_graph_run.c.in"), &values))
    }

    fn debug_names(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn content_id(&self) -> Option<String> {
        content_id(&self.graph).map(|id| format!("{NAME}({id})"))
    }
}
