//! The errors that become texts.

use precast_core::event::chain;
use precast_density::{DensityError, OpenDensityError};

/// The reason why a function of the interface failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("`{0}` is NULL")]
    Null(&'static str),
    #[error("the values are not a JSON object: {0}")]
    Json(serde_json::Error),
    #[error("the values are not a JSON object")]
    NoObject,
    #[error("`{0}` is not UTF-8")]
    Text(&'static str),
    #[error("{}", chain(.0))]
    Open(#[from] OpenDensityError),
    #[error("{}", chain(.0))]
    Density(#[from] DensityError),
    #[error("cannot read the package behind this library: {0}")]
    Read(std::io::Error),
    #[error("cannot read the package behind this library: {0}")]
    Package(String),
    #[error(
        "this library has no package\nhint: `precast bridgestan model.precast` makes one that has, or name a package in the data: {{\"precast.package\": \"model.precast\"}}"
    )]
    NoPackage,
    #[error("`{name}` is no {what} of the model; found {known}")]
    Unknown { name: String, what: &'static str, known: String },
    #[error("there is no value for parameter `{0}`")]
    Missing(String),
    #[error("the value of `{name}` {reason}")]
    Value { name: String, reason: String },
    #[error("generated quantities need a random generator")]
    NoGenerator,
    #[error("found no point with a finite log density in {tries} tries; the last had {last}")]
    Initial { tries: i32, last: String },
    #[error("internal error: {0}")]
    Panic(String),
}
