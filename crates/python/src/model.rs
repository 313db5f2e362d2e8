//! A bundle in Python: a mapping from names to functions, which are also available as attributes.

use crate::boundary::object;
use crate::error;
use crate::function::Function;
use crate::metadata;
use crate::modules::Found;
use precast_core::event::{join, lines};
use precast_core::{Bundle, BundleMetadataError, Loader};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyTuple};
use std::path::{PathBuf, absolute};
use std::sync::OnceLock;

/// An open bundle. Look up graphs by name: `model["score"]` or `model.score`.
#[pyclass(frozen, mapping, module = "precast")]
pub(crate) struct Model {
    loader: Loader,
    path: PathBuf,
    /// The absolute paths of the file and the keyring, for pickling.
    origin: (PathBuf, Option<PathBuf>),
    /// The result of [`damage`], computed on the first miss.
    damage: OnceLock<String>,
}

/// Describes the damage in a bundle, which may explain a miss. Returns an empty text for an intact bundle.
pub(crate) fn damage(bundle: &Bundle) -> String {
    let found = lines(&bundle.verify());
    if found.is_empty() {
        return String::new();
    }
    format!("{}\n{}", found.join("\n"), Bundle::HINT)
}

/// Opens a bundle file. Functions are verified and loaded on first access. If a keyring is given, or set in
/// `PRECAST_KEYRING`, the file must be signed by enough of its keys.
#[pyfunction]
#[pyo3(signature = (path, /, *, keyring = None))]
pub(crate) fn load(py: Python<'_>, path: PathBuf, keyring: Option<PathBuf>) -> PyResult<Model> {
    // Unlike the given paths, absolute ones keep their meaning when the current directory changes. An empty path has none.
    let whole = |path: &PathBuf| absolute(path).unwrap_or_else(|_| path.clone());
    let origin = (whole(&path), keyring.as_ref().map(whole));
    let opened = py.detach(|| Bundle::open_under(&path, keyring).map(Loader::new));
    opened
        .map(|loader| Model { loader, path, origin, damage: OnceLock::new() })
        .map_err(|refused| error::open(py, &refused))
}

/// Opens the bundle of a pickled model, which must have the same bytes.
#[pyfunction]
pub(crate) fn reopen(
    py: Python<'_>,
    path: PathBuf,
    head_hash: Vec<u8>,
    keyring: Option<PathBuf>,
) -> PyResult<Model> {
    let model = load(py, path, keyring)?;
    if model.loader.bundle().head_hash() == head_hash {
        return Ok(model);
    }
    let message = format!(
        "{} has changed since the model was pickled\nhint: pickle the model again, or give each version its own file",
        model.loader.bundle().name()
    );
    Err(error::raise(py, "BundleError", (message,)))
}

/// Returns the extension module with a given key from a bundle, and the name of the module.
#[pyfunction]
pub(crate) fn module_of(py: Python<'_>, model: &Bound<'_, Model>, key: &str) -> PyResult<(String, Found)> {
    let refused = |why: String| error::raise(py, "BundleError", (why,));
    let key = key.parse().map_err(|_| refused(format!("invalid module key `{key}`")))?;
    let model = model.get();
    py.detach(|| {
        Found::of_bundle(model.loader.bundle(), &key).map_err(|why| join(&[&*why, model.damage()], "\n"))
    })
    .map_err(refused)
}

/// The arguments of [`reopen`].
type Pickled<'py> = (PathBuf, Bound<'py, PyBytes>, Option<PathBuf>);

impl Model {
    fn damage(&self) -> &str {
        self.damage.get_or_init(|| damage(self.loader.bundle()))
    }
}

#[pymethods]
impl Model {
    /// The names of the graphs, sorted.
    #[getter]
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.loader.entries())
    }

    /// Returns the function of a graph.
    fn __getitem__<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.loader.entry(&name)).map_err(|missing| {
            // Python and notebooks look up such names on every object, so the bundle is not verified for them.
            let damage = if name.starts_with('_') { "" } else { py.detach(|| self.damage()) };
            error::entry(py, &missing, damage)
        })?;
        let is_map = found.is_elementwise();
        object::wrap(py, Function::new(py, name, found, is_map))
    }

    /// Returns the function of a graph whose name is not another attribute.
    fn __getattr__<'py>(&self, py: Python<'py>, name: String) -> PyResult<Bound<'py, PyAny>> {
        self.__getitem__(py, name)
    }

    /// Returns what the bundle states about a graph, a function of several graphs, or without a name, itself.
    #[pyo3(signature = (name = "", /))]
    fn metadata<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = py.detach(|| self.loader.metadata(name));
        let refused =
            |refused: BundleMetadataError| error::raise(py, "BundleError", (error::text(&refused),));
        metadata::given(py, &found.map_err(refused)?)
    }

    /// Returns a NumPy ufunc with a loop for each graph named `name` or `name.<suffix>`. With
    /// a signature, returns a gufunc.
    #[pyo3(signature = (name, signature = None, /))]
    fn ufunc<'py>(
        &self,
        py: Python<'py>,
        name: String,
        signature: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let prefix = format!("{name}.");
        let entries = self.loader.entries();
        let mut of: Vec<String> = entries.into_iter().filter(|entry| entry.starts_with(&prefix)).collect();
        if of.is_empty() || self.loader.entries().contains(&name) {
            of.insert(0, name.clone());
        }
        let functions = of.into_iter().map(|entry| self.__getitem__(py, entry)).collect::<PyResult<_>>()?;
        crate::ufunc::make(py, &name, functions, signature, true)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.loader.entries().contains(&name))
    }

    fn __len__(&self) -> usize {
        self.loader.entries().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.entries(py)?.try_iter()
    }

    /// Returns the object itself, since a model is immutable.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// Pickles the model as its path, its hash and the path of its keyring.
    fn __reduce_ex__<'py>(
        &self,
        py: Python<'py>,
        _protocol: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let reopen = py.import("precast._native")?.getattr("reopen")?;
        let (path, keyring) = self.origin.clone();
        Ok((reopen, (path, PyBytes::new(py, self.loader.bundle().head_hash()), keyring)))
    }

    /// Lists the graphs and the attributes, for completion.
    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let own = slf.py().get_type::<PyAny>().call_method1("__dir__", (slf,))?;
        let mut names: Vec<String> = own.extract()?;
        names.extend(slf.get().loader.entries());
        Ok(names)
    }

    fn __repr__(&self) -> String {
        format!("<precast.Model {:?}: {}>", self.path.display().to_string(), self.loader.entries().join(", "))
    }
}
