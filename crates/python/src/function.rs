//! A function of a bundle in Python, and its calls.

use crate::boundary::array::{self, Lent};
use crate::boundary::object::Getter;
use crate::graph::whole::Graph;
use crate::own::stash;
use crate::{dtypes, error, number};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use precast_core::native::RawArrayError;
use precast_core::program::Port;
use precast_core::{Array, ArrayMut, ArrayRef, CallError, Served};
use pyo3::exceptions::{PyOverflowError, PyRecursionError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyTuple};
use std::cell::Cell;

/// What an object of the type [`precast.Function`](crate::boundary::object) holds.
pub(crate) struct Function {
    name: String,
    inner: precast_core::Function,
    /// Whether each element of the results is computed of those of the inputs, and of nothing else.
    is_map: bool,
    /// The names of the inputs, for calls that name them.
    names: Vec<Py<PyString>>,
    /// The name of the argument that is no input.
    out_name: Py<PyString>,
    /// NumPy's dtypes of the results.
    descrs: PyOnceLock<Vec<Py<PyArrayDescr>>>,
    /// What it was made of, if that is known.
    graph: Option<Py<Graph>>,
}

/// What an argument is.
enum Argument<'py> {
    Number(Array),
    Lent(Lent<'py>),
}

impl Argument<'_> {
    /// The array to read from.
    fn read(&self, py: Python<'_>, port: &Port) -> PyResult<ArrayRef<'_>> {
        match self {
            Self::Number(array) => Ok(ArrayRef::from(array)),
            Self::Lent(lent) => match lent.read() {
                Ok(Some(array)) => Ok(array),
                Ok(None) => {
                    let text = "has bools that are neither 0 nor 1\nhint: pass `x != 0`";
                    Err(error::wrong_value(py, format!("input `{}` {text}", port.name)))
                }
                Err(refused) => Err(description(py, "input", port, &refused)),
            },
        }
    }
}

/// The inputs of a call in order, and what is given as `out`.
type Given<'py> = (Vec<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

impl Function {
    /// The function of a name; `is_map`: its program computes element by element.
    pub(crate) fn new(py: Python<'_>, name: String, inner: precast_core::Function, is_map: bool) -> Self {
        let names = inner.inputs().iter().map(|port| PyString::intern(py, &port.name).unbind()).collect();
        let out_name = PyString::intern(py, "out").unbind();
        Self { name, inner, is_map, names, out_name, descrs: PyOnceLock::new(), graph: None }
    }

    /// The function of a graph.
    pub(crate) fn with_graph(self, graph: Py<Graph>) -> Self {
        Self { graph: Some(graph), ..self }
    }

    pub(crate) fn inner(&self) -> &precast_core::Function {
        &self.inner
    }

    pub(crate) fn is_map(&self) -> bool {
        self.is_map
    }

    pub(crate) fn out_name(&self) -> &Py<PyString> {
        &self.out_name
    }

