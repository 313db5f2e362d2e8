//! Random graphs with inputs, and the outputs of the reference `perform`.
//!
//! A graph grows by calls of library functions on its existing variables. Each step is performed at once. A step with
//! rejected types or values is undone, so every case is valid for any set of functions. Some results stay unused,
//! some outputs are inputs or repeated, and extents may be 0, 1 or undeclared.

use crate::{Choices, arrays};
use precast_graph::{
    Array, DType, Extent, FunctionGraph, OpLibrary, Operand, Origin, Props, TensorType, Type, VarId, keywords,
};
use proptest::strategy::Strategy;
use std::ops::RangeInclusive;

/// A function that random graphs call.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The name in the text form.
    pub name: String,
    /// The number of operands.
    pub operands: usize,
    /// The choices of props and literals for a call, one of which is drawn each time; a call has neither if this is
    /// empty.
    pub calls: Vec<Call>,
}

/// The props of a call, and the literals after its operands.
pub type Call = (Props, Vec<Operand>);

impl Function {
    /// Creates a function of `operands` operands without props.
    #[must_use]
    pub fn new(name: &str, operands: usize) -> Self {
        Self { name: name.to_owned(), operands, calls: Vec::new() }
    }

    /// Adds a choice of props.
    #[must_use]
    pub fn with(self, props: Props) -> Self {
        self.called(props, Vec::new())
    }

    /// Adds a choice of props and literals.
    #[must_use]
    pub fn called(mut self, props: Props, literals: Vec<Operand>) -> Self {
        self.calls.push((props, literals));
        self
    }
}

/// The parameters of random graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The functions to call.
    pub functions: Vec<Function>,
    /// The dtypes of inputs.
    pub dtypes: Vec<DType>,
    /// The number of applies; fewer if too many calls are rejected.
    pub applies: RangeInclusive<usize>,
    /// The number of inputs; at least one.
    pub inputs: RangeInclusive<usize>,
    /// The highest rank of an input.
    pub max_ndim: usize,
    /// Whether inputs contain NaN, infinities and other special values.
    pub specials: bool,
    /// Whether some inputs without dimensions are C scalars.
    pub scalars: bool,
    /// Whether some graphs have an additional input, a vector of small integers: positions of elements.
    pub positions: bool,
}

impl Config {
    /// Returns the default parameters: 1–40 applies on 1–4 inputs of bool, i64, f32 and f64 up to rank 3, with
    /// special values.
    #[must_use]
    pub fn new(functions: Vec<Function>) -> Self {
        let (applies, inputs) = (1..=40, 1..=4);
        let dtypes = crate::toy::DTYPES.to_vec();
        Self {
            functions,
            dtypes,
            applies,
            inputs,
            max_ndim: 3,
            specials: true,
            scalars: false,
            positions: false,
        }
    }
}

/// A graph with valid inputs and the outputs of `perform`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The graph.
    pub graph: FunctionGraph,
    /// One array for each input.
    pub inputs: Vec<Array>,
    /// One array for each output.
    pub outputs: Vec<Array>,
}

/// The maximum number of elements of one value.
const MAX_ELEMENTS: usize = 1 << 14;

/// Returns a strategy for cases; they shrink towards fewer applies, first functions and plain values.
pub fn cases(config: Config, library: impl OpLibrary + 'static) -> impl Strategy<Value = Case> {
    // About eight choices per Apply. The tape's length limits the size as much as the config does.
    let choices = 64 + 16 * config.applies.end();
    proptest::collection::vec(proptest::num::u32::ANY, 0..=choices)
        .prop_map(move |tape| draw(&mut Choices::tape(tape), &config, &library))
}

/// Draws a case.
///
/// # Panics
/// If a function's `perform` panics, which is the defect to find.
#[must_use]
pub fn draw(choices: &mut Choices, config: &Config, library: &dyn OpLibrary) -> Case {
    let mut growing = Growing { graph: FunctionGraph::new(), values: Vec::new(), performed: 0 };
    let inputs = draw_inputs(choices, config, &mut growing);
    let target = choices.within(&config.applies);
    for _ in 0..8 * target {
        if growing.performed >= target {
            break;
        }
        if let Some(grown) = growing.step(choices, config, library)
            && grown.performed <= *config.applies.end()
        {
            growing = grown;
        }
    }
    let outputs = growing.draw_outputs(choices);
    Case { graph: growing.graph, inputs, outputs }
}

