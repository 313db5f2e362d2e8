//! Loops and branches of a [`Graph`], whose bodies are closures.

use super::{Arg, Graph, GraphError, State, Var};
use crate::registry::Operands;
use crate::registry::Ops;
use crate::registry::control::{Carries, Loop, Stepped as Step, attach};
use precast_graph::{BuildError, FunctionGraph, MakeNodeError, Operand, VarId};

/// The results of a step of a loop: the next values of the carries, and a row of each result.
#[derive(Debug, Clone, Default)]
pub struct Stepped {
    /// The carries, in their order.
    pub carries: Vec<Var>,
    /// The rows.
    pub rows: Vec<Var>,
}

impl Graph {
    /// Builds a loop over the rows of `sequences`, which have the same number of rows. `step` gets the carries and one
    /// row of each sequence. Returns the last carries, and the rows of all steps.
    ///
    /// ```
    /// use precast_ops::build::{Graph, Stepped};
    /// let g = Graph::new();
    /// let (x, decay) = (g.input("x", "f64[?]"), g.input("decay", "f64[]"));
    /// let (last, all) = g.scan(&[0.0.into()], &[&x], |carries, rows| {
    ///     let level = &carries[0] * &decay + &rows[0];
    ///     Stepped { carries: vec![level.clone()], rows: vec![level] }
    /// });
    /// g.output("last", &last[0]);
    /// g.output("levels", &all[0]);
    /// assert_eq!(g.finish()?.outputs().len(), 2);
    /// # Ok::<(), precast_ops::build::GraphError>(())
    /// ```
    #[must_use]
    pub fn scan(
        &self,
        init: &[Arg],
        sequences: &[&Var],
        mut step: impl FnMut(&[Var], &[Var]) -> Stepped,
    ) -> (Vec<Var>, Vec<Var>) {
        let (init_count, mut row_count) = (init.len(), 0);
        let init: Option<Vec<Operand>> = init.iter().map(|arg| self.operand(arg)).collect();
        let given: Option<Vec<Operand>> = sequences.iter().map(|variable| self.own(variable)).collect();
        let made = init.zip(given).and_then(|(init, given)| {
            self.build("scan", |operands| {
                let count = init.len();
                let mut carries = Carries::of(operands, &Operand::List(init))?;
                let sequences = operands.tensors(&given)?;
                let steps = operands.steps(&Operand::None, &sequences)?;
                let mut step = |graph: &mut FunctionGraph,
                                library: &dyn precast_graph::OpLibrary,
                                own: &[Operand],
                                rows: &[VarId]| {
                    let found = self.inside(graph, || {
                        let stepped = step(&self.operands(own), &self.vars(rows));
                        row_count = stepped.rows.len();
                        vec![stepped.carries, stepped.rows]
                    })?;
                    let carries = Operands::none(graph, library, "scan").tensors(&found[0])?;
                    let rows = Operands::none(graph, library, "scan").tensors(&found[1])?;
                    expect_count(&carries, count)?;
                    Ok(Step { carries, rows, stop: None })
                };
                let made = Loop { steps, sequences: &sequences, reverse: false };
                let mut made = made.build(operands, &mut carries, &mut step)?;
                let rows = made.split_off(count);
                Ok((made, rows))
            })
        });
        let (carries, rows) = made.unzip();
        (self.results(carries, init_count), self.results(rows, row_count))
    }

