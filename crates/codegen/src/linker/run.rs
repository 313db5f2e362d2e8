//! The body of `run`: nested blocks, one for each variable, and inside them nested blocks for each Apply in order.
//!
//! ```text
//! {  pc_tensor *V0; V0 = NULL;          declare: resources are NULL before the first possible failure
//!    …                                  extract or init; a failure jumps to this block's own label
//!    {  …the next block…  }
//!    if (!failure) { …sync… }           outputs and temporaries only
//!   label_1: ;
//!    …cleanup…
//! }
//! ```
//! `fail` is `{ failure = K; goto label_K; }`. Every jump goes forward and out of scopes, so both C and C++ allow it.

use super::instance::Context;
use super::signature::print;
use super::variables::{Part, Role, Step, Var};
use crate::ctype::scalar::assign;
use crate::error::LinkError;
use crate::template::{escape, render};
use precast_store::key::{Language, Profile};
use std::fmt::Write as _;

/// The text before and after the blocks nested in a block.
pub(super) type Block = (String, String);

/// Renders the function `run` of a part; for a C++ module, only its body.
pub(super) fn function(
    part: &Part<'_>,
    context: &Context,
    profile: Profile,
    language: Language,
) -> Result<String, LinkError> {
    let body = body(part, context, profile)?;
    Ok(match language {
        Language::C => render(include_str!("../../c/run.c.in"), &[("NAME", &*part.name), ("BODY", &body)]),
        Language::Cxx => body,
    })
}

/// Renders the body of `run`.
fn body(part: &Part<'_>, context: &Context, profile: Profile) -> Result<String, LinkError> {
    let mut text = format!("  int failure = 0;\n{}", context.enter);
    for var in &part.vars {
        text.push_str(&object(var, part.n_inputs));
    }
    text.push_str("  (void)self;\n  (void)pc_args;\n");
    let mut blocks: Vec<Block> = part.vars.iter().map(|var| block(var, context)).collect();
    blocks.extend(steps(part, profile, context)?);
    text.push_str(&nested(&blocks));
    text.push_str(context.leave);
    text.push_str("  return failure;\n");
    Ok(text)
}

/// Renders the blocks of the Applies. The first is the outermost, so a failure skips all later ones.
pub(super) fn steps(part: &Part<'_>, profile: Profile, context: &Context) -> Result<Vec<Block>, LinkError> {
    part.steps.iter().map(|step| code(step, profile, context)).collect()
}

/// Renders blocks, each nested in the previous one.
pub(super) fn nested(blocks: &[Block]) -> String {
    let fronts = blocks.iter().map(|(front, _)| front.as_str());
    fronts.chain(blocks.iter().rev().map(|(_, behind)| behind.as_str())).collect()
}

/// Renders `py_V3` and the cell of its object.
fn object(var: &Var<'_>, n_inputs: usize) -> String {
    let name = &var.name;
    let cell = match &var.role {
        Role::Input(i) => format!("pc_args[{i}]"),
        Role::Output(i) => format!("pc_args[{}]", n_inputs + i),
        Role::Slot(i) => format!("self->pc_slots[{i}]"),
        Role::Temporary(i) => format!("self->pc_temps[{i}]"),
        Role::Local | Role::Literal(_) => return String::new(),
    };
    format!(
        "  pc_object **const storage_{name} = &{cell};\n  pc_object *py_{name} = *storage_{name};\n  (void)py_{name};\n"
    )
}

/// Renders the block of a variable.
fn block(var: &Var<'_>, context: &Context) -> Block {
    let (sub, check) = (var.sub(var.task), var.check_input);
    let behaviour = match &var.role {
        Role::Literal(value) => assign(&var.name, value),
        Role::Input(_) | Role::Slot(_) => var.ctype.c_extract(&var.name, &sub, check),
        Role::Local => var.ctype.c_init(&var.name, &sub),
        Role::Temporary(_) | Role::Output(_) => var.ctype.c_extract_out(&var.name, &sub, check),
    };
    let what = var.role.describe();
    let declare = var.ctype.c_declare(&var.name, &sub, check);
    let front = format!("{{ /* {}: {what} */\n{declare}{behaviour}", var.name);
    let mut text = String::new();
    if var.is_synced() {
        let sub = var.sub(var.sync_task);
        let told = render(context.synced, &[("PY", &sub.py_ptr), ("FAIL", &sub.fail)]);
        let sync = var.ctype.c_sync(&var.name, &sub) + &told;
        // Writing to a string cannot fail.
        let _ = write!(text, "if (!failure) {{\n{sync}}}\n");
    }
    let _ = write!(text, "label_{}: ;\n{}", var.task, var.ctype.c_cleanup(&var.name, &sub));
    if var.is_synced() {
        let _ = writeln!(text, "*storage_{0} = py_{0};", var.name);
    }
    let _ = writeln!(text, "}} /* {} */", var.name);
    (front, text)
}

/// Renders the block of an Apply.
fn code(step: &Step<'_>, profile: Profile, context: &Context) -> Result<Block, LinkError> {
    let sub = step.sub(step.task);
    let code = step.op.c_code(&step.node, &step.name, &step.inputs, &step.outputs, &sub)?;
    let code = step.own(code);
    let cleanup = step.op.c_code_cleanup(&step.node, &step.name, &step.inputs, &step.outputs, &sub);
    let cleanup = step.own(cleanup);
    let comment = escape(&print(&step.apply.op.label(), &step.node.inputs, &step.node.outputs));
    let hooks = super::debug::calls(step, profile);
    let task = step.task;
    let [front, behind] = context.catches(&format!("failure = {task};"));
    let front = format!("{{\n/* {comment} */\n{front}{hooks}{code}\n");
    Ok((front, format!("label_{task}: ;\n{cleanup}{behind}}}\n")))
}
