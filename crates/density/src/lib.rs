//! Statistical models: log densities, gradients, transforms and draws of a *model package*.
//!
//! A model package is a bundle that Python's `precast.pymc.export` writes. Its entries are functions of `q`, one vector of all
//! unconstrained values, and its metadata names the parameters.
//! ```no_run
//! use precast_density::Density;
//! let density = Density::open("model.precast")?;
//! let q = density.initial()?;
//! let mut gradient = vec![0.0; density.dim()];
//! let value = density.logp_and_grad(&q, &mut gradient)?;
//! let parameters = density.constrain(&q)?; // as `density.description().parameters`, then the deterministics
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! | BridgeStan | [`Density`] | entry of the package |
//! |---|---|---|
//! | `name`, `info` | [`Description::name`], [`Description::versions`] | metadata |
//! | `param_num`, `param_names` | [`Description::parameters`], [`names::elements`] | metadata |
//! | `param_unc_num`, `param_unc_names` | [`Density::dim`], [`Parameter::unconstrained`] | metadata |
//! | `log_density` | [`Density::logp`] | `log_density` |
//! | `log_density_gradient` | [`Density::logp_and_grad`] | `log_density_gradient` |
//! | `log_density_hessian_vector_product` | [`Density::hessian_product`] | `log_density_hessian_product` |
//! | `log_density_hessian` | [`Density::hessian`] | `log_density_gradient` and `dim` Hessian-vector products |
//! | `param_constrain` with transformed parameters | [`Density::constrain`] | `constrain` |
//! | `param_constrain` with generated quantities | [`Density::predict`] | `predict` |
//! | `param_unconstrain` | [`Density::unconstrain`] | `unconstrain` |
//! | `param_initialize` | [`Density::initial`], [`Density::uniform`] | `initial`, `uniform` |
//! | `jacobian = false` | [`Density::without_jacobian`] | the names with `_no_jacobian` |
//! | – | [`Density::log_likelihood`] | `log_likelihood` |
//! | – | [`Density::prior`] | `prior` |
//! | data of the model | [`Density::set_data`] | inputs of all entries; defaults: `data` |

mod density;
mod description;
mod entry;
mod error;
pub mod names;

pub use density::{Density, Key};
pub use description::{Description, Observed, Parameter, Unconstrained, Variable};
pub use error::{DensityError, OpenDensityError};

/// The key of the metadata that describes the model.
pub const METADATA_KEY: &str = "precast.model";
