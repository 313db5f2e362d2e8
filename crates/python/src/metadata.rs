//! Metadata between Python's dictionaries and a bundle. JSON travels as text to Rust, and as values to Python.

use crate::boundary::array;
use crate::dtypes;
use crate::error;
use crate::graph::convert;
use precast_core::metadata::{Callee, Described, Initial, Metadata, Plan, PlanPort, PlanStep, State};
use precast_core::names::excerpt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;

/// Metadata as Python passes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    documentation: String,
    inputs: Vec<(String, Vec<String>, String)>,
    outputs: Vec<(String, Vec<String>, String)>,
    state: Vec<ToldState>,
    plan: Option<ToldPlan>,
    json: BTreeMap<String, String>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ToldState {
    input: String,
    update: Option<String>,
    array: Option<Py<PyAny>>,
    json: Option<String>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ToldPlan {
    inputs: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
    known: BTreeMap<String, String>,
    steps: Vec<ToldStep>,
    results: Vec<Option<String>>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct ToldStep {
    kind: String,
    callee: String,
    host: String,
    takes: Vec<Option<String>>,
    gives: Vec<String>,
    settings: String,
}

/// Returns the metadata that Python passed.
pub(crate) fn told(py: Python<'_>, told: Told) -> PyResult<Metadata> {
    let described = |ports: Vec<(String, Vec<String>, String)>| {
        ports.into_iter().map(|(name, dims, documentation)| Described { name, dims, documentation }).collect()
    };
    let metadata = Metadata {
        documentation: told.documentation,
        inputs: described(told.inputs),
        outputs: described(told.outputs),
        state: told.state.into_iter().map(|state| told_state(py, state)).collect::<PyResult<_>>()?,
        plan: told.plan.map(|plan| told_plan(py, plan)).transpose()?,
        json: told.json,
        unknown: BTreeMap::new(),
    };
    metadata.check().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    Ok(metadata)
}

fn told_state(py: Python<'_>, ToldState { input, update, array, json }: ToldState) -> PyResult<State> {
    let initial = match (array, json) {
        (Some(array), None) => Initial::Array(convert::constant(array.bind(py))?),
        (None, Some(json)) => Initial::Json(json),
        _ => return Err(error::graph_value(py, &format!("state `{input}` has no initial value, or two"))),
    };
    Ok(State { input, update, initial })
}

fn told_plan(py: Python<'_>, plan: ToldPlan) -> PyResult<Plan> {
    let ports =
        |ports: Vec<(String, String)>| ports.into_iter().map(|(name, ty)| PlanPort { name, ty }).collect();
    let step = |ToldStep { kind, callee, host, takes, gives, settings }| {
        let callee = match kind.as_str() {
            "entry" => Callee::Entry(callee),
            "function" => Callee::Host(callee),
            _ => {
                let unknown = || error::graph_value(py, &format!("`{callee}` is not the key of a module"));
                Callee::Module { key: callee.parse().map_err(|_| unknown())?, host }
            }
        };
        Ok(PlanStep { callee, takes, gives, settings })
    };
    Ok(Plan {
        inputs: ports(plan.inputs),
        outputs: ports(plan.outputs),
        known: plan.known,
        steps: plan.steps.into_iter().map(step).collect::<PyResult<_>>()?,
        results: plan.results,
    })
}

/// Returns metadata as a dictionary.
pub(crate) fn given<'py>(py: Python<'py>, metadata: &Metadata) -> PyResult<Bound<'py, PyDict>> {
    let Metadata { documentation, inputs, outputs, state, plan, json, unknown: _ } = metadata;
    let described = |ports: &[Described]| {
        let ports = ports.iter().map(|Described { name, dims, documentation }| {
            let port = PyDict::new(py);
            port.set_item("dims", dims)?;
            port.set_item("documentation", documentation)?;
            Ok((name.clone(), port))
        });
        ports.collect::<PyResult<BTreeMap<String, Bound<'py, PyDict>>>>()
    };
    let given = PyDict::new(py);
    given.set_item("documentation", documentation)?;
    given.set_item("inputs", described(inputs)?)?;
    given.set_item("outputs", described(outputs)?)?;
    let states = state.iter().map(|state| given_state(py, state)).collect::<PyResult<Vec<_>>>()?;
    given.set_item("state", states)?;
    given.set_item("plan", plan.as_ref().map(|plan| given_plan(py, plan)).transpose()?)?;
    given.set_item("json", values(py, json)?)?;
    Ok(given)
}

fn given_state<'py>(
    py: Python<'py>,
    State { input, update, initial }: &State,
) -> PyResult<Bound<'py, PyDict>> {
    let state = PyDict::new(py);
    state.set_item("input", input)?;
    state.set_item("update", update)?;
    let (array, json) = match initial {
        Initial::Array(value) => {
            let descr = dtypes::descr(py, value.dtype())?;
            (Some(array::give(py, value.clone(), &descr, false)?), None)
        }
        Initial::Json(text) => (None, Some(parsed(py, text)?)),
    };
    state.set_item("array", array)?;
    state.set_item("json", json)?;
    Ok(state)
}

fn given_plan<'py>(py: Python<'py>, plan: &Plan) -> PyResult<Bound<'py, PyDict>> {
    let Plan { inputs, outputs, known, steps, results } = plan;
    let ports = |ports: &[PlanPort]| -> Vec<(String, String)> {
        ports.iter().map(|port| (port.name.clone(), port.ty.clone())).collect()
    };
    let step = |PlanStep { callee, takes, gives, settings }: &PlanStep| {
        let (kind, callee, host) = match callee {
            Callee::Entry(name) => ("entry", name.clone(), ""),
            Callee::Module { key, host } => ("module", key.to_string(), host.as_str()),
            Callee::Host(name) => ("function", name.clone(), ""),
        };
        let step = PyDict::new(py);
        step.set_item("kind", kind)?;
        step.set_item("callee", callee)?;
        step.set_item("host", host)?;
        step.set_item("takes", takes)?;
        step.set_item("gives", gives)?;
        step.set_item(
            "settings",
            if settings.is_empty() { PyDict::new(py).into_any() } else { parsed(py, settings)? },
        )?;
        Ok(step)
    };
    let given = PyDict::new(py);
    given.set_item("inputs", ports(inputs))?;
    given.set_item("outputs", ports(outputs))?;
    given.set_item("known", values(py, known)?)?;
    given.set_item("steps", steps.iter().map(step).collect::<PyResult<Vec<_>>>()?)?;
    given.set_item("results", results)?;
    Ok(given)
}

fn values<'py>(
    py: Python<'py>,
    texts: &BTreeMap<String, String>,
) -> PyResult<BTreeMap<String, Bound<'py, PyAny>>> {
    texts.iter().map(|(name, text)| Ok((name.clone(), parsed(py, text)?))).collect()
}

fn parsed<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let refused = |_| error::raise(py, "BundleError", (format!("`{}` is not JSON", excerpt(json)),));
    py.import("json")?.call_method1("loads", (json,)).map_err(refused)
}
