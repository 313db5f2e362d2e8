//! Generates the C code of RowProgram.

use super::layout::{DriverStep, Layout, Work};
use super::{RowProgram, emits};
use crate::elemwise::code::{assigned, operands, shared};
use crate::elemwise::kernel::{flags, kernel};
use crate::reduce::ReduceKind;
use crate::reduce::code::monoid;
use crate::sources::closure;
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject, COp, LinkError, Node, SourceSet, Sub};
use precast_graph::DType;

impl CLinkerObject for RowProgram {
    fn c_headers(&self) -> Vec<String> {
        vec!["precast/ops/monoid.h".to_owned()]
    }

    fn c_support_code(&self) -> Vec<String> {
        self.each(|op| op.c_support_code())
    }

    fn c_compile_args(&self) -> Vec<String> {
        self.each(|op| op.c_compile_args())
    }

    fn c_sources(&self) -> SourceSet {
        let mut set = closure(&["precast/ops/monoid.h"]);
        set.extend(self.steps().iter().filter_map(|(op, _)| emits(&**op)).flat_map(|op| op.c_sources()));
        set
    }
}

impl COp for RowProgram {
    fn debug_names(&self) -> Vec<String> {
        self.each(|op| op.debug_names())
    }

    fn c_headers_apply(&self, node: &Node) -> Vec<String> {
        let Ok(types) = self.types(&node.inputs) else { return Vec::new() };
        let (mut headers, mut next) = (Vec::new(), node.inputs.len());
        for (op, reads) in self.steps() {
            let outputs = types[next..next + super::results(&**op)].to_vec();
            next += outputs.len();
            let inputs = reads.iter().map(|value| types[*value].clone()).collect();
            let node = Node { inputs, outputs, ..node.clone() };
            // A dimshuffle only reinterprets the same elements and needs no code.
            let computes = op.view_map().is_empty();
            headers.extend(
                emits(&**op).filter(|_| computes).into_iter().flat_map(|op| op.c_headers_apply(&node)),
            );
        }
        headers
    }

    fn c_sources_apply(&self, node: &Node) -> SourceSet {
        closure(&self.c_headers_apply(node))
    }

    fn c_shared_code_apply(&self, node: &Node) -> Vec<String> {
        let Ok(layout) = self.layout_of(node) else { return Vec::new() };
        let folds = layout.steps.iter().filter_map(|step| match &step.work {
            Work::Fold(kind) => Some(fold(*kind, layout.dtypes[step.makes[0]]).1),
            Work::Map(_) => None,
        });
        folds.collect()
    }

    fn c_support_code_apply(&self, node: &Node, name: &str) -> Result<String, LinkError> {
        let layout = self.layout_of(node)?;
        let mut text = String::new();
        let mut rows = Vec::new();
        for (position, step) in layout.steps.iter().enumerate() {
            let row = match &step.work {
                Work::Map(scalar) => {
                    let own = format!("{name}_{position}");
                    let made: Vec<DType> = step.makes.iter().map(|value| layout.dtypes[*value]).collect();
                    text.push_str(&kernel(&**scalar, &own, "map", &step.types, &made)?);
                    format!("{own}_map, NULL")
                }
                Work::Fold(kind) => format!("NULL, &{}", fold(*kind, layout.dtypes[step.makes[0]]).0),
            };
            rows.push(row);
        }
        text.push_str(&self.tables(node, name, &layout, &rows));
        Ok(text)
    }

    fn c_code(
        &self,
        node: &Node,
        name: &str,
        inputs: &[String],
        outputs: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let layout = self.layout_of(node)?;
        let (numbers, operands) = operands(&node.inputs, inputs);
        let order = layout
            .full
            .iter()
            .map(|(output, _)| output)
            .chain(layout.single.iter().map(|(output, ..)| output));
        let results: Vec<String> = order.map(|output| outputs[*output].clone()).collect();
        let assign = assigned(&results);
        Ok(render(
            include_str!("../../c/driver_run.c.in"),
            &[
                ("DRIVER", "rows"),
                ("NAME", name),
                ("NUMBERS", &numbers),
                ("INPUTS", &operands),
                ("OUTPUTS", &results.join(", ")),
                ("ASSIGN", &assign),
                ("FAIL", &sub.fail),
            ],
        ))
    }

