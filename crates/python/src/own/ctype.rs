//! Types that are written in Python.

use super::code::{Code, object_of};
use super::stash;
use crate::boundary::array;
use crate::graph::convert;
use crate::{dtypes, error};
use precast_codegen::{CType, Sub};
use precast_core::Type;
use precast_graph::{Array, CarrierRules, FilterError, TypeRules};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The description of a type from `precast/_own/`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    /// The type, such as `double<f64[]>`.
    ty: String,
    texts: HashMap<String, String>,
    lists: HashMap<String, Vec<String>>,
    is_simple: bool,
    /// Whether each number is a value stored directly in the C variable.
    is_number: bool,
    element_type: Option<String>,
}

/// A type that is written in Python.
struct OwnType {
    code: Code,
    is_simple: bool,
    is_number: bool,
    element_type: Option<String>,
    /// The `filter` method of the Python class.
    filter: Option<Py<PyAny>>,
    values_eq_approx: Option<Py<PyAny>>,
}

/// The registered types of this process by name, and the number of changes to them.
static TYPES: RwLock<(u64, Types)> = RwLock::new((0, Types::new()));

type Types = Vec<(String, Arc<OwnType>)>;

/// Returns the number of changes to the registered types.
pub(crate) fn generation() -> u64 {
    TYPES.read().unwrap_or_else(PoisonError::into_inner).0
}

/// Adds all registered types of this process to a library.
pub(crate) fn with_types(ops: precast_ops::Ops) -> precast_ops::Ops {
    let types = TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.1.iter().fold(ops, |ops, (name, ty)| {
        let ty: Arc<dyn CType> = Arc::clone(ty) as _;
        ops.with_type(name, ty)
    })
}

/// Returns whether values of a type are filtered by Python code.
pub(crate) fn has_filter(name: &str) -> bool {
    find(name).is_some_and(|ty| ty.filter.is_some())
}

/// Registers a type under its name. Replaces a type of the same name that differs from it.
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
            &format!("`{ty}` is the name of a built-in type\nhint: choose another name"),
        ));
    };
    let name = user.name().to_owned();
    let Told { texts, mut lists, is_simple, is_number, element_type, .. } = told;
    lists.entry("c_headers".to_owned()).or_default().push("precast/module.h".to_owned());
    let headers = precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), (*text).into()));
    let code = Code { sources: headers.collect(), ..Code::new(texts, lists) };
    let made = Arc::new(OwnType { code, is_simple, is_number, element_type, filter, values_eq_approx });
    // Methods are compared by Python code, so the lock is not held.
    let known = find(&name);
    if known.as_deref().is_some_and(|known| known.is(py, &made)) {
        return Ok(());
    }
    let mut types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
    types.0 += 1;
    let old = match types.1.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => Some(std::mem::replace(known, made)),
        None => {
            types.1.push((name, made));
            None
        }
    };
    drop(types);
    // Dropping a type may run Python code, so the lock was released before.
    drop(old);
    Ok(())
}

/// Finds a registered type.
fn find(name: &str) -> Option<Arc<OwnType>> {
    let types = TYPES.read().unwrap_or_else(PoisonError::into_inner);
    types.1.iter().find(|(known, _)| known == name).map(|(_, ty)| Arc::clone(ty))
}

/// Returns whether two methods do the same. Errors of Python's comparisons count as a difference.
fn is_same(py: Python<'_>, a: Option<&Py<PyAny>>, b: Option<&Py<PyAny>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => is_same_method(a.bind(py), b.bind(py)).unwrap_or(false),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Returns whether two methods are one function, bound to equal objects, or to objects of one class with equal
/// attributes.
fn is_same_method(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    let has_equal =
        |a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, name: &str| a.getattr(name)?.eq(b.getattr(name)?);
    if a.is(b) || !has_equal(a, b, "__func__")? {
        return Ok(a.is(b));
    }
    let (a, b) = (a.getattr("__self__")?, b.getattr("__self__")?);
    Ok(a.eq(&b)? || has_equal(&a, &b, "__class__")? && has_equal(&a, &b, "__dict__")?)
}

impl OwnType {
    /// Returns whether two types have the same C code, and methods that do the same.
    fn is(&self, py: Python<'_>, other: &Self) -> bool {
        let Self { code, is_simple, is_number, element_type, filter, values_eq_approx } = self;
        code.is(&other.code)
            && (is_simple, is_number, element_type)
                == (&other.is_simple, &other.is_number, &other.element_type)
            && is_same(py, filter.as_ref(), other.filter.as_ref())
            && is_same(py, values_eq_approx.as_ref(), other.values_eq_approx.as_ref())
    }

    fn fill(&self, method: &str, name: &str, sub: &Sub) -> String {
        self.code.texts.fill(method, name, sub)
    }

    /// Returns the text of a method, or of its `_unchecked` variant if values are not checked.
    fn checked(&self, method: &str, name: &str, sub: &Sub, check_input: bool) -> String {
        let unchecked = format!("{method}_unchecked");
        let method = if !check_input && self.code.texts.has(&unchecked) { &unchecked } else { method };
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

object_of!(OwnType, code);

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
        self.is_simple
    }
    fn c_is_number(&self) -> bool {
        self.is_number
    }
    fn c_element_type(&self) -> Option<String> {
        self.element_type.clone()
    }
}