    /// `score(x: f64[?], y: f64[]) -> (out: f64[?])`.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.name, self.interface())
    }

    /// `(x: f64[?], y: f64[]) -> (out: f64[?])`.
    fn interface(&self) -> String {
        interface(self.inner.inputs(), self.inner.outputs())
    }

    /// The values given, in the order of the inputs, and what is given as `out`. The last ones have the names.
    fn order<'py>(
        &self,
        py: Python<'py>,
        mut values: Vec<Bound<'py, PyAny>>,
        names: Option<&Bound<'py, PyTuple>>,
    ) -> PyResult<Given<'py>> {
        let wrong = |what: String| match self.inner.refusal() {
            // It has no inputs that could be named.
            Some(refused) => error::call(py, refused, false),
            None => error::wrong_type(py, format!("{}() {what}; it is `{}`", self.name, self.shown())),
        };
        let named = values.split_off(values.len() - names.map_or(0, PyTupleMethods::len));
        if values.len() > self.names.len() {
            return Err(wrong(format!("takes {} input(s), found {}", self.names.len(), values.len())));
        }
        let mut inputs: Vec<Option<Bound<'py, PyAny>>> = values.into_iter().map(Some).collect();
        inputs.resize(self.names.len(), None);
        let mut out = None;
        for (name, value) in names.into_iter().flatten().zip(named) {
            let is = |own: &Py<PyString>| name.eq(own).unwrap_or(false);
            match self.names.iter().position(is) {
                Some(position) if inputs[position].is_some() => {
                    return Err(wrong(format!("has two values for input `{name}`")));
                }
                Some(position) => inputs[position] = Some(value),
                None if is(&self.out_name) => out = Some(value).filter(|out| !out.is_none()),
                None => return Err(wrong(format!("has no input `{name}`"))),
            }
        }
        let ports = inputs.into_iter().zip(self.inner.inputs());
        let inputs =
            ports.map(|(value, port)| value.ok_or_else(|| wrong(format!("misses input `{}`", port.name))));
        Ok((inputs.collect::<PyResult<_>>()?, out))
    }

    /// What an argument is; its type is compared by the call.
    fn argument<'py>(&self, value: Bound<'py, PyAny>, port: &Port) -> PyResult<Argument<'py>> {
        let py = value.py();
        let array = match value.cast_into::<PyUntypedArray>() {
            Ok(array) => {
                // A mask would be lost in silence.
                if !array.is_exact_instance_of::<PyUntypedArray>() && array.hasattr("filled")? {
                    let text = format!("input `{}` is a masked array\nhint: pass `x.filled(…)`", port.name);
                    return Err(error::wrong_type(py, text));
                }
                array
            }
            Err(other) => {
                let value = other.into_inner();
                let refused = |cause: PyErr| {
                    let text = format!("input `{}` is refused: {}", port.name, cause.value(py));
                    let overflows = cause.is_instance_of::<PyOverflowError>(py);
                    if overflows { error::wrong_value(py, text) } else { error::wrong_type(py, text) }
                };
                match number::find(&value, port.ty.dtype()) {
                    Ok(Some(number)) => return Ok(Argument::Number(number)),
                    Ok(None) => borrowed(&value).map_err(refused)?,
                    Err(cause) => return Err(refused(cause)),
                }
            }
        };
        lent(array, "input", port).map(Argument::Lent)
    }

    /// A copy of what is given for an input.
    pub(crate) fn copied(&self, value: Bound<'_, PyAny>, port: &Port) -> PyResult<Array> {
        let py = value.py();
        let argument = self.argument(value, port)?;
        let array = argument.read(py, port)?;
        if !port.ty.admits(array.dtype(), array.shape()) {
            let found = array.to_array().ty();
            return Err(error::wrong_type(
                py,
                format!("input `{}` is `{found}`, expected `{}`", port.name, port.ty),
            ));
        }
        Ok(array.to_array())
    }

    /// NumPy's dtypes of the results.
    pub(crate) fn descrs(&self, py: Python<'_>) -> PyResult<&Vec<Py<PyArrayDescr>>> {
        self.descrs.get_or_try_init(py, || {
            let dtypes = self.inner.outputs().iter().map(|port| port.ty.dtype());
            dtypes.map(|dtype| Ok(dtypes::descr(py, dtype)?.unbind())).collect()
        })
    }

    /// A call for new results.
    fn fresh<'py>(&self, py: Python<'py>, inputs: &[ArrayRef<'_>]) -> PyResult<Bound<'py, PyAny>> {
        let descrs = self.descrs(py)?;
        let results =
            py.detach(|| self.inner.call(inputs)).map_err(|refused| self.refused(py, &refused, inputs))?;
        let results = results.into_iter().zip(descrs);
        let objects = results.map(|(result, descr)| array::give(py, result, descr.bind(py), true));
        array::all(py, descrs.len(), objects)
    }

    /// A call for results that are written to these arrays.
    fn into(&self, py: Python<'_>, inputs: &[ArrayRef<'_>], out: &Bound<'_, PyAny>) -> PyResult<()> {
        let given = match out.cast::<PyTuple>() {
            Ok(several) => several.iter().collect(),
            Err(_) => vec![out.clone()],
        };
        let ports = self.inner.outputs();
        if given.len() != ports.len() {
            let error = CallError::Outputs { expected: ports.len(), found: given.len() };
            return Err(error::call(py, &error, true));
        }
        let arrays =
            given.into_iter().zip(ports).map(|(value, port)| match value.cast_into::<PyUntypedArray>() {
                Ok(array) => lent(array, "output", port),
                Err(_) => {
                    Err(error::wrong_type(py, format!("`out` for output `{}` is no NumPy array", port.name)))
                }
            });
        let mut arrays: Vec<Lent<'_>> = arrays.collect::<PyResult<_>>()?;
        let types = arrays.iter().zip(ports).any(|(array, port)| array.dtype() != port.ty.dtype());
        let room = arrays
            .iter_mut()
            .zip(ports)
            .map(|(array, port)| array.write().map_err(|refused| description(py, "output", port, &refused)));
        let mut room: Vec<ArrayMut<'_>> = room.collect::<PyResult<_>>()?;
        py.detach(|| self.inner.call_views(inputs, &mut room)).map_err(|refused| match refused {
            CallError::Output { .. } => error::call(py, &refused, types),
            _ => self.refused(py, &refused, inputs),
        })
    }

    /// Calls the function: `values` are the positional arguments, then those of the names.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        values: Vec<Bound<'py, PyAny>>,
        names: Option<&Bound<'py, PyTuple>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        drop(stash::take());
        let (values, out) = self.order(py, values, names)?;
        let values = values.into_iter().zip(self.inner.inputs());
        let arguments = values.map(|(value, port)| self.argument(value, port));
        let arguments: Vec<Argument<'_>> = arguments.collect::<PyResult<_>>()?;
        let inputs = arguments.iter().zip(self.inner.inputs());
        let inputs = inputs.map(|(argument, port)| argument.read(py, port));
        let inputs: Vec<ArrayRef<'_>> = inputs.collect::<PyResult<_>>()?;
        match out {
            None => self.fresh(py, &inputs),
            Some(out) => self.into(py, &inputs, &out).map(|()| out),
        }
    }

    /// The exception of a call that failed.
    #[cold]
    fn refused(&self, py: Python<'_>, error: &CallError, inputs: &[ArrayRef<'_>]) -> PyErr {
        let mut pairs = self.inner.inputs().iter().zip(inputs);
        error::call(py, error, pairs.any(|(port, input)| port.ty.dtype() != input.dtype()))
    }
}