/// Draws the inputs of a graph: types with equal trailing extents, except for ones, and a value for each.
fn draw_inputs(choices: &mut Choices, config: &Config, growing: &mut Growing) -> Vec<Array> {
    const EXTENTS: [usize; 10] = [2, 3, 5, 4, 7, 1, 8, 17, 3, 0];
    let extents: Vec<usize> = (0..config.max_ndim).map(|_| *choices.pick(&EXTENTS).unwrap_or(&2)).collect();
    let count = choices.within(&config.inputs).max(1);
    let mut inputs: Vec<Array> = (0..count)
        .map(|position| {
            let dtype = choices.pick(&config.dtypes).copied().unwrap_or(DType::F64);
            let ndim = choices.below(config.max_ndim + 1);
            let trailing = &extents[config.max_ndim - ndim..];
            let shape: Vec<usize> = trailing.iter().map(|n| if choices.one_in(5) { 1 } else { *n }).collect();
            let extent =
                |n: &usize| if choices.one_in(2) { Extent::Fixed(*n as u64) } else { Extent::Unknown };
            let shape_type = shape.iter().map(extent).collect();
            let ty = if ndim == 0 && config.scalars && choices.one_in(2) {
                Type::Scalar(dtype)
            } else {
                Type::Tensor(TensorType { dtype, shape: shape_type })
            };
            let draw = if config.specials { arrays::draw } else { arrays::draw_plain };
            let value = draw(choices, dtype, &shape);
            growing.graph.input(&format!("x{position}"), ty).expect("numbered names differ");
            growing.values.push(Some(value.clone()));
            value
        })
        .collect();
    if config.positions && choices.one_in(3) {
        let positions: Vec<i64> = (0..choices.below(5)).map(|_| choices.below(3) as i64 - 1).collect();
        let value = Array::from(ndarray::Array1::from(positions).into_dyn());
        growing.graph.input("positions", Type::tensor(DType::I64, 1)).expect("the others have numbers");
        growing.values.push(Some(value.clone()));
        inputs.push(value);
    }
    inputs
}

/// A graph and the values of all its variables.
#[derive(Clone)]
struct Growing {
    graph: FunctionGraph,
    values: Vec<Option<Array>>,
    performed: usize,
}

impl Growing {
    /// Returns the graph after one more call; `None` if the call was rejected.
    fn step(&self, choices: &mut Choices, config: &Config, library: &dyn OpLibrary) -> Option<Self> {
        let function = choices.pick(&config.functions)?;
        let (props, literals) = choices.pick(&function.calls).cloned().unwrap_or_default();
        let operands = (0..function.operands).map(|i| self.operand(choices, i));
        let operands: Vec<Operand> = operands.chain(literals).collect();
        let mut grown = self.clone();
        library.call(&mut grown.graph, &function.name, &operands, &keywords(&props))?.ok()?;
        grown.perform().then_some(grown)
    }

    /// Draws a variable, a recent one half of the time; sometimes a literal, but not in the first position.
    fn operand(&self, choices: &mut Choices, position: usize) -> Operand {
        if position > 0 && choices.one_in(6) {
            return match choices.below(4) {
                0 => (choices.below(5) as i64 - 2).into(),
                1 => (8.0 * choices.unit() - 4.0).into(),
                2 => [0.0, -0.0, 0.5, 1e300][choices.below(4)].into(),
                _ => choices.one_in(2).into(),
            };
        }
        let known = self.values.len();
        let recent = if choices.one_in(2) { known.min(4) } else { known };
        Operand::Var(self.variable(known - 1 - choices.below(recent)))
    }

    fn variable(&self, position: usize) -> VarId {
        // Every variable is an input, a constant or a result, and each of these lists returns its ids.
        let results = self.graph.applies().iter().flat_map(|apply| &apply.outputs);
        let constants = self.graph.constants().map(|(v, _)| v);
        let mut all = self.graph.inputs().iter().chain(results).copied().chain(constants);
        all.find(|v| v.index() == position).expect("a position below the number of variables")
    }

