//! Random graphs as the bodies of loops and branches.

use precast_graph::{
    Array, Extent, Function, FunctionGraph, Keywords, OpLibrary as _, Operand, TensorType, Type, interpret,
};
use precast_ops::Ops;
use precast_testkit::Choices;
use precast_testkit::graphs::Case;
use std::sync::Arc;

/// The use of an input of the body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// The same value in all steps.
    Outer,
    /// A row of a sequence.
    Row,
    /// The result at this position in the step before.
    Carry(usize),
}

/// Returns a case whose graph calls that of `case` in a loop or a branch. `None` if it cannot be a body, or if `perform`
/// rejects the values.
pub(super) fn wrapped(case: &Case, choices: &mut Choices) -> Option<Case> {
    if case.graph.variables().iter().any(|variable| !matches!(variable.ty, Type::Tensor(_))) {
        return None;
    }
    if choices.one_in(3) { branched(case, choices) } else { looped(case, choices) }
}

fn branched(case: &Case, choices: &mut Choices) -> Option<Case> {
    let mut graph = FunctionGraph::new();
    let position = graph.input("position", "i64[]".parse().ok()?).ok()?;
    let mut variables = Vec::new();
    for (i, input) in case.graph.inputs().iter().enumerate() {
        variables.push(graph.input(&format!("in{i}"), case.graph.ty(*input).clone()).ok()?);
    }
    let source = Arc::new(case.graph.clone());
    let body = |is_other: bool| {
        let (source, variables) = (Arc::clone(&source), variables.clone());
        Operand::Function(Function::new(move |graph, library, _| {
            let mut results = graph.inline(&source, &variables)?;
            if is_other {
                for result in &mut results {
                    let args = [Operand::Var(*result)];
                    let copy = library.call(graph, "deep_copy", &args, &Keywords::new());
                    *result = copy.expect("deep_copy is a function")?.variable(graph)?;
                }
            }
            Ok(Operand::List(results.into_iter().map(Operand::Var).collect()))
        }))
    };
    let functions = Operand::List(vec![body(false), body(true)]);
    let called =
        Ops::standard().call(&mut graph, "branch", &[position.into(), functions], &Keywords::new())?;
    let inputs = [&[Array::from(choices.below(3) as i64 - 1)], case.inputs.as_slice()].concat();
    finished(graph, &called.ok()?, inputs)
}

fn looped(case: &Case, choices: &mut Choices) -> Option<Case> {
    let source = Arc::new(case.graph.clone());
    let (steps, is_known) = (choices.below(4), choices.one_in(2));
    let (mut graph, mut inputs, mut taken) = (FunctionGraph::new(), Vec::new(), Vec::new());
    let (mut uses, mut init, mut rows, mut variables) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, input) in source.inputs().iter().enumerate() {
        let (ty, value) = (source.ty(*input), &case.inputs[i]);
        let fits = |j: &usize| {
            let other = source.ty(source.outputs()[*j]);
            other.dtype() == ty.dtype() && other.ndim() == ty.ndim() && !taken.contains(j)
        };
        let carry = (0..source.outputs().len()).find(fits).filter(|_| choices.one_in(2));
        let used = match carry {
            Some(position) => Use::Carry(position),
            None if choices.one_in(2) && ty.ndim() < 6 => Use::Row,
            None => Use::Outer,
        };
        taken.extend(carry);
        let of = |shape: &[Extent]| Type::Tensor(TensorType { dtype: ty.dtype(), shape: shape.to_vec() });
        // A loop whose inputs have known extents may have C of another form.
        let own: Vec<Extent> = match is_known {
            true => value.shape().iter().map(|n| Extent::Fixed(*n as u64)).collect(),
            false => ty.shape().to_vec(),
        };
        let variable = match used {
            Use::Row => graph.input(&format!("in{i}"), of(&[&[Extent::Unknown], own.as_slice()].concat())),
            Use::Carry(_) if !is_known => graph.input(&format!("in{i}"), ty.without_extents()),
            Use::Carry(_) | Use::Outer => graph.input(&format!("in{i}"), of(&own)),
        };
        let variable = variable.ok()?;
        inputs.push(match used {
            Use::Row => {
                let bits = value.bits().repeat(steps);
                Array::from_bits(value.dtype(), &[&[steps], value.shape()].concat(), &bits)?
            }
            _ => value.clone(),
        });
        match used {
            Use::Row => rows.push(Operand::Var(variable)),
            Use::Carry(_) => init.push(Operand::Var(variable)),
            Use::Outer => {}
        }
        variables.push(variable);
        uses.push(used);
    }
    let body = Function::new(move |graph, _, args| {
        let leaves = |operand: &Operand| match operand {
            Operand::List(items) => items.clone(),
            _ => Vec::new(),
        };
        let (mut carries, mut rows) = (leaves(&args[0]).into_iter(), leaves(&args[1]).into_iter());
        let mut given = Vec::new();
        for (used, variable) in uses.iter().zip(&variables) {
            let next = match used {
                Use::Outer => Some(Operand::Var(*variable)),
                Use::Row => rows.next(),
                Use::Carry(_) => carries.next(),
            };
            given.push(next.expect("every use has a value").variable(graph)?);
        }
        let results = graph.inline(&source, &given)?;
        let next = uses.iter().filter_map(|used| match used {
            Use::Carry(position) => Some(Operand::Var(results[*position])),
            _ => None,
        });
        let next = Operand::List(next.collect());
        Ok(Operand::List(vec![next, Operand::List(results.iter().copied().map(Operand::Var).collect())]))
    });
    let length = graph.input("steps", "i64[]".parse().ok()?).ok()?;
    inputs.push(Array::from(steps as i64));
    let keywords = Keywords::from([
        ("length".to_owned(), Operand::Var(length)),
        ("reverse".to_owned(), choices.one_in(2).into()),
    ]);
    let args = [Operand::Function(body), Operand::List(init), Operand::List(rows)];
    let called = Ops::standard().call(&mut graph, "scan", &args, &keywords)?;
    finished(graph, &called.ok()?, inputs)
}

/// Adds the leaves of an operand as outputs.
fn finished(mut graph: FunctionGraph, operand: &Operand, inputs: Vec<Array>) -> Option<Case> {
    let mut open = vec![operand];
    while let Some(operand) = open.pop() {
        match operand {
            Operand::List(items) => open.extend(items),
            Operand::Var(variable) | Operand::Weak(variable) => graph.output(*variable, None).ok()?,
            _ => {}
        }
    }
    let outputs = interpret(&graph, &inputs).ok()?;
    Some(Case { graph, inputs, outputs })
}
