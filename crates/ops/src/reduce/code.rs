//! Generates the C code of Reduce.

use super::{Reduce, ReduceKind};
use crate::composite::Composite;
use crate::elemwise::code::{scalar_names, shared};
use crate::elemwise::kernel::{flags, kernel};
use crate::scalar::{Cast, ScalarOp};
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::{DType, Type};
use std::any::Any;
use std::sync::Arc;

impl CLinkerObject for Reduce {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/ops/monoid.h".to_owned()]
    }

    fn c_support_code(&self) -> Vec<String> {
        self.map.iter().flat_map(|map| map.c_support_code()).collect()
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.map.iter().flat_map(|map| map.c_compile_args()).collect()
    }

    fn c_sources(&self) -> SourceSet {
        let mut set = closure(&["precast/ops/monoid.h"]);
        set.extend(self.map.iter().flat_map(|map| map.c_sources()));
        set
    }
}

impl COp for Reduce {
    fn debug_names(&self) -> Vec<String> {
        let map = self.map.iter().flat_map(|map| scalar_names(&**map));
        map.chain([self.kind.name().to_owned()]).collect()
    }

    fn c_headers_apply(&self, node: &Node) -> Vec<String> {
        let dtypes: Vec<DType> = node.inputs.iter().map(Type::dtype).collect();
        let mut headers: Vec<String> = self.map.iter().flat_map(|map| map.c_headers(&dtypes)).collect();
        if node.outputs[0].dtype().is_complex() {
            headers.push("precast/ops/monoid_complex.h".to_owned());
        }
        headers
    }

    fn c_sources_apply(&self, node: &Node) -> SourceSet {
        closure(&self.c_headers_apply(node))
    }

    fn c_shared_code_apply(&self, node: &Node) -> Vec<String> {
        vec![monoid(self.kind, self.monoid(node), self.ways()).1]
    }

    fn c_support_code_apply(&self, node: &Node, name: &str) -> Result<String, LinkError> {
        let dtype = node.outputs[0].dtype();
        let narrow = self.sum_of_bools(node);
        let mapped = if narrow.is_some() { DType::U16 } else { dtype };
        let map = match narrow.as_ref().or(self.map.as_ref()) {
            None => String::new(),
            Some(map) => kernel(&**map, name, "map", &node.inputs, &[mapped])?,
        };
        // Without a map the operand itself is iterated, so it must not count as a scalar.
        let scalar = if self.map.is_some() { flags(&node.inputs) } else { "0".to_owned() };
        let kernel = if self.map.is_some() { format!("{name}_map") } else { "NULL".to_owned() };
        Ok(render(
            include_str!("../../c/reduce.c.in"),
            &[
                ("MAP", &map),
                ("NAME", name),
                ("SCALAR", &scalar),
                ("N_IN", &node.inputs.len().to_string()),
                ("FLAGS", &self.flags(node)),
                ("AXES", &self.mask()),
                ("TYPENUM", &dtype.typenum().to_string()),
                ("KERNEL", &kernel),
                ("MONOID", &monoid(self.kind, self.monoid(node), self.ways()).0),
            ],
        ))
    }

    fn c_code(
        &self,
        _node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        Ok(render(
            include_str!("../../c/reduce_run.c.in"),
            &[("NAME", name), ("INPUTS", &inputs.join(", ")), ("OUTPUT", &outputs[0]), ("FAIL", &sub.fail)],
        ))
    }

    fn content_id(&self) -> Option<String> {
        match &self.map {
            None => Some(self.kind.name().to_owned()),
            Some(map) => Some(format!("{}({})", self.kind.name(), map.content_id()?)),
        }
    }
}

