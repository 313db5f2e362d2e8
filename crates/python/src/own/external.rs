//! Files with sections, passed by `precast.ExternalCOp`.

use precast_codegen::external::{Declaration, ExternalCOp};
use precast_store::key::Language;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The files of an external op.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Files {
    /// The names and texts of the files.
    files: Vec<(String, String)>,
    /// The op's own headers: names and texts.
    sources: BTreeMap<String, String>,
    func: Option<String>,
    max_inputs: Option<usize>,
    max_outputs: Option<usize>,
}

/// Creates an op from files, for the types of one Apply.
pub(super) fn op(files: Files, told: &super::op::Told, params: Declaration) -> Result<ExternalCOp, String> {
    let declaration = Declaration {
        files: files.files.into_iter().map(|(name, text)| (name, text.into())).collect(),
        sources: files.sources.into_iter().map(|(name, text)| (name, text.into())).collect(),
        func: files.func,
        inputs: told.inputs.clone(),
        outputs: told.outputs.clone(),
        max_inputs: files.max_inputs,
        max_outputs: files.max_outputs,
        headers: told.list("c_headers"),
        header_dirs: told.list("c_header_dirs"),
        libraries: told.list("c_libraries"),
        lib_dirs: told.list("c_lib_dirs"),
        compile_args: told.list("c_compile_args"),
        no_compile_args: told.list("c_no_compile_args"),
        language: told.cxx.map(|cxx| if cxx { Language::Cxx } else { Language::C }),
        version: told.version.clone(),
        view_map: told.view_map.clone(),
        destroy_map: told.destroy_map.clone(),
        check_input: told.check_input,
        f16_ok: told.f16_ok,
        ..params
    };
    ExternalCOp::new(declaration).map_err(|refused| precast_core::event::chain(&refused))
}
