//! Findings about artifacts: their health, differences and provenance, and why they were compiled.

pub(crate) mod attested;
pub(crate) mod compared;
pub(crate) mod described;
pub(crate) mod difference;
pub(crate) mod exported;
pub(crate) mod health;
pub(crate) mod held;
pub(crate) mod provenance;
pub(crate) mod repro;
pub(crate) mod searched;
pub(crate) mod signed;
pub(crate) mod why;
