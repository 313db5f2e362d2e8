//! Several ops in one file scope: names that two of them define are kept apart.
//!
//! Helpers of ops stand at file scope, and their authors do not know of each other: two may call a function `helper`, a
//! macro `N` or the guard of a header `UTIL_H`. In C that is an error at best, at worst another op's macro. So each text is
//! asked what it defines ([`defined`]); a name with two owners gets its owner's digest behind it, `helper__1f0c22ab`,
//! wherever the ops that have it say it:
//!
//! ```text
//! owner                                      is                  so that
//! a text of c_support_code, an own header    its content         equal texts are one, and appear once
//! c_support_code_apply, …_struct             the Apply           two Applies of one op never clash
//! a type                                     nobody's            types keep their names: ops use them
//! the generated code (`run`, `args`, …)      nobody's            an op's helper may be called `init`
//! ```
//! Modules in which nothing clashes are untouched. Ops whose C is this program's own carry their Apply in every name, and are
//! not read.

mod defined;
mod rename;

use super::variables::{Plan, Step};
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::tokens::{Kind, tokens};
use defined::{Macro, defined};
use precast_store::key::{ContentId, Language};
use std::collections::{BTreeMap, BTreeSet};

/// What each name that must change becomes, for one Apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// Names that all Applies of the op share.
    shared: BTreeMap<String, String>,
    /// These and the Apply's own.
    all: BTreeMap<String, String>,
}

impl Names {
    /// A piece of the code of one Apply with its names.
    pub(super) fn apply(&self, code: String) -> String {
        if self.all.is_empty() { code } else { rename::rename(&code, &self.all) }
    }

    /// A piece of the code of all Applies of the op, or one of its headers, with its names.
    pub(super) fn shared(&self, code: String) -> String {
        if self.shared.is_empty() { code } else { rename::rename(&code, &self.shared) }
    }
}

/// Names that the generated code has around an op's code; `ctx`, `self` and `failure` are said by ops too, and so are none.
const RUN: [&str; 4] = ["args", "opaque", "slots", "temps"];
/// Those that it has in C++ besides, as members.
const MEMBERS: [&str; 3] = ["cleanup", "init", "run"];
/// Members of the ABI's structs that it uses: a macro would replace them.
const FIELDS: [&str; 12] = [
    "alloc", "data", "dtype", "error", "host", "kind", "message", "ndim", "object", "refcount", "release",
    "shape",
];

/// A piece of text that defines names, by who owns them.
struct Piece {
    /// `None`: names of this piece never change.
    owner: Option<String>,
    /// Whether it is that of one Apply.
    is_apply: bool,
    text: String,
}

/// Whether an op's C may have names that do not carry the Apply.
pub(super) fn is_foreign(step: &Step<'_>) -> bool {
    step.op.content_id().is_none() || !step.op.c_files().is_empty()
}

/// Keeps the names of the plan's ops apart.
pub(super) fn separate(plan: &mut Plan<'_>, language: Language) -> Result<(), LinkError> {
    if !plan.steps.iter().any(is_foreign) {
        return Ok(());
    }
    let mut types = Vec::new();
    for var in &plan.vars {
        types.extend(var.ctype.c_support_code());
        types.extend(own(var.ctype.c_sources()).map(|(_, text)| text));
    }
    types.sort();
    types.dedup();
    let mut pieces: Vec<Vec<Piece>> = Vec::new();
    for step in &plan.steps {
        pieces.push(if is_foreign(step) { of_step(step, &types)? } else { Vec::new() });
    }
    pieces.push(types.into_iter().map(|text| Piece { owner: None, is_apply: false, text }).collect());
    let clashes = clashes(plan, &pieces, language)?;
    for (step, pieces) in plan.steps.iter_mut().zip(&pieces) {
        step.names = names(pieces, &clashes);
    }
    Ok(())
}

fn own(sources: SourceSet) -> impl Iterator<Item = (String, String)> {
    let own = sources.into_iter().filter(|(name, _)| is_own(name));
    own.map(|(name, text)| (name, text.to_string()))
}

/// Whether a file is an op's own, and not one of this program.
pub(super) fn is_own(name: &str) -> bool {
    !["precast/", "numpy/", "Python.h"].iter().any(|prefix| name.starts_with(prefix))
}

fn of_step(step: &Step<'_>, types: &[String]) -> Result<Vec<Piece>, LinkError> {
    let shared = step.op.c_support_code().into_iter();
    let sources = own(step.op.c_sources()).map(|(_, text)| text);
    let mut pieces: Vec<Piece> = shared
        .chain(sources)
        .filter(|text| !types.contains(text))
        .map(|text| Piece {
            owner: Some(ContentId::of(&text).short()[..8].to_owned()),
            is_apply: false,
            text,
        })
        .collect();
    let position = step.node.position;
    for text in [
        step.op.c_support_code_apply(&step.node, &step.name)?,
        step.op.c_support_code_struct(&step.node, &step.name),
    ] {
        pieces.push(Piece { owner: Some(format!("n{position}")), is_apply: true, text });
    }
    Ok(pieces)
}