    /// Builds a loop that applies `step` to the carries as long as they satisfy `condition`, which returns a `bool[]`.
    /// Returns the last carries.
    ///
    /// ```
    /// use precast_ops::build::Graph;
    /// let g = Graph::new();
    /// let x = g.input("x", "f64[]");
    /// let last = g.while_loop(&[x.into()], |c| c[0].lt(100.0), |c| vec![&c[0] * 2.0]);
    /// g.output("last", &last[0]);
    /// # g.finish()?;
    /// # Ok::<(), precast_ops::build::GraphError>(())
    /// ```
    #[must_use]
    pub fn while_loop(
        &self,
        init: &[Arg],
        mut condition: impl FnMut(&[Var]) -> Var,
        mut step: impl FnMut(&[Var]) -> Vec<Var>,
    ) -> Vec<Var> {
        let init_count = init.len();
        let init: Option<Vec<Operand>> = init.iter().map(|arg| self.operand(arg)).collect();
        let made = init.and_then(|init| {
            self.build("while_loop", |operands| {
                let count = init.len();
                let mut carries = Carries::of(operands, &Operand::List(init))?;
                let mut holds = |graph: &mut FunctionGraph, own: &[VarId]| {
                    let found = self.inside(graph, || vec![vec![condition(&self.vars(own))]])?;
                    found[0][0].variable(graph).map_err(BuildError::from)
                };
                let first = carries.first.clone();
                let begins = holds(operands.graph(), &first)?;
                let steps = operands.unbounded(begins)?;
                let mut step = |graph: &mut FunctionGraph,
                                library: &dyn precast_graph::OpLibrary,
                                own: &[Operand],
                                _: &[VarId]| {
                    let found = self.inside(graph, || vec![step(&self.operands(own))])?;
                    let carries = Operands::none(graph, library, "while_loop").tensors(&found[0])?;
                    expect_count(&carries, count)?;
                    let goes_on = holds(graph, &carries)?;
                    let stop = Operands::none(graph, library, "while_loop").negated(goes_on)?;
                    Ok(Step { carries, rows: Vec::new(), stop: Some(stop) })
                };
                Loop { steps, sequences: &[], reverse: false }.build(operands, &mut carries, &mut step)
            })
        });
        self.results(made, init_count)
    }

    /// Builds a branch: the results of `if_true` if the condition, a `bool[]`, holds, otherwise those of `if_false`. Only
    /// one of them is computed.
    ///
    /// ```
    /// use precast_ops::build::Graph;
    /// let g = Graph::new();
    /// let x = g.input("x", "f64[?]");
    /// let y = g.cond(&x.sum().gt(0.0), || vec![x.log()], || vec![x.exp()]);
    /// g.output("y", &y[0]);
    /// # g.finish()?;
    /// # Ok::<(), precast_ops::build::GraphError>(())
    /// ```
    #[must_use]
    pub fn cond(
        &self,
        predicate: &Var,
        if_true: impl FnOnce() -> Vec<Var>,
        if_false: impl FnOnce() -> Vec<Var>,
    ) -> Vec<Var> {
        let (mut if_true, mut if_false, mut count) = (Some(if_true), Some(if_false), 0);
        let made = self.own(predicate).and_then(|predicate| {
            self.build("cond", |operands| {
                let index = operands.choice(&predicate)?;
                let library = operands.library();
                operands.branches(index, 2, &mut |graph, branch| {
                    let found = self.inside(graph, || {
                        let found = match branch {
                            0 => if_false.take().map(|call| call()),
                            _ => if_true.take().map(|call| call()),
                        };
                        let found = found.unwrap_or_default();
                        count = found.len();
                        vec![found]
                    })?;
                    Operands::none(graph, library, "cond").tensors(&found[0])
                })
            })
        });
        self.results(made, count)
    }

