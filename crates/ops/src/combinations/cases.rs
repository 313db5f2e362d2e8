//! Selects the texts of an op: from its row, or from the arity of a custom op.

use super::at::{At, Case, case};
use crate::registry::Ops;
use crate::rows;
use crate::scalar::Gives;
use precast_graph::{DType, MakeNodeError, Props, Type};

/// The maximum number of inputs tried for a custom op.
const MOST_INPUTS: usize = 16;

/// Returns the cases of one dtype and rank; `None` for an op that dtype and rank alone do not determine.
pub(super) fn cases(
    op: &str,
    dtype: DType,
    rank: usize,
    dtypes: &[DType],
    ranks: &[usize],
    ops: &Ops,
) -> Option<Vec<Case>> {
    match rows::find(op).filter(|_| !ops.prefers(op)) {
        Some(row) => {
            let chooses = row.scalar.as_ref().is_some_and(|scalar| scalar.gives == Gives::Choice);
            let arity = row.arguments.len();
            Some(row.combinations?(&At { op, arity, chooses, dtype, rank, dtypes, ranks }))
        }
        None => own(op, &Type::tensor(dtype, rank), ops),
    }
}

/// Returns the case of a custom op: the smallest number of inputs it accepts, all of one type. `None` if the op
/// requires props.
fn own(op: &str, ty: &Type, ops: &Ops) -> Option<Vec<Case>> {
    let made = ops.own_op(op, &Props::new())?.ok()?;
    let takes = |count: &usize| {
        let found = made.make_node(&vec![ty.clone(); *count]);
        !matches!(found, Err(MakeNodeError::Arity { .. }))
    };
    let inputs = vec![ty.clone(); (1..=MOST_INPUTS).find(takes)?];
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    Some(vec![case(&inputs, format!("{op}({})", names.join(", ")))])
}
