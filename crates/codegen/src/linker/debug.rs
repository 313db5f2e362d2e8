//! Debugger hooks: in the debug profile, each Apply starts with calls of empty functions named after its ops.
//!
//! `break precast_op_exp` then stops before every `exp`, in any module and however it was fused. The names of generated
//! functions contain a key, so they are unsuitable for breakpoints.

use super::variables::{Outline, Step};
use crate::template::render;
use precast_store::key::Profile;
use std::collections::BTreeSet;

/// Renders the hook functions of all ops of a module; empty for other profiles.
pub(super) fn hooks(outline: &Outline<'_>, profile: Profile) -> String {
    if profile != Profile::Debug {
        return String::new();
    }
    let names: BTreeSet<String> = outline.steps().flat_map(names).collect();
    let hook = |name: &String| render(include_str!("../../c/hook.c.in"), &[("NAME", name)]);
    names.iter().map(hook).collect()
}

/// Renders the hook calls at the start of an Apply.
pub(super) fn calls(step: &Step<'_>, profile: Profile) -> String {
    if profile != Profile::Debug {
        return String::new();
    }
    names(step).iter().map(|name| format!("{name}();\n")).collect()
}

fn names(step: &Step<'_>) -> Vec<String> {
    let identifier =
        |name: &String| name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let names = step.op.debug_names().iter().map(identifier).collect::<BTreeSet<String>>();
    names.into_iter().map(|name| format!("precast_op_{name}")).collect()
}
