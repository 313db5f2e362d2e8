//! BridgeStan's C interface over model packages: whatever loads compiled Stan models also loads a PyMC model.
//!
//! ```text
//! model.precast ──precast bridgestan──▶ model.so: this library, then the package ──bs_model_construct──▶ Model
//! ```
//! | file | purpose |
//! |---|---|
//! | `boundary` | the `bs_` functions: pointers to references, errors to texts |
//! | `model` | an open package, its names and its column-major values |
//! | `order` | C order to column-major order |
//! | `values` | JSON to arrays |
//! | `package` | finds the package behind the library, or the one that the data names |
//!
//! Values of one container are in column-major order, and indices in names begin with 1, as in Stan. `propto` changes nothing:
//! PyMC's densities keep their constants.

mod boundary;
mod error;
mod model;
mod order;
mod package;
mod values;
