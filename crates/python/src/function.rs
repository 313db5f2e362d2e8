//! A function of a bundle in Python, and its calls.

use crate::argument::{self, Argument, Taken};
use crate::boundary::array;
use crate::boundary::given::Sorted;
use crate::boundary::object::Getter;
use crate::graph::whole::Graph;
use crate::interrupt::detached;
use crate::{dtypes, error};
use numpy::{PyArrayDescr, PyUntypedArray};
use precast_core::function::check_inputs;
use precast_core::program::Port;
use precast_core::{Array, ArrayRef, CallError, CodeOrigin};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};
use std::slice;

/// The Rust value in a [`precast.Function`](crate::boundary::object) object.
pub(crate) struct Function {
    name: String,
    inner: precast_core::Function,
    /// Whether each element of the results depends only on the corresponding elements of the inputs.
    is_map: bool,
    /// Whether a call may run Python code.
    runs_python: bool,
    /// The names of the inputs, for keyword arguments.
    names: Vec<Py<PyString>>,
    /// The name of the keyword argument that is not an input: `out`.
    out_name: Py<PyString>,
    /// NumPy's dtypes of the results.
    descrs: PyOnceLock<Vec<Py<PyArrayDescr>>>,
    /// The graph that the function was compiled from, if known.
    graph: Option<Py<Graph>>,
}

impl Function {
    /// Creates a function. `is_map` is set if its program computes element by element.
    pub(crate) fn new(py: Python<'_>, name: String, inner: precast_core::Function, is_map: bool) -> Self {
        let names = inner.inputs().iter().map(|port| PyString::intern(py, &port.name).unbind()).collect();
        let out_name = PyString::intern(py, "out").unbind();
        Self {
            name,
            inner,
            is_map,
            runs_python: false,
            names,
            out_name,
            descrs: PyOnceLock::new(),
            graph: None,
        }
    }

    /// Attaches the graph that the function was compiled from.
    pub(crate) fn with_graph(self, graph: Py<Graph>) -> Self {
        Self { graph: Some(graph), ..self }
    }

    /// Marks the function as one whose calls may run Python code. Its calls copy their inputs
    /// and write to `out` at the end.
    pub(crate) fn that_runs_python(self) -> Self {
        Self { runs_python: true, ..self }
    }

    pub(crate) fn runs_python(&self) -> bool {
        self.runs_python
    }

    pub(crate) fn inner(&self) -> &precast_core::Function {
        &self.inner
    }

    pub(crate) fn is_map(&self) -> bool {
        self.is_map
    }

    pub(crate) fn names(&self) -> &[Py<PyString>] {
        &self.names
    }

    pub(crate) fn out_name(&self) -> &Py<PyString> {
        &self.out_name
    }

    /// Formats the function as `score(x: f64[?], y: f64[]) -> (out: f64[?])`.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.name, self.interface())
    }

    /// Formats the interface as `(x: f64[?], y: f64[]) -> (out: f64[?])`.
    fn interface(&self) -> String {
        interface(self.inner.inputs(), self.inner.outputs())
    }

    /// Returns the exception for a call with other arguments than the function has.
    #[cold]
    pub(crate) fn misused(&self, py: Python<'_>, what: &str) -> PyErr {
        match self.inner.refusal() {
            // A function that always refuses has no inputs to name.
            Some(refused) => error::call(py, refused, false),
            None => {
                error::wrong_type(py, format!("{}() {what}; its signature is `{}`", self.name, self.shown()))
            }
        }
    }

    /// Returns a copy of the value for an input.
    pub(crate) fn copied(&self, value: Bound<'_, PyAny>, port: &Port) -> PyResult<Array> {
        let py = value.py();
        let taken = Argument::convert(value, port)?.take(port)?;
        let array = taken.read(py, port)?;
        let checked = check_inputs(slice::from_ref(port), slice::from_ref(&array));
        checked.map_err(|refused| error::call(py, &refused, true))?;
        Ok(array.to_array())
    }

    /// Returns NumPy's dtypes of the results.
    pub(crate) fn descrs(&self, py: Python<'_>) -> PyResult<&[Py<PyArrayDescr>]> {
        let descrs = self.descrs.get_or_try_init(py, || {
            let dtypes = self.inner.outputs().iter().map(|port| port.ty.dtype());
            dtypes.map(|dtype| Ok(dtypes::descr(py, dtype)?.unbind())).collect::<PyResult<_>>()
        });
        descrs.map(Vec::as_slice)
    }

    /// Calls the function and returns new result arrays.
    fn fresh<'py>(
        &self,
        py: Python<'py>,
        inputs: &[ArrayRef<'_>],
        descrs: &[Py<PyArrayDescr>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let results = detached(py, || self.inner.call(inputs))?
            .map_err(|refused| self.refused(py, &refused, inputs))?;
        let results = results.into_iter().zip(descrs);
        let objects = results.map(|(result, descr)| array::give(py, result, descr.bind(py), true));
        array::all(py, descrs.len(), objects)
    }

    /// Calls the function and writes its results to the given arrays.
    fn into<'py>(
        &self,
        py: Python<'py>,
        inputs: &[ArrayRef<'_>],
        rooms: Vec<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<()> {
        let ports = self.inner.outputs();
        // The memory of the arrays is looked up only after all Python code has run.
        let results =
            self.runs_python.then(|| detached(py, || self.inner.call(inputs))).transpose()?.transpose();
        let results = results.map_err(|refused| self.refused(py, &refused, inputs))?;
        let mut rooms = argument::lend(rooms, ports)?;
        let types = rooms.iter().zip(ports).any(|(room, port)| room.dtype() != port.ty.dtype());
        let mut rooms = argument::writable(py, &mut rooms, ports)?;
        let written = detached(py, || match results {
            Some(results) => self.inner.assign(&results, &mut rooms),
            None => self.inner.call_views(inputs, &mut rooms),
        })?;
        written.map_err(|refused| match refused {
            CallError::Output { .. } => error::call(py, &refused, types),
            _ => self.refused(py, &refused, inputs),
        })
    }

    /// Calls the function.
    pub(crate) fn call<'py>(&self, py: Python<'py>, given: Sorted<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ports = self.inner.inputs();
        let converted = given.inputs.into_iter().zip(ports);
        let converted = converted.map(|(value, port)| Argument::convert(value, port));
        let converted: Vec<Argument<'_>> = converted.collect::<PyResult<_>>()?;
        let rooms = given.out.as_ref().map(|out| argument::rooms(out, self.inner.outputs())).transpose()?;
        let descrs = if rooms.is_none() { self.descrs(py)? } else { &[][..] };
        // From here on, only the call itself can run Python code.
        let taken = converted.into_iter().zip(ports).map(|(argument, port)| {
            let taken = argument.take(port)?;
            if self.runs_python { taken.copied(py, port) } else { Ok(taken) }
        });
        let taken: Vec<Taken<'_>> = taken.collect::<PyResult<_>>()?;
        let inputs = taken.iter().zip(ports).map(|(taken, port)| taken.read(py, port));
        let inputs: Vec<ArrayRef<'_>> = inputs.collect::<PyResult<_>>()?;
        match (given.out, rooms) {
            (Some(out), Some(rooms)) => self.into(py, &inputs, rooms).map(|()| out),
            _ => self.fresh(py, &inputs, descrs),
        }
    }

    /// Returns the exception for a failed call.
    #[cold]
    fn refused(&self, py: Python<'_>, error: &CallError, inputs: &[ArrayRef<'_>]) -> PyErr {
        let mut pairs = self.inner.inputs().iter().zip(inputs);
        error::call(py, error, pairs.any(|(port, input)| port.ty.dtype() != input.dtype()))
    }
}

