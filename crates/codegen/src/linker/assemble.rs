//! Assembles the text of a module.

use super::collect::{self, Requests};
use super::native::{self, Native, Surroundings};
use super::shared;
use super::signature::{plain, print};
use super::variables::{Outline, Part, Task, outline};
use super::{cpython, debug, frame, instance, reserved, run};
use crate::error::LinkError;
use crate::extension::Host;
use crate::library::Library;
use crate::module::Module;
use crate::native::native_signature;
use crate::template::{escape, render};
use precast_core::NoNative;
use precast_graph::{FunctionGraph, Type};
use precast_store::key::Language;

/// Creates the module of a valid graph.
pub(super) fn assemble(graph: &FunctionGraph, library: &Library) -> Result<Module, LinkError> {
    let mut outline = outline(graph, library)?;
    shared::generate(&mut outline)?;
    let language = collect::language(&outline);
    let requests = collect::collect(&outline, language)?;
    let n_constants = graph.slots().count();
    let n_slots = n_constants + outline.n_params;
    let types = |ids: &[precast_graph::VarId]| ids.iter().map(|v| graph.ty(*v).clone()).collect::<Vec<_>>();
    let (inputs, outputs) = (types(graph.inputs()), types(graph.outputs()));
    let ops: Vec<String> = outline
        .main
        .steps
        .iter()
        .map(|s| print(&s.apply.op.label(), &s.node.inputs, &s.node.outputs))
        .collect();
    let signature = match ops.as_slice() {
        [one] => one.clone(),
        _ => print("graph", &inputs, &outputs),
    };
    let context = instance::Context::new(requests.is_compat, outline.is_foreign, requests.language);
    let load = instance::load(&outline, &context);
    let reserved = reserved::check(&outline);
    let around = Surroundings {
        context: &context,
        profile: library.profile(),
        may_hide: may_hide(&outline, &requests),
    };
    let (native, entry) = match library.host() {
        Host::Native => {
            let native = native::of(&outline, &around)?;
            let entry = entry(&outline, load, &signature, native.as_ref().ok(), [&inputs, &outputs], n_slots);
            (native, entry)
        }
        Host::Cpython { .. } => {
            (Err(NoNative::Body), cpython::entry(&outline, load, &signature, [&inputs, &outputs], n_slots)?)
        }
    };
    let template = match requests.language {
        Language::Cxx => include_str!("../../c/module.cc.in"),
        Language::C => include_str!("../../c/module.c.in"),
    };
    let body = render(
        template,
        &[
            ("SUPPORT", &(debug::hooks(&outline, library.profile()) + &before(&requests.support, &reserved))),
            ("GRAPH", &picture(&outline, graph)),
            ("N_SLOTS", &n_slots.to_string()),
            ("N_TEMPS", &outline.n_temps.to_string()),
            ("MEMBERS", &instance::members(&outline)),
            ("CLEANUP", &instance::cleanup(&outline, n_slots, &context)),
            ("INIT", &instance::init(&outline, n_constants, &context)),
            ("RUN", &run_of(&outline, &requests, n_slots, &context, library)?),
            ("ENTRY", &(entry + &reserved)),
        ],
    );
    Ok(Module {
        signature,
        ops,
        includes: requests.headers,
        body,
        language: requests.language,
        host: library.host().clone(),
        sources: match library.host() {
            Host::Native => requests.sources,
            Host::Cpython { .. } => cpython::sources(requests.sources),
        },
        flags: requests.flags,
        removed_flags: requests.removed_flags,
        header_dirs: requests.header_dirs,
        libraries: requests.libraries,
        lib_dirs: requests.lib_dirs,
        profile: library.profile(),
        unpublished: requests.unpublished,
        is_alone: language == Language::Cxx || outline.is_foreign,
        versions: super::versions::versions(&outline)?,
        native: native.map(|native| native.signature),
    })
}

