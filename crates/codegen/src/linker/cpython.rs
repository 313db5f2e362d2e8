//! The differences of CPython extension modules: their headers, and how they are loaded and called.
//!
//! The module text is the same as for other hosts, but it includes different headers, in which objects are Python
//! objects. `Python.h` is CPython's own header instead of precast's. The text is followed by `PyInit_<name>` instead of
//! a table; its function `new` takes the constants and creates the callable. So an op written against CPython's and
//! NumPy's API, such as Aesara's ops, runs in both hosts. Ops that use `pc_tensor`, and the library's ops, do not.

use super::signature::print;
use super::variables::{Outline, Step, is_foreign};
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::template::render;
use precast_abi::compat;
use precast_graph::Type;

/// The headers that replace the native host's headers of the same names.
const HEADERS: [(&str, &str); 2] = [
    ("precast/module.h", include_str!("../../c/cpython/precast/module.h")),
    ("precast/link.h", include_str!("../../c/cpython/precast/link.h")),
];

/// Returns a module's source files, with the native host's headers replaced by those of CPython.
pub(super) fn sources(mut sources: SourceSet) -> SourceSet {
    sources.retain(|name, _| {
        !compat::is_header(name) && !precast_abi::HEADERS.iter().any(|(own, _)| own == name)
    });
    precast_abi::COMPAT_HEADERS.iter().for_each(|(name, _)| _ = sources.remove(*name));
    sources.extend(HEADERS.map(|(name, text)| (name.to_owned(), text.into())));
    sources
}

/// Renders the code after the module text.
pub(super) fn entry(
    outline: &Outline<'_>,
    (load_function, load): (String, &str),
    signature: &str,
    [inputs, outputs]: [&[Type]; 2],
    n_slots: usize,
) -> Result<String, LinkError> {
    outline.steps().try_for_each(check)?;
    // Values of an author's types may be arbitrary objects.
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

/// Rejects ops written for the native host.
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
