//! Python's own operations on lists and tuples: `x.shape[-1]`, `x.shape[:-1] + (1,)`, `(0,) * 3`.

use crate::literal::Literal;
use crate::make_node_error::MakeNodeError;
use crate::operand::Operand;

/// The maximum number of items in a repeated list.
const MAX_ITEMS: usize = 10_000;
/// The maximum number of items of a list and of all lists in it.
pub(super) const MAX_LEAVES: usize = 100_000;

/// Returns the number of items of a list and of all lists in it.
pub(super) fn leaves(items: &[Operand]) -> usize {
    let of = |item: &Operand| if let Operand::List(items) = item { leaves(items) } else { 0 };
    items.iter().map(of).fold(items.len(), usize::saturating_add)
}

/// Applies an operator of lists; `None` if the operands are not those of a list operator.
pub(super) fn operator(function: &str, left: &Operand, right: &Operand) -> Option<Operand> {
    match (function, left, right) {
        ("add", Operand::List(a), Operand::List(b)) => Some(Operand::List([a.as_slice(), b].concat())),
        ("mul", Operand::List(items), Operand::Literal(Literal::Int(n)))
        | ("mul", Operand::Literal(Literal::Int(n)), Operand::List(items)) => {
            let count = usize::try_from(n).unwrap_or(0);
            let fits = count.saturating_mul(items.len()) <= MAX_ITEMS
                && count.saturating_mul(leaves(items)) <= MAX_LEAVES;
            fits.then(|| Operand::List((0..count).flat_map(|_| items.iter().cloned()).collect()))
        }
        _ => None,
    }
}

/// Returns the error for an operator on lists and numbers that Python does not define. It would otherwise be mistaken
/// for an operator of arrays.
pub(super) fn refused(function: &str, left: &Operand, right: &Operand) -> Option<MakeNodeError> {
    let is_list = |operand: &Operand| matches!(operand, Operand::List(_));
    let is_number = |operand: &Operand| matches!(operand, Operand::Literal(_) | Operand::Weak(_));
    let alone = [left, right].into_iter().all(|operand| is_list(operand) || is_number(operand));
    (alone && (is_list(left) || is_list(right))).then(|| MakeNodeError::Value {
        op: function.to_owned(),
        problem: "requires an array, found a list or a tuple\nhint: write `array([…])` for an array"
            .to_owned(),
    })
}

/// Returns a part of a list, selected by one index or one slice with known integers.
pub(super) fn part(
    items: &[Operand],
    index: &[String],
    numbers: &[Operand],
) -> Result<Operand, MakeNodeError> {
    let wrong = |problem: String| MakeNodeError::Value { op: "index of a tuple".to_owned(), problem };
    let [entry] = index else { return Err(wrong("takes one index or one slice".to_owned())) };
    let integer = |number: &Operand| match number {
        Operand::Literal(Literal::Int(n)) => i64::try_from(n).ok(),
        _ => None,
    };
    let known: Option<Vec<i64>> = numbers.iter().map(integer).collect();
    let known = known.ok_or_else(|| wrong("must be a constant integer".to_owned()))?;
    let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let counted = |n: i64| if n < 0 { n.saturating_add(len) } else { n };
    if entry == "i" {
        let found = usize::try_from(counted(known[0])).ok().and_then(|at| items.get(at));
        return found
            .cloned()
            .ok_or_else(|| wrong(format!("is {}, out of range for {len} item(s)", known[0])));
    }
    if !entry.chars().all(|letter| "bes".contains(letter)) {
        return Err(wrong("takes one index or one slice".to_owned()));
    }
    let mut given = known.into_iter();
    let mut next = |letter: char| if entry.contains(letter) { given.next() } else { None };
    let (begin, end, step) = (next('b'), next('e'), next('s').unwrap_or(1));
    if step == 0 {
        return Err(wrong("has a step of zero".to_owned()));
    }
    let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let cut = |n: i64| counted(n).clamp(low, high);
    let mut at = begin.map_or(if step < 0 { high } else { low }, cut);
    let end = end.map_or(if step < 0 { low } else { high }, cut);
    let mut taken = Vec::new();
    while if step < 0 { at > end } else { at < end } {
        taken.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
        at = at.saturating_add(step);
    }
    Ok(Operand::List(taken))
}
