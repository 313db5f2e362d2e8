//! The C of reductions and of products with vectors: expressions in the order of `monoid.h` and `product/vector.h`.

use super::maps::position;
use super::moves::Parts;
use super::step::{From, Sums};
use super::text::Text;
use crate::elements::steps;
use crate::reduce::ReduceKind;
use crate::scalar::{ScalarOp, find};
use precast_codegen::template::render;
use precast_codegen::{LinkError, Sub};
use precast_graph::DType;
use std::sync::Arc;

const HALVES: &str = include_str!("../../../c/fixed_halves.c.in");

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
    let Sums { kind, kept, along, offsets, .. } = sums;
    let op = combine(*kind, dtype).ok_or_else(|| LinkError::Unsupported {
        signature: kind.name().to_owned(),
        problem: format!("no sums of {dtype} without tensors"),
    })?;
    let lanes = match (dtype, kind) {
        (DType::F32, ReduceKind::Max | ReduceKind::Min) => 64,
        (DType::F32, _) | (DType::F64, ReduceKind::Max | ReduceKind::Min) => 32,
        (DType::F64, _) => 16,
        // The result does not depend on the order.
        _ => 1,
    };
    let size: usize = kept.iter().product();
    text.array(dtype, to, size);
    let name = format!("{name}_{to}");
    let divided = |total: &str| match kind {
        ReduceKind::Mean => format!("(pc_{dtype})((double){total} / {}.0)", offsets.len()),
        _ => total.to_owned(),
    };
    let zero =
        if matches!(kind, ReduceKind::Sum | ReduceKind::Mean) && dtype.is_float() { "0 + " } else { "" };
    let step = regular(offsets).filter(|_| offsets.len() >= 2 * lanes.max(8));
    if let Some(step) = step {
        let columns = size > 1 && step == size && steps(kept) == *along;
        let (long, shape) = match columns {
            true => (Long { op: &*op, dtype, lanes, count: offsets.len(), width: size, zero }, &[][..]),
            false => (Long { op: &*op, dtype, lanes, count: offsets.len(), width: 1, zero }, kept.as_slice()),
        };
        let start = position(kept, along);
        let element = |at: &str| match columns {
            true => format!("{from}[{at}]"),
            false => format!("{from}[{start} + {step} * ({at})]"),
        };
        text.open(shape);
        text.lines(&long.sums(element, &name)?);
        if lanes > 1 {
            let width = long.width;
            let combine =
                long.combine((&format!("h * {width}"), &format!("lane[h * {width} + l]")), &name)?;
            let values = [("HALF", (lanes / 2).to_string()), ("COMBINE", combine)];
            text.lines(&render(HALVES, &values.each_ref().map(|(mark, value)| (*mark, value.as_str()))));
        }
        if columns {
            text.open(&[size]);
            text.line(&format!("{to}[i0] = {};", divided("lane[i0]")));
            text.close(&[size]);
        } else {
            text.line(&format!("{to}[{}] = {};", position(kept, &steps(kept)), divided("lane[0]")));
        }
        text.close(shape);
        return Ok(());
    }
    text.open(kept);
    let mut terms = Terms { op: &*op, dtype, prefix: name, count: 0 };
    let start = position(kept, along);
    let elements = offsets.iter().map(|offset| format!("{from}[{start} + {offset}]"));
    let values = terms.lanes(*kind, lanes, elements, text)?;
    let total = terms.tree(values, text)?.unwrap_or_else(|| "0".to_owned());
    text.line(&format!("{to}[{}] = {};", position(kept, &steps(kept)), divided(&total)));
    text.close(kept);
    Ok(())
}

/// Returns the distance of the elements of a group, if it is regular.
fn regular(group: &[usize]) -> Option<usize> {
    let step = group.get(1)?.checked_sub(group[0])?;
    group.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step)).then_some(step)
}

/// A sum of at least as many elements as lanes, by loops over the lanes: `width` sums at once.
struct Long<'a> {
    op: &'a dyn ScalarOp,
    dtype: DType,
    lanes: usize,
    count: usize,
    width: usize,
    /// What the first element of a lane is added to.
    zero: &'a str,
}

