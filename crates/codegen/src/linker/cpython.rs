//! What is another for an extension module of CPython: its headers, and how it is found and called.
//!
//! The text of a module is that of every host. The headers that it includes make Python's objects of what it calls objects, and
//! CPython's own `Python.h` is found where precast's would be. Behind the text stands `PyInit_<name>` in the place of a table; its
//! function `new` takes the constants and makes what is called. So an op that is written in CPython's and NumPy's API, as Aesara's are,
//! runs in both hosts; one that names `pc_tensor`, and the library's, do not.

use super::signature::print;
use super::variables::{Outline, Step, is_foreign};
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::template::render;
use precast_abi::compat;
use precast_graph::Type;

/// The headers of this host, by the names of the others.
const HEADERS: [(&str, &str); 2] = [
    ("precast/module.h", include_str!("../../c/cpython/precast/module.h")),
    ("precast/link.h", include_str!("../../c/cpython/precast/link.h")),
];

/// The own files of a module, with the headers of this host in the place of the others'.
pub(super) fn sources(mut sources: SourceSet) -> SourceSet {
    sources.retain(|name, _| {
        !compat::is_header(name) && !precast_abi::HEADERS.iter().any(|(own, _)| own == name)
    });
    precast_abi::COMPAT_HEADERS.iter().for_each(|(name, _)| _ = sources.remove(*name));
    sources.extend(HEADERS.map(|(name, text)| (name.to_owned(), text.into())));
    sources
}

/// What stands behind the text.
pub(super) fn entry(
    outline: &Outline<'_>,
    (load_function, load): (String, &str),
    signature: &str,
    [inputs, outputs]: [&[Type]; 2],
    n_slots: usize,
) -> Result<String, LinkError> {
    outline.steps.iter().try_for_each(check)?;
    // Values of an author's types may be any objects.
    let ndim = |ty: &Type| match ty {
        Type::Tensor(tensor) => format!("{}, ", tensor.shape.len()),
        _ => "-1, ".to_owned(),
    };
    let load = if load == "0" { "0".to_owned() } else { format!("{load}(NULL) != 0") };
    Ok(render(
        include_str!("../../c/cpython.c.in"),
        &[
            ("LOAD_FUNCTION", &load_function),
            ("LOAD", &load),
            ("NDIMS", &inputs.iter().map(ndim).collect::<String>()),
            ("SIGNATURE", &signature.replace('\\', "\\\\").replace('"', "\\\"")),
            ("N_INPUTS", &inputs.len().to_string()),
            ("N_OUTPUTS", &outputs.len().to_string()),
            ("N_SLOTS", &n_slots.to_string()),
        ],
    ))
}

/// Refuses what is written for our own host.
fn check(step: &Step<'_>) -> Result<(), LinkError> {
    let types = || step.node.inputs.iter().chain(&step.node.outputs);
    let problem = if !step.params.is_empty() {
        "params that are given at run time are of host `native`"
    } else if !is_foreign(step.op, types()) {
        "the library's ops are of host `native`"
    } else {
        return Ok(());
    };
    let signature = print(&step.apply.op.label(), &step.node.inputs, &step.node.outputs);
    Err(LinkError::Unsupported { signature, problem: problem.to_owned() })
}