/// Returns the function `run`, after those of the graphs that ops call. For a C++ module, returns only the body.
fn run_of(
    outline: &Outline<'_>,
    requests: &Requests,
    n_slots: usize,
    context: &instance::Context,
    library: &Library,
) -> Result<String, LinkError> {
    let (profile, language) = (library.profile(), requests.language);
    if language == Language::Cxx && !outline.bodies.is_empty() {
        let mut steps = outline.bodies.iter().flat_map(|body| &body.steps);
        let is_cxx = steps.find(|step| step.op.c_compiler().is_some_and(|c| c.language == Language::Cxx));
        let op = is_cxx.map_or_else(|| "an op".to_owned(), |step| step.apply.op.label());
        return Err(LinkError::CxxBody { op });
    }
    let function = |part: &Part<'_>| {
        if *library.host() == Host::Native && frame::is_framed(part, outline, language, requests.is_compat) {
            return frame::functions(part, n_slots, context, profile);
        }
        run::function(part, context, profile, language)
    };
    outline.bodies.iter().chain([&outline.main]).map(function).collect()
}

/// Returns whether an author's code could report an error without mentioning `ctx` or `failure`: through a macro, or by
/// any means in C++.
fn may_hide(outline: &Outline<'_>, requests: &Requests) -> bool {
    let own = requests.headers.iter().any(|header| !header.starts_with("precast/"));
    let told = !requests.support.is_empty() || !requests.flags.is_empty() || requests.is_compat || own;
    outline.is_foreign && (told || requests.language == Language::Cxx)
}

/// Renders the graph as a comment that uses the C names of variables: `V3 = exp(V0)`.
fn picture(outline: &Outline<'_>, graph: &FunctionGraph) -> String {
    let names = |ids: &[precast_graph::VarId]| {
        ids.iter().map(|v| format!("V{}", v.index())).collect::<Vec<_>>().join(", ")
    };
    let mut lines = vec![format!("takes {}", names(graph.inputs()))];
    for step in &outline.main.steps {
        let label = escape(&plain(&step.apply.op.label()));
        lines.push(format!("{} = {label}({})", step.outputs.join(", "), step.inputs.join(", ")));
    }
    lines.push(format!("gives {}", names(graph.outputs())));
    format!("/* {}\n */", lines.join("\n * "))
}

/// Returns an author's text followed by directives, each of which starts on its own line.
fn before(text: &str, directives: &str) -> String {
    let is_open = !directives.is_empty() && !text.is_empty() && !text.ends_with('\n');
    format!("{text}{}{directives}", if is_open { "\n" } else { "" })
}

/// Renders the entry of the module's table, its failure IDs and the code run at load.
fn entry(
    outline: &Outline<'_>,
    (load_function, load): (String, &str),
    signature: &str,
    native: Option<&Native>,
    [inputs, outputs]: [&[Type]; 2],
    n_slots: usize,
) -> String {
    let types = native_signature(inputs, outputs);
    let (name, called, text) = match native {
        Some(Native { signature, text }) => ("(void (*)(void))@M@_native", &**signature, &**text),
        None => ("NULL", &*types, ""),
    };
    let task = |t: &Task| format!("    {{{}, {}, {}}},\n", t.kind.c_name(), t.apply, t.variable);
    let tasks: String = outline.tasks.iter().map(task).collect();
    render(
        include_str!("../../c/entry.c.in"),
        &[
            ("LOAD_FUNCTION", &load_function),
            ("LOAD", load),
            ("TASKS", &tasks),
            (
                "SIGNATURE",
                &escape(&signature.replace('\\', "\\\\").replace('"', "\\\"").replace("??", "?\\?")),
            ),
            // `??)` is a C trigraph.
            ("NATIVE", &called.replace('?', "\\?")),
            ("NATIVE_FUNCTION", text),
            ("FUNCTION", name),
            ("N_INPUTS", &inputs.len().to_string()),
            ("N_OUTPUTS", &outputs.len().to_string()),
            ("N_SLOTS", &n_slots.to_string()),
        ],
    )
}