impl Long<'_> {
    /// Returns the declaration of the lanes, and the loops that add all elements to them. `element` returns the element at
    /// a position.
    fn sums(&self, element: impl Fn(&str) -> String, name: &str) -> Result<String, LinkError> {
        let Self { dtype, lanes, count, width, zero, .. } = self;
        let (rounds, rest, all) = (count / lanes, count % lanes, lanes * width);
        let round = self.combine((&all.to_string(), &element(&format!("r * {all} + l"))), name)?;
        let last = element(&format!("{} + l", rounds * all));
        let rest = match rest {
            0 => String::new(),
            rest => self.combine((&(rest * width).to_string(), &last), name)?,
        };
        let (all, rounds, first) = (all.to_string(), rounds.to_string(), format!("{zero}{}", element("l")));
        Ok(render(
            include_str!("../../../c/fixed_lanes.c.in"),
            &[
                ("DTYPE", dtype.name()),
                ("ALL", &all),
                ("ROUNDS", &rounds),
                ("FIRST", &first),
                ("ROUND", &round),
                ("REST", &rest),
            ],
        ))
    }

    /// Returns a loop that combines each of some lanes with an element.
    fn combine(&self, (count, element): (&str, &str), name: &str) -> Result<String, LinkError> {
        let (inputs, outputs) = (["a".to_owned(), "b".to_owned()], ["c".to_owned()]);
        let code = self.op.c_code(&[self.dtype; 2], name, &inputs, &outputs, &Sub::default())?;
        let values = [("COUNT", count), ("DTYPE", self.dtype.name()), ("ELEMENT", element), ("CODE", &code)];
        Ok(render(include_str!("../../../c/fixed_combine.c.in"), &values))
    }
}

/// Writes the product of a matrix `a[m,k]` with a vector (`n` is 1), or of a vector with a matrix `b[k,n]` (`m` is 1).
pub(super) fn write_product(
    (a, b): (&str, &str),
    [m, n, k]: [usize; 3],
    (to, dtype): (&str, DType),
    name: &str,
    text: &mut Text,
) -> Result<(), LinkError> {
    let unsupported =
        || LinkError::Unsupported { signature: "dot".to_owned(), problem: format!("no products of {dtype}") };
    let op = find("add").ok_or_else(unsupported)?;
    let name = format!("{name}_{to}");
    text.array(dtype, to, m * n);
    text.open(&[m * n]);
    let place = if m * n == 1 { "0" } else { "i0" };
    let element = |at: &str| match n {
        1 => format!("{a}[{place} * {k} + {at}] * {b}[{at}]"),
        _ => format!("{a}[{at}] * {b}[({at}) * {n} + {place}]"),
    };
    let mut terms = Terms { op: &*op, dtype, prefix: name.clone(), count: 0 };
    let values = if k >= 2 * PRODUCT_LANES {
        let long = Long { op: &*op, dtype, lanes: PRODUCT_LANES, count: k, width: 1, zero: "0 + " };
        text.lines(&long.sums(element, &name)?);
        (0..PRODUCT_LANES).map(|lane| Some(format!("lane[{lane}]"))).collect()
    } else {
        let elements = (0..k).map(|at| element(&at.to_string()));
        terms.lanes(ReduceKind::Sum, PRODUCT_LANES, elements, text)?
    };
    // ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    let total = terms.neighbors(values, text)?.unwrap_or_else(|| "0".to_owned());
    text.line(&format!("{to}[{place}] = {total};"));
    text.close(&[m * n]);
    Ok(())
}

/// Writes the sum of the array `a` and, at some positions, an element of the array `b`.
pub(super) fn write_add(
    (a, b): (&str, &str),
    places: &[Option<usize>],
    (to, dtype): (&str, DType),
    (shape, name): (&[usize], &str),
    text: &mut Text,
) -> Result<(), LinkError> {
    let unsupported =
        || LinkError::Unsupported { signature: "add".to_owned(), problem: format!("no sums of {dtype}") };
    let op = find("add").ok_or_else(unsupported)?;
    text.array(dtype, to, places.len());
    let of = |(at, place): (usize, &Option<usize>)| place.map_or((0, at), |place| (1, place));
    let places: Vec<From> = places.iter().enumerate().map(of).collect();
    let mut count = 0;
    Parts { places: &places, steps: steps(shape) }.write(0, shape, text, &mut |(at, input, from), text| {
        if input == 0 {
            text.line(&format!("{to}[{at}] = {a}[{at}];"));
            return Ok(());
        }
        let mut terms = Terms { op: &*op, dtype, prefix: format!("{name}_{to}_{count}"), count: 0 };
        count += 1;
        text.begin();
        let whole = terms.variable(text, Some(&format!("{a}[{at}]")));
        let sum = terms.add(&whole, &format!("{b}[{from}]"), text)?;
        text.line(&format!("{to}[{at}] = {sum};"));
        text.end();
        Ok(())
    })
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
        text.lines(&code);
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
