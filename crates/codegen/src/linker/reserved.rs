//! Names that an author's macros must not have: words of the generated code that follows the author's text.
//!
//! An author's functions, types and variables may have any name. The generated code uses only names with the prefix
//! `pc_` and documented names (`self`, `ctx`, `failure`, `V3`). Macros, however, replace words everywhere. So a module
//! with an author's text uses preprocessor conditionals to check that none of the words of its generated code is a
//! macro. It checks once after the support code and once at the end. Unlike reading the text, this check also sees
//! macros of headers and flags, conditions and `#undef`.

use super::variables::{Outline, Var};
use crate::ctype::CType;
use crate::template::render;
use crate::tokens::{Kind, tokens};
use std::collections::BTreeSet;

/// The files with the text that every module contains.
const TEMPLATES: [&str; 5] = [
    include_str!("../../c/module.c.in"),
    include_str!("../../c/module.cc.in"),
    include_str!("../../c/entry.c.in"),
    include_str!("../../c/table.c.in"),
    include_str!("../../c/native.c.in"),
];
/// Further words of `run`, `init` and the native function.
const FIXED: &str = "const ctx extern failure goto if int self sizeof void";
/// Names that headers may define in any way, since the effect is the same.
const ALLOWED: [&str; 3] = ["NULL", "uint32_t", "defined"];

/// Renders the check for a module with an author's text; empty for other modules.
pub(super) fn check(outline: &Outline<'_>) -> String {
    if !outline.is_foreign {
        return String::new();
    }
    let ask = |name: &String| render(include_str!("../../c/reserved.c.in"), &[("NAME", name)]);
    names(outline).iter().map(ask).collect()
}

/// Returns the words of the generated code, sorted.
fn names(outline: &Outline<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    TEMPLATES.iter().chain([&FIXED]).for_each(|text| add(&mut found, text));
    let params = outline.steps().flat_map(|step| step.params.fields());
    found.extend(params.map(|(field, _)| field.to_owned()));
    for var in outline.vars() {
        let sub = var.sub(var.task);
        found.extend([var.name.clone(), sub.py_ptr.clone(), sub.stor_ptr.clone()]);
        if var.ty.as_user().is_none() {
            code(var, &sub).iter().for_each(|text| add(&mut found, text));
        }
    }
    found
}

/// Returns the code around a value.
fn code(var: &Var<'_>, sub: &crate::sub::Sub) -> [String; 6] {
    let (ctype, name): (&dyn CType, &str) = (&*var.ctype, &var.name);
    [
        ctype.c_declare(name, sub, true),
        ctype.c_init(name, sub),
        ctype.c_extract(name, sub, true),
        ctype.c_extract_out(name, sub, true),
        ctype.c_sync(name, sub),
        ctype.c_cleanup(name, sub),
    ]
}

/// Adds the words of a text. Words with a mark as a prefix or inside are unique to the module.
fn add(found: &mut BTreeSet<String>, text: &str) {
    let plain = text.replace("@M@", "pc_").replace('@', " ");
    let marks: BTreeSet<&str> = text.split('@').skip(1).step_by(2).collect();
    for word in tokens(&plain).iter().filter(|token| token.kind == Kind::Word && !token.directive) {
        let own = ["pc_", "PC_"].iter().any(|prefix| word.text.starts_with(prefix));
        if !own && !marks.contains(word.text) && !ALLOWED.contains(&word.text) {
            found.insert(word.text.to_owned());
        }
    }
}
