//! Converts lists of numbers to arrays, as NumPy's functions do.

use super::operand::Operands;
use crate::DimShuffle;
use crate::shape::{Join, MakeVector};
use precast_graph::{Array, BuildError, DType, MakeNodeError, Operand, VarId};

impl Operands<'_> {
    /// Returns the arguments with lists converted to arrays.
    pub(super) fn lists_as_arrays(&mut self) -> Result<Vec<Operand>, BuildError> {
        let args = self.args;
        let as_array = |(position, arg): (usize, &Operand)| match arg {
            Operand::List(_) => self.variable(position).map(Operand::Var),
            arg => Ok(arg.clone()),
        };
        args.iter().enumerate().map(as_array).collect()
    }

    /// Returns the dtype of a list as an array: the common dtype of its numbers, or f64 if the list is empty.
    pub(super) fn list_dtype(&self, items: &[Operand]) -> DType {
        let own = |item: &Operand| match item {
            Operand::List(items) => self.list_dtype(items),
            Operand::Var(v) | Operand::Weak(v) => self.graph.ty(*v).dtype(),
            Operand::Literal(literal) => literal.dtype(),
            Operand::Setting(_) | Operand::Function(_) | Operand::None => DType::F64,
        };
        DType::upcast_all(items.iter().map(own)).unwrap_or(DType::F64)
    }

    /// Converts a list to an array of a dtype.
    pub(super) fn array(&mut self, items: &[Operand], dtype: DType) -> Result<VarId, BuildError> {
        if !dtype.is_complex() && has_complex(items) {
            let problem = format!("a complex number does not fit into `{dtype}`");
            return Err(MakeNodeError::Value { op: self.function.to_owned(), problem }.into());
        }
        let mut shape = Vec::new();
        let mut bits = Vec::new();
        if constant(items, dtype, &mut bits) {
            measure(self.function, items, 0, &mut shape)?;
            let array = Array::from_bits(dtype, &shape, &bits);
            let array = array.ok_or_else(|| ragged(self.function, "the numbers do not form one array"))?;
            return Ok(self.graph.constant(array));
        }
        let mut parts = Vec::new();
        for item in items {
            parts.push(match item {
                Operand::List(items) => self.array(items, dtype)?,
                item => {
                    let args = [item.clone()];
                    let mut one = self.with(&args);
                    one.cast_argument(0, dtype)?
                }
            });
        }
        let rank = self.graph.ty(parts[0]).ndim();
        if let Some(other) = parts.iter().find(|part| self.graph.ty(**part).ndim() != rank) {
            let (first, other) = (self.graph.ty(parts[0]), self.graph.ty(*other));
            return Err(ragged(self.function, &format!("it has both `{first}` and `{other}`")).into());
        }
        if rank == 0 {
            return self.apply(MakeVector { dtype }, &parts);
        }
        let order: Vec<Option<usize>> = std::iter::once(None).chain((0..rank).map(Some)).collect();
        for part in &mut parts {
            *part = self.apply(DimShuffle::new(order.clone()), &[*part])?;
        }
        self.apply(Join { axis: 0 }, &parts)
    }
}

/// Appends the bits of all literals; false if an item is not a literal, or does not fit the dtype.
fn constant(items: &[Operand], dtype: DType, bits: &mut Vec<u64>) -> bool {
    items.iter().all(|item| match item {
        Operand::List(items) => constant(items, dtype, bits),
        Operand::Literal(literal) => literal.value(dtype).map(|value| bits.extend(value.bits())).is_some(),
        _ => false,
    })
}

/// Returns whether one of the literals is complex.
fn has_complex(items: &[Operand]) -> bool {
    items.iter().any(|item| match item {
        Operand::List(items) => has_complex(items),
        Operand::Literal(literal) => literal.dtype().is_complex(),
        _ => false,
    })
}

/// Determines the shape of nested lists. All lists at one depth must have equal length.
fn measure(
    function: &str,
    items: &[Operand],
    depth: usize,
    shape: &mut Vec<usize>,
) -> Result<(), MakeNodeError> {
    match shape.get(depth) {
        None => shape.push(items.len()),
        Some(found) if *found != items.len() => {
            let problem = format!("an item of {found} next to an item of {}", items.len());
            return Err(ragged(function, &problem));
        }
        Some(_) => {}
    }
    let lists = items.iter().filter(|item| matches!(item, Operand::List(_))).count();
    if lists != 0 && lists != items.len() {
        return Err(ragged(function, "numbers next to lists"));
    }
    for item in items {
        if let Operand::List(items) = item {
            measure(function, items, depth + 1, shape)?;
        }
    }
    Ok(())
}

fn ragged(function: &str, problem: &str) -> MakeNodeError {
    MakeNodeError::Value { op: function.to_owned(), problem: format!("a ragged list: {problem}") }
}
