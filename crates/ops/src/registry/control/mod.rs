//! Loops and branches: `scan`, `while_loop`, `fori_loop`, `branch`, `cond`. Rules of gradients: `custom_gradient`.
//!
//! Arguments and results of their functions may be nested tuples, as in JAX. A tuple is taken apart into its *leaves*,
//! and put together again in its form.

mod custom;
mod form;
mod loops;

use super::operand::Operands;
use crate::control::body::meet;
use crate::control::trace::{Independent, Traced, trace};
use crate::control::{Body, Branch};
use crate::declared::Declared;
use crate::rows::Row;
use crate::shape::Alloc;
pub(crate) use custom::attach;
pub(super) use custom::custom_gradient;
use form::Form;
pub(crate) use loops::{Carries, Loop, Stepped};
use precast_graph::{
    Array, BuildError, DType, Function, FunctionGraph, MakeNodeError, OpLibrary, Operand, Props, Type, VarId,
};
use std::sync::Arc;

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
        let variable = self.with(std::slice::from_ref(operand)).variable(0)?;
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
    let tensors = Operands::none(graph, library, name).tensors(&leaves)?;
    Ok((form, tensors))
}

/// Calls a function that returns the next carries of a loop, which have the form of those before.
fn next(
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
    (name, function, form): (&str, &Function, &Form),
    args: &[Operand],
) -> Result<Vec<VarId>, BuildError> {
    let result = function.call(graph, library, args)?;
    let (found, carries) = results(graph, library, name, &result)?;
    if found == *form {
        return Ok(carries);
    }
    let problem = format!("the function returns {found}, but begins with {form}");
    Err(MakeNodeError::Value { op: name.to_owned(), problem }.into())
}

/// Returns the result of a function that decides whether a loop goes on.
fn decision(
    graph: &mut FunctionGraph,
    library: &dyn OpLibrary,
    (name, what): (&str, &str),
    result: &Operand,
) -> Result<VarId, BuildError> {
    let (_, found) = results(graph, library, name, result)?;
    match found.as_slice() {
        [one] if *graph.ty(*one) == Type::tensor(DType::Bool, 0) => Ok(*one),
        found => {
            let found = match found {
                [one] => format!("`{}`", graph.ty(*one)),
                [] => "nothing".to_owned(),
                several => format!("{} values", several.len()),
            };
            let problem = format!("{what} {found}, expected `bool[]`");
            Err(MakeNodeError::Value { op: name.to_owned(), problem }.into())
        }
    }
}

/// Builds `scan(f, init, xs, length=None, reverse=False, until=False)`, with `f(carry, x) -> (carry, y)`, or with `until`,
/// `f(carry, x) -> (carry, y, stop)`.
pub(super) fn scan(operands: &mut Operands<'_>, _: &Row, props: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(2, 4)?;
    let name = operands.function.to_owned();
    let declared = Declared::bound(&name, props);
    let (reverse, until) = (declared.flag("reverse")?, declared.flag("until")?);
    let returns = if until { UNTIL } else { PAIR };
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
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[Operand], rows: &[VarId]| {
        let rows = &mut rows.iter().copied().map(Operand::Var);
        let args = [form.join(&mut own.iter().cloned()), xs.join(rows)];
        let result = function.call(graph, library, &args)?;
        let wrong = |problem: String| BuildError::from(MakeNodeError::Value { op: name.clone(), problem });
        let Operand::List(pair) = &result else {
            return Err(wrong(format!("the function returns {}, expected {returns}", result.describe())));
        };
        let (carry, y, stop) = match pair.as_slice() {
            [carry, y] if !until => (carry, y, None),
            [carry, y, stop] if until => (carry, y, Some(stop)),
            _ => {
                let found = pair.len();
                return Err(wrong(format!("the function returns a tuple of {found}, expected {returns}")));
            }
        };
        let (found, carries) = results(graph, library, &name, carry)?;
        if found != expected {
            return Err(wrong(format!("the function returns {found} as carry, which begins as {expected}")));
        }
        let (form, rows) = results(graph, library, &name, y)?;
        ys = form;
        let stop = stop.map(|stop| decision(graph, library, (&name, "the function returns `stop` as"), stop));
        Ok(Stepped { carries, rows, stop: stop.transpose()? })
    };
    let made = Loop { steps, sequences: &sequences, reverse }.build(operands, &mut carries, &mut step)?;
    let mut made = made.into_iter().map(Operand::Var);
    let carry = carries.form.join(&mut made.by_ref().take(count));
    Ok(Operand::List(vec![carry, ys.join(&mut made)]))
}

