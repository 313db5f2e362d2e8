//! The Python package `precast`: the named graphs of a bundle as functions of NumPy arrays.
//!
//! ```text
//! precast/__init__.py   what users import: this module, the exceptions, native functions
//! lib, model            load(path) -> Model -> Function, by item, attribute or name
//! function              a call: arguments by position and name, `out=`, results
//! array                 NumPy's memory as precast's arrays and back, without copies: the only unsafe code
//! number                Python's numbers as inputs without dimensions
//! error                 the errors of `precast-core` as exceptions of the kind that Python users expect
//! ```
//! One library serves CPython from 3.10 on (`abi3`) and every NumPy from 1.26 on. It links `precast-core` alone: no code
//! generator, no compiler, no parser. The interpreter is not held while a bundle is read and while a function runs.

mod array;
mod error;
mod function;
mod model;
mod modules;
mod number;

use pyo3::prelude::*;

/// The native part of the package `precast`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::function::Function;
    #[pymodule_export]
    use crate::model::{Model, load};
    #[pymodule_export]
    use crate::modules::{Modules, Wanted};
}
