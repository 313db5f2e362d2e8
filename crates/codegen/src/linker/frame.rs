//! `run` of a module with only tensor variables and only precast's C code: a table of variables, and a body with the
//! ops' code.
//!
//! The code around the body is the same for every tensor, so the host does this work (`pc_host.frame`). As nested C
//! blocks, it would take a third of a small module's compile time.

use super::instance::Context;
use super::run::{self, Block};
use super::variables::{Outline, Part, Role, Var};
use crate::error::LinkError;
use crate::template::render;
use precast_store::key::{Language, Profile};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// Returns whether a function uses a frame: its variables are tensors of built-in types, and the functions of its module
/// need no code around them.
pub(super) fn is_framed(part: &Part<'_>, outline: &Outline<'_>, language: Language, is_compat: bool) -> bool {
    let plain = |var: &Var<'_>| var.ty.as_user().is_none() && !var.ctype.c_is_simple();
    language == Language::C && !is_compat && !outline.is_foreign && part.vars.iter().all(plain)
}

/// Renders the functions `body` and `run` with their table.
pub(super) fn functions(
    part: &Part<'_>,
    n_slots: usize,
    context: &Context,
    profile: Profile,
) -> Result<String, LinkError> {
    let blocks = run::steps(part, profile, context)?;
    let (parts, body) = match part.steps.len() {
        0..=PART => (String::new(), body(&part.vars.iter().enumerate().collect::<Vec<_>>(), &blocks)),
        _ => parts(part, &blocks),
    };
    let table: String = part.vars.iter().map(row).collect();
    let values = [
        ("NAME", &*part.name),
        ("PARTS", &*parts),
        ("BODY", &body),
        ("VARIABLES", &table),
        ("N_VARIABLES", &part.vars.len().to_string()),
        ("N_INPUTS", &part.n_inputs.to_string()),
        ("N_SLOTS", &n_slots.to_string()),
    ];
    Ok(render(include_str!("../../c/framed.c.in"), &values))
}

/// The most Applies in one function. The time of some passes of compilers grows with the square of a function's length.
const PART: usize = 16;

/// Renders the body of a function: its variables, the blocks of its Applies, and the changed variables.
fn body(vars: &[(usize, &Var<'_>)], blocks: &[Block]) -> String {
    let (mut text, mut behind) = (String::new(), String::new());
    for (at, var) in vars {
        let name = &var.name;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  pc_tensor *{name} = pc_variables[{at}]; /* {} */\n  (void){name};",
            var.role.describe()
        );
        if !matches!(var.role, Role::Input(_) | Role::Slot(_)) {
            let _ = writeln!(behind, "  pc_variables[{at}] = {name};");
        }
    }
    text + &run::nested(blocks) + &behind
}

/// Renders a long body as functions of a bounded number of Applies, and the calls of these functions.
fn parts(whole: &Part<'_>, blocks: &[Block]) -> (String, String) {
    let at: HashMap<&str, usize> =
        whole.vars.iter().enumerate().map(|(at, var)| (var.name.as_str(), at)).collect();
    let (mut functions, mut calls) = (String::new(), String::new());
    for (part, (steps, blocks)) in whole.steps.chunks(PART).zip(blocks.chunks(PART)).enumerate() {
        let names = steps.iter().flat_map(|step| step.inputs.iter().chain(&step.outputs));
        let used: BTreeSet<usize> = names.filter_map(|name| at.get(name.as_str()).copied()).collect();
        let vars: Vec<(usize, &Var<'_>)> = used.into_iter().map(|at| (at, &whole.vars[at])).collect();
        let number = part.to_string();
        functions += &render(
            include_str!("../../c/part.c.in"),
            &[("NAME", &*whole.name), ("PART", &*number), ("BODY", &body(&vars, blocks))],
        );
        // Writing to a string cannot fail.
        let _ = writeln!(
            calls,
            "  if (!failure) failure = {name}_part{part}(pc_self, ctx, pc_variables);",
            name = whole.name
        );
    }
    (functions, calls)
}

/// Renders the `pc_variable` of a variable.
fn row(var: &Var<'_>) -> String {
    let (place, position) = match &var.role {
        Role::Input(i) => ("INPUT", *i),
        Role::Slot(i) => ("SLOT", *i),
        Role::Temporary(i) => ("TEMPORARY", *i),
        Role::Output(i) => ("OUTPUT", *i),
        Role::Local | Role::Literal(_) => ("LOCAL", 0),
    };
    let is_checked = var.check_input && matches!(var.role, Role::Input(_) | Role::Slot(_));
    let dtype = if is_checked { var.ty.dtype().typenum() } else { -1 };
    format!(
        "    {{PC_PLACE_{place}, {position}, {}, {dtype}, {}, {}}},\n",
        var.number, var.task, var.sync_task
    )
}