    /// Returns `value` with a gradient of its own: `gradient` gets the gradient by the result and the inputs, and returns
    /// the gradients by the inputs, or `None` for an input without one. Gradients do not pass through `value`.
    ///
    /// ```
    /// use precast_ops::build::Graph;
    /// let g = Graph::new();
    /// let x = g.input("x", "f64[?]");
    /// // A rounding function whose gradient is that of the identity.
    /// let rounded = g.custom_gradient(&x.round(), &[&x], |gradient, _| vec![Some(gradient.clone())]);
    /// g.output("slope", &g.grad(&rounded.sum(), &[&x])[0]);
    /// # g.finish()?;
    /// # Ok::<(), precast_ops::build::GraphError>(())
    /// ```
    #[must_use]
    pub fn custom_gradient(
        &self,
        value: &Var,
        inputs: &[&Var],
        mut gradient: impl FnMut(&Var, &[Var]) -> Vec<Option<Var>>,
    ) -> Var {
        const NAME: &str = "custom_gradient";
        let given: Option<Vec<Operand>> = inputs.iter().map(|variable| self.own(variable)).collect();
        let made = self.own(value).zip(given).and_then(|(value, given)| {
            self.build(NAME, |operands| {
                let value = value.variable(operands.graph())?;
                let inputs = given.iter().map(|input| input.clone().variable(operands.graph()));
                let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
                let made = attach(operands, value, &inputs, &mut |graph, _, arguments| {
                    let mut is_given = Vec::new();
                    let found = self.inside(graph, || {
                        let vars = self.vars(arguments);
                        let found = gradient(&vars[0], &vars[1..]);
                        is_given = found.iter().map(Option::is_some).collect();
                        vec![found.into_iter().flatten().collect()]
                    })?;
                    let mut found = found.into_iter().flatten();
                    let mut next = |is: &bool| if *is { found.next() } else { None };
                    Ok(is_given.iter().map(|is| next(is).unwrap_or(Operand::None)).collect())
                })?;
                Ok(vec![made])
            })
        });
        self.results(made, 1).remove(0)
    }

    /// Runs code with the graph under construction, which closures of the code can extend by [`Graph::inside`]. Stores an
    /// error.
    fn build<T>(
        &self,
        function: &str,
        code: impl FnOnce(&mut Operands<'_>) -> Result<T, BuildError>,
    ) -> Option<T> {
        let (ops, mut graph): (Ops, FunctionGraph) = {
            let state = &mut *self.0.borrow_mut();
            (state.ops.clone(), std::mem::take(&mut state.graph))
        };
        let made = code(&mut Operands::none(&mut graph, &ops, function));
        self.0.borrow_mut().graph = graph;
        self.keep(made.map_err(|source| GraphError::Apply { function: function.to_owned(), source }))
    }

    /// Calls a closure that extends a graph through this one, and returns the operands of its results.
    fn inside(
        &self,
        graph: &mut FunctionGraph,
        call: impl FnOnce() -> Vec<Vec<Var>>,
    ) -> Result<Vec<Vec<Operand>>, BuildError> {
        self.swap(graph, |state| {
            state.calls += 1;
            state.scopes.push(state.calls);
        });
        let found = call();
        let own =
            |vars: &Vec<Var>| vars.iter().map(|variable| self.own(variable)).collect::<Option<Vec<_>>>();
        let found: Option<Vec<Vec<Operand>>> = found.iter().map(own).collect();
        self.swap(graph, |state| {
            state.scopes.pop();
        });
        found.ok_or_else(|| wrong("a closure has an error".to_owned()))
    }

    /// Exchanges the graph under construction.
    fn swap(&self, graph: &mut FunctionGraph, also: impl FnOnce(&mut State)) {
        let state = &mut *self.0.borrow_mut();
        std::mem::swap(graph, &mut state.graph);
        also(state);
    }

    /// Returns the results of a loop or a branch, or after an error, results without a value.
    fn results(&self, made: Option<Vec<VarId>>, count: usize) -> Vec<Var> {
        made.map_or_else(|| (0..count).map(|_| self.var(None)).collect(), |made| self.vars(&made))
    }

    fn operands(&self, operands: &[Operand]) -> Vec<Var> {
        operands.iter().map(|operand| self.var(Some(operand.clone()))).collect()
    }

    fn vars(&self, variables: &[VarId]) -> Vec<Var> {
        variables.iter().map(|v| self.var(Some(Operand::Var(*v)))).collect()
    }
}

/// Checks the number of carries that a step returns.
fn expect_count(carries: &[VarId], expected: usize) -> Result<(), BuildError> {
    let found = carries.len();
    if found == expected {
        Ok(())
    } else {
        Err(wrong(format!("a step returns {found} carries, expected {expected}")))
    }
}

fn wrong(problem: String) -> BuildError {
    MakeNodeError::Value { op: "scan".to_owned(), problem }.into()
}
