//! Random numbers whose parameters are results of random graphs.

use precast_graph::{Array, Keywords, OpLibrary as _, Operand, VarId, interpret};
use precast_ops::Ops;
use precast_testkit::Choices;
use precast_testkit::graphs::Case;

/// Functions of a key and a parameter.
const FUNCTIONS: [&str; 5] =
    ["random_gamma", "random_loggamma", "random_poisson", "random_student_t", "random_bernoulli"];

/// Returns a case with draws for each of its results that are real numbers. `None` if there are none, or if `perform`
/// rejects the values.
pub(super) fn with_draws(case: &Case, choices: &mut Choices) -> Option<Case> {
    let (mut graph, ops) = (case.graph.clone(), Ops::standard());
    let key = graph.input("random_key", "u32[2]".parse().ok()?).ok()?;
    let mut inputs = case.inputs.clone();
    inputs.push(Array::from(ndarray::arr1(&[choices.bits(), choices.bits()]).into_dyn()));
    let is_real =
        |v: &VarId| matches!(case.graph.ty(*v).dtype().name(), "f32" | "f64") && case.graph.ty(*v).ndim() > 0;
    let results: Vec<VarId> = case.graph.outputs().iter().copied().filter(is_real).collect();
    for result in &results {
        let name = FUNCTIONS[choices.below(FUNCTIONS.len())];
        let drawn = ops.call(&mut graph, name, &[key.into(), (*result).into()], &Keywords::new())?.ok()?;
        let shape = ops.attribute(&mut graph, "shape", &Operand::Var(*result))?.ok()?;
        let normal = ops.call(&mut graph, "random_normal", &[key.into(), shape], &Keywords::new())?.ok()?;
        let sum = ops.call(&mut graph, "mul", &[drawn, normal], &Keywords::new())?.ok()?;
        let sum = sum.variable(&mut graph).ok()?;
        graph.output(sum, None).ok()?;
    }
    let outputs = interpret(&graph, &inputs).ok().filter(|_| !results.is_empty())?;
    Some(Case { graph, inputs, outputs })
}
