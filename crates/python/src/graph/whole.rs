//! A finished graph, which can be compiled to a function.

use super::call::type_of;
use super::convert;
use super::node::{Node, Origin};
use super::replay::{Replay, ops};
use crate::error;
use precast_graph::{DeclaredType, FunctionGraph, Operand, text};
use precast_picture::Picture;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A graph with named inputs and outputs.
#[pyclass(frozen, module = "precast")]
pub(crate) struct Graph {
    pub(crate) graph: FunctionGraph,
}

#[pymethods]
impl Graph {
    /// Returns the values of the constants, in the order of a module's slots.
    fn slots<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let given = self.graph.slots().map(|(_, value)| {
            let descr = crate::dtypes::descr(py, value.dtype())?;
            crate::boundary::array::give(py, value.clone(), &descr, false)
        });
        given.collect()
    }

    /// The names and types of the inputs.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::function::ports(py, &self.graph.interface().0)
    }

    /// The names and types of the outputs.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::function::ports(py, &self.graph.interface().1)
    }

    /// Returns the object itself, since a graph is immutable.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(error::not_pickled("Graph", "build it in each process, or save it in a bundle"))
    }

    /// Returns the JSON form, which the `precast` command reads.
    fn json(&self) -> String {
        precast_graph::json::render(&self.graph)
    }

    /// Returns the graph of the only output, a number, and its gradients by these inputs: `grad_<input>`.
    fn value_and_grad(&self, py: Python<'_>, inputs: Vec<String>) -> PyResult<Self> {
        let names: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let graph = precast_ops::value_and_grad(&self.graph, &names);
        let graph = graph.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
        Ok(Self { graph })
    }

    /// Returns a picture as SVG.
    fn _repr_svg_(&self) -> String {
        precast_picture::svg(&Picture::new("", &self.graph, &[]))
    }

    /// Returns the picture for notebooks.
    fn _repr_html_(&self) -> String {
        format!("<div style=\"overflow: auto; max-height: 40em\">{}</div>", self._repr_svg_())
    }

    fn __str__(&self) -> String {
        self.graph.to_string()
    }

    fn __repr__(&self) -> String {
        let (inputs, outputs) = self.graph.interface();
        format!("<precast.Graph {}>", crate::function::interface(&inputs, &outputs))
    }
}

/// Creates a graph from variables. `outputs` are pairs of a name, which may be `None`, and a variable.
#[pyfunction]
pub(crate) fn graph(
    py: Python<'_>,
    inputs: &Bound<'_, PyList>,
    outputs: &Bound<'_, PyList>,
) -> PyResult<Graph> {
    let named = |at: usize, value: &Bound<'_, PyAny>| -> PyResult<(String, DeclaredType, Arc<Node>)> {
        let node = convert::node(value).ok_or_else(|| {
            error::graph_type(
                py,
                "an input must be a `precast.Variable`\nhint: create one with `precast.input(\"x\", \"f64[?]\")`",
            )
        })?;
        let name: Option<String> = value.getattr("name")?.extract()?;
        let ty = match &node.origin {
            Origin::Input { ty, .. } => ty.clone(),
            _ => type_of(&node).map_err(|refused| error::graph(py, &refused))?.into(),
        };
        Ok((name.unwrap_or_else(|| format!("x{at}")), ty, node))
    };
    let inputs: Vec<_> =
        inputs.iter().enumerate().map(|(at, value)| named(at, &value)).collect::<PyResult<_>>()?;
    let mut replay = Replay::of(&inputs).map_err(|refused| error::graph(py, &refused))?;
    for pair in outputs.iter() {
        let (name, value, declared): (Option<String>, Bound<'_, PyAny>, Option<String>) =
            pair.cast::<PyTuple>()?.extract()?;
        let operand = match convert::value(&value)? {
            convert::Value::Node(node) => {
                replay.operand(&node).map_err(|refused| error::graph(py, &refused))?
            }
            convert::Value::Plain(operand) => operand,
            convert::Value::List(_) | convert::Value::Function(_) => Operand::None,
        };
        let added = operand.variable(&mut replay.graph).map_err(precast_graph::BuildError::from);
        let added = added.and_then(|variable| replay.graph.output(variable, name.as_deref()));
        let added = added.map(|()| replay.graph.outputs().len() - 1);
        let position = added.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
        if let Some(declared) = declared {
            let ty: DeclaredType =
                declared.parse().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
            let declared = replay.graph.declare_output(position, ty);
            declared.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
        }
    }
    let checked = replay.graph.validate();
    checked.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    Ok(Graph { graph: replay.graph })
}

/// Creates a graph from texts such as `x: f64[?]` and `out = sum(x)`.
#[pyfunction]
pub(crate) fn parse(py: Python<'_>, inputs: Vec<String>, outputs: Vec<String>) -> PyResult<Graph> {
    let inputs = inputs.iter().map(|input| text::parse_input(input)).collect::<Result<Vec<_>, _>>();
    let inputs = inputs.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let graph = text::parse(&outputs, &inputs, ops());
    let graph = graph.map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    Ok(Graph { graph })
}

/// Returns the inputs that variables depend on, in the order in which they are found.
#[pyfunction]
pub(crate) fn needed<'py>(py: Python<'py>, outputs: &Bound<'py, PyList>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut pending: Vec<Arc<Node>> = outputs.iter().filter_map(|output| convert::node(&output)).collect();
    pending.reverse();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(node) = pending.pop() {
        if !seen.insert(node.id) {
            continue;
        }
        pending.extend(node.sources().into_iter().rev().cloned());
        if matches!(node.origin, Origin::Input { .. }) {
            found.push(super::call::wrap(py, node)?);
        }
    }
    Ok(found)
}
