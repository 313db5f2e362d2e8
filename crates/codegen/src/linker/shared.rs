//! Kernels that Applies of a module share: library code whose texts differ in nothing but the name of the Apply.
//!
//! A compiler would compile each copy. In an unrolled loop, nearly all kernels are copies of a few.

use super::variables::{Outline, Step, is_foreign};
use crate::error::LinkError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Stands for the name of an Apply in a text. It is not C, so no text contains it.
const NAME: &str = "@K@";

/// Generates the support code of each Apply. An Apply whose code equals that of an earlier one gets the earlier name
/// and no code of its own.
///
/// # Errors
/// Fails if an op has no C code for its types.
pub(super) fn generate(outline: &mut Outline<'_>) -> Result<(), LinkError> {
    let mut first: HashMap<String, String> = HashMap::new();
    for step in outline.steps_mut() {
        let text = step.op.c_support_code_apply(&step.node, &step.name)?;
        if text.is_empty() || !may_share(step) {
            step.support = text;
            continue;
        }
        match first.entry(text.replace(&step.name, NAME)) {
            Entry::Occupied(known) => step.name.clone_from(known.get()),
            Entry::Vacant(free) => {
                free.insert(step.name.clone());
                step.support = text;
            }
        }
    }
    Ok(())
}

/// Returns whether the name of an Apply stands for nothing but its support code: the library's own code, without
/// params, members and code that runs at load.
fn may_share(step: &Step<'_>) -> bool {
    let Step { op, node, name, .. } = step;
    !is_foreign(*op, node.inputs.iter().chain(&node.outputs))
        && step.params.is_empty()
        && op.c_support_code_struct(node, name).is_empty()
        && op.c_init_code_apply(node, name).is_empty()
        && op.c_init_code_struct(node, name, &step.sub(step.struct_task)).is_empty()
        && op.c_cleanup_code_struct(node, name).is_empty()
}
