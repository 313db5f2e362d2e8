//! The param values of an external op: checked when the op is created, and supplied by the caller.

use super::macros::is_macro;
use super::props::PARAMS;
use super::{ExternalCOp, ExternalError, error};
use crate::cop::COp as _;
use crate::error::LinkError;
use crate::params::{ParamType, check_values, slot_value};
use precast_graph::{Array, MakeNodeError, Props, nearest};
use precast_store::event::chain;

impl ExternalCOp {
    /// Returns the same op with other param values. The params keep their types, so one module serves all values.
    ///
    /// # Errors
    /// Fails if a name is not a param, or if a value does not fit its type.
    pub fn with_params(&self, values: &Props) -> Result<Self, MakeNodeError> {
        let (mut op, types) = (self.clone(), self.params_type().unwrap_or_default());
        let name = &self.declaration.name;
        for (param, value) in values {
            let Some(ty) = types.get(param) else {
                let known: Vec<&str> = types.fields().map(|(name, _)| name).collect();
                let near = error::suggestion(nearest(param, known.iter().copied()));
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(MakeNodeError::prop(name, param, format!("is unknown{near}; params: {known}")));
            };
            op.declaration.param_types.insert(param.clone(), ty.clone());
            op.declaration.params.insert(param.clone(), value.clone());
        }
        op.check_params().map_err(|error| match error {
            ExternalError::Param { param, problem } => {
                MakeNodeError::prop(name, &param, format!("is invalid: {problem}"))
            }
            other => MakeNodeError::prop(name, PARAMS, chain(&other)),
        })?;
        Ok(op)
    }

    /// Returns the param values as arrays of their dtypes, by name. A constant from a C header is represented by its
    /// position.
    #[must_use]
    pub fn param_values(&self) -> Vec<(String, Array)> {
        let types = self.params_type().unwrap_or_default();
        let value = |(name, ty): (&str, &ParamType)| {
            let value = slot_value(ty, self.declaration.params.get(name)?).ok()?;
            Some((name.to_owned(), value))
        };
        types.fields().filter_map(value).collect()
    }

    /// Checks the values of the params against their types.
    pub(super) fn check_params(&self) -> Result<(), ExternalError> {
        let d = &self.declaration;
        if let Some(param) = d.params.keys().find(|param| is_macro(param)) {
            let problem = "is the name of a predefined macro".to_owned();
            return Err(ExternalError::Param { param: param.clone(), problem });
        }
        let checked = self.params_type().and_then(|types| check_values(&d.name, &types, &d.params));
        checked.map_err(|error| match error {
            LinkError::Param { field: param, problem, .. } => ExternalError::Param { param, problem },
            other => ExternalError::Setting { key: PARAMS, problem: other.to_string() },
        })
    }
}
