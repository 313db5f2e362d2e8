//! Loops and branches: `scan`, `while_loop`, `fori_loop`, `branch`, `cond`.
//!
//! Arguments and results of their functions may be nested tuples, as in JAX. A tuple is taken apart into its *leaves*,
//! and put together again in its form.

use super::operand::Operands;
use crate::control::body::admits;
use crate::control::scan::row_type;
use crate::control::trace::{Independent, Traced, trace};
use crate::control::{Body, Branch, Scan};
use crate::declared::{Declared, of};
use crate::rows::Row;
use crate::shape::Alloc;
use precast_graph::{
    Array, BuildError, DType, Extent, Function, FunctionGraph, MakeNodeError, OpLibrary, Operand, Props,
    Type, VarId,
};
use std::sync::Arc;

/// A nested tuple of values without the values.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    Leaf,
    Tuple(Vec<Self>),
    None,
}

impl Form {
    /// Takes an operand apart.
    fn of(operand: &Operand, leaves: &mut Vec<Operand>) -> Self {
        match operand {
            Operand::List(items) => Self::Tuple(items.iter().map(|item| Self::of(item, leaves)).collect()),
            Operand::None => Self::None,
            leaf => {
                leaves.push(leaf.clone());
                Self::Leaf
            }
        }
    }

    /// Puts leaves together.
    fn join(&self, leaves: &mut impl Iterator<Item = VarId>) -> Operand {
        match self {
            Self::Leaf => leaves.next().map_or(Operand::None, Operand::Var),
            Self::Tuple(parts) => Operand::List(parts.iter().map(|part| part.join(leaves)).collect()),
            Self::None => Operand::None,
        }
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Leaf => f.write_str("a value"),
            Self::None => f.write_str("`None`"),
            Self::Tuple(parts) => write!(f, "a tuple of {}", parts.len()),
        }
    }
}

impl<'a> Operands<'a> {
    /// Creates a call without arguments.
    pub(crate) fn none(graph: &'a mut FunctionGraph, library: &'a dyn OpLibrary, function: &'a str) -> Self {
        Self { graph, library, function, args: &[] }
    }

    /// Returns the graph.
    pub(crate) fn graph(&mut self) -> &mut FunctionGraph {
        self.graph
    }

    /// Returns the library that functions among the arguments use.
    pub(crate) fn library(&self) -> &'a dyn OpLibrary {
        self.library
    }

    /// Returns whether a condition does not hold.
    pub(crate) fn negated(&mut self, condition: VarId) -> Result<VarId, BuildError> {
        self.call("logical_not", [condition.into()])
    }

    /// Returns an argument that is a function.
    fn function(&self, position: usize) -> Result<Function, BuildError> {
        match self.args.get(position) {
            Some(Operand::Function(function)) => Ok(function.clone()),
            other => {
                let found = other.map_or_else(|| "nothing".to_owned(), Operand::describe);
                let (op, expected) =
                    (self.function.to_owned(), "a function, such as `lambda x: x + 1`".to_owned());
                Err(MakeNodeError::Input { op, input: position, found, expected }.into())
            }
        }
    }

    /// Returns an operand as a tensor.
    fn tensor(&mut self, operand: &Operand) -> Result<VarId, BuildError> {
        let args = [operand.clone()];
        let (graph, library, function) = (&mut *self.graph, self.library, self.function);
        let variable = Operands { graph, library, function, args: &args }.variable(0)?;
        match self.graph.ty(variable) {
            Type::Scalar(_) => self.apply(Alloc, &[variable]),
            _ => Ok(variable),
        }
    }

    pub(crate) fn tensors(&mut self, operands: &[Operand]) -> Result<Vec<VarId>, BuildError> {
        operands.iter().map(|operand| self.tensor(operand)).collect()
    }

    /// Returns the number of steps of a loop over sequences.
    pub(crate) fn steps(&mut self, length: &Operand, sequences: &[VarId]) -> Result<VarId, BuildError> {
        let steps = match (length, sequences.first()) {
            (Operand::None, Some(first)) if self.ndim(*first) > 0 => self.extent(*first, 0)?,
            // The loop reports a sequence without dimensions.
            (Operand::None, Some(_)) => 0_i64.into(),
            (Operand::None, None) => {
                let problem = "the number of steps is unknown\nhint: give sequences, or `length=`".to_owned();
                return Err(self.error(problem));
            }
            (length, _) => length.clone(),
        };
        self.count(&steps)
    }

    /// Returns the number of steps of a loop that only its condition ends.
    pub(crate) fn unbounded(&mut self, begins: VarId) -> Result<VarId, BuildError> {
        let most = self.graph.constant(Array::from(i64::MAX));
        let none = self.graph.constant(Array::from(0_i64));
        self.call("where", [begins.into(), most.into(), none.into()])
    }

    /// Returns a number of steps or a position as a tensor.
    pub(crate) fn count(&mut self, operand: &Operand) -> Result<VarId, BuildError> {
        let count = self.tensor(operand)?;
        let ty = self.graph.ty(count);
        if ty.ndim() > 0 || !(ty.dtype().is_integer() || ty.dtype() == DType::Bool) {
            return Err(self.error(format!("expected an integer without dimensions, found `{ty}`")));
        }
        self.cast(count, DType::I64)
    }
}

