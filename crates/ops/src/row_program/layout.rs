//! Plans how the driver runs a row program: its values, and the pass over a row in which each step runs.
//!
//! ```text
//! x f64[?,?]                full      v0
//! m = max(x, axes=[1])      single    v1      fold, pass 0
//! k = dimshuffle(m)         single    v1      another form of the same elements
//! e = exp(x - k)            full      v2      map, pass 1: v1 is known after pass 0
//! s = sum(e, axes=[1])      single    v3      fold, pass 1
//! e / dimshuffle(s)         full      v4      map, pass 2
//! ```
//! In a single value the reduced dimensions have extent 1, or are missing; both forms have the same elements.

use super::RowProgram;
use crate::scalar::ScalarOp;
use crate::{DimShuffle, Elemwise, Reduce, ReduceKind};
use precast_graph::{DType, Extent, TensorType, Type};
use std::any::Any;
use std::sync::Arc;

/// The maximum number of values: `PC_ROWS_VALUES`.
const VALUES: usize = 96;
/// The maximum number of folds: `PC_ROWS_FOLDS`.
const FOLDS: usize = 8;
/// The maximum number of operands of the driver's loop, including results: `PC_LOOP_OPERANDS`.
const OPERANDS: usize = 64;

/// The role of a value in the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An input whose type guarantees a single element.
    Element,
    /// A value with the operands' common shape.
    Full,
    /// One element per row, known after this pass.
    Single { pass: usize },
}

/// A value of the driver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    number: usize,
    role: Role,
    /// The pass that computes a full value; 0 for an input.
    pass: usize,
}

/// The work of a step.
pub(super) enum Work {
    Map(Arc<dyn ScalarOp>),
    Fold(ReduceKind),
}

/// A step of the driver.
pub(super) struct DriverStep {
    pub(super) work: Work,
    pub(super) reads: Vec<usize>,
    pub(super) makes: Vec<usize>,
    pub(super) pass: usize,
    /// Whether the step runs on one element, after the pass.
    pub(super) once: bool,
    /// The types of the operands for the kernel.
    pub(super) types: Vec<Type>,
}

/// A row program as seen by the driver.
pub(super) struct Layout {
    pub(super) axes: Option<Vec<usize>>,
    pub(super) dtypes: Vec<DType>,
    pub(super) steps: Vec<DriverStep>,
    /// The full outputs, in the driver's order: the position among the op's outputs, and the value. The driver
    /// returns them first.
    pub(super) full: Vec<(usize, usize)>,
    /// The single outputs: position, value, and whether the reduced dimensions are kept.
    pub(super) single: Vec<(usize, usize, bool)>,
}

impl Layout {
    /// Plans a program whose values have these types, or describes why it is not supported.
    pub(super) fn of(program: &RowProgram, types: &[Type]) -> Result<Self, String> {
        let mut folds = program.steps.iter().filter_map(|(op, reads)| {
            let op: &dyn Any = &**op;
            let ndim = reads.iter().map(|value| types[*value].ndim()).max().unwrap_or(0);
            op.downcast_ref::<Reduce>().map(|reduce| (reduce.axes.clone(), ndim))
        });
        let (axes, ndim) = folds.next().ok_or("have no reduction")?;
        if folds.any(|other| other != (axes.clone(), ndim)) {
            return Err("reduce over several axes".to_owned());
        }
        let mut making = Making {
            types,
            ndim,
            layout: Self {
                axes,
                dtypes: Vec::new(),
                steps: Vec::new(),
                full: Vec::new(),
                single: Vec::new(),
            },
            values: Vec::new(),
        };
        for ty in &types[..program.inputs] {
            if !matches!(ty, Type::Tensor(_)) {
                return Err(format!("read `{ty}`, which is not a tensor"));
            }
            let role = if ty.ndim() == 0 { Role::Element } else { Role::Full };
            let number = making.fresh(ty.dtype());
            making.values.push(Value { number, role, pass: 0 });
        }
        for (op, reads) in &program.steps {
            making.step(&**op, reads)?;
        }
        making.finish(program)
    }
}

