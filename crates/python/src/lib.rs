//! The native part of the Python package `precast`: functions on NumPy arrays, loaded from bundles or
//! compiled from graphs built in Python.
//!
//! ```text
//! precast/*.py          the Python API: variables, user-defined ops and types, exceptions, native functions
//! model                 load(path) -> Model -> Function, by item, attribute or name
//! graph                 variables and graphs: the results of NumPy's operators and functions
//! own                   ops and types that are written in Python
//! session               compiles graphs to functions: layers, policies, the compiler
//! save                  writes graphs to a bundle
//! metadata              what a bundle states about its functions, as dictionaries
//! modules               extension modules of other generators, PyTensor's, in precast's layers
//! function, argument    a call: arguments by position and name, `out=`, results; values as arrays, then their memory
//! boundary              the type of functions, and conversion between NumPy's memory and precast's arrays: the only unsafe code
//! number, dtypes        Python's numbers as inputs without dimensions; NumPy's dtypes
//! ufunc, callback       functions as NumPy ufuncs and as SciPy callbacks
//! xla                   functions as custom calls of XLA, for JAX
//! compiler              the zig of the package `ziglang`, where no other compiler is
//! error                 errors as exceptions of the kind that Python users expect
//! ```
//! One library serves CPython from 3.10 on (`abi3`) and NumPy from 1.26 on. The GIL is released while a bundle is read,
//! while a graph is compiled, and while a function runs that may take long.

mod argument;
mod boundary;
mod callback;
mod compiler;
mod dtypes;
mod error;
mod function;
mod graph;
mod interrupt;
mod metadata;
mod model;
mod modules;
mod number;
mod own;
mod save;
mod session;
mod ufunc;
mod xla;

use pyo3::prelude::*;

/// The native part of the package `precast`.
#[pymodule]
mod _native {
    use crate::boundary::{array, object};
    #[pymodule_export]
    use crate::callback::capsule;
    #[pymodule_export]
    use crate::graph::call::{
        Variable, attribute, call, constant, described, index, input, member, members, names,
    };
    #[pymodule_export]
    use crate::graph::whole::{Graph, graph, needed, parse};
    #[pymodule_export]
    use crate::model::{Model, load, module_of, reopen};
    #[pymodule_export]
    use crate::modules::{Modules, Wanted};
    #[pymodule_export]
    use crate::number::number;
    #[pymodule_export]
    use crate::own::ctype::register_type;
    #[pymodule_export]
    use crate::own::op::apply;
    #[pymodule_export]
    use crate::save::save;
    #[pymodule_export]
    use crate::session::{compile, explain, held};
    #[pymodule_export]
    use crate::ufunc::{core_ranks, make};
    #[pymodule_export]
    use crate::xla::{xla_function, xla_handler};
    use pyo3::prelude::*;

    /// Runs the command line and returns its exit code.
    #[cfg(feature = "command-line")]
    #[pyfunction]
    fn command_line(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
        crate::compiler::offer_zig(py);
        py.detach(|| precast_cli::run(precast_cli::Face::Precast, arguments))
    }

    /// Returns the number of threads that may share the work of a call.
    #[pyfunction]
    fn get_num_threads() -> usize {
        precast_core::threads::count()
    }

    /// Sets the number of threads that may share the work of a call. Overrides `PRECAST_THREADS`.
    #[pyfunction]
    #[pyo3(signature = (n, /))]
    fn set_num_threads(n: usize) -> PyResult<()> {
        if n == 0 {
            return Err(pyo3::exceptions::PyValueError::new_err(
                "the number of threads must be at least 1, found 0",
            ));
        }
        precast_core::threads::limit(n);
        Ok(())
    }

    /// Sets the directory of modules for profilers. Overrides `PRECAST_PROFILING`; `None` disables profiling.
    #[pyfunction]
    #[pyo3(signature = (directory, /))]
    fn set_profiling(directory: Option<std::path::PathBuf>) {
        precast_core::native::profiling::set_directory(directory);
    }

    /// Returns the problem with the value of `PRECAST_THREADS`, or `None` if the value is valid.
    #[pyfunction]
    fn misread_threads() -> Option<String> {
        precast_core::threads::misread()
    }

    /// Returns the path of the user's store, which build scripts share.
    #[pyfunction]
    fn user_store() -> Option<std::path::PathBuf> {
        precast_store::user_store()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // A later import would panic if Python is interrupted during it.
        array::import_numpy(module.py());
        module.add("Function", object::class(module.py())?)
    }
}
