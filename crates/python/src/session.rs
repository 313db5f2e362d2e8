//! Compiles graphs to functions, with layers, a policy, and a compiler if the policy allows it.
//!
//! Equal settings share one runtime in a process, so that compiled and loaded modules are reused.

use crate::boundary::object;
use crate::compiler;
use crate::error;
use crate::function::Function;
use crate::graph::replay::ops;
use crate::graph::whole::Graph;
use crate::own::op::OwnOp;
use crate::own::{ctype, stash};
use precast_core::CodeOrigin;
use precast_graph::{FunctionGraph, Type};
use precast_ops::{DimShuffle, Elemwise};
use precast_runtime::{BuildRuntimeError, DispatchError, Dispatcher, Policy, Runtime, is_checked};
use precast_store::KeyringError;
use precast_store::trust::keyring_setting;
use pyo3::prelude::*;
use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

/// The settings of a runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Settings {
    /// Bundles and stores, searched in this order.
    layers: Vec<PathBuf>,
    /// The store that compiled modules are published to. It is searched last.
    store: Option<PathBuf>,
    policy: Option<String>,
    /// The manifest in which misses are recorded.
    record: Option<PathBuf>,
    /// Whether each Apply is checked in each call.
    check: Option<bool>,
    /// The keyring whose keys must have signed the layers. The default comes from the environment.
    keyring: Option<PathBuf>,
}

/// The name of a function without a name in Python.
const UNNAMED: &str = "function";

/// Compiles a graph to a function.
#[pyfunction]
pub(crate) fn compile<'py>(
    py: Python<'py>,
    graph: &Bound<'py, Graph>,
    name: String,
    settings: Settings,
) -> PyResult<Bound<'py, PyAny>> {
    compiler::offer_zig(py);
    let whole = &graph.get().graph;
    let is_map = is_map(whole, &settings);
    let function = py.detach(|| {
        let runtime = runtime(settings)?;
        let named: &str = if name == UNNAMED { "" } else { &name };
        runtime.named_function(named, whole).map_err(Failure::Function)
    });
    // Discard an exception that a reference raised while constants were folded: it is not an error of this call.
    drop(stash::take());
    let function = function.map_err(|failure| raise(py, &failure))?;
    let runs_python = runs_python(whole, &function);
    let function = Function::new(py, name, function, is_map).with_graph(graph.clone().unbind());
    object::wrap(py, if runs_python { function.that_runs_python() } else { function })
}

/// Returns whether a call of the function may run Python code: a filter, a reference, or a check of debug mode.
fn runs_python(graph: &FunctionGraph, function: &precast_core::Function) -> bool {
    let is_filtered = |ty: &Type| ty.as_user().is_some_and(|user| ctype::has_filter(user.name()));
    let has_perform = |op: &dyn precast_graph::Op| {
        let op: &dyn Any = op;
        op.downcast_ref().is_some_and(OwnOp::has_perform)
    };
    let is_interpreted =
        || function.provenance().iter().any(|part| matches!(part.served, CodeOrigin::Interpreted));
    is_checked(function)
        || function.inputs().iter().any(|port| is_filtered(&port.ty))
        || graph.applies().iter().any(|apply| has_perform(&*apply.op)) && is_interpreted()
}

/// Returns whether a graph can be served without a compiler, and a description of how.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    graph: &Bound<'_, Graph>,
    settings: Settings,
) -> PyResult<(bool, String)> {
    let whole = &graph.get().graph;
    let told = py.detach(|| runtime(settings)?.explain(whole).map_err(Failure::Function));
    let told = told.map_err(|failure| raise(py, &failure))?;
    Ok((told.check().is_hit(), told.to_string()))
}

/// Returns the functions in the layers for one library function and for tensors of these ranks, as a
/// dispatcher's table lists them.
#[pyfunction]
pub(crate) fn held<'py>(
    py: Python<'py>,
    name: &str,
    ranks: Vec<usize>,
    settings: Settings,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let found = py.detach(|| {
        let dispatcher = Dispatcher::new(runtime(settings)?, name);
        dispatcher.preload(&ranks).map_err(Failure::Dispatch)?;
        Ok(dispatcher.functions().cloned().collect::<Vec<_>>())
    });
    let found = found.map_err(|failure| raise(py, &failure))?.into_iter();
    let wrapped = found.map(|function| {
        let is_map = function.is_elementwise();
        object::wrap(py, Function::new(py, name.to_owned(), function, is_map))
    });
    wrapped.collect()
}

