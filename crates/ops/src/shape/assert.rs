//! Assert: passes a tensor through if conditions hold.

use crate::call::Call;
use crate::declared::{Declared, at_least, refuse, tensor};
use crate::elements;
use crate::gradient::rules::Pulled;
use crate::sources::closure;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_core::native::ErrorKind;
use precast_graph::{Array, DType, MakeNodeError, Op, PerformError, Prop, Props, Pullback, Type};
use std::fmt::Write as _;
use std::sync::Arc;

const NAME: &str = "assert";

/// An op that returns the first input unchanged (a view), if every element of all other inputs is true.
///
/// # Shapes
/// `(x, bool, bool, …) -> x`; conditions may have any shape. A condition without elements is true.
///
/// # Errors
/// At run time: an error of the kind, with the message.
///
/// # Source
/// `pytensor.raise_op.Assert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assert {
    /// The message of the error if a condition is false.
    pub message: String,
    /// The kind of the error.
    pub kind: ErrorKind,
}

/// The kinds of errors that a graph can raise.
const KINDS: [ErrorKind; 6] = [
    ErrorKind::Assert,
    ErrorKind::Type,
    ErrorKind::Value,
    ErrorKind::Memory,
    ErrorKind::Runtime,
    ErrorKind::Index,
];

/// Reads the prop `error`. The default is an assertion error.
pub(crate) fn kind(declared: &Declared<'_>) -> Result<ErrorKind, MakeNodeError> {
    if !declared.has("error") {
        return Ok(ErrorKind::Assert);
    }
    let name = declared.text("error")?;
    KINDS.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names = KINDS.map(ErrorKind::name).join(", ");
        declared.wrong("error", &format!("one of {names}"))
    })
}

impl Assert {
    /// Rebuilds an Assert from its props.
    ///
    /// # Errors
    /// `message` is missing or is not text, or `error` is not the name of a kind.
    pub fn from_props(props: &Props) -> Result<Arc<dyn Op>, MakeNodeError> {
        let declared = Declared::new(NAME, props, &["message", "error"])?;
        Ok(Arc::new(Self { message: declared.text("message")?.to_owned(), kind: kind(&declared)? }))
    }
}

impl Op for Assert {
    fn name(&self) -> &str {
        NAME
    }

    fn props(&self) -> Props {
        let mut props = Props::from([("message".to_owned(), Prop::Str(self.message.clone()))]);
        if self.kind != ErrorKind::Assert {
            props.insert("error".to_owned(), Prop::Str(self.kind.name().to_owned()));
        }
        props
    }

    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        at_least(NAME, 2, inputs)?;
        tensor(NAME, 0, inputs)?;
        for (input, ty) in inputs.iter().enumerate().skip(1) {
            if ty.dtype() != DType::Bool {
                return Err(refuse(NAME, input, ty, "a boolean condition"));
            }
        }
        Ok(vec![inputs[0].clone()])
    }

    fn pullback(&self, at: &mut Pullback<'_>) -> Pulled {
        Some(crate::gradient::rules::same(at))
    }

    fn perform(&self, inputs: &[&Array]) -> Result<Vec<Array>, PerformError> {
        for condition in &inputs[1..] {
            let Array::Bool(condition) = condition else { return Err(elements::mismatch(NAME)) };
            if !condition.iter().all(|c| *c) {
                return Err(PerformError::of_kind(NAME, self.kind, self.message.clone()));
            }
        }
        Ok(vec![inputs[0].clone()])
    }

    fn view_map(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }
}

impl CLinkerObject for Assert {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/ops/shape.h".to_owned()]
    }

    fn c_sources(&self) -> SourceSet {
        closure(&["precast/ops/shape.h"])
    }
}

impl COp for Assert {
    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let call = Call::asserting(c_function(self.kind), quote(&self.message));
        Ok(call.code(node, name, inputs, outputs, sub))
    }

    fn content_id(&self) -> Option<String> {
        Some(NAME.to_owned())
    }
}

/// Returns the C function that checks conditions.
fn c_function(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Type => "pc_assert_type",
        ErrorKind::Value => "pc_assert_value",
        ErrorKind::Memory => "pc_assert_memory",
        ErrorKind::Index => "pc_assert_index",
        ErrorKind::Assert => "pc_assert",
        ErrorKind::Runtime | ErrorKind::Cancelled => "pc_assert_runtime",
    }
}

/// Quotes a text as a C string. Bytes that are not plain ASCII, or that have a meaning in C or in the template,
/// become octal escapes.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b" .,:;=<>()[]+-*/_'!#%&|~`".contains(&byte) {
            quoted.push(char::from(byte));
        } else {
            // Three octal digits always end the escape. Writing to a string cannot fail.
            let _ = write!(quoted, "\\{byte:03o}");
        }
    }
    quoted.push('"');
    quoted
}
