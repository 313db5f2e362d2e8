//! The C of reductions and of products with vectors: expressions in the order of `monoid.h` and `product/vector.h`.

use super::step::Sums;
use super::text::Text;
use crate::reduce::ReduceKind;
use crate::scalar::{ScalarOp, find};
use precast_codegen::{LinkError, Sub};
use precast_graph::DType;
use std::sync::Arc;

/// The number of lanes of a product with a vector.
const PRODUCT_LANES: usize = 8;

/// Returns the scalar op that combines two elements, if there is one for the dtype.
pub(super) fn combine(kind: ReduceKind, dtype: DType) -> Option<Arc<dyn ScalarOp>> {
    let name = match kind {
        ReduceKind::Sum | ReduceKind::Mean => "add",
        ReduceKind::Prod => "mul",
        ReduceKind::Max => "maximum",
        ReduceKind::Min => "minimum",
        ReduceKind::Any => "logical_or",
        ReduceKind::All => "logical_and",
    };
    let op = find(name)?;
    let is_supported = !dtype.is_complex() && op.output(&[dtype; 2]) == Some(dtype);
    is_supported.then_some(op)
}

/// Writes a reduction of the array `from` to the array `to`.
pub(super) fn write(
    sums: &Sums,
    from: &str,
    (to, dtype): (&str, DType),
    name: &str,
    text: &mut Text,
) -> Result<(), LinkError> {
    let op = combine(sums.kind, dtype).ok_or_else(|| LinkError::Unsupported {
        signature: sums.kind.name().to_owned(),
        problem: format!("no sums of {dtype} without tensors"),
    })?;
    text.array(dtype, to, sums.groups.len());
    let lanes = match (dtype, sums.kind) {
        (DType::F32, ReduceKind::Max | ReduceKind::Min) => 64,
        (DType::F32, _) | (DType::F64, ReduceKind::Max | ReduceKind::Min) => 32,
        (DType::F64, _) => 16,
        // The result does not depend on the order.
        _ => 1,
    };
    for (i, group) in sums.groups.iter().enumerate() {
        text.begin();
        let mut terms = Terms { op: &*op, dtype, prefix: format!("{name}_{to}_{i}"), count: 0 };
        let elements = group.iter().map(|at| format!("{from}[{at}]"));
        let values = terms.lanes(sums.kind, lanes, elements, text)?;
        let total = terms.tree(values, text)?.unwrap_or_else(|| "0".to_owned());
        let result = match sums.kind {
            ReduceKind::Mean => format!("(pc_{dtype})((double){total} / {}.0)", group.len()),
            _ => total,
        };
        text.line(&format!("{to}[{i}] = {result};"));
        text.end();
    }
    Ok(())
}

/// Writes the product of a matrix with a vector: `pairs` has the positions of the factors of each result.
pub(super) fn write_product(
    (a, b): (&str, &str),
    pairs: &[Vec<(usize, usize)>],
    (to, dtype): (&str, DType),
    name: &str,
    text: &mut Text,
) -> Result<(), LinkError> {
    let unsupported =
        || LinkError::Unsupported { signature: "dot".to_owned(), problem: format!("no products of {dtype}") };
    let op = find("add").ok_or_else(unsupported)?;
    text.array(dtype, to, pairs.len());
    for (i, group) in pairs.iter().enumerate() {
        text.begin();
        let mut terms = Terms { op: &*op, dtype, prefix: format!("{name}_{to}_{i}"), count: 0 };
        let elements = group.iter().map(|(of_a, of_b)| format!("{a}[{of_a}] * {b}[{of_b}]"));
        let values = terms.lanes(ReduceKind::Sum, PRODUCT_LANES, elements, text)?;
        // ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
        let total = terms.neighbors(values, text)?.unwrap_or_else(|| "0".to_owned());
        text.line(&format!("{to}[{i}] = {total};"));
        text.end();
    }
    Ok(())
}

