//! Functions that parts serve until modules compiled in the background are ready.
//!
//! ```text
//! calls ─▶ Tiered ─▶ first: modules of ops and groups, from layers
//!             └────▶ then:  a module for each segment, once it is loaded
//! ```
//! The choice costs each call one atomic load. A call that has started is not switched. The results have the same
//! bits.

use precast_core::function::{Body, Delegate};
use precast_core::native::Targets;
use precast_core::{ArrayRef, CallError, Function};
use std::sync::{Arc, OnceLock};

/// The two functions of a tiered function.
#[derive(Debug)]
pub(crate) struct Tiered {
    first: Function,
    then: Slot,
}

/// The slot for the second function.
pub(crate) type Slot = Arc<OnceLock<Function>>;

impl Tiered {
    /// Creates a tiered function, and the slot for its second function.
    pub(crate) fn function(first: Function) -> (Function, Slot) {
        let (inputs, outputs) = (first.inputs().to_vec(), first.outputs().to_vec());
        let then = Slot::default();
        let tiered = Self { first, then: Arc::clone(&then) };
        (Function::from_body(inputs, outputs, Vec::new(), Box::new(tiered)), then)
    }

    fn now(&self) -> &Function {
        self.then.get().unwrap_or(&self.first)
    }
}

impl Body for Tiered {
    fn run(&self, inputs: &[ArrayRef<'_>], targets: &mut Targets<'_, '_>) -> Result<(), CallError> {
        self.now().run(inputs, targets)
    }

    fn delegate(&self) -> Delegate<'_> {
        Delegate::Forwards(self.now())
    }
}
