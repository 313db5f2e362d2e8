//! Renders graphs as expressions, which are the symbols of their modules.

use precast_core::native::profiling::expression::{of_label, tuple};
use precast_graph::{FunctionGraph, Origin};

/// Renders the outputs of a graph as an expression of its inputs, shortened.
pub(super) fn of(graph: &FunctionGraph) -> String {
    let name = |position: usize| match &graph.variables()[position].origin {
        Origin::Input(input) => graph.input_name(*input).to_owned(),
        _ => format!("c{position}"),
    };
    let mut values: Vec<String> = (0..graph.variables().len()).map(name).collect();
    for apply in graph.applies() {
        let arguments: Vec<String> = apply.inputs.iter().map(|v| values[v.index()].clone()).collect();
        let outputs = of_label(&apply.op.label(), &arguments);
        for (position, output) in apply.outputs.iter().enumerate() {
            values[output.index()] = match (&outputs[..], apply.outputs.len()) {
                ([one], 1) => one.clone(),
                (several, count) if several.len() == count => several[position].clone(),
                (several, _) => format!("{}.{position}", tuple(several.to_vec())),
            };
        }
    }
    tuple(graph.outputs().iter().map(|output| values[output.index()].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use precast_graph::text;
    use precast_ops::Ops;
    use precast_ops::rewrite::Form;

    #[test]
    fn fused_graph_is_an_expression() {
        let types = ["x: f64[?]", "y: f64[?]"].map(|input| text::parse_input(input).unwrap());
        let ops = Ops::standard();
        let graph = text::parse(&["sum(exp(-x * x) * y)", "x / y"], &types, &ops).unwrap();
        for graph in [ops.lower(&graph, Form::Lowered).unwrap(), graph] {
            assert_eq!(of(&graph), "sum(exp(neg(x) * x) * y), x / y");
        }
    }
}
