//! Ops whose C is one call of a function in a header, all with the same arguments:
//!
//! ```text
//! int f(pc_context *ctx, const int64_t *props, int32_t n_in, pc_tensor *const *in, pc_tensor **out)
//! ```
//! `props` is a table of what the op bakes in (axes, ranks), so the function itself is compiled text that every use of
//! the op shares. C scalars among the inputs arrive as tensors without dimensions. The function returns 0, or another
//! number with the error slot set; outputs are valid either way. Where a function depends on a dtype, a macro of the
//! header stamps it out under the name of the Apply.

use crate::elemwise::code::operands;
use precast_codegen::template::render;
use precast_codegen::{CacheVersion, LinkError, Node, Sub, TypeOp};
use precast_graph::Op;
use std::fmt::Write as _;

/// What an op's call consists of.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// The function; `None` for the one that `stamp` makes.
    pub(crate) function: Option<&'static str>,
    /// The table of what is baked in.
    pub(crate) props: Vec<i64>,
    /// What stands in the place of the table: the message of an Assert.
    pub(crate) message: Option<String>,
    /// A macro, and its arguments after the name.
    pub(crate) stamp: Option<(String, String)>,
}

impl Call {
    /// A call of a function that is the same for all dtypes.
    pub(crate) fn of(function: &'static str, props: Vec<i64>) -> Self {
        Self { function: Some(function), props, ..Self::default() }
    }

    /// A call of `pc_assert`, with a C string as its message.
    pub(crate) fn asserting(message: String) -> Self {
        Self { function: Some("pc_assert"), message: Some(message), ..Self::default() }
    }

    /// A call of a function that `stamp` makes.
    pub(crate) fn stamped(stamp: impl Into<String>, arguments: impl Into<String>, props: Vec<i64>) -> Self {
        Self { props, stamp: Some((stamp.into(), arguments.into())), ..Self::default() }
    }

    /// The macro's use, for file scope.
    pub(crate) fn support(&self, name: &str) -> String {
        let Some((stamp, arguments)) = &self.stamp else { return String::new() };
        let comma = if arguments.is_empty() { "" } else { ", " };
        format!("{stamp}({name}_run{comma}{arguments})\n")
    }

    /// The call itself.
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
        let mut assign = String::new();
        for (j, output) in outputs.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(assign, "  {output} = results[{j}];");
        }
        let props = match &self.message {
            Some(message) => format!("const char props[] = {message}"),
            None => {
                // A last entry that is never read keeps the table from being empty.
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

/// An integer as C; the least has no literal of its own.
fn literal(n: i64) -> String {
    if n == i64::MIN { "INT64_MIN".to_owned() } else { n.to_string() }
}

/// An op that becomes such a call.
pub(crate) trait Called: Op {
    /// The header that declares the function or the macro.
    const HEADER: &'static str;
    /// What a user type registers its C of this op under.
    const TYPE_OP: Option<TypeOp> = None;

    /// The call for an Apply of these types.
    fn call(&self, node: &Node) -> Call;

    /// The C that is registered for an input of a user type; `None` for the built-in types.
    ///
    /// # Errors
    /// Nothing is registered for the type.
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

    /// The version that came with it.
    fn registered_version(&self, node: &Node) -> Option<CacheVersion> {
        Self::TYPE_OP.zip(node.inputs.first()).and_then(|(op, ty)| node.types.version(op, ty))
    }
}

/// Implements the C side of a [`Called`] op.
macro_rules! called {
    ($op:ty) => {
        impl precast_codegen::CLinkerObject for $op {
            fn c_headers(&self) -> Vec<String> {
                vec![<Self as crate::call::Called>::HEADER.to_owned()]
            }

            fn c_sources(&self) -> precast_codegen::SourceSet {
                crate::sources::closure(&[<Self as crate::call::Called>::HEADER])
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