/// Returns the results of a function as tensors, and their form.
fn results(
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
    name: &str,
    result: &Operand,
) -> Result<(Form, Vec<VarId>), BuildError> {
    let mut leaves = Vec::new();
    let form = Form::of(result, &mut leaves);
    let tensors = Operands { graph, library, function: name, args: &[] }.tensors(&leaves)?;
    Ok((form, tensors))
}

/// The carries of a loop: their first values and their types, which admit those of all steps.
pub(crate) struct Carries {
    form: Form,
    leaves: Vec<Operand>,
    pub(crate) first: Vec<VarId>,
    types: Vec<Type>,
}

impl Carries {
    pub(crate) fn of(operands: &mut Operands<'_>, init: &Operand) -> Result<Self, BuildError> {
        let mut leaves = Vec::new();
        let form = Form::of(init, &mut leaves);
        let first = operands.tensors(&leaves)?;
        let types = first.iter().map(|v| operands.graph.ty(*v).clone()).collect();
        Ok(Self { form, leaves, first, types })
    }

    /// Widens the types so that they admit the results of a step. Returns whether a type has changed.
    fn widen(&mut self, operands: &mut Operands<'_>, found: &[Type]) -> Result<bool, BuildError> {
        let mut has_changed = false;
        for (carry, found) in found.iter().enumerate() {
            if admits(&self.types[carry], found) {
                continue;
            }
            let ty = &self.types[carry];
            has_changed = true;
            // A number takes the dtype of the step.
            if let (Operand::Literal(literal), true) = (&self.leaves[carry], ty.dtype() != found.dtype())
                && let Some(value) = literal.value(found.dtype())
                && found.dtype() == ty.dtype().upcast(found.dtype())
            {
                self.first[carry] = operands.graph.constant(value);
                self.types[carry] = operands.graph.ty(self.first[carry]).clone();
                continue;
            }
            if ty.dtype() != found.dtype() || ty.ndim() != found.ndim() {
                let problem = format!(
                    "the function returns `{found}` for carry {carry}, which begins as `{ty}`\nhint: cast or reshape \
                     one of them"
                );
                return Err(operands.error(problem));
            }
            let extents = ty.shape().iter().zip(found.shape());
            let extents = extents.map(|(own, found)| if own == found { *own } else { Extent::Unknown });
            self.types[carry] = of(ty.dtype(), extents.collect());
        }
        Ok(has_changed)
    }
}

/// Names the parameters of a body.
fn parameters<'a>(prefix: &str, types: impl IntoIterator<Item = &'a Type>) -> Vec<(String, Type)> {
    types.into_iter().enumerate().map(|(i, ty)| (format!("{prefix}{i}"), ty.clone())).collect()
}

/// A step of a loop: maps the carries and the rows of sequences to the next carries, the rows of results and `stop`.
pub(crate) type Step<'a> =
    dyn FnMut(&mut FunctionGraph, &dyn OpLibrary, &[VarId], &[VarId]) -> Result<Stepped, BuildError> + 'a;

/// The results of a step.
pub(crate) struct Stepped {
    pub(crate) carries: Vec<VarId>,
    pub(crate) rows: Vec<VarId>,
    pub(crate) stop: Option<VarId>,
}

/// A loop under construction.
pub(crate) struct Loop<'a> {
    pub(crate) steps: VarId,
    pub(crate) sequences: &'a [VarId],
    pub(crate) reverse: bool,
}

impl Loop<'_> {
    /// Builds the loop, and returns its results.
    pub(crate) fn build(
        &self,
        operands: &mut Operands<'_>,
        carries: &mut Carries,
        step: &mut Step<'_>,
    ) -> Result<Vec<VarId>, BuildError> {
        let mut rows = Vec::new();
        for sequence in self.sequences {
            let ty = operands.graph.ty(*sequence);
            let missing =
                || operands.error(format!("a sequence has type `{ty}`, expected at least one dimension"));
            rows.push(row_type(ty).ok_or_else(missing)?);
        }
        let (library, count) = (operands.library, carries.types.len());
        loop {
            let mut named = parameters("carry", &carries.types);
            named.extend(parameters("row", &rows));
            let mut until = false;
            let traced = trace(operands.graph, &named, Independent::Hoisted, |graph, arguments| {
                let (own, rows) = arguments.split_at(count);
                let Stepped { carries, rows, stop } = step(graph, library, own, rows)?;
                until = stop.is_some();
                Ok([carries, rows, stop.into_iter().collect()].concat())
            })?;
            let Traced { body, captured } = traced;
            if carries.widen(operands, &body.outputs()[..count])? {
                continue;
            }
            let (sequences, reverse) = (self.sequences.len(), self.reverse);
            let scan = Scan { body, carries: count, sequences, reverse, until };
            let inputs = [&[self.steps], carries.first.as_slice(), self.sequences, &captured].concat();
            return operands.results(Arc::new(scan), &inputs);
        }
    }
}

