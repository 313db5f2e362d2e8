//! Types that are written in Python.

use super::stash;
use super::texts::Texts;
use crate::boundary::array;
use crate::graph::convert;
use crate::{dtypes, error};
use precast_codegen::{CLinkerObject, CType, CacheVersion, SourceSet, Sub};
use precast_core::Type;
use precast_graph::{Array, CarrierRules, FilterError, TypeRules};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What `precast/_own/` says of a type.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    /// `double<f64[]>`.
    ty: String,
    texts: HashMap<String, String>,
    lists: HashMap<String, Vec<String>>,
    is_simple: bool,
    /// Whether each number is a value, in the C variable itself.
    is_number: bool,
    element_type: Option<String>,
}

/// A type that is written in Python.
struct OwnType {
    told: Told,
    texts: Texts,
    is_compat: bool,
    /// Of Python's class.
    filter: Option<Py<PyAny>>,
    values_eq_approx: Option<Py<PyAny>>,
}

/// The types of this process by name, and how often they have changed.
static TYPES: RwLock<(u64, Types)> = RwLock::new((0, Types::new()));

type Types = Vec<(String, Arc<OwnType>)>;

/// How often the types have changed.
pub(crate) fn generation() -> u64 {
    TYPES.read().unwrap_or_else(PoisonError::into_inner).0
}

/// The library with all types of this process.
pub(crate) fn with_types(ops: precast_ops::Ops) -> precast_ops::Ops {
    let types = TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.1.iter().fold(ops, |ops, (name, ty)| {
        let ty: Arc<dyn CType> = Arc::clone(ty) as _;
        ops.with_type(name, ty)
    })
}

/// Registers a type under its name; one of the same name that is another is replaced.
#[pyfunction]
pub(crate) fn register_type(
    py: Python<'_>,
    told: Told,
    filter: Option<Py<PyAny>>,
    values_eq_approx: Option<Py<PyAny>>,
) -> PyResult<()> {
    let ty: Type = told.ty.parse().map_err(|refused| error::graph_of(py, "GraphValueError", &refused))?;
    let Some(user) = ty.as_user() else {
        return Err(error::graph_value(
            py,
            &format!("`{ty}` is a type that precast has\nhint: give yours another name"),
        ));
    };
    let name = user.name().to_owned();
    let texts = Texts(told.texts.clone());
    let is_compat = texts.are_compat(told.lists.values().flatten());
    let made = Arc::new(OwnType { told, texts, is_compat, filter, values_eq_approx });
    let mut types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
    let old = match types.1.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) if known.texts == made.texts && known.told.lists == made.told.lists => Some(made),
        Some((_, known)) => {
            let old = std::mem::replace(known, made);
            types.0 += 1;
            Some(old)
        }
        None => {
            types.1.push((name, made));
            types.0 += 1;
            None
        }
    };
    drop(types);
    // Python is called as it goes.
    drop(old);
    Ok(())
}

impl OwnType {
    fn list(&self, method: &str) -> Vec<String> {
        self.told.lists.get(method).cloned().unwrap_or_default()
    }

    fn fill(&self, method: &str, name: &str, sub: &Sub) -> String {
        self.texts.fill(method, name, sub)
    }

    /// The text of a method that is told whether values are checked.
    fn checked(&self, method: &str, name: &str, sub: &Sub, check_input: bool) -> String {
        let unchecked = format!("{method}_unchecked");
        let method = if !check_input && self.texts.has(&unchecked) { &unchecked } else { method };
        self.fill(method, name, sub)
    }
}

impl TypeRules for OwnType {
    fn filter(
        &self,
        ty: &Type,
        value: Array,
        strict: bool,
        downcast: Option<bool>,
    ) -> Result<Array, FilterError> {
        let Some(filter) = &self.filter else { return CarrierRules.filter(ty, value, strict, downcast) };
        let filtered = Python::try_attach(|py| {
            let run = || -> PyResult<Array> {
                let descr = dtypes::descr(py, value.dtype())?;
                let given = array::give(py, value, &descr, true)?;
                let made = filter.bind(py).call1((given, strict, downcast))?;
                Ok(convert::constant(&made)?.cast(ty.dtype()))
            };
            run().map_err(|raised| FilterError::Value { ty: ty.to_string(), problem: stash::put(py, raised) })
        });
        let problem = "the interpreter is shutting down".to_owned();
        filtered.unwrap_or_else(|| Err(FilterError::Value { ty: ty.to_string(), problem }))
    }

    fn values_eq_approx(&self, a: &Array, b: &Array) -> bool {
        let Some(compare) = &self.values_eq_approx else { return CarrierRules.values_eq_approx(a, b) };
        let compared = Python::try_attach(|py| {
            let run = || -> PyResult<bool> {
                let descr = dtypes::descr(py, a.dtype())?;
                let [a, b] = [a, b].map(|array| array::give(py, array.clone(), &descr, true));
                compare.bind(py).call1((a?, b?))?.is_truthy()
            };
            run().unwrap_or(false)
        });
        compared.unwrap_or(false)
    }
}

impl CLinkerObject for OwnType {
    fn c_headers(&self) -> Vec<String> {
        let mut headers = self.list("c_headers");
        headers.push("precast/module.h".to_owned());
        if self.is_compat {
            headers.extend(["Python.h", "numpy/arrayobject.h"].map(str::to_owned));
        }
        headers
    }
    fn c_header_dirs(&self) -> Vec<String> {
        self.list("c_header_dirs")
    }
    fn c_libraries(&self) -> Vec<String> {
        self.list("c_libraries")
    }
    fn c_lib_dirs(&self) -> Vec<String> {
        self.list("c_lib_dirs")
    }
    fn c_compile_args(&self) -> Vec<String> {
        self.list("c_compile_args")
    }
    fn c_support_code(&self) -> Vec<String> {
        self.list("c_support_code")
    }
    fn c_init_code(&self) -> Vec<String> {
        self.list("c_init_code")
    }
    fn c_code_cache_version(&self) -> CacheVersion {
        CacheVersion::Content
    }
    fn c_sources(&self) -> SourceSet {
        precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect()
    }
}

impl CType for OwnType {
    fn c_declare(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        self.checked("c_declare", name, sub, check_input)
    }
    fn c_init(&self, name: &str, sub: &Sub) -> String {
        self.fill("c_init", name, sub)
    }
    fn c_extract(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        self.checked("c_extract", name, sub, check_input)
    }
    fn c_extract_out(&self, name: &str, sub: &Sub, check_input: bool) -> String {
        self.checked("c_extract_out", name, sub, check_input)
    }
    fn c_sync(&self, name: &str, sub: &Sub) -> String {
        self.fill("c_sync", name, sub)
    }
    fn c_cleanup(&self, name: &str, sub: &Sub) -> String {
        self.fill("c_cleanup", name, sub)
    }
    fn c_is_simple(&self) -> bool {
        self.told.is_simple
    }
    fn c_is_number(&self) -> bool {
        self.told.is_number
    }
    fn c_element_type(&self) -> Option<String> {
        self.told.element_type.clone()
    }
}