/// Returns the name and the definition of the functions that combine elements, which all reductions of a kind and dtype
/// in a module share. `ways` has the loop variants, as defined in monoid.h.
pub(crate) fn monoid(kind: ReduceKind, dtype: DType, ways: &str) -> (String, String) {
    let suffix = ways.trim_start_matches("PC_MONOID_").to_lowercase();
    let name = format!("@M@_{}_{dtype}_{suffix}", kind.name());
    let definition = format!("PC_MONOID_{}_{dtype}({name}, {ways})", kind.name());
    (name, definition)
}

impl Reduce {
    /// Returns the map for a sum of bools with 16-bit results, which is four times as fast as a sum in the result's
    /// dtype.
    fn sum_of_bools(&self, node: &Node) -> Option<Arc<dyn ScalarOp>> {
        if self.kind != ReduceKind::Sum || node.outputs[0].dtype() != DType::I64 {
            return None;
        }
        let narrow = |op: &dyn ScalarOp, dtypes: &[DType]| -> Option<Arc<dyn ScalarOp>> {
            let op: &dyn Any = op;
            let is_widened = dtypes == [DType::Bool] && op.is::<Cast>();
            is_widened.then(|| Arc::new(Cast { to: DType::U16 }) as Arc<dyn ScalarOp>)
        };
        let dtypes: Vec<DType> = node.inputs.iter().map(Type::dtype).collect();
        let map = self.map.as_deref()?;
        let any: &dyn Any = map;
        match any.downcast_ref::<Composite>() {
            Some(composite) => {
                composite.with_last(&dtypes, narrow).map(|map| Arc::new(map) as Arc<dyn ScalarOp>)
            }
            None => narrow(map, &dtypes),
        }
    }

    /// Returns the dtype of the elements that are combined; bool stands for a sum of bools.
    fn monoid(&self, node: &Node) -> DType {
        if self.sum_of_bools(node).is_some() { DType::Bool } else { node.outputs[0].dtype() }
    }

    /// Returns the flags for the driver. The result of bools is final after one element that differs from the identity. The
    /// remaining elements are only skipped if the map cannot fail for them. Extrema and sums of integers have the same bits
    /// whatever the parentheses.
    fn flags(&self, node: &Node) -> String {
        let may_fail = |op: &dyn ScalarOp| op.content_id().is_none() || op.name() == "pow";
        let map_may_fail = self.map.as_deref().is_some_and(|map| {
            let any: &dyn Any = map;
            match any.downcast_ref::<Composite>() {
                Some(composite) => composite.steps().iter().any(|(op, _)| may_fail(&**op)),
                None => may_fail(map),
            }
        });
        let settles = node.outputs[0].dtype() == DType::Bool && !map_may_fail;
        let dtype = node.outputs[0].dtype();
        let is_integer = matches!(dtype, DType::I64 | DType::U64) && self.sum_of_bools(node).is_none();
        let is_extremum = matches!(self.kind, ReduceKind::Max | ReduceKind::Min)
            && dtype != DType::Bool
            && !dtype.is_complex();
        let flags = [
            (true, shared(self.content_id())),
            (settles, "PC_SETTLES"),
            (is_integer || is_extremum, "PC_ASSOCIATIVE"),
            (self.kind != ReduceKind::Mean, "PC_TOTAL"),
        ];
        flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).collect::<Vec<_>>().join(" | ")
    }

    /// Returns the loop variants that the call may need, as defined in monoid.h. A reduction over all axes has one
    /// output and no columns.
    fn ways(&self) -> &'static str {
        match (&self.axes, &self.map) {
            (None, _) => "PC_MONOID_ROWS",
            (Some(_), Some(_)) => "PC_MONOID_MAPPED",
            (Some(_), None) => "PC_MONOID_COLUMNS",
        }
    }

    /// Returns the axes as the mask for `pc_reduce.axes`.
    fn mask(&self) -> String {
        match &self.axes {
            None => "PC_REDUCE_ALL".to_owned(),
            Some(axes) => format!("0x{:x}u", axes.iter().fold(0_u32, |mask, d| mask | 1 << (d % 32))),
        }
    }
}