    fn content_id(&self) -> Option<String> {
        let ids =
            self.steps().iter().map(|(op, _)| emits(&**op)?.content_id()).collect::<Option<Vec<_>>>()?;
        Some(format!("row_program({})", ids.join(",")))
    }
}

/// Returns the name and the definition of the functions of a fold.
fn fold(kind: ReduceKind, dtype: DType) -> (String, String) {
    monoid(kind, dtype, "PC_MONOID_MAPPED")
}

impl RowProgram {
    /// Collects a property of each step's op.
    fn each(&self, what: impl Fn(&dyn COp) -> Vec<String>) -> Vec<String> {
        let computing = self.steps().iter().filter(|(op, _)| op.view_map().is_empty());
        computing.filter_map(|(op, _)| emits(&**op)).flat_map(what).collect()
    }

    fn layout_of(&self, node: &Node) -> Result<Layout, LinkError> {
        let unsupported = |error: precast_graph::MakeNodeError| LinkError::Unsupported {
            signature: "row_program".to_owned(),
            problem: error.to_string(),
        };
        self.layout(&node.inputs).map_err(unsupported)
    }

    /// Generates the tables for the driver; `work` has the kernel and the monoid of each step.
    fn tables(&self, node: &Node, name: &str, layout: &Layout, work: &[String]) -> String {
        let join = |numbers: &mut dyn Iterator<Item = usize>| {
            numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
        };
        let (mut values, mut steps) = (String::new(), Vec::new());
        for (position, (step, work)) in layout.steps.iter().zip(work).enumerate() {
            let numbers = join(&mut step.reads.iter().chain(&step.makes).copied());
            let marks = [("NAME", name), ("POSITION", &position.to_string()), ("NUMBERS", &numbers)];
            values.push_str(&render(include_str!("../../c/rows_values.c.in"), &marks));
            let DriverStep { reads, makes, pass, once, .. } = step;
            let (n_in, n_out, once) = (reads.len(), makes.len(), u8::from(*once));
            steps.push(format!("  {{{work}, {name}_v{position}, {n_in}, {n_out}, {pass}, {once}}}"));
        }
        let outputs = layout.full.iter().map(|(_, value)| *value);
        let outputs = outputs.chain(layout.single.iter().map(|(_, value, _)| *value));
        let kept = layout.single.iter().enumerate();
        let kept = kept.fold(0_u32, |bits, (j, (_, _, kept))| bits | u32::from(*kept) << j);
        let axes = match &layout.axes {
            None => "PC_REDUCE_ALL".to_owned(),
            Some(axes) => format!("0x{:x}u", axes.iter().fold(0_u32, |mask, d| mask | 1 << (d % 32))),
        };
        let passes = layout.steps.last().map_or(0, |step| step.pass + 1);
        let counts = [layout.full.len(), layout.single.len(), layout.dtypes.len(), steps.len(), passes];
        let scalar = flags(&node.inputs);
        render(
            include_str!("../../c/rows.c.in"),
            &[
                ("NAME", name),
                ("VALUES", values.trim_end()),
                ("STEPS", &steps.join(",\n")),
                ("SCALAR", &scalar),
                (
                    "DTYPES",
                    &join(&mut layout.dtypes.iter().map(|dtype| dtype.typenum().unsigned_abs() as usize)),
                ),
                ("OUTPUTS", &join(&mut outputs.into_iter())),
                ("N_IN", &node.inputs.len().to_string()),
                ("FLAGS", shared(self.content_id())),
                ("COUNTS", &join(&mut counts.into_iter())),
                ("AXES", &axes),
                ("KEPT", &format!("0x{kept:x}u")),
            ],
        )
    }
}
