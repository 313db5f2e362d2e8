//! The C of ops that are called with tensors, which are variables over the arrays.

use super::Fixed;
use super::text::Text;
use crate::control::body::library;
use crate::declared::of;
use crate::elements::steps;
use precast_codegen::template::render;
use precast_codegen::{COp, LinkError, Node, Sub};
use precast_graph::{Apply, DType, Extent, Op, Type, VarId};

/// Returns the C side of an op that can be called with such tensors: the op is of this crate, and keeps nothing
/// between calls.
pub(super) fn c_op<'a>(op: &'a dyn Op, inputs: &[Type], outputs: &[Type]) -> Option<&'a dyn COp> {
    let is_array =
        |ty: &Type| matches!(ty, Type::Tensor(_)) && !matches!(ty.dtype(), DType::F16 | DType::Bf16);
    let c_op = library().c().c_op(op)?;
    let node = node(inputs.to_vec(), outputs.to_vec());
    let is_plain = c_op.content_id().is_some()
        && c_op.bodies().is_empty()
        && c_op.c_support_code_struct(&node, "").is_empty()
        && c_op.c_init_code_apply(&node, "").is_empty();
    (is_plain && outputs.iter().all(is_array)).then_some(c_op)
}

fn node(inputs: Vec<Type>, outputs: Vec<Type>) -> Node {
    let forget = |types: Vec<Type>| types.iter().map(Type::without_extents).collect();
    Node { inputs: forget(inputs), outputs: forget(outputs), position: 0, types: Default::default() }
}

impl Fixed {
    fn ty(&self, variable: VarId) -> Type {
        let value = self.value(variable);
        of(value.dtype, value.shape.iter().map(|n| Extent::Fixed(*n as u64)).collect())
    }

    /// Returns the C side of an Apply, and its types.
    pub(super) fn called<'a>(&self, apply: &'a Apply) -> Option<(&'a dyn COp, Node)> {
        let types = |variables: &[VarId]| variables.iter().map(|v| self.ty(*v)).collect::<Vec<_>>();
        let (inputs, outputs) = (types(&apply.inputs), types(&apply.outputs));
        let c_op = c_op(&*apply.op, &inputs, &outputs)?;
        Some((c_op, node(inputs, outputs)))
    }

    /// Returns the prefix of the names of a called Apply.
    pub(super) fn call_name(&self, apply: &Apply, name: &str) -> String {
        format!("{name}_{}", self.name(apply.outputs[0]))
    }

    /// Writes the call of an op.
    pub(super) fn write_call(&self, apply: &Apply, name: &str, text: &mut Text) -> Result<(), LinkError> {
        let Some((c_op, node)) = self.called(apply) else {
            let problem = "has no C code without an instance".to_owned();
            return Err(LinkError::Unsupported { signature: apply.op.label(), problem });
        };
        for output in &apply.outputs {
            let value = self.value(*output);
            text.array(value.dtype, &self.name(*output), value.size());
        }
        text.begin();
        let mut names = [Vec::new(), Vec::new()];
        let operands = apply.inputs.iter().map(|v| (0, v)).chain(apply.outputs.iter().map(|v| (1, v)));
        for (side, variable) in operands {
            let own = format!("{}{}", ["x", "y"][side], names[side].len());
            self.write_tensor(*variable, &own, text);
            names[side].push(own);
        }
        let [inputs, outputs] = names;
        let sub = Sub { fail: text.fail.to_owned(), ..Sub::default() };
        let code = c_op.c_code(&node, &self.call_name(apply, name), &inputs, &outputs, &sub)?;
        text.lines(&code);
        for (own, output) in outputs.iter().zip(&apply.outputs) {
            let (value, array) = (self.value(*output), self.name(*output));
            let item = value.dtype.itemsize_bytes();
            let bytes = value.size() * item;
            text.line(&format!("pc_fixed_take({own}, &{own}_tensor, {array}, {bytes}, {item});"));
        }
        text.end();
        Ok(())
    }

    /// Declares a tensor over the array of a variable, and a pointer to it.
    fn write_tensor(&self, variable: VarId, own: &str, text: &mut Text) {
        let (value, array) = (self.value(variable), self.name(variable));
        let item = value.dtype.itemsize_bytes();
        let list = |numbers: Vec<usize>| {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") }
        };
        let strides = steps(&value.shape).iter().map(|step| step * item).collect();
        let (shape, strides) = (list(value.shape.clone()), list(strides));
        let (dtype, ndim) = (value.dtype.typenum().to_string(), value.shape.len().to_string());
        let bytes = (value.size() * item).to_string();
        text.lines(&render(
            include_str!("../../../c/fixed_tensor.c.in"),
            &[
                ("OWN", own),
                ("SHAPE", &shape),
                ("STRIDES", &strides),
                ("ARRAY", &array),
                ("BYTES", &bytes),
                ("DTYPE", &dtype),
                ("NDIM", &ndim),
            ],
        ));
    }
}
