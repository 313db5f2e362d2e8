//! DeepCopy and View: the same tensor, in its own memory or in the same memory. For a value of a user type they use
//! the C code that its author registered.

use crate::call::{Call, Called, called};
use crate::declared::{Declared, tensor};
use crate::gradient::rules::Pulled;
use precast_codegen::{Node, TypeOp};
use precast_graph::{Array, MakeNodeError, Op, PerformError, Props, Pullback, Type};
use std::sync::Arc;

/// An op that copies the elements into separate memory, which is C-contiguous if it is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeepCopy;

/// An op that returns the same elements in the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View;

macro_rules! same {
    ($op:ident, $type_op:ident, $name:literal, $function:literal, $views:expr) => {
        impl $op {
            /// Creates the op, which has no props.
            ///
            /// # Errors
            /// Any prop is an error.
            pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
                Declared::new($name, props, &[]).map(|_| Arc::new(Self) as Arc<dyn Op>)
            }
        }

        impl Op for $op {
            fn name(&self) -> &str {
                $name
            }

            fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
                MakeNodeError::expect_inputs($name, 1, inputs)?;
                if inputs[0].as_user().is_none() {
                    tensor($name, 0, inputs)?;
                }
                Ok(inputs.to_vec())
            }

            fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
                Some(crate::gradient::rules::same(at))
            }

            fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
                Ok(vec![inputs[0].clone()])
            }

            fn view_map(&self) -> Vec<(usize, usize)> {
                $views
            }
        }

        impl Called for $op {
            const HEADER: &'static str = "precast/ops/shape.h";
            const TYPE_OP: Option<TypeOp> = Some(TypeOp::$type_op);

            fn call(&self, _node: &Node) -> Call {
                Call::of($function, Vec::new())
            }
        }
        called!($op);
    };
}
same!(DeepCopy, DeepCopy, "deep_copy", "pc_deep_copy", Vec::new());
same!(View, View, "view", "pc_view", vec![(0, 0)]);