/// Who has a name.
#[derive(Default)]
struct Holders<'p> {
    owners: BTreeSet<Option<&'p str>>,
    /// What it is as a macro, by piece.
    macros: Vec<Macro<'p>>,
    is_only_macro: bool,
}

/// The names that cannot stay as they are.
fn clashes(
    plan: &Plan<'_>,
    pieces: &[Vec<Piece>],
    language: Language,
) -> Result<BTreeSet<String>, LinkError> {
    let mut holders: BTreeMap<&str, Holders<'_>> = BTreeMap::new();
    for piece in pieces.iter().flatten() {
        let tokens = tokens(&piece.text);
        let found = defined(&tokens, &piece.text);
        let owner = piece.owner.as_deref();
        for (name, is) in found.macros {
            let holder =
                holders.entry(name).or_insert_with(|| Holders { is_only_macro: true, ..Holders::default() });
            holder.owners.insert(owner);
            holder.macros.push(is);
        }
        for name in found.names {
            let holder = holders.entry(name).or_default();
            holder.owners.insert(owner);
            holder.is_only_macro = false;
        }
    }
    for (name, holder) in &mut holders {
        let member = language == Language::Cxx && MEMBERS.contains(name);
        if RUN.contains(name) || member || (!holder.macros.is_empty() && FIELDS.contains(name)) {
            holder.is_only_macro = false;
            holder.owners.insert(None);
        }
    }
    let mut found: BTreeSet<String> =
        holders.iter().filter(|(_, holder)| holder.clashes()).map(|(name, _)| (*name).to_owned()).collect();
    let macros: BTreeMap<&str, &BTreeSet<Option<&str>>> =
        holders.iter().filter(|(_, h)| !h.macros.is_empty()).map(|(name, h)| (*name, &h.owners)).collect();
    if !macros.is_empty() && plan.steps.len() > 1 {
        for (step, pieces) in plan.steps.iter().zip(pieces) {
            found.extend(overtaken(step, pieces, &macros)?);
        }
    }
    Ok(found)
}

impl Holders<'_> {
    fn clashes(&self) -> bool {
        // To define a macro twice in the same words is allowed, but the guard of a second header would hide it.
        let same = self.macros.windows(2).all(|pair| pair[0].words == pair[1].words);
        let harmless = self.is_only_macro && same && !self.macros.iter().any(|is| is.is_guard);
        self.owners.len() > 1 && !harmless
    }
}

/// Macros of other ops that this op's code would fall into.
fn overtaken(
    step: &Step<'_>,
    pieces: &[Piece],
    macros: &BTreeMap<&str, &BTreeSet<Option<&str>>>,
) -> Result<Vec<String>, LinkError> {
    let (op, node, name, sub) = (step.op, &step.node, &step.name, step.sub(step.task));
    let mut texts = vec![
        op.c_code(node, name, &step.inputs, &step.outputs, &sub)?,
        op.c_code_cleanup(node, name, &step.inputs, &step.outputs, &sub),
        op.c_support_code_apply(node, name)?,
        op.c_support_code_struct(node, name),
        op.c_init_code_struct(node, name, &sub),
        op.c_cleanup_code_struct(node, name),
        op.c_init_code_apply(node, name),
    ];
    texts.extend(op.c_init_code());
    texts.extend(pieces.iter().map(|piece| piece.text.clone()));
    let mine: BTreeSet<Option<&str>> = pieces.iter().map(|piece| piece.owner.as_deref()).collect();
    let mut found = Vec::new();
    for text in &texts {
        let words = tokens(text);
        let words = words.iter().filter(|token| token.kind == Kind::Word).map(|token| token.text);
        let hit = words.filter(|word| macros.get(word).is_some_and(|owners| owners.is_disjoint(&mine)));
        found.extend(hit.map(str::to_owned));
    }
    Ok(found)
}

/// What becomes of an op's names that clash.
fn names(pieces: &[Piece], clashes: &BTreeSet<String>) -> Names {
    let mut names = Names::default();
    for piece in pieces.iter().filter(|_| !clashes.is_empty()) {
        let Some(owner) = &piece.owner else { continue };
        let tokens = tokens(&piece.text);
        let found = defined(&tokens, &piece.text);
        for name in found.names.into_iter().chain(found.macros.into_keys()) {
            if clashes.contains(name) {
                let new = names.all.entry(name.to_owned()).or_insert_with(|| format!("{name}__{owner}"));
                if !piece.is_apply {
                    names.shared.insert(name.to_owned(), new.clone());
                }
            }
        }
    }
    names
}