/// Builds `scan(f, init, xs, length=None, reverse=False)`, with `f(carry, x) -> (carry, y)`.
pub(super) fn scan(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(2, 4)?;
    let name = operands.function.to_owned();
    let reverse = Declared::bound(&name, props).flag("reverse")?;
    let function = operands.function(0)?;
    let mut carries = Carries::of(operands, &operands.args[1].clone())?;
    let mut leaves = Vec::new();
    let xs = Form::of(operands.args.get(2).unwrap_or(&Operand::None), &mut leaves);
    let sequences = operands.tensors(&leaves)?;
    let length = operands.args.get(3).cloned().unwrap_or(Operand::None);
    let steps = operands.steps(&length, &sequences)?;
    let (form, mut ys) = (carries.form.clone(), Form::None);
    let expected = form.clone();
    let count = carries.types.len();
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[VarId], rows: &[VarId]| {
        let args = [form.join(&mut own.iter().copied()), xs.join(&mut rows.iter().copied())];
        let result = function.call(graph, library, &args)?;
        let wrong = |problem: String| BuildError::from(MakeNodeError::Value { op: name.clone(), problem });
        let Operand::List(pair) = &result else {
            return Err(wrong(format!(
                "the function returns {}, expected a pair: the carry, and a row or `None`",
                result.describe()
            )));
        };
        let [carry, y] = pair.as_slice() else {
            return Err(wrong(format!(
                "the function returns a tuple of {}, expected a pair: the carry, and a row or `None`",
                pair.len()
            )));
        };
        let (found, carries) = results(graph, library, &name, carry)?;
        if found != expected {
            return Err(wrong(format!("the function returns {found} as carry, which begins as {expected}")));
        }
        let (form, rows) = results(graph, library, &name, y)?;
        ys = form;
        Ok(Stepped { carries, rows, stop: None })
    };
    let made = Loop { steps, sequences: &sequences, reverse }.build(operands, &mut carries, &mut step)?;
    let mut made = made.into_iter();
    let carry = carries.form.join(&mut made.by_ref().take(count));
    Ok(Operand::List(vec![carry, ys.join(&mut made)]))
}

/// Builds `while_loop(condition, body, init)`: a loop that ends after the step whose result does not satisfy the
/// condition, and has no step if `init` does not.
pub(super) fn while_loop(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(3)?;
    let name = operands.function.to_owned();
    let (condition, function) = (operands.function(0)?, operands.function(1)?);
    let mut carries = Carries::of(operands, &operands.args[2].clone())?;
    let form = carries.form.clone();
    let holds = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[VarId]| {
        let result = condition.call(graph, library, &[form.join(&mut own.iter().copied())])?;
        let (_, found) = results(graph, library, &name, &result)?;
        match found.as_slice() {
            [one] if *graph.ty(*one) == Type::tensor(DType::Bool, 0) => Ok(*one),
            _ => {
                let found =
                    found.first().map_or_else(|| "nothing".to_owned(), |v| format!("`{}`", graph.ty(*v)));
                let problem = format!("the condition returns {found}, expected `bool[]`");
                Err(BuildError::from(MakeNodeError::Value { op: name.clone(), problem }))
            }
        }
    };
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[VarId], _: &[VarId]| {
        let result = function.call(graph, library, &[form.join(&mut own.iter().copied())])?;
        let (found, carries) = results(graph, library, &name, &result)?;
        if found != form {
            let problem = format!("the function returns {found}, but begins with {form}");
            return Err(MakeNodeError::Value { op: name.clone(), problem }.into());
        }
        let goes_on = holds(graph, library, &carries)?;
        let stop = Operands::none(graph, library, &name).negated(goes_on)?;
        Ok(Stepped { carries, rows: Vec::new(), stop: Some(stop) })
    };
    let begins = holds(operands.graph, operands.library, &carries.first)?;
    let steps = operands.unbounded(begins)?;
    let made = Loop { steps, sequences: &[], reverse: false }.build(operands, &mut carries, &mut step)?;
    Ok(carries.form.join(&mut made.into_iter()))
}

