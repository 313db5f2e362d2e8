//! Collects the requests of ops and types without duplicates: types first, then ops, in graph order.

use super::native;
use super::variables::Outline;
use crate::error::LinkError;
use crate::module::SourceSet;
use crate::object::{CCompiler, CLinkerObject, CacheVersion};
use precast_abi::compat;
use precast_graph::{DType, Type};
use precast_store::key::Language;
use std::collections::HashSet;
use std::sync::Arc;

/// The name and text of a header for modules with author-written C or with a native function.
const FLOAT_STATE: (&str, &str) = ("precast/float_state.h", include_str!("../../c/precast/float_state.h"));

/// The requests of all ops and types of a module.
pub(super) struct Requests {
    pub(super) language: Language,
    pub(super) headers: Vec<String>,
    pub(super) header_dirs: Vec<String>,
    pub(super) libraries: Vec<String>,
    pub(super) lib_dirs: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) removed_flags: Vec<String>,
    pub(super) sources: SourceSet,
    pub(super) support: String,
    pub(super) unpublished: bool,
    /// Whether an op requests the compat headers, whose functions need the current context.
    pub(super) is_compat: bool,
}

pub(super) fn collect(outline: &Outline<'_>, language: Language) -> Result<Requests, LinkError> {
    let objects: Vec<&dyn CLinkerObject> = objects(outline).collect();
    let compiler = CCompiler { language };
    check_halves(outline, &compiler)?;
    let all = |with: fn(&dyn CLinkerObject, &CCompiler) -> Option<Vec<String>>,
               without: fn(&dyn CLinkerObject) -> Vec<String>| {
        unique(objects.iter().flat_map(|o| with(*o, &compiler).unwrap_or_else(|| without(*o))))
    };
    let mut headers = vec!["precast/module.h".to_owned()];
    let has_float_state = outline.is_foreign || native::refusal(outline).is_none();
    headers.extend(has_float_state.then(|| FLOAT_STATE.0.to_owned()));
    headers.extend(all(|o, c| o.c_headers_for(c), |o| o.c_headers()));
    headers.extend(outline.steps().flat_map(|s| s.op.c_headers_apply(&s.node)));
    let mut flags = all(|o, c| o.c_compile_args_for(c), |o| o.c_compile_args());
    // A removed flag may be an argument of another op, or one of the compiler's defaults.
    let removed_flags = all(|o, c| o.c_no_compile_args_for(c), |o| o.c_no_compile_args());
    flags.retain(|flag| !removed_flags.contains(flag));
    let mut headers = unique(headers.into_iter());
    // precast's headers come first, so that definitions in authors' headers cannot change their meaning.
    headers.sort_by_key(|header| !header.starts_with("precast/"));
    let is_compat = headers.iter().any(|header| compat::is_header(header));
    let mut sources = sources(outline)?;
    sources.extend(has_float_state.then(|| (FLOAT_STATE.0.to_owned(), FLOAT_STATE.1.into())));
    if is_compat {
        sources.extend(
            precast_abi::COMPAT_HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())),
        );
    }
    Ok(Requests {
        language,
        headers,
        is_compat,
        header_dirs: all(|o, c| o.c_header_dirs_for(c), |o| o.c_header_dirs()),
        libraries: all(|o, c| o.c_libraries_for(c), |o| o.c_libraries()),
        lib_dirs: all(|o, c| o.c_lib_dirs_for(c), |o| o.c_lib_dirs()),
        flags,
        removed_flags,
        sources,
        support: support(outline)?,
        unpublished: outline
            .steps()
            .map(|s| s.op.c_code_cache_version_apply(&s.node))
            .chain(outline.vars().map(|v| v.ctype.c_code_cache_version()))
            .any(|version| version == CacheVersion::Never),
    })
}

/// Returns types first, then params and ops, in graph order.
fn objects<'p>(outline: &'p Outline<'_>) -> impl Iterator<Item = &'p dyn CLinkerObject> {
    let types = outline.vars().map(|var| {
        let object: &dyn CLinkerObject = &*var.ctype;
        object
    });
    types.chain(outline.steps().flat_map(|step| {
        let (params, op): (&dyn CLinkerObject, &dyn CLinkerObject) = (&step.params, step.op);
        [params, op]
    }))
}

/// Returns C, or C++ if any fragment requires it.
pub(super) fn language(outline: &Outline<'_>) -> Language {
    let wants_cxx = |o: &dyn CLinkerObject| o.c_compiler().is_some_and(|c| c.language == Language::Cxx);
    if objects(outline).any(wants_cxx) { Language::Cxx } else { Language::C }
}

/// Rejects 16-bit floats if an op's C code would treat them as integers.
fn check_halves(outline: &Outline<'_>, compiler: &CCompiler) -> Result<(), LinkError> {
    for step in outline.steps().filter(|step| !step.op.f16_ok()) {
        let own = step.op.c_headers_for(compiler).unwrap_or_else(|| step.op.c_headers());
        let foreign =
            own.iter().chain(&step.op.c_headers_apply(&step.node)).any(|header| compat::is_header(header));
        let dtypes = step.node.inputs.iter().chain(&step.node.outputs).map(Type::dtype);
        let half = dtypes.into_iter().find(|dtype| matches!(dtype, DType::F16 | DType::Bf16));
        if let (true, Some(dtype)) = (foreign, half) {
            let types = |types: &[Type]| types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let (inputs, outputs) = (types(&step.node.inputs), types(&step.node.outputs));
            let signature = format!("{}({inputs}) -> {outputs}", step.apply.op.label());
            return Err(LinkError::Half { signature, dtype });
        }
    }
    Ok(())
}

/// Returns the source files of all objects and the headers that every module may include. One name must not refer to
/// two texts.
fn sources(outline: &Outline<'_>) -> Result<SourceSet, LinkError> {
    let mut all = crate::module::support_headers();
    for (name, text) in outline.vars().flat_map(|var| var.ctype.c_sources()) {
        add(&mut all, name, text)?;
    }
    let ops = outline.steps().flat_map(|step| {
        let (own, of_types) = (step.op.c_sources(), step.op.c_sources_apply(&step.node));
        step.params.c_sources().into_iter().chain(own).chain(of_types)
    });
    for (name, text) in ops {
        add(&mut all, name, text)?;
    }
    Ok(all)
}

fn add(all: &mut SourceSet, name: String, text: Arc<str>) -> Result<(), LinkError> {
    match all.get(&name) {
        Some(known) if *known != text => Err(LinkError::SourceTwice { name }),
        _ => {
            all.insert(name, text);
            Ok(())
        }
    }
}

/// Returns the support code: shared texts once, then each Apply's own text after the struct of its params.
fn support(outline: &Outline<'_>) -> Result<String, LinkError> {
    let types = outline.vars().flat_map(|var| var.ctype.c_support_code());
    let ops = outline.steps().flat_map(|step| {
        let own = step.op.c_support_code().into_iter().map(|code| step.shared(code));
        let shared = step.op.c_shared_code_apply(&step.node);
        step.params.c_support_code().into_iter().chain(own).chain(shared)
    });
    let mut parts = unique(types.chain(ops));
    for step in outline.steps() {
        parts.push(step.params.declare(&step.name));
        parts.push(step.own(step.support.clone()));
    }
    parts.retain(|part| !part.is_empty());
    Ok(parts.join("\n"))
}

/// Removes duplicates and empty items, keeping the order.
fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut known: HashSet<String> = HashSet::new();
    items.filter(|item| !item.is_empty() && known.insert(item.clone())).collect()
}
