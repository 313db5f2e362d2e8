//! The body of a loop, or a graph, as C without tensors: every value is an array of known extents in a C variable.
//!
//! ```text
//! mod      the shape of each value of a body
//! facts    facts about the inputs of a body
//! step     what an Apply computes: a map, a move of elements, sums, a product
//! survey   the Applies of any graph that have such C
//! code     the C of the steps
//! loops, straight           the C function of a loop, or of a graph
//! stages   loops of numbers, whose functions are vectorised
//! maps, sums, moves, calls, text   the C of steps
//! ```
//! A step of such code calls no function of the host and writes no memory but results, so small matrices and vectors
//! stay in registers. The facts are the extents of all inputs, and the values of the integers that extents and indices
//! depend on. Types provide them, or the call that builds the loop ([`super::Scan::placed`]). They are checked when the
//! loop or the graph starts.

mod calls;
mod code;
mod facts;
mod loops;
mod maps;
mod moves;
mod stages;
mod step;
mod straight;
mod sums;
mod survey;
mod text;

use code::Part;
pub(super) use code::{compile_args, headers, shared, sources, support};
pub(crate) use facts::Facts;
pub(super) use facts::{extents, fixed_extents, integers};
pub(super) use loops::function;
use precast_graph::{Array, DType, FunctionGraph, Origin, Type, VarId};
use std::collections::BTreeSet;
use step::Step;
pub(super) use straight::function as graph_function;
pub(crate) use survey::Survey;

/// The maximum number of elements of a value, which are those that a reduction adds at once.
const MAX_ELEMENTS: usize = 4096;

/// The limits of code without tensors. Beyond them, time is spent in kernels and not in their calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The maximum number of elements of a value.
    pub(crate) elements: usize,
    /// The maximum number of operations on elements.
    pub(crate) work: usize,
}

impl Limits {
    /// The limits of a step of a loop, whose values are on the stack.
    pub(crate) const LOOP: Self = Self { elements: 1024, work: 16384 };
    /// The limits of a graph.
    pub(crate) const GRAPH: Self = Self { elements: MAX_ELEMENTS, work: 1 << 18 };
}

/// The maximum number of Applies.
const MAX_APPLIES: usize = 2048;

/// A value of a body.
#[derive(Debug, Clone)]
struct Value {
    dtype: DType,
    shape: Vec<usize>,
    /// The elements, if they follow from the facts.
    known: Option<Array>,
    /// The inputs with known integers that the elements depend on.
    from: BTreeSet<usize>,
}

impl Value {
    /// Returns the number of elements. Declared extents may be of any size.
    fn size(&self) -> usize {
        self.shape.iter().fold(1, |size: usize, n| size.saturating_mul(*n))
    }

    /// Returns whether C code can have the value. Known integers may be empty: the extents of a number.
    fn has_valid_size(&self, limits: Limits) -> bool {
        self.size() <= limits.elements && (self.size() > 0 || self.known.is_some())
    }
}

/// A body whose values have known extents.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    facts: Facts,
    graph: FunctionGraph,
    /// By variable of the graph.
    values: Vec<Value>,
    /// By Apply of the graph.
    steps: Vec<Step>,
    /// The inputs with integers that extents and indices depend on.
    needed: BTreeSet<usize>,
}

impl Fixed {
    /// Finds the extents of all values of a body. `None` if they do not follow from the facts, if an op has no C for
    /// them, or if the body is too large.
    pub(super) fn of(body: &FunctionGraph, facts: Facts, limits: Limits) -> Option<Self> {
        let is_array = |ty: &Type| ty.as_user().is_none() && !matches!(ty.dtype(), DType::F16 | DType::Bf16);
        let is_large = body.applies().len() > MAX_APPLIES;
        if is_large || !body.variables().iter().all(|variable| is_array(&variable.ty)) {
            return None;
        }
        let graph = crate::rewrite::simplified(body).ok()?;
        let mut fixed = Self {
            facts,
            graph: FunctionGraph::new(),
            values: Vec::new(),
            steps: Vec::new(),
            needed: BTreeSet::new(),
        };
        let mut work = 0;
        for variable in graph.variables() {
            // The outputs of Applies are replaced below.
            fixed.values.push(match variable.origin {
                Origin::Input(k) => {
                    fixed.input(k, &variable.ty).filter(|value| value.has_valid_size(limits))?
                }
                _ => Value {
                    dtype: variable.ty.dtype(),
                    shape: Vec::new(),
                    known: None,
                    from: BTreeSet::new(),
                },
            });
        }
        for apply in graph.applies() {
            let inputs: Vec<&Value> = apply.inputs.iter().map(|v| &fixed.values[v.index()]).collect();
            let found = step::find(&*apply.op, &inputs)?;
            work += found.work;
            if work > limits.work {
                return None;
            }
            fixed.needed.extend(found.needed);
            for (output, (shape, known)) in apply.outputs.iter().zip(found.results) {
                let value = &mut fixed.values[output.index()];
                value.from.extend(known.iter().flat_map(|_| found.from.iter().copied()));
                (value.shape, value.known) = (shape, known);
                if !value.has_valid_size(limits) {
                    return None;
                }
            }
            fixed.steps.push(found.step);
        }
        fixed.graph = graph;
        Some(fixed)
    }

    fn input(&self, k: usize, ty: &Type) -> Option<Value> {
        let (shape, known) = (self.facts.extents.get(k)?.clone(), self.facts.known.get(&k).cloned());
        if shape.len() != ty.ndim() {
            return None;
        }
        let dtype = ty.dtype();
        let from = known.iter().map(|_| k).collect();
        Some(Value { dtype, shape, known, from })
    }

    /// Returns the same body with fewer known integers: those that extents and indices depend on.
    pub(super) fn without_other_integers(self, body: &FunctionGraph, limits: Limits) -> Option<Self> {
        let Self { mut facts, needed, .. } = self;
        facts.known.retain(|k, _| needed.contains(k));
        Self::of(body, facts, limits)
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the number of loops and calls that the C code consists of, except for views.
    pub(super) fn kernels(&self) -> usize {
        let costs = |part: &Part<'_>| match part {
            Part::Step(position) => {
                let is_move = matches!(self.steps[*position], Step::Move(_));
                !is_move || self.graph.applies()[*position].op.view_map().is_empty()
            }
            Part::Group(_) | Part::Block(_) => true,
        };
        self.parts().iter().filter(|part| costs(part)).count()
    }

    /// Returns the extents of an output.
    pub(super) fn output(&self, position: usize) -> &[usize] {
        &self.value(self.graph.outputs()[position]).shape
    }

    fn value(&self, variable: VarId) -> &Value {
        &self.values[variable.index()]
    }
}