/// The expected results of the function of `scan`.
const PAIR: &str = "a pair: the carry, and a row or `None`";
const UNTIL: &str = "three results: the carry, a row or `None`, and whether the loop ends";

/// Builds `while_loop(condition, body, init)`: a loop that ends after the step whose result does not satisfy the
/// condition, and has no step if `init` does not.
pub(super) fn while_loop(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(3)?;
    let name = operands.function.to_owned();
    let (condition, function) = (operands.function(0)?, operands.function(1)?);
    let mut carries = Carries::of(operands, &operands.args[2].clone())?;
    let form = carries.form.clone();
    let holds = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[VarId]| {
        let result =
            condition.call(graph, library, &[form.join(&mut own.iter().copied().map(Operand::Var))])?;
        decision(graph, library, (&name, "the condition returns"), &result)
    };
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[Operand], _: &[VarId]| {
        let args = [form.join(&mut own.iter().cloned())];
        let carries = next(graph, library, (&name, &function, &form), &args)?;
        let goes_on = holds(graph, library, &carries)?;
        let stop = Operands::none(graph, library, &name).negated(goes_on)?;
        Ok(Stepped { carries, rows: Vec::new(), stop: Some(stop) })
    };
    let begins = holds(operands.graph, operands.library, &carries.first)?;
    let steps = operands.unbounded(begins)?;
    let made = Loop { steps, sequences: &[], reverse: false }.build(operands, &mut carries, &mut step)?;
    Ok(carries.form.join(&mut made.into_iter().map(Operand::Var)))
}

/// Builds `fori_loop(lower, upper, body, init)`, with `body(i, carry) -> carry`.
pub(super) fn fori_loop(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect(4)?;
    let name = operands.function.to_owned();
    let function = operands.function(2)?;
    let [lower, upper] = [operands.args[0].clone(), operands.args[1].clone()];
    let (lower, upper) = (operands.count(&lower)?, operands.count(&upper)?);
    let is_ascending = operands.call("gt", [upper.into(), lower.into()])?;
    let distance = operands.call("sub", [upper.into(), lower.into()])?;
    let steps = operands.call("where", [is_ascending.into(), distance.into(), 0_i64.into()])?;
    let mut leaves = Vec::new();
    let form = Form::of(&operands.args[3].clone(), &mut leaves);
    // The index is the first carry.
    leaves.insert(0, Operand::Var(lower));
    let mut carries = Carries::of(operands, &Operand::List(leaves))?;
    let mut step = |graph: &mut FunctionGraph, library: &dyn OpLibrary, own: &[Operand], _: &[VarId]| {
        let args = [own[0].clone(), form.join(&mut own[1..].iter().cloned())];
        let carries = next(graph, library, (&name, &function, &form), &args)?;
        let index = Operands::none(graph, library, &name).call("add", [own[0].clone(), 1_i64.into()])?;
        Ok(Stepped { carries: [vec![index], carries].concat(), rows: Vec::new(), stop: None })
    };
    let made = Loop { steps, sequences: &[], reverse: false }.build(operands, &mut carries, &mut step)?;
    Ok(form.join(&mut made[1..].iter().copied().map(Operand::Var)))
}

/// Builds `branch(index, branches, *operands)`.
pub(super) fn branch(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(2, usize::MAX)?;
    let index = operands.count(&operands.args[0].clone())?;
    let Operand::List(branches) = &operands.args[1] else {
        return Err(operands.error("expected a list of functions".to_owned()));
    };
    let functions = branches.iter().enumerate().map(|(position, branch)| match branch {
        Operand::Function(function) => Ok((format!("function {position}"), function.clone())),
        other => {
            Err(operands.error(format!("expected a list of functions, found {} in it", other.describe())))
        }
    });
    let functions = functions.collect::<Result<Vec<_>, _>>()?;
    select(operands, index, &functions, &operands.args[2..])
}

/// Builds `cond(predicate, if_true, if_false, *operands)`.
pub(super) fn cond(operands: &mut Operands<'_>, _: &Row, _: &Props) -> Result<Operand, BuildError> {
    operands.expect_between(3, usize::MAX)?;
    let index = operands.choice(&operands.args[0].clone())?;
    let functions = [("if_false", 2), ("if_true", 1)]
        .map(|(name, position)| Ok((format!("`{name}`"), operands.function(position)?)));
    let functions = functions.into_iter().collect::<Result<Vec<_>, BuildError>>()?;
    select(operands, index, &functions, &operands.args[3..])
}

