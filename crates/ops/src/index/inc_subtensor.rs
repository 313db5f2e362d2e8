//! IncSubtensor: sets a part of a tensor, or adds to it.

use super::selector::{self, Selector};
use crate::call::{Call, Called, called};
use crate::declared::{Declared, at_least, of, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use crate::scalar::{Value, collect, find};
use precast_codegen::Node;
use precast_graph::{Array, DType, Extent, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::sync::Arc;

const NAME: &str = "inc_subtensor";

/// An op that returns the first input with the second input written to the part given by `index`, or added to it.
///
/// # Shapes
/// `(tensor, values, i64[], …) -> tensor`; the values are broadcast to the part. The result is a copy, or the first
/// input itself if in place; that input must not share memory with the values.
///
/// # Errors
/// At run time: the errors of [`super::Subtensor`], or values that cannot be broadcast. In these cases nothing is
/// written.
///
/// # Source
/// `pytensor.tensor.subtensor.IncSubtensor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncSubtensor {
    /// The selectors of the first dimensions.
    pub index: Vec<Selector>,
    /// Sets the part instead of adding to it.
    pub set: bool,
    /// Whether the first input is overwritten.
    pub in_place: bool,
}

impl IncSubtensor {
    /// Rebuilds an IncSubtensor from its props.
    ///
    /// # Errors
    /// `index` is missing or is not a list of selectors, or `set` or `inplace` is not a bool.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["index", "set", "inplace"])?;
        let index = selector::from_prop(&declared)?;
        Ok(Arc::new(Self { index, set: declared.flag("set")?, in_place: declared.flag("inplace")? }))
    }
}

/// Returns the props `set` and `inplace`.
pub(super) fn flags(set: bool, in_place: bool) -> Props {
    let flags = [("set", set), ("inplace", in_place)];
    flags.into_iter().filter(|(_, is)| *is).map(|(name, _)| (name.to_owned(), Prop::Bool(true))).collect()
}

/// Checks the values that are written to a part with these extents.
pub(super) fn values(op: &str, part: &[Extent], set: bool, inputs: &[Type]) -> Result<(), MakeNodeError> {
    let (whole, values) = (tensor(op, 0, inputs)?, tensor(op, 1, inputs)?);
    if !set && find("add").is_none_or(|add| add.output(&[whole.dtype; 2]) != Some(whole.dtype)) {
        let expected = "a dtype that supports addition".to_owned();
        return Err(MakeNodeError::DType { op: op.to_owned(), input: 0, found: whole.dtype, expected });
    }
    let expected = || {
        let part = of(whole.dtype, part.to_vec());
        refuse(op, 1, &inputs[1], format!("`{}` values that broadcast to `{part}`", whole.dtype))
    };
    if values.dtype != whole.dtype || values.shape.len() > part.len() {
        return Err(expected());
    }
    let shift = part.len() - values.shape.len();
    let fits = values.shape.iter().zip(&part[shift..]).all(|pair| match pair {
        (Extent::Fixed(n), Extent::Fixed(m)) => n == m || *n == 1,
        _ => true,
    });
    if fits { Ok(()) } else { Err(expected()) }
}

/// Returns `whole` with `new` written to the elements at `positions`, in their order.
pub(super) fn written(
    op: &str,
    set: bool,
    [whole, new]: [&Array; 2],
    shape: &[usize],
    positions: &[usize],
) -> Result<Array, PerformError> {
    let own = new.shape();
    let from = elements::broadcast(own, shape).ok_or_else(|| elements::not_broadcast(op, own, shape))?;
    let size: usize = whole.shape().iter().product();
    if set {
        let mut order: Vec<(usize, usize)> = (0..size).map(|p| (0, p)).collect();
        positions.iter().zip(from).for_each(|(to, from)| order[*to] = (1, from));
        return elements::gather(op, &[whole, new], whole.shape(), &order);
    }
    let all =
        |array: &Array| crate::scalar::elements(array, array.shape()).ok_or_else(|| elements::mismatch(op));
    let (mut sums, new) = (all(whole)?, all(new)?);
    let add = find("add").ok_or_else(|| elements::mismatch(op))?;
    for (to, from) in positions.iter().zip(from) {
        let sum = add.perform(&[sums[*to], new[from]])?.first().copied();
        sums[*to] = sum.unwrap_or(Value::Bool(false));
    }
    collect(whole.dtype(), whole.shape(), &sums).ok_or_else(|| elements::mismatch(op))
}

impl Op for IncSubtensor {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let mut props = flags(self.set, self.in_place);
        props.insert("index".to_owned(), selector::prop(&self.index));
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        at_least(NAME, 2, inputs)?;
        let part = selector::part_type(NAME, &self.index, 2, inputs)?;
        values(NAME, &part, self.set, inputs)?;
        Ok(vec![inputs[0].clone()])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::index::inc_subtensor(self, at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let (shape, positions) = selector::part(NAME, &self.index, inputs[0].shape(), &inputs[2..])?;
        Ok(vec![written(NAME, self.set, [inputs[0], inputs[1]], &shape, &positions)?])
    }

    fn destroy_map(&self) -> Vec<(usize, usize)> {
        if self.in_place { vec![(0, 0)] } else { Vec::new() }
    }

    fn inplace(&self) -> Option<Arc<dyn Op>> {
        (!self.in_place).then(|| Arc::new(Self { in_place: true, ..self.clone() }) as Arc<dyn Op>)
    }
}

/// Returns the call that writes: a plain function to set, or a macro stamped for the dtype to add.
pub(super) fn writing(set: Option<&'static str>, add: &str, dtype: DType, table: Vec<i64>) -> Call {
    match set {
        Some(function) => Call::of(function, table),
        None => Call::stamped("PC_INDEX_ADD", format!("{dtype}, {add}"), table),
    }
}

impl Called for IncSubtensor {
    const HEADER: &'static str = "precast/ops/index_add.h";

    fn call(&self, node: &Node) -> Call {
        let table = std::iter::once(i64::from(self.in_place)).chain(selector::table(&self.index)).collect();
        let set = self.set.then_some("pc_set_subtensor");
        writing(set, "pc_inc_subtensor", node.inputs[0].dtype(), table)
    }
}
called!(IncSubtensor);
