//! Ops whose C code is a single call of a header function. All such functions have the same arguments:
//!
//! ```text
//! int f(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out)
//! ```
//! `props` is a table of the op's compile-time values (axes, ranks), so the function itself is the same text for
//! every use of the op. C scalars among the inputs are passed as tensors without dimensions. The function returns 0,
//! or another number with the error slot set; the outputs are valid in both cases. If a function depends on a dtype,
//! a macro of the header defines it under the name of the Apply.

use crate::elemwise::code::{assigned, operands};
use precast_codegen::template::render;
use precast_codegen::{CacheVersion, LinkError, Node, Sub, TypeOp};
use precast_graph::Op;

/// The parts of an op's call.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// The function; `None` for the function that `stamp` defines.
    pub(crate) function: Option<&'static str>,
    /// The table of compile-time values.
    pub(crate) props: Vec<i64>,
    /// A message that replaces the table, for an Assert.
    pub(crate) message: Option<String>,
    /// A macro, and its arguments after the name.
    pub(crate) stamp: Option<(String, String)>,
}

impl Call {
    /// Creates a call of a function that is the same for all dtypes.
    pub(crate) fn of(function: &'static str, props: Vec<i64>) -> Self {
        Self { function: Some(function), props, ..Self::default() }
    }

    /// Creates a call of a function that checks conditions, with a C string as its message.
    pub(crate) fn asserting(function: &'static str, message: String) -> Self {
        Self { function: Some(function), message: Some(message), ..Self::default() }
    }

    /// Creates a call of a function that the macro `stamp` defines.
    pub(crate) fn stamped(stamp: impl Into<String>, arguments: impl Into<String>, props: Vec<i64>) -> Self {
        Self { props, stamp: Some((stamp.into(), arguments.into())), ..Self::default() }
    }

    /// Returns the use of the macro, for file scope.
    pub(crate) fn support(&self, name: &str) -> String {
        let Some((stamp, arguments)) = &self.stamp else { return String::new() };
        let comma = if arguments.is_empty() { "" } else { ", " };
        format!("{stamp}({name}_run{comma}{arguments})\n")
    }

    /// Returns the code of the call.
    pub(crate) fn code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> String {
        let (numbers, arguments) = operands(&node.inputs, inputs);
        let stamped = format!("{name}_run");
        let assign = assigned(outputs);
        let props = match &self.message {
            Some(message) => format!("const char props[] = {message}"),
            None => {
                // A final entry, which is never read, keeps the table from being empty.
                let numbers: Vec<String> = self.props.iter().chain([&0]).map(|n| literal(*n)).collect();
                format!("const int64_t props[] = {{{}}}", numbers.join(", "))
            }
        };
        render(
            include_str!("../c/call.c.in"),
            &[
                ("PROPS", &props),
                ("NUMBERS", &numbers),
                ("INPUTS", &arguments),
                ("OUTPUTS", &outputs.join(", ")),
                ("FUNCTION", self.function.unwrap_or(&stamped)),
                ("N_IN", &inputs.len().to_string()),
                ("ASSIGN", &assign),
                ("FAIL", &sub.fail),
            ],
        )
    }
}

/// Returns an integer as C. The minimum has no literal in C.
fn literal(n: i64) -> String {
    if n == i64::MIN { "INT64_MIN".to_owned() } else { n.to_string() }
}

/// An op that compiles to such a call.
pub(crate) trait Called: Op {
    /// The header that declares the function or the macro.
    const HEADER: &'static str;
    /// The operation under which a user type registers its own C code for this op.
    const TYPE_OP: Option<TypeOp> = None;

    /// Returns the header for the props of the op.
    fn header(&self) -> &'static str {
        Self::HEADER
    }

    /// Returns the call for an Apply with these types.
    fn call(&self, node: &Node) -> Call;

    /// Returns the C code registered for an input of a user type; `None` for the built-in types.
    ///
    /// # Errors
    /// The user type has no registered code for this op.
    fn registered(
        &self,
        node: &Node,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<Option<String>, LinkError> {
        let Some((op, ty)) = Self::TYPE_OP.zip(node.inputs.first()) else { return Ok(None) };
        let dimension = self.call(node).props.first().and_then(|axis| usize::try_from(*axis).ok());
        node.types.code(op, ty, (&inputs[0], &outputs[0]), dimension, sub)
    }

    /// Returns the version of the registered code.
    fn registered_version(&self, node: &Node) -> Option<CacheVersion> {
        Self::TYPE_OP.zip(node.inputs.first()).and_then(|(op, ty)| node.types.version(op, ty))
    }
}

/// Implements the C traits for a [`Called`] op.
macro_rules! called {
    ($op:ty) => {
        impl precast_codegen::CLinkerObject for $op {
            fn c_headers(&self) -> Vec<String> {
                vec![crate::call::Called::header(self).to_owned()]
            }

            fn c_sources(&self) -> precast_codegen::SourceSet {
                crate::sources::closure(&[crate::call::Called::header(self)])
            }
        }

        impl precast_codegen::COp for $op {
            fn c_support_code_apply(
                &self,
                node: &precast_codegen::Node,
                name: &str,
            ) -> Result<String, precast_codegen::LinkError> {
                Ok(crate::call::Called::call(self, node).support(name))
            }

            fn c_code(
                &self,
                node: &precast_codegen::Node,
                name: &str,
                inputs: &[String],
                outputs: &[String],
                sub: &precast_codegen::Sub,
            ) -> Result<String, precast_codegen::LinkError> {
                let registered = crate::call::Called::registered(self, node, inputs, outputs, sub)?;
                let own = || crate::call::Called::call(self, node).code(node, name, inputs, outputs, sub);
                Ok(registered.unwrap_or_else(own))
            }

            fn c_code_cache_version_apply(
                &self,
                node: &precast_codegen::Node,
            ) -> precast_codegen::CacheVersion {
                crate::call::Called::registered_version(self, node).unwrap_or_default()
            }

            fn content_id(&self) -> Option<String> {
                Some(precast_graph::Op::name(self).to_owned())
            }
        }
    };
}
pub(crate) use called;