/// A traced function of a branch: the form of its results, and which of them are numbers.
struct Selected {
    form: Form,
    numbers: Vec<bool>,
    traced: Traced,
}

/// Builds the call of one of some functions, which have names in errors. A number among their results takes the dtype that
/// the others return.
fn select(
    operands: &mut Operands<'_>,
    index: VarId,
    functions: &[(String, Function)],
    args: &[Operand],
) -> Result<Operand, BuildError> {
    let (op, library) = (operands.function.to_owned(), operands.library);
    let wrong = |problem: String| BuildError::from(MakeNodeError::Value { op: op.clone(), problem });
    let call = |graph: &mut FunctionGraph, function: &Function, dtypes: &[Option<DType>]| {
        let (mut form, mut numbers) = (Form::None, Vec::new());
        let traced = trace(graph, &[], Independent::Kept, |graph, _| {
            let mut leaves = Vec::new();
            form = Form::of(&function.call(graph, library, args)?, &mut leaves);
            for (position, leaf) in leaves.iter_mut().enumerate() {
                let Operand::Literal(literal) = leaf else {
                    numbers.push(false);
                    continue;
                };
                numbers.push(true);
                let is_like = |dtype: &DType| literal.dtype().is_integer() || !dtype.is_integer();
                let dtype = dtypes.get(position).copied().flatten().filter(is_like);
                if let Some(value) = dtype.and_then(|dtype| literal.value(dtype)) {
                    *leaf = Operand::Var(graph.constant(value));
                }
            }
            Operands::none(graph, library, &op).tensors(&leaves)
        })?;
        Ok::<_, BuildError>(Selected { form, numbers, traced })
    };
    let mut made = Vec::new();
    for (name, function) in functions {
        let selected = call(operands.graph, function, &[])?;
        let first = made.first().map_or(&selected.form, |first: &Selected| &first.form);
        if *first != selected.form {
            let (of_first, found) = (&functions[0].0, &selected.form);
            return Err(wrong(format!("{name} returns {found}, {of_first} returns {first}")));
        }
        made.push(selected);
    }
    let count = made.first().map_or(0, |first| first.numbers.len());
    let dtype = |position: usize| {
        let others = made.iter().find(|selected| !selected.numbers[position]);
        others.map(|selected| selected.traced.body.outputs()[position].dtype())
    };
    let dtypes: Vec<Option<DType>> = (0..count).map(dtype).collect();
    for (selected, (_, function)) in made.iter_mut().zip(functions) {
        let outputs = selected.traced.body.outputs();
        let is_other =
            |position: usize| dtypes[position].is_some_and(|dtype| dtype != outputs[position].dtype());
        if (0..count).any(|position| selected.numbers[position] && is_other(position)) {
            *selected = call(operands.graph, function, &dtypes)?;
        }
    }
    for position in 0..count {
        let ty = |selected: &Selected| selected.traced.body.outputs()[position].clone();
        let first = ty(&made[0]);
        let other = made.iter().position(|selected| meet(&first, &ty(selected)).is_none());
        if let Some((other, (name, _))) = other.map(|other| (ty(&made[other]), &functions[other])) {
            let of_first = &functions[0].0;
            let problem = format!("{of_first} returns `{first}`, {name} returns `{other}`");
            return Err(wrong(problem + "\nhint: cast or reshape one of them"));
        }
    }
    let (forms, traced): (Vec<Form>, Vec<Traced>) =
        made.into_iter().map(|selected| (selected.form, selected.traced)).unzip();
    let made = operands.branch(index, traced)?;
    Ok(forms.first().map_or(Operand::None, |form| form.join(&mut made.into_iter().map(Operand::Var))))
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
        let traced = (0..count)
            .map(|branch| trace(self.graph, &[], Independent::Kept, |graph, _| call(graph, branch)))
            .collect::<Result<Vec<_>, _>>()?;
        self.branch(index, traced)
    }

    /// Builds the call of one of several traced functions.
    fn branch(&mut self, index: VarId, traced: Vec<Traced>) -> Result<Vec<VarId>, BuildError> {
        let (mut branches, mut inputs): (Vec<Body>, Vec<VarId>) = (Vec::new(), vec![index]);
        for traced in traced {
            branches.push(traced.body);
            inputs.extend(traced.captured);
        }
        self.results(Arc::new(Branch { branches }), &inputs)
    }
}
