//! The versions that authors assigned, with the digests of the C code they cover.
//!
//! If an op has author-written files ([`crate::COp::c_files`]), the digests are those of the files. Otherwise they are
//! digests of each method's text, generated with names that do not depend on the graph. So an op has the same digest in
//! every graph. Only ops and types with a version incur this cost.

use super::signature::{print, rankless};
use super::variables::{Outline, Step, Var};
use crate::cop::Node;
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::object::{CLinkerObject, CacheVersion};
use crate::sub::Sub;
use precast_store::key::{ContentId, Versioned};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the versioned ops and types of a module, sorted and without duplicates.
pub(super) fn versions(outline: &Outline<'_>) -> Result<Vec<Versioned>, LinkError> {
    let mut found = BTreeSet::new();
    for step in outline.steps() {
        if let CacheVersion::Version(version) = step.op.c_code_cache_version_apply(&step.node) {
            let op = print(&step.apply.op.label(), &step.node.inputs, &step.node.outputs);
            found.insert(Versioned { op, version, files: ids(&files(step)?) });
        }
    }
    for var in outline.vars() {
        if let CacheVersion::Version(version) = var.ctype.c_code_cache_version() {
            found.insert(Versioned { op: rankless(var.ty), version, files: ids(&type_files(var)) });
        }
    }
    Ok(found.into_iter().collect())
}

fn ids(files: &SourceSet) -> BTreeMap<String, ContentId> {
    files.iter().map(|(name, text)| (name.clone(), ContentId::of(text.as_bytes()))).collect()
}

/// Returns the C code of an op by file, or by method if it has no files.
fn files(step: &Step<'_>) -> Result<SourceSet, LinkError> {
    let own = step.op.c_files();
    if !own.is_empty() {
        return Ok(own);
    }
    let (op, name) = (step.op, "@M@_n0");
    let node = Node { position: 0, ..step.node.clone() };
    let names = |side: char, count: usize| (0..count).map(|i| format!("{side}{i}")).collect::<Vec<String>>();
    let (inputs, outputs) = (names('I', step.inputs.len()), names('O', step.outputs.len()));
    let sub = Sub { params: step.sub(1).params.map(|_| crate::params::pointer(name)), ..fixed() };
    let mut set = Methods::of(op);
    set.add("c_code", op.c_code(&node, name, &inputs, &outputs, &sub)?);
    set.add("c_code_cleanup", op.c_code_cleanup(&node, name, &inputs, &outputs, &sub));
    set.add("c_support_code_apply", op.c_support_code_apply(&node, name)?);
    set.add("c_init_code_apply", op.c_init_code_apply(&node, name));
    set.add("c_support_code_struct", op.c_support_code_struct(&node, name));
    set.add("c_init_code_struct", op.c_init_code_struct(&node, name, &sub));
    set.add("c_cleanup_code_struct", op.c_cleanup_code_struct(&node, name));
    Ok(set.0)
}

/// Returns the C code of a type by method.
fn type_files(var: &Var<'_>) -> SourceSet {
    let (ctype, sub) = (&*var.ctype, Sub { py_ptr: "py_V".into(), stor_ptr: "storage_V".into(), ..fixed() });
    let mut set = Methods::of(ctype);
    set.add("c_declare", ctype.c_declare("V", &sub, true));
    set.add("c_init", ctype.c_init("V", &sub));
    set.add("c_extract", ctype.c_extract("V", &sub, true));
    set.add("c_extract_out", ctype.c_extract_out("V", &sub, true));
    set.add("c_sync", ctype.c_sync("V", &sub));
    set.add("c_cleanup", ctype.c_cleanup("V", &sub));
    set.0
}

/// Returns a `sub` that does not depend on the graph.
fn fixed() -> Sub {
    Sub { fail: "FAIL".to_owned(), id: 1, failure_var: "failure".to_owned(), ..Sub::default() }
}

/// Texts by the method that returned them, without empty ones.
struct Methods(SourceSet);

impl Methods {
    /// Collects the methods that all linker objects have.
    fn of(object: &(impl CLinkerObject + ?Sized)) -> Self {
        // precast's headers belong to the generator, not to the author.
        let own = object.c_sources().into_iter().filter(|(name, _)| !name.starts_with("precast/"));
        let mut set = Self(own.collect());
        set.add("c_support_code", object.c_support_code().join("\n"));
        set.add("c_init_code", object.c_init_code().join("\n"));
        set.add("c_headers", object.c_headers().join("\n"));
        set
    }

    fn add(&mut self, method: &str, text: String) {
        if !text.is_empty() {
            self.0.insert(method.to_owned(), text.into());
        }
    }
}
