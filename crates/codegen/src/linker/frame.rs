//! `run` of a module with only tensor variables and only precast's C code: a table of variables, and a body with the
//! ops' code.
//!
//! The code around the body is the same for every tensor, so the host does this work (`pc_host.frame`). As nested C
//! blocks, it would take a third of a small module's compile time.

use super::instance::Context;
use super::run;
use super::variables::{Outline, Role, Var};
use crate::error::LinkError;
use crate::template::render;
use precast_store::key::{Language, Profile};
use std::fmt::Write as _;

/// Returns whether a module uses a frame: its variables are tensors of built-in types, and its functions need no code
/// around them.
pub(super) fn is_framed(outline: &Outline<'_>, language: Language, is_compat: bool) -> bool {
    let plain = |var: &Var<'_>| var.ty.as_user().is_none() && !var.ctype.c_is_simple();
    language == Language::C && !is_compat && !outline.is_foreign && outline.vars.iter().all(plain)
}

/// Renders the functions `body` and `run` with their table.
pub(super) fn functions(
    outline: &Outline<'_>,
    (n_inputs, n_slots): (usize, usize),
    context: &Context,
    profile: Profile,
) -> Result<String, LinkError> {
    let (mut body, mut behind, mut table) = (String::new(), String::new(), String::new());
    for (at, var) in outline.vars.iter().enumerate() {
        let name = &var.name;
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "  pc_tensor *{name} = pc_variables[{at}]; /* {} */\n  (void){name};",
            var.role.describe()
        );
        if !matches!(var.role, Role::Input(_) | Role::Slot(_)) {
            let _ = writeln!(behind, "  pc_variables[{at}] = {name};");
        }
        table.push_str(&row(var));
    }
    body.push_str(&run::nested(&run::steps(outline, profile, context)?));
    let values = [
        ("BODY", &*(body + &behind)),
        ("VARIABLES", &table),
        ("N_VARIABLES", &outline.vars.len().to_string()),
        ("N_INPUTS", &n_inputs.to_string()),
        ("N_SLOTS", &n_slots.to_string()),
    ];
    Ok(render(include_str!("../../c/framed.c.in"), &values))
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
