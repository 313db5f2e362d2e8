//! Ops that are written in Python.

use super::code::{Code, delegate, object_of};
use super::external::{self, Files};
use super::params::{self, Told as ParamTold};
use super::stash;
use crate::boundary::array;
use crate::graph::convert;
use crate::graph::node::{Origin, Value};
use crate::{dtypes, error};
use precast_codegen::external::Declaration;
use precast_codegen::{COp, CacheVersion, LinkError, Node, ParamsType, SourceSet, Sub};
use precast_core::Type;
use precast_graph::{Array, MakeNodeError, Op, PerformError, Prop, Props};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The prop that distinguishes classes with the same name.
const CLASS: &str = "class";

/// The description of one Apply from `precast/_own/`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    name: String,
    /// Distinguishes the class from other classes with the same name.
    class: String,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    /// The texts that methods returned.
    texts: HashMap<String, String>,
    /// The lists that methods returned.
    lists: HashMap<String, Vec<String>>,
    pub(super) version: Option<Vec<u32>>,
    /// Whether the code is C++, if stated.
    pub(super) cxx: Option<bool>,
    pub(super) view_map: Vec<(usize, usize)>,
    pub(super) destroy_map: Vec<(usize, usize)>,
    pub(super) check_input: bool,
    pub(super) f16_ok: bool,
}

impl Told {
    pub(super) fn list(&self, method: &str) -> Vec<String> {
        self.lists.get(method).cloned().unwrap_or_default()
    }
}

/// Returns the outputs of a user-defined op applied to arguments.
#[pyfunction]
#[pyo3(signature = (told, args, props, param_types, files, perform))]
pub(crate) fn apply<'py>(
    py: Python<'py>,
    told: Told,
    args: Vec<Bound<'py, PyAny>>,
    props: Vec<(String, Bound<'py, PyAny>)>,
    param_types: Vec<(String, ParamTold)>,
    files: Option<Files>,
    perform: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let args = args.iter().map(convert::value).collect::<PyResult<Vec<Value>>>()?;
    let types =
        |texts: &[String]| texts.iter().map(|text| text.parse::<Type>()).collect::<Result<Vec<_>, _>>();
    let outputs = types(&told.outputs).map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let mut props = params::props(props)?;
    let names: Vec<String> = param_types.iter().map(|(name, _)| name.clone()).collect();
    let params_type = params::types(param_types)?;
    let c: Box<dyn COp> = match files {
        Some(files) => {
            let params = props.iter().filter(|(name, _)| names.contains(name));
            let mut declaration = Declaration::new(&told.name);
            declaration.params = params.map(|(name, prop)| (name.clone(), prop.clone())).collect();
            declaration.param_types =
                params_type.fields().map(|(name, ty)| (name.to_owned(), ty.clone())).collect();
            Box::new(external::op(files, &told, declaration).map_err(|text| error::graph_value(py, &text))?)
        }
        None => Box::new(Captured::new(&told, params_type)),
    };
    props.insert(CLASS.to_owned(), Prop::Str(told.class));
    let (name, view_map, destroy_map) = (told.name, told.view_map, told.destroy_map);
    let op = OwnOp { name, outputs, props, params: names, view_map, destroy_map, c, perform };
    crate::graph::call::made(py, Origin::Apply { op: Arc::new(op), inputs: args })
}

/// An op that is written in Python, for the types of one Apply.
pub(crate) struct OwnOp {
    name: String,
    outputs: Vec<Type>,
    props: Props,
    params: Vec<String>,
    view_map: Vec<(usize, usize)>,
    destroy_map: Vec<(usize, usize)>,
    /// The C code of the op.
    c: Box<dyn COp>,
    /// The `perform` method: takes a list of arrays and returns one.
    perform: Option<Py<PyAny>>,
}

impl OwnOp {
    /// Returns whether the reference implementation is Python code.
    pub(crate) fn has_perform(&self) -> bool {
        self.perform.is_some()
    }
}

impl fmt::Debug for OwnOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnOp").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Op for OwnOp {
    fn name(&self) -> &str {
        &self.name
    }

    fn label(&self) -> String {
        let shown = self.props.iter().filter(|(name, _)| *name != CLASS && !self.params.contains(name));
        let shown: Vec<String> = shown.map(|(name, prop)| format!("{name}={prop}")).collect();
        if shown.is_empty() { self.name.clone() } else { format!("{}{{{}}}", self.name, shown.join(",")) }
    }

    fn props(&self) -> Props {
        self.props.clone()
    }

    fn params(&self) -> Vec<String> {
        self.params.clone()
    }

    /// Returns the types from Python's `make_node`. A rewrite may have refined the types of the arguments since.
    fn make_node(&self, _: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(self.outputs.clone())
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        let Some(perform) = &self.perform else {
            return Err(PerformError::NoReference { op: self.name.clone() });
        };
        let performed = Python::try_attach(|py| {
            run(py, perform, inputs, &self.outputs)
                .map_err(|raised| PerformError::value(&self.name, stash::put(py, raised)))
        });
        performed.unwrap_or_else(|| Err(PerformError::value(&self.name, "the interpreter is shutting down")))
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        self.view_map.clone()
    }

    fn destroy_map(&self) -> Vec<(usize, usize)> {
        self.destroy_map.clone()
    }
}

