//! Functions that parts serve until what was compiled behind their calls is there.
//!
//! ```text
//! calls ─▶ Tiered ─▶ first: modules of ops and groups, from layers
//!             └────▶ then:  a module for each segment, once it is loaded
//! ```
//! Which one it is costs a call one atomic load. Calls that have begun end where they began. No bit tells which one answered.

use precast_core::function::Body;
use precast_core::native::Targets;
use precast_core::{ArrayRef, CallError, Function};
use std::sync::{Arc, OnceLock};

/// The two functions.
#[derive(Debug)]
pub(crate) struct Tiered {
    first: Function,
    then: Slot,
}

/// Where the second function is put.
pub(crate) type Slot = Arc<OnceLock<Function>>;

impl Tiered {
    /// The function, and where the one goes that is to serve its calls.
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

    fn stands_for(&self) -> Option<&Function> {
        Some(self.now())
    }
}
