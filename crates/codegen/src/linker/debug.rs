//! Where a debugger stops: in the debug profile each Apply begins with calls of empty functions named after its ops.
//!
//! `break precast_op_exp` then stops before every `exp`, whatever module it is in and however it was fused: names of the
//! generated functions carry a key that nobody knows by heart.

use super::variables::{Outline, Step};
use crate::template::render;
use precast_store::key::Profile;
use std::collections::BTreeSet;

/// The functions of all ops of a module; nothing in other profiles.
pub(super) fn hooks(outline: &Outline<'_>, profile: Profile) -> String {
    if profile != Profile::Debug {
        return String::new();
    }
    let names: BTreeSet<String> = outline.steps.iter().flat_map(names).collect();
    let hook = |name: &String| render(include_str!("../../c/hook.c.in"), &[("NAME", name)]);
    names.iter().map(hook).collect()
}

/// The calls at the beginning of an Apply.
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
