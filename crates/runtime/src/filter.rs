//! Inputs of user types: the type's `filter` converts or rejects the caller's values.

use precast_codegen::{CType, UserTypes};
use precast_core::function::{Body, Delegate, check_inputs};
use precast_core::native::Targets;
use precast_core::program::Port;
use precast_core::{Array, ArrayRef, CallError, Function};
use std::fmt;
use std::sync::Arc;

/// The conversions that `filter` may make: arguments of [`TypeRules::filter`](precast_graph::TypeRules::filter).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Casting {
    pub(crate) strict: bool,
    pub(crate) allow_downcast: Option<bool>,
}

/// A function with inputs of user types.
pub(crate) struct Filtered {
    pub(crate) function: Function,
    /// The rules of each input with a user type.
    rules: Vec<Option<Arc<dyn CType>>>,
    casting: Casting,
}

/// Wraps a function so that calls filter inputs of user types; returns it unchanged if it has no such inputs.
pub(crate) fn filtered(function: Function, types: &UserTypes, casting: Casting) -> Function {
    let rule = |port: &Port| port.ty.as_user().and_then(|user| types.find(user.name())).cloned();
    let rules: Vec<Option<Arc<dyn CType>>> = function.inputs().iter().map(rule).collect();
    if rules.iter().all(Option::is_none) {
        return function;
    }
    let (inputs, outputs) = (function.inputs().to_vec(), function.outputs().to_vec());
    Function::from_body(inputs, outputs, Vec::new(), Box::new(Filtered { function, rules, casting }))
}

impl Body for Filtered {
    fn admit(&self, ports: &[Port], inputs: &[ArrayRef<'_>]) -> Result<Vec<Option<Array>>, CallError> {
        let mut values: Vec<Option<Array>> = inputs.iter().map(|_| None).collect();
        for ((value, input), (port, rules)) in
            values.iter_mut().zip(inputs).zip(ports.iter().zip(&self.rules))
        {
            let Some(rules) = rules else { continue };
            let Casting { strict, allow_downcast } = self.casting;
            let made = rules.filter(&port.ty, input.to_array(), strict, allow_downcast);
            let refused = |error| CallError::Filter { name: port.name.clone(), source: Arc::new(error) };
            *value = Some(made.map_err(refused)?);
        }
        let whole = values.iter().zip(inputs);
        let whole: Vec<ArrayRef<'_>> = whole
            .map(|(value, input)| value.as_ref().map_or_else(|| input.clone(), ArrayRef::from))
            .collect();
        check_inputs(ports, if inputs.len() == ports.len() { &whole } else { inputs })?;
        Ok(values)
    }

    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        self.function.run(inputs, targets)
    }

    /// User types that represent [numbers](CType::c_is_number) accept any number.
    fn delegate(&self) -> Delegate<'_> {
        let admits_numbers = self.rules.iter().flatten().all(|rules| rules.c_is_number());
        Delegate::Checks { function: &self.function, admits_numbers }
    }
}

impl fmt::Debug for Filtered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filtered").field("function", &self.function).finish_non_exhaustive()
    }
}