/// Returns the attributes of function objects.
pub(crate) fn getters() -> &'static [Getter] {
    &[
        Getter {
            name: c"__name__",
            doc: c"The name of the function.",
            get: |object, function| Ok(PyString::new(object.py(), &function.name).into_any()),
        },
        Getter {
            name: c"inputs",
            doc: c"The names and types of the inputs.",
            get: |object, function| ports(object.py(), function.inner.inputs()),
        },
        Getter {
            name: c"outputs",
            doc: c"The names and types of the outputs.",
            get: |object, function| ports(object.py(), function.inner.outputs()),
        },
        Getter {
            name: c"signature",
            doc: c"The inputs and outputs in one line, ``(x: f64[?]) -> (out: f64[])``.",
            get: |object, function| Ok(PyString::new(object.py(), &function.interface()).into_any()),
        },
        Getter {
            name: c"graph",
            doc: c"The graph of a function built in this process; None for a function of a bundle.",
            get: |object, function| {
                let graph = function.graph.as_ref().map(|graph| graph.clone_ref(object.py()));
                Ok(graph.into_pyobject(object.py())?)
            },
        },
        Getter {
            name: c"provenance",
            doc: c"Pairs of ops and a description of the module or implementation that computes them.",
            get: |object, function| {
                let parts = function.inner.provenance().iter();
                let told = parts.map(|part| (part.ops.clone(), served(&part.served)));
                Ok(PyTuple::new(object.py(), told.collect::<Vec<_>>())?.into_any())
            },
        },
        Getter { name: c"native", doc: c"The plain C function of a graph of C scalars.", get: native },
    ]
}

/// Describes the provider of a part of the graph.
fn served(served: &CodeOrigin) -> String {
    match served {
        CodeOrigin::Artifact { key, layer, isa, .. } => format!("{} ({isa}) of {layer}", key.short()),
        CodeOrigin::Jit { key, isa, .. } => format!("{} ({isa}), compiled in this process", key.short()),
        CodeOrigin::Interpreted => "the reference implementation".to_owned(),
        _ => "another implementation".to_owned(),
    }
}

fn native<'py>(object: &Bound<'py, PyAny>, function: &Function) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let native = function.inner.native_function().map_err(|reason| {
        let text = format!("`{}` has no native function: {reason}", function.name);
        error::raise(py, "NativeError", (text,))
    })?;
    let class = py.import("precast._callback")?.getattr("NativeFunction")?;
    class.call1((native.address().addr(), native.signature(), object))
}

/// Formats the interface in one line.
pub(crate) fn interface(inputs: &[Port], outputs: &[Port]) -> String {
    let ports = |ports: &[Port]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("({}) -> ({})", ports(inputs), ports(outputs))
}

/// Converts ports to Python objects.
pub(crate) fn ports<'py>(py: Python<'py>, ports: &[Port]) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("precast._ports")?.getattr("Port")?;
    let made = ports.iter().map(|Port { name, ty }: &Port| class.call1((name, ty.to_string())));
    PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?).map(Bound::into_any)
}