/// Builds `fori_loop(lower, upper, body, init)`, with `body(i, carry) -> carry`.
pub(super) fn fori_loop(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(4)?;
    let name = operands.function.to_owned();
    let function = operands.function(2)?;
    let [lower, upper] = [operands.args[0].clone(), operands.args[1].clone()];
    let (lower, upper) = (operands.count(&lower)?, operands.count(&upper)?);
    let indices = operands.call("arange", [lower.into(), upper.into(), 1_i64.into()])?;
    let steps = operands.extent(indices, 0)?;
    let steps = operands.count(&steps)?;
    let mut carries = Carries::of(operands, &operands.args[3].clone())?;
    let form = carries.form.clone();
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[VarId], rows: &[VarId]| {
        let args = [Operand::Var(rows[0]), form.join(&mut own.iter().copied())];
        let result = function.call(graph, library, &args)?;
        let (found, carries) = results(graph, library, &name, &result)?;
        if found != form {
            let problem = format!("the function returns {found}, but begins with {form}");
            return Err(MakeNodeError::Value { op: name.clone(), problem }.into());
        }
        Ok(Stepped { carries, rows: Vec::new(), stop: None })
    };
    let made =
        Loop { steps, sequences: &[indices], reverse: false }.build(operands, &mut carries, &mut step)?;
    Ok(carries.form.join(&mut made.into_iter()))
}

/// Builds `branch(index, branches, *operands)`.
pub(super) fn branch(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(2, usize::MAX)?;
    let index = operands.count(&operands.args[0].clone())?;
    let Operand::List(branches) = &operands.args[1] else {
        return Err(operands.error("expected a list of functions".to_owned()));
    };
    let functions = branches.iter().map(|branch| match branch {
        Operand::Function(function) => Ok(function.clone()),
        other => {
            Err(operands.error(format!("expected a list of functions, found {} in it", other.describe())))
        }
    });
    let functions = functions.collect::<Result<Vec<_>, _>>()?;
    select(operands, index, &functions, &operands.args[2..].to_vec())
}

/// Builds `cond(predicate, if_true, if_false, *operands)`.
pub(super) fn cond(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(3, usize::MAX)?;
    let index = operands.choice(&operands.args[0].clone())?;
    let functions = [operands.function(2)?, operands.function(1)?];
    select(operands, index, &functions, &operands.args[3..].to_vec())
}

/// Builds the call of one of some functions.
fn select(
    operands: &mut Operands<'_>,
    index: VarId,
    functions: &[Function],
    args: &[Operand],
) -> Result<Operand, BuildError> {
    let (name, library) = (operands.function.to_owned(), operands.library);
    let mut form = None::<Form>;
    let made = operands.branches(index, functions.len(), &mut |graph, branch| {
        let result = functions[branch].call(graph, library, args)?;
        let (found, made) = results(graph, library, &name, &result)?;
        if let Some(expected) = form.as_ref().filter(|expected| **expected != found) {
            let problem = format!("one function returns {found}, another one {expected}");
            return Err(MakeNodeError::Value { op: name.clone(), problem }.into());
        }
        form = Some(found);
        Ok(made)
    })?;
    Ok(form.map_or(Operand::None, |form| form.join(&mut made.into_iter())))
}

/// Appends the Applies of a branch, and returns its results.
type Branched<'a> = dyn FnMut(&mut FunctionGraph, usize) -> Result<Vec<VarId>, BuildError> + 'a;

impl Operands<'_> {
    /// Returns the position of the branch of a condition: 1 if it holds.
    pub(crate) fn choice(&mut self, predicate: &Operand) -> Result<VarId, BuildError> {
        let predicate = self.tensor(predicate)?;
        let ty = self.graph.ty(predicate);
        if ty.ndim() > 0 || !(ty.dtype() == DType::Bool || ty.dtype().is_integer()) {
            let problem =
                format!("the condition has type `{ty}`, expected `bool[]`\nhint: `where` selects elements");
            return Err(self.error(problem));
        }
        let is_true = self.cast(predicate, DType::Bool)?;
        self.cast(is_true, DType::I64)
    }

    /// Builds the call of one of several branches.
    pub(crate) fn branches(
        &mut self,
        index: VarId,
        count: usize,
        call: &mut Branched<'_>,
    ) -> Result<Vec<VarId>, BuildError> {
        let (mut branches, mut inputs): (Vec<Body>, Vec<VarId>) = (Vec::new(), vec![index]);
        for branch in 0..count {
            let traced = trace(self.graph, &[], Independent::Kept, |graph, _| call(graph, branch))?;
            branches.push(traced.body);
            inputs.extend(traced.captured);
        }
        self.results(Arc::new(Branch { branches }), &inputs)
    }
}