/// The attributes of functions.
pub(crate) fn getters() -> &'static [Getter] {
    &[
        Getter {
            name: c"__name__",
            doc: c"Its name.",
            get: |object, function| Ok(PyString::new(object.py(), &function.name).into_any()),
        },
        Getter {
            name: c"inputs",
            doc: c"What it takes: names and types.",
            get: |object, function| ports(object.py(), function.inner.inputs()),
        },
        Getter {
            name: c"outputs",
            doc: c"What it gives: names and types.",
            get: |object, function| ports(object.py(), function.inner.outputs()),
        },
        Getter {
            name: c"signature",
            doc: c"What it takes and gives in one line, ``(x: f64[?]) -> (out: f64[])``.",
            get: |object, function| Ok(PyString::new(object.py(), &function.interface()).into_any()),
        },
        Getter {
            name: c"graph",
            doc: c"The graph that it was made of; None for a function of a bundle.",
            get: |object, function| {
                let graph = function.graph.as_ref().map(|graph| graph.clone_ref(object.py()));
                Ok(graph.into_pyobject(object.py())?)
            },
        },
        Getter {
            name: c"provenance",
            doc: c"What serves which ops: pairs of them, in words.",
            get: |object, function| {
                let parts = function.inner.provenance().iter();
                let told = parts.map(|part| (part.ops.clone(), served(&part.served)));
                Ok(PyTuple::new(object.py(), told.collect::<Vec<_>>())?.into_any())
            },
        },
        Getter {
            name: c"native",
            doc: c"The plain C function that computes a graph of numbers.",
            get: native,
        },
    ]
}

/// Who computes a part, in words.
fn served(served: &Served) -> String {
    match served {
        Served::Artifact { key, layer, isa, .. } => format!("{} ({isa}) of {layer}", key.short()),
        Served::Jit { key, isa, .. } => format!("{} ({isa}), compiled in this process", key.short()),
        Served::Interpreted => "the reference implementation".to_owned(),
        _ => "another".to_owned(),
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

/// The memory of an array that is given for an input or output.
fn lent<'py>(array: Bound<'py, PyUntypedArray>, role: &str, Port { name, ty }: &Port) -> PyResult<Lent<'py>> {
    let (py, descr) = (array.py(), array.dtype());
    Lent::find(array).ok_or_else(|| {
        let swapped = descr.is_native_byteorder() == Some(false);
        let hint = if swapped { "\nhint: pass `x.astype(x.dtype.newbyteorder(\"=\"))`" } else { "" };
        error::wrong_type(py, format!("{role} `{name}` is of dtype `{descr}`, expected `{ty}`{hint}"))
    })
}

/// How deep objects that are asked for their memory may call functions that ask others. Programs raise Python's own limit, which
/// then no longer keeps the stack from its end.
const DEEPEST: u32 = 100;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The array of something else that has memory.
fn borrowed<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let depth = DEPTH.get();
    if depth == DEEPEST {
        let text = format!("an array whose memory is that of calls within calls, {DEEPEST} deep");
        return Err(PyRecursionError::new_err(text));
    }
    DEPTH.set(depth + 1);
    let array =
        value.py().import("precast._foreign").and_then(|module| module.call_method1("borrow", (value,)));
    DEPTH.set(depth);
    array?.cast_into::<PyUntypedArray>().map_err(PyErr::from)
}

/// The exception of an array that precast cannot read from or write to.
#[cold]
fn description(py: Python<'_>, role: &str, port: &Port, refused: &RawArrayError) -> PyErr {
    error::wrong_value(py, format!("{role} `{}`: {refused}", port.name))
}

/// What ports are, in one line.
pub(crate) fn interface(inputs: &[Port], outputs: &[Port]) -> String {
    let ports = |ports: &[Port]| {
        ports.iter().map(|Port { name, ty }| format!("{name}: {ty}")).collect::<Vec<_>>().join(", ")
    };
    format!("({}) -> ({})", ports(inputs), ports(outputs))
}

/// Ports as Python's.
pub(crate) fn ports<'py>(py: Python<'py>, ports: &[Port]) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("precast._ports")?.getattr("Port")?;
    let made = ports.iter().map(|Port { name, ty }: &Port| class.call1((name, ty.to_string())));
    PyTuple::new(py, made.collect::<PyResult<Vec<_>>>()?).map(Bound::into_any)
}
