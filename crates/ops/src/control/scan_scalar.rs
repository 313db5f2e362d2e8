//! The C of a Scan whose values are numbers: one loop with the carries in variables.

use super::scan::Scan;
use crate::shape::{Alloc, DeepCopy, ScalarFromTensor};
use crate::{DimShuffle, Elemwise};
use precast_codegen::template::render;
use precast_codegen::{CLinkerObject as _, COp as _, LinkError, Node, SourceSet, Sub};
use precast_graph::{Apply, DType, FunctionGraph, Origin, Type, VarId};
use std::any::Any;
use std::fmt::Write as _;

/// A step of the loop.
enum Step<'a> {
    Map(&'a Elemwise),
    /// The same number under another name.
    Same,
}

/// Returns the form of an Apply on numbers.
fn step(apply: &Apply) -> Option<Step<'_>> {
    let op: &dyn Any = &*apply.op;
    if let Some(elemwise) = op.downcast_ref::<Elemwise>() {
        return Some(Step::Map(elemwise));
    }
    let is_same =
        op.is::<DeepCopy>() || op.is::<DimShuffle>() || op.is::<Alloc>() || op.is::<ScalarFromTensor>();
    (is_same && apply.inputs.len() == 1).then_some(Step::Same)
}

/// Returns whether all values of a loop are numbers. 16-bit floats are excluded, because they are structs in C; so are
/// results of an unknown number of rows.
pub(super) fn applies(scan: &Scan) -> bool {
    let body = scan.body.lowered();
    let is_number = |ty: &Type| {
        ty.as_user().is_none() && ty.ndim() == 0 && !matches!(ty.dtype(), DType::F16 | DType::Bf16)
    };
    !(scan.until && scan.rows() > 0)
        && body.variables().iter().all(|variable| is_number(&variable.ty))
        && body.applies().iter().all(|apply| step(apply).is_some())
}

/// Returns the maps of the loop with the types they are applied to; empty if the loop has other steps.
fn maps(scan: &Scan) -> Vec<(&Elemwise, Node)> {
    let body = scan.body.lowered();
    let node = |apply: &Apply| Node {
        inputs: body.input_types(apply),
        outputs: body.output_types(apply),
        position: 0,
        types: precast_codegen::UserTypes::default(),
    };
    if !applies(scan) {
        return Vec::new();
    }
    body.applies()
        .iter()
        .filter_map(|apply| match step(apply)? {
            Step::Map(elemwise) => Some((elemwise, node(apply))),
            Step::Same => None,
        })
        .collect()
}

pub(super) fn headers(scan: &Scan) -> Vec<String> {
    maps(scan).iter().flat_map(|(map, node)| map.c_headers_apply(node)).collect()
}

pub(super) fn sources(scan: &Scan) -> SourceSet {
    maps(scan)
        .iter()
        .flat_map(|(map, node)| map.c_sources().into_iter().chain(map.c_sources_apply(node)))
        .collect()
}

pub(super) fn support(scan: &Scan) -> Vec<String> {
    maps(scan).iter().flat_map(|(map, _)| map.c_support_code()).collect()
}

pub(super) fn compile_args(scan: &Scan) -> Vec<String> {
    maps(scan).iter().flat_map(|(map, _)| map.c_compile_args()).collect()
}

/// Generates the function of the loop.
pub(super) fn function(scan: &Scan, name: &str) -> Result<String, LinkError> {
    let body = scan.body.lowered();
    let (carries, rows) = (scan.carries, scan.carries..scan.carries + scan.rows());
    let sequences = carries..carries + scan.sequences;
    let (mut reads, mut text, mut writes) = (String::new(), String::new(), String::new());
    let dtype = |variable: VarId| body.ty(variable).dtype();
    // Writing to a string cannot fail.
    for (k, input) in body.inputs().iter().enumerate() {
        let (dtype, from) = (dtype(*input), format!("in[{}]", 1 + k));
        let _ = if sequences.contains(&k) {
            writeln!(text, "    const pc_{dtype} a{k} = *(const pc_{dtype} *)(p{k} + at * s{k});").and_then(
                |()| {
                    writeln!(
                        reads,
                        "  const char *const p{k} = {from}->data;\n  const int64_t s{k} = {from}->strides[0];"
                    )
                },
            )
        } else {
            let constant = if k < carries { "" } else { "const " };
            writeln!(reads, "  {constant}pc_{dtype} a{k} = *(const pc_{dtype} *){from}->data;\n  (void)a{k};")
        };
    }
    for j in rows.clone() {
        let dtype = dtype(body.outputs()[j]);
        let _ = writeln!(
            reads,
            "  if (pc_output_ready(ctx, &out[{j}], {}, 1, &steps) == NULL) return -1;\n  char *const r{j} = out[{j}]->data;\n  \
             const int64_t q{j} = out[{j}]->strides[0];",
            dtype.typenum()
        );
    }
    for apply in body.applies() {
        text.push_str(&code(body, apply, name)?);
    }
    for j in rows {
        let output = body.outputs()[j];
        let _ =
            writeln!(text, "    *(pc_{} *)(r{j} + at * q{j}) = {};", dtype(output), variable(body, output));
    }
    for (j, output) in body.outputs()[..carries].iter().enumerate() {
        let dtype = dtype(*output);
        let _ = writeln!(text, "    a{j} = {};", variable(body, *output));
        let _ = writeln!(
            writes,
            "  if (pc_output_ready(ctx, &out[{j}], {}, 0, NULL) == NULL) return -1;\n  *(pc_{dtype} *)out[{j}]->data = a{j};",
            dtype.typenum()
        );
    }
    if let Some(stop) = body.outputs().last().filter(|_| scan.until) {
        let _ = writeln!(text, "    if ({}) break;", variable(body, *stop));
    }
    let values = [
        ("NAME", name),
        ("CARRIES", &carries.to_string()),
        ("SEQUENCES", &scan.sequences.to_string()),
        ("WHERE", if scan.reverse { "steps - 1 - step" } else { "step" }),
        ("READS", &reads),
        ("BODY", &text),
        ("WRITES", &writes),
    ];
    Ok(render(include_str!("../../c/scan_scalar.c.in"), &values))
}

/// Returns the C variable of a number.
fn variable(body: &FunctionGraph, variable: VarId) -> String {
    match body.variable(variable).origin {
        Origin::Input(k) => format!("a{k}"),
        _ => format!("t{}", variable.index()),
    }
}

/// Generates the statements of a step.
fn code(body: &FunctionGraph, apply: &Apply, name: &str) -> Result<String, LinkError> {
    let mut text = String::new();
    for output in &apply.outputs {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    pc_{} {};", body.ty(*output).dtype(), variable(body, *output));
    }
    let names = |ids: &[VarId]| ids.iter().map(|id| variable(body, *id)).collect::<Vec<String>>();
    let (inputs, outputs) = (names(&apply.inputs), names(&apply.outputs));
    let code = match step(apply) {
        Some(Step::Map(map)) => {
            let taken: Vec<DType> = body.input_types(apply).iter().map(Type::dtype).collect();
            let sub = Sub { fail: "return pc_scan_failed(ctx, step);".to_owned(), ..Sub::default() };
            map.scalar.c_code(
                &taken,
                &format!("{name}_{}", apply.outputs[0].index()),
                &inputs,
                &outputs,
                &sub,
            )?
        }
        _ => format!("{} = {};", outputs[0], inputs[0]),
    };
    for line in code.lines() {
        let _ = writeln!(text, "    {line}");
    }
    Ok(text)
}