/// A layout under construction.
struct Making<'a> {
    types: &'a [Type],
    /// The rank of the operands' common shape.
    ndim: usize,
    layout: Layout,
    /// The driver value of each value of the program.
    values: Vec<Value>,
}

impl Making<'_> {
    fn fresh(&mut self, dtype: DType) -> usize {
        self.layout.dtypes.push(dtype);
        self.layout.dtypes.len() - 1
    }

    fn reduces(&self, d: usize) -> bool {
        self.layout.axes.as_ref().is_none_or(|axes| axes.contains(&d))
    }

    /// Returns the number of dimensions that are not reduced.
    fn kept(&self) -> usize {
        (0..self.ndim).filter(|d| !self.reduces(*d)).count()
    }

    fn step(&mut self, op: &dyn precast_graph::Op, reads: &[usize]) -> Result<(), String> {
        let op: &dyn Any = op;
        if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
            return self.map(&elemwise.scalar, reads);
        }
        if let Some(reduce) = op.downcast_ref::<Reduce>() {
            return self.fold(reduce, reads);
        }
        let shuffle = op.downcast_ref::<DimShuffle>().ok_or("have an unsupported step")?;
        let value = self.values[reads[0]];
        if !matches!(value.role, Role::Single { .. }) || !self.changes_form(shuffle, reads[0]) {
            return Err("move dimensions".to_owned());
        }
        self.values.push(value);
        Ok(())
    }

    /// Returns whether a dimshuffle only restores or only drops the reduced dimensions of a single value.
    fn changes_form(&self, shuffle: &DimShuffle, value: usize) -> bool {
        let mut next = 0..;
        let with_all = (0..self.ndim).map(|d| if self.reduces(d) { None } else { next.next() });
        let with_kept = (0..self.ndim).filter(|d| !self.reduces(*d)).map(Some);
        if self.types[value].ndim() == self.ndim && self.has_kept_form(&self.types[value]) {
            return shuffle.order.iter().copied().eq(with_kept);
        }
        shuffle.order.iter().copied().eq(with_all)
    }

    /// Returns whether a type has every dimension, with extent 1 in the reduced ones.
    fn has_kept_form(&self, ty: &Type) -> bool {
        let flat =
            ty.shape().iter().enumerate().all(|(d, extent)| !self.reduces(d) || *extent == Extent::Fixed(1));
        ty.ndim() == self.ndim && flat
    }

    /// Returns whether a single value of this type is aligned with full values: directly, or by its trailing
    /// dimensions.
    fn meets_full(&self, ty: &Type) -> bool {
        let kept = self.kept();
        self.has_kept_form(ty)
            || (ty.ndim() == kept && (self.ndim - kept..self.ndim).all(|d| !self.reduces(d)))
    }

    fn map(&mut self, scalar: &Arc<dyn ScalarOp>, reads: &[usize]) -> Result<(), String> {
        let read: Vec<Value> = reads.iter().map(|value| self.values[*value]).collect();
        let is_full = read.iter().any(|value| value.role == Role::Full);
        let singles =
            || reads.iter().zip(&read).filter(|(_, value)| matches!(value.role, Role::Single { .. }));
        let ranks: Vec<usize> = singles().map(|(value, _)| self.types[*value].ndim()).collect();
        if is_full && !singles().all(|(value, _)| self.meets_full(&self.types[*value])) {
            return Err("combine a single value with values in other dimensions".to_owned());
        }
        if !is_full && (ranks.is_empty() || ranks.iter().any(|rank| *rank != ranks[0])) {
            return Err("have a map without a row".to_owned());
        }
        let known = |value: &Value| match value.role {
            Role::Element => 0,
            Role::Full => value.pass,
            Role::Single { pass } => pass + usize::from(is_full),
        };
        let pass = read.iter().map(known).max().unwrap_or(0);
        let first = self.values.len();
        let made: Vec<Type> = self.made(scalar, first);
        if is_full && made.iter().any(|ty| ty.ndim() != self.ndim) {
            return Err("have a map with fewer dimensions".to_owned());
        }
        let role = if is_full { Role::Full } else { Role::Single { pass } };
        let makes: Vec<usize> = made.iter().map(|ty| self.fresh(ty.dtype())).collect();
        self.values.extend(makes.iter().map(|number| Value { number: *number, role, pass }));
        self.push(Work::Map(Arc::clone(scalar)), &read, makes, pass, !is_full);
        Ok(())
    }

    /// Returns the types of a map's results, which start at value `first`.
    fn made(&self, scalar: &Arc<dyn ScalarOp>, first: usize) -> Vec<Type> {
        let scalar: &dyn Any = &**scalar;
        let composite = scalar.downcast_ref::<crate::Composite>();
        let count = composite.map_or(1, |composite| composite.output_values().len());
        self.types[first..first + count].to_vec()
    }

    fn fold(&mut self, reduce: &Reduce, reads: &[usize]) -> Result<(), String> {
        let mut read: Vec<Value> = reads.iter().map(|value| self.values[*value]).collect();
        if !read.iter().any(|value| value.role == Role::Full) {
            return Err("reduce a single value".to_owned());
        }
        let dtype = self.types[self.values.len()].dtype();
        if let Some(map) = &reduce.map {
            if !reads.iter().zip(&read).all(|(value, of)| {
                !matches!(of.role, Role::Single { .. }) || self.meets_full(&self.types[*value])
            }) {
                return Err("combine a single value with values in other dimensions".to_owned());
            }
            let known = |value: &Value| match value.role {
                Role::Element => 0,
                Role::Full => value.pass,
                Role::Single { pass } => pass + 1,
            };
            let pass = read.iter().map(known).max().unwrap_or(0);
            let number = self.fresh(dtype);
            self.push(Work::Map(Arc::clone(map)), &read, vec![number], pass, false);
            read = vec![Value { number, role: Role::Full, pass }];
        }
        let (pass, number) = (read[0].pass, self.fresh(dtype));
        self.values.push(Value { number, role: Role::Single { pass }, pass });
        self.push(Work::Fold(reduce.kind), &read, vec![number], pass, false);
        Ok(())
    }

    fn push(&mut self, work: Work, read: &[Value], makes: Vec<usize>, pass: usize, once: bool) {
        let of = |value: &Value| {
            let shape = if value.role == Role::Element { Vec::new() } else { vec![Extent::Unknown] };
            Type::Tensor(TensorType { dtype: self.layout.dtypes[value.number], shape })
        };
        let types = read.iter().map(of).collect();
        let reads = read.iter().map(|value| value.number).collect();
        self.layout.steps.push(DriverStep { work, reads, makes, pass, once, types });
    }

    fn finish(mut self, program: &RowProgram) -> Result<Layout, String> {
        // Steps of one pass keep their order.
        self.layout.steps.sort_by_key(|step| step.pass);
        for (position, output) in program.outputs.iter().enumerate() {
            let value = self.values[*output];
            let is_repeated = self.layout.full.iter().any(|(_, number)| *number == value.number);
            match value.role {
                Role::Element => return Err("return an input as an output".to_owned()),
                Role::Full if is_repeated => return Err("return a value twice".to_owned()),
                Role::Full => self.layout.full.push((position, value.number)),
                Role::Single { .. } => {
                    let kept = self.has_kept_form(&self.types[*output]);
                    self.layout.single.push((position, value.number, kept));
                }
            }
        }
        let folds = self.layout.steps.iter().filter(|step| matches!(step.work, Work::Fold(_))).count();
        let operands = program.inputs + program.outputs.len();
        let is_small = self.layout.dtypes.len() <= VALUES && folds <= FOLDS && operands <= OPERANDS;
        let fits = |step: &DriverStep| step.reads.len() + step.makes.len() <= OPERANDS;
        if !is_small || self.layout.single.len() > 32 || !self.layout.steps.iter().all(fits) {
            return Err("exceed the limits of a row program".to_owned());
        }
        Ok(self.layout)
    }
}