    /// Computes the variables that the last call added; returns `false` if an op rejects its values or they are too
    /// large.
    fn perform(&mut self) -> bool {
        let constant =
            |origin: &Origin| if let Origin::Constant(value) = origin { Some(value.clone()) } else { None };
        let new = self.graph.variables().iter().skip(self.values.len());
        self.values.extend(new.map(|variable| constant(&variable.origin)));
        for apply in &self.graph.applies()[self.performed..] {
            let inputs: Vec<&Array> =
                apply.inputs.iter().filter_map(|v| self.values[v.index()].as_ref()).collect();
            let Ok(results) = apply.op.perform(&inputs) else { return false };
            if results.iter().any(|a| a.shape().iter().product::<usize>() > MAX_ELEMENTS) {
                return false;
            }
            for (variable, value) in apply.outputs.iter().zip(results) {
                self.values[variable.index()] = Some(value);
            }
        }
        self.performed = self.graph.applies().len();
        true
    }

    /// Turns up to three unused results into outputs, and sometimes any variable too.
    fn draw_outputs(&mut self, choices: &mut Choices) -> Vec<Array> {
        let used: Vec<usize> =
            self.graph.applies().iter().flat_map(|apply| &apply.inputs).map(|v| v.index()).collect();
        let results = self.graph.applies().iter().flat_map(|apply| apply.outputs.iter().copied());
        let mut outputs: Vec<VarId> = results.filter(|v| !used.contains(&v.index())).collect();
        outputs.reverse();
        outputs.truncate(3);
        if outputs.is_empty() || choices.one_in(6) {
            outputs.push(self.variable(choices.below(self.values.len())));
        }
        if choices.one_in(8) {
            outputs.push(outputs[0]);
        }
        for (position, output) in outputs.iter().enumerate() {
            self.graph.output(*output, Some(&format!("out{position}"))).expect("numbered names differ");
        }
        outputs.iter().filter_map(|v| self.values[v.index()].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Config, Function, draw};
    use crate::Choices;
    use crate::toy::ToyLibrary;
    use precast_graph::{Props, interpret};
    use std::collections::BTreeSet;

    fn config() -> Config {
        let unary = ["exp", "neg", "invert"].map(|name| Function::new(name, 1));
        let binary = ["add", "mul", "lt"].map(|name| Function::new(name, 2));
        let sum = Function::new("sum", 1).with(Props::new());
        Config::new(unary.into_iter().chain(binary).chain([sum, Function::new("switch", 3)]).collect())
    }

    fn drawn() -> impl Iterator<Item = Case> {
        (0..300).map(|seed| draw(&mut Choices::seeded(seed), &config(), &ToyLibrary))
    }

    #[test]
    fn cases_are_valid_and_match_perform() {
        for case in drawn() {
            assert!((1..=40).contains(&case.graph.applies().len()));
            assert_eq!(interpret(&case.graph, &case.inputs).as_ref(), Ok(&case.outputs), "{}", case.graph);
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_case() {
        let case = || draw(&mut Choices::seeded(42), &config(), &ToyLibrary);
        assert_eq!(case(), case());
    }

    #[test]
    fn cases_cover_every_documented_corner() {
        let mut seen = BTreeSet::new();
        for case in drawn() {
            seen.extend(case.graph.applies().iter().map(|apply| apply.op.name().to_owned()));
            seen.extend(case.inputs.iter().map(|a| a.dtype().to_string()));
            seen.extend(case.inputs.iter().map(|a| format!("rank {}", a.shape().len())));
            let outputs: BTreeSet<_> = case.graph.outputs().iter().collect();
            let corner = |name: &str, holds: bool| holds.then(|| name.to_owned());
            seen.extend(corner("repeated output", outputs.len() < case.graph.outputs().len()));
            seen.extend(corner("empty", case.inputs.iter().any(|a| a.shape().contains(&0))));
            seen.extend(corner("broadcast", case.inputs.iter().any(|a| a.shape().contains(&1))));
            seen.extend(corner("constant", case.graph.constants().next().is_some()));
            seen.extend(corner("large", case.graph.applies().len() > 30));
        }
        let names = config().functions.into_iter().map(|f| f.name).collect::<Vec<_>>();
        let corners =
            ["repeated output", "empty", "broadcast", "constant", "large", "bool", "i64", "f32", "f64"];
        let ranks = ["rank 0", "rank 1", "rank 2", "rank 3"];
        for expected in names.iter().map(String::as_str).chain(corners).chain(ranks) {
            assert!(seen.contains(expected), "never `{expected}`");
        }
    }

    #[test]
    fn an_empty_tape_gives_the_smallest_case() {
        let case = draw(&mut Choices::tape(vec![]), &config(), &ToyLibrary);
        assert_eq!((case.graph.applies().len(), case.inputs.len()), (1, 1));
    }
}