/// The reason why a function cannot be created.
#[derive(Debug)]
enum Failure {
    Policy(String),
    Runtime(BuildRuntimeError),
    Function(precast_runtime::FunctionError),
    Dispatch(DispatchError),
}

fn raise(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Policy(text) => error::graph_value(py, text),
        Failure::Runtime(refused) => error::layers(py, refused),
        Failure::Function(refused) => error::compile(py, refused),
        Failure::Dispatch(DispatchError::Function { source, .. }) => error::compile(py, source),
        Failure::Dispatch(refused) => error::graph_of(py, "GraphValueError", refused),
    }
}

/// The key of a runtime: the generation of the types registered from Python, the settings, and
/// the size and time of each file.
type Key = (u64, Settings, Vec<Option<(u64, SystemTime)>>);

/// Returns the runtime for these settings.
fn runtime(mut settings: Settings) -> Result<Arc<Runtime>, Failure> {
    static RUNTIMES: LazyLock<Mutex<BTreeMap<Key, Arc<Runtime>>>> = LazyLock::new(Mutex::default);
    let seen = |layer: &PathBuf| {
        let found = fs_err::metadata(layer).ok().filter(std::fs::Metadata::is_file)?;
        Some((found.len(), found.modified().ok()?))
    };
    // The environment and the working directory may change between two calls.
    let keyring = keyring_setting(settings.keyring)
        .map_err(|refused| Failure::Runtime(KeyringError::from(refused).into()))?;
    settings.keyring = keyring.map(|path| std::path::absolute(&path).unwrap_or(path));
    let files = settings.layers.iter().chain(&settings.keyring).map(seen).collect();
    let key = (ctype::generation(), settings, files);
    let mut runtimes = RUNTIMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = runtimes.get(&key) {
        return Ok(Arc::clone(runtime));
    }
    let runtime = Arc::new(build(&key.1)?);
    // Runtimes with older types or with older versions of the same files can never be requested again.
    let is_current = |known: &Key| known.0 == key.0 && (known.1 != key.1 || known.2 == key.2);
    runtimes.retain(|known, _| is_current(known));
    runtimes.insert(key, Arc::clone(&runtime));
    Ok(runtime)
}

fn build(settings: &Settings) -> Result<Runtime, Failure> {
    let policy = settings.policy.as_deref().map_or(Ok(Policy::Auto), str::parse::<Policy>);
    let policy = policy.map_err(|refused| Failure::Policy(refused.to_string()))?;
    let mut builder = Runtime::builder().policy(policy).ops(ctype::with_types(ops().clone()));
    for layer in &settings.layers {
        builder = if layer.is_dir() { builder.store(layer) } else { builder.bundle_file(layer) };
    }
    if let Some(keyring) = &settings.keyring {
        builder = builder.keyring(keyring);
    }
    if let Some(store) = &settings.store {
        builder = builder.writable(store);
    }
    if let Some(record) = &settings.record {
        builder = builder.record(record);
    }
    if let Some(check) = settings.check {
        builder = builder.debug(check);
    }
    builder.build().map_err(Failure::Runtime)
}

/// Returns whether a function computes its results element by element, and no part of it runs Python code.
fn is_map(graph: &FunctionGraph, settings: &Settings) -> bool {
    let simple = |op: &dyn precast_graph::Op| {
        let op: &dyn Any = op;
        op.is::<Elemwise>() || op.is::<DimShuffle>()
    };
    let is_plain = |ty: &Type| ty.as_user().is_none();
    settings.policy.as_deref() != Some("interpret")
        && settings.check != Some(true)
        && graph.variables().iter().all(|variable| is_plain(&variable.ty))
        && graph.applies().iter().all(|apply| simple(&*apply.op))
}
