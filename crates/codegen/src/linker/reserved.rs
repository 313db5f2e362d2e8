//! Names that an author's macros may not have: words of the generated code behind the author's text.
//!
//! Functions, types and variables of an author may be called anything: the generated code has names of its own, with `pc_` in
//! front, and documented ones (`self`, `ctx`, `failure`, `V3`). Macros replace words whatever they stand for, so a module
//! with an author's text asks the preprocessor, once behind the support code and once at its end, whether a word that it says
//! itself is a macro. Asking there sees what reading the text would not: macros of headers and of flags, conditions, `#undef`.

use super::variables::{Outline, Var};
use crate::ctype::CType;
use crate::template::render;
use crate::tokens::{Kind, tokens};
use std::collections::BTreeSet;

/// The files with what every module says.
const TEMPLATES: [&str; 5] = [
    include_str!("../../c/module.c.in"),
    include_str!("../../c/module.cc.in"),
    include_str!("../../c/entry.c.in"),
    include_str!("../../c/table.c.in"),
    include_str!("../../c/native.c.in"),
];
/// What `run`, `init` and the native function say besides.
const FIXED: &str = "const ctx extern failure goto if int self sizeof void";
/// Names that headers may define as they like, to the same effect.
const ALLOWED: [&str; 3] = ["NULL", "uint32_t", "defined"];

/// The check, for a module with an author's text; else nothing.
pub(super) fn check(outline: &Outline<'_>) -> String {
    if !outline.is_foreign {
        return String::new();
    }
    let ask = |name: &String| render(include_str!("../../c/reserved.c.in"), &[("NAME", name)]);
    names(outline).iter().map(ask).collect()
}

/// The words of the generated code, sorted.
fn names(outline: &Outline<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    TEMPLATES.iter().chain([&FIXED]).for_each(|text| add(&mut found, text));
    let params = outline.steps.iter().flat_map(|step| step.params.fields());
    found.extend(params.map(|(field, _)| field.to_owned()));
    for var in &outline.vars {
        let sub = var.sub(var.task);
        found.extend([var.name.clone(), sub.py_ptr.clone(), sub.stor_ptr.clone()]);
        if var.ty.as_user().is_none() {
            code(var, &sub).iter().for_each(|text| add(&mut found, text));
        }
    }
    found
}

/// The code around a value.
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

/// Adds the words of a text. What has a mark in front or in it is the module's own.
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