/// Writes the sum of the array `a` and, at some positions, an element of the array `b`.
pub(super) fn write_add(
    (a, b): (&str, &str),
    places: &[Option<usize>],
    (to, dtype): (&str, DType),
    name: &str,
    text: &mut Text,
) -> Result<(), LinkError> {
    let unsupported =
        || LinkError::Unsupported { signature: "add".to_owned(), problem: format!("no sums of {dtype}") };
    let op = find("add").ok_or_else(unsupported)?;
    text.array(dtype, to, places.len());
    for (i, place) in places.iter().enumerate() {
        let Some(at) = place else {
            text.line(&format!("{to}[{i}] = {a}[{i}];"));
            continue;
        };
        text.begin();
        let mut terms = Terms { op: &*op, dtype, prefix: format!("{name}_{to}_{i}"), count: 0 };
        let first = terms.variable(text, Some(&format!("{a}[{i}]")));
        let sum = terms.add(&first, &format!("{b}[{at}]"), text)?;
        text.line(&format!("{to}[{i}] = {sum};"));
        text.end();
    }
    Ok(())
}

/// The variables of a sum.
struct Terms<'a> {
    op: &'a dyn ScalarOp,
    dtype: DType,
    prefix: String,
    count: usize,
}

impl Terms<'_> {
    fn variable(&mut self, text: &mut Text, value: Option<&str>) -> String {
        let name = format!("s{}", self.count);
        self.count += 1;
        text.line(&match value {
            Some(value) => format!("const pc_{} {name} = {value};", self.dtype),
            None => format!("pc_{} {name};", self.dtype),
        });
        name
    }

    /// Adds elements to lanes in turn, and returns the lanes.
    fn lanes(
        &mut self,
        kind: ReduceKind,
        count: usize,
        elements: impl Iterator<Item = String>,
        text: &mut Text,
    ) -> Result<Vec<Option<String>>, LinkError> {
        let mut lanes: Vec<Option<String>> = vec![None; count];
        for (position, element) in elements.enumerate() {
            let lane = &mut lanes[position % count];
            *lane = Some(match lane.take() {
                Some(value) => self.add(&value, &element, text)?,
                None => self.first(kind, element, text),
            });
        }
        Ok(lanes)
    }

    /// Returns the first value of a lane: that of the identity and the element. Only a sum changes the element, from -0.
    fn first(&mut self, kind: ReduceKind, element: String, text: &mut Text) -> String {
        let is_sum = matches!(kind, ReduceKind::Sum | ReduceKind::Mean) && self.dtype.is_float();
        self.variable(text, Some(&if is_sum { format!("0 + {element}") } else { element }))
    }

    fn add(&mut self, a: &str, b: &str, text: &mut Text) -> Result<String, LinkError> {
        let b = self.variable(text, Some(b));
        let result = self.variable(text, None);
        let (inputs, outputs) = ([a.to_owned(), b], [result.clone()]);
        let prefix = format!("{}_{}", self.prefix, self.count);
        let code = self.op.c_code(&[self.dtype; 2], &prefix, &inputs, &outputs, &Sub::default())?;
        code.lines().for_each(|line| text.line(line));
        Ok(result)
    }

    /// Combines lanes: each of the lower half with that of the upper half, until one is left. A lane without elements
    /// changes no other lane.
    fn tree(&mut self, mut lanes: Vec<Option<String>>, text: &mut Text) -> Result<Option<String>, LinkError> {
        while lanes.len() > 1 {
            let upper = lanes.split_off(lanes.len() / 2);
            let pairs = lanes.into_iter().zip(upper).map(|(a, b)| self.both(a, b, text));
            lanes = pairs.collect::<Result<Vec<_>, _>>()?;
        }
        Ok(lanes.pop().flatten())
    }

    /// Combines neighboring lanes until one is left.
    fn neighbors(
        &mut self,
        mut lanes: Vec<Option<String>>,
        text: &mut Text,
    ) -> Result<Option<String>, LinkError> {
        while lanes.len() > 1 {
            let pairs = lanes.chunks(2).map(|pair| self.both(pair[0].clone(), pair[1].clone(), text));
            lanes = pairs.collect::<Result<Vec<_>, _>>()?;
        }
        Ok(lanes.pop().flatten())
    }

    fn both(
        &mut self,
        a: Option<String>,
        b: Option<String>,
        text: &mut Text,
    ) -> Result<Option<String>, LinkError> {
        match (a, b) {
            (Some(a), Some(b)) => self.add(&a, &b, text).map(Some),
            (a, b) => Ok(a.or(b)),
        }
    }
}