/// Calls `perform`.
fn run(py: Python<'_>, perform: &Py<PyAny>, inputs: &[&Array], outputs: &[Type]) -> PyResult<Vec<Array>> {
    let given = inputs.iter().map(|array| {
        let descr = dtypes::descr(py, array.dtype())?;
        array::give(py, (*array).clone(), &descr, false)
    });
    let given = PyList::new(py, given.collect::<PyResult<Vec<_>>>()?)?;
    let results: Vec<Bound<'_, PyAny>> = perform.bind(py).call1((given,))?.extract()?;
    let results = results.iter().zip(outputs).map(|(result, ty)| {
        let array = convert::constant(result)?;
        if ty.admits(array.dtype(), array.shape()) {
            return Ok(array);
        }
        let found =
            format!("perform returned `{}` of shape {:?}, declared as `{ty}`", array.dtype(), array.shape());
        Err(error::wrong_type(py, found))
    });
    results.collect()
}

/// The C code that methods returned.
#[derive(Debug)]
struct Captured {
    name: String,
    signature: String,
    code: Code,
    check_input: bool,
    f16_ok: bool,
    params: ParamsType,
}

impl Captured {
    fn new(told: &Told, params: ParamsType) -> Self {
        let version = match &told.version {
            None => CacheVersion::Content,
            Some(version) if version.is_empty() => CacheVersion::Never,
            Some(version) => CacheVersion::Version(version.clone()),
        };
        let code = Code::new(told.texts.clone(), told.lists.clone());
        let code = Code { version, is_cxx: told.cxx.unwrap_or(false), ..code };
        let signature = format!("{}({}) -> {}", told.name, told.inputs.join(", "), told.outputs.join(", "));
        let (name, check_input, f16_ok) = (told.name.clone(), told.check_input, told.f16_ok);
        Self { name, signature, code, check_input, f16_ok, params }
    }
}

/// Only [`OwnOp`] has a complete interface; this type provides its C code.
impl Op for Captured {
    fn name(&self) -> &str {
        &self.name
    }

    fn make_node(&self, _: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(Vec::new())
    }

    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::NoReference { op: self.name.clone() })
    }
}

object_of!(Captured, code);

impl COp for Captured {
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        if self.code.texts.has("c_code") {
            return Ok(self.code.texts.run("c_code", name, inputs, outputs, sub));
        }
        let problem = "the class has no `c_code`\nhint: policy=\"interpret\" calls its `perform`".to_owned();
        Err(LinkError::Unsupported { signature: self.signature.clone(), problem })
    }
    fn c_code_cleanup(
        &self,
        _: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> String {
        self.code.texts.run("c_code_cleanup", name, inputs, outputs, sub)
    }
    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        Ok(self.code.texts.fill("c_support_code_apply", name, &Sub::default()))
    }
    fn c_init_code_apply(&self, _: &Node, name: &str) -> String {
        self.code.texts.fill("c_init_code_apply", name, &Sub::default())
    }
    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        self.code.texts.fill("c_support_code_struct", name, &Sub::default())
    }
    fn c_init_code_struct(&self, _: &Node, name: &str, sub: &Sub) -> String {
        self.code.texts.fill("c_init_code_struct", name, sub)
    }
    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        self.code.texts.fill("c_cleanup_code_struct", name, &Sub::default())
    }
    fn params_type(&self) -> Result<ParamsType, LinkError> {
        Ok(self.params.clone())
    }
    fn check_input(&self) -> bool {
        self.check_input
    }
    fn f16_ok(&self) -> bool {
        self.f16_ok
    }
}

object_of!(OwnOp, c);

impl COp for OwnOp {
    delegate! {
        c:
        c_code(node: &Node, name: &str, inputs: &[String], outputs: &[String], sub: &Sub) -> Result<String, LinkError>;
        c_code_cleanup(node: &Node, name: &str, inputs: &[String], outputs: &[String], sub: &Sub) -> String;
        c_support_code_apply(node: &Node, name: &str) -> Result<String, LinkError>;
        c_headers_apply(node: &Node) -> Vec<String>;
        c_sources_apply(node: &Node) -> SourceSet;
        c_init_code_apply(node: &Node, name: &str) -> String;
        c_support_code_struct(node: &Node, name: &str) -> String;
        c_init_code_struct(node: &Node, name: &str, sub: &Sub) -> String;
        c_cleanup_code_struct(node: &Node, name: &str) -> String;
        params_type() -> Result<ParamsType, LinkError>;
        c_files() -> SourceSet;
        check_input() -> bool;
        f16_ok() -> bool;
    }
}
