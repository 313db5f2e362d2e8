//! `precast profile`: the time of each kernel of a graph, against the limits of the machine.

use std::fmt::Write as _;
use std::time::Duration;

use precast_core::program::Port;
use precast_graph::{Array, DType, Extent, FunctionGraph};
use precast_runtime::Runtime;
use precast_runtime::profile::{Kernel, Measured, Options, Profile, profile};
use serde_json::{Value, json};

use super::function_failure;
use crate::args::ProfileArgs;
use crate::arrays::{self, Given};
use crate::error::{Exit, Failure};
use crate::graph::{self, Source};
use crate::kind::Kind;
use crate::{layers, print, term, whole};

/// The largest number of elements that an input is filled with. A larger number is a typing error: filling would take
/// longer than measuring.
const MOST_ELEMENTS: usize = 1 << 30;

/// Runs the command.
pub(super) fn run(args: &ProfileArgs) -> Result<Exit, Failure> {
    let given = arrays::read(&args.inputs)?;
    let runtime = layers::runtime(&args.layers, args.policy, None, args.graph.ops())?;
    let graph = wanted(args, &runtime, &given)?;
    let given = filled(given, &graph.interface().0, args.extent)?;
    let inputs: Vec<Array> = arrays::arrange(&given, &graph.interface().0)?.into_iter().cloned().collect();
    let mut options = Options::default();
    options.time = Duration::from_millis(args.time.into());
    let told = profile(&runtime, &graph, &inputs, &options).map_err(|error| match error {
        precast_runtime::profile::ProfileError::Function(error) => function_failure(&args.layers, error),
        other => other.into(),
    });
    layers::tell(&runtime, &args.layers, false);
    let told = told?;
    if cfg!(debug_assertions) {
        term::note(
            "this `precast` was compiled without optimizations, so the measured machine limits are too low",
        );
    }
    if let Some(file) = &args.html {
        let page = precast_picture::roofline(&title(args), &told);
        whole::write(file, Kind::Text, |out| out.write_all(page.as_bytes()))?.commit()?;
    }
    if args.json {
        term::print_json(&as_json(&told))?;
    } else {
        term::print(&text(&told))?;
    }
    Ok(Exit::Ok)
}

/// Returns the graph that the command line names.
fn wanted(args: &ProfileArgs, runtime: &Runtime, given: &[Given]) -> Result<FunctionGraph, Failure> {
    match graph::read(&args.graph, given, runtime.ops(), &args.layers)? {
        Source::Graph(graph) => Ok(graph),
        Source::Entry(name) => {
            let opened = layers::open(&args.layers, &layers::to_run(&args.layers))?;
            let found = layers::find_graph(&opened, &name, runtime.ops())?;
            found.ok_or_else(|| layers::no_entry(&args.layers, &name, &runtime.entries()))
        }
    }
}

/// Returns the given inputs, and generated arrays for the other inputs.
fn filled(mut given: Vec<Given>, ports: &[Port], extent: usize) -> Result<Vec<Given>, Failure> {
    for (position, Port { name, ty }) in ports.iter().enumerate() {
        if given.iter().any(|one| one.name == *name || one.name == position.to_string()) {
            continue;
        }
        let extents = ty.shape().iter().map(|known| match known {
            Extent::Fixed(n) => usize::try_from(*n).unwrap_or(extent),
            Extent::Unknown => extent,
        });
        let shape: Vec<usize> = extents.collect();
        let elements = shape.iter().try_fold(1_usize, |all, n| all.checked_mul(*n));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            let failure = Failure::usage(format!("extents {shape:?} of input `{name}` are too large"));
            return Err(
                failure.hint(format!("use a smaller `--extent`, or pass the input with `-i {name}=FILE`"))
            );
        }
        let array = Ok(numbers(ty.dtype(), &shape));
        given.push(Given { name: name.clone(), file: "--extent".into(), array, is_named: true });
    }
    Ok(given)
}

/// Returns numbers between 0.5 and 1.5, which every function accepts. Integers are 0 and 1, which are also valid
/// indices.
fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let is_exact = dtype.is_integer() || dtype == DType::Bool;
    let at = |i: usize| if is_exact { (i % 2) as f64 } else { 0.5 + (i % 1000) as f64 / 1000.0 };
    let mut position = 0;
    let values = ndarray::ArrayD::from_shape_simple_fn(shape, || {
        position += 1;
        at(position - 1)
    });
    Array::from(values).cast(dtype)
}

fn title(args: &ProfileArgs) -> String {
    match (&args.graph.entry, &args.graph.graph) {
        (Some(entry), _) => format!("entry {entry}"),
        (None, Some(file)) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        (None, None) => args.graph.expr.join("; "),
    }
}

const HEADINGS: [&str; 10] =
    ["kernel", "time", "part", "bytes", "GB/s", "Gop/s", "of limit", "limited by", "ISA level", "threads"];

fn text(told: &Profile) -> String {
    let sum = told.kernels_seconds();
    let rows: Vec<Vec<String>> = told.kernels.iter().map(|kernel| row(kernel, sum)).collect();
    let mut text = print::table(&HEADINGS, &rows);
    for Kernel { apply, ops, shapes, measured, .. } in &told.kernels {
        let _ = writeln!(text, "\nkernel {apply} returns {shapes:?}: {}", ops.join(" "));
        if let Ok(Measured { plan: Some(plan), .. }) = measured {
            let _ = writeln!(text, "  loop: {plan}");
        }
        let lines = measured.as_ref().map_or_else(std::slice::from_ref, |measured| &measured.advice);
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    let served: Vec<&str> = told.served.iter().map(|isa| isa.as_deref().unwrap_or("interpreter")).collect();
    let _ = writeln!(
        text,
        "\ncall     {}, of which kernels {}; served by {}",
        print::short_time(told.seconds),
        print::short_time(sum),
        served.join(", ")
    );
    let _ = writeln!(
        text,
        "machine  {} and {} from memory, {}, {}",
        format_args!("{:.1} Gop/s", told.operations_per_second / 1e9),
        format_args!("{:.1} GB/s", told.bytes_per_second / 1e9),
        told.level.unwrap_or("no ISA level"),
        print::count(told.threads, "thread", "threads")
    );
    text
}

fn row(Kernel { apply, measured, .. }: &Kernel, sum: f64) -> Vec<String> {
    let Ok(measured) = measured else { return vec![apply.to_string(), "not measured".to_owned()] };
    vec![
        apply.to_string(),
        print::short_time(measured.seconds),
        format!("{:.0} %", 100.0 * measured.seconds / sum),
        print::size(measured.bytes),
        format!("{:.2}", measured.bytes_per_second() / 1e9),
        format!("{:.2}", measured.operations_per_second() / 1e9),
        format!("{:.0} %", 100.0 * measured.share()),
        measured.bound.name().to_owned(),
        measured.isa.clone().unwrap_or_else(|| "interpreter".to_owned()),
        measured.threads.to_string(),
    ]
}

fn as_json(told: &Profile) -> Value {
    let kernels: Vec<Value> = told.kernels.iter().map(json_kernel).collect();
    json!({
        "seconds": told.seconds, "served": told.served, "kernels_seconds": told.kernels_seconds(), "kernels": kernels,
        "machine": {
            "threads": told.threads, "isa": told.level, "operations_per_second": told.operations_per_second,
            "bytes_per_second": told.bytes_per_second,
        },
    })
}

fn json_kernel(Kernel { apply, ops, shapes, measured, .. }: &Kernel) -> Value {
    let mut told = json!({"apply": apply, "ops": ops, "shapes": shapes});
    match measured {
        Err(reason) => told["skipped"] = json!(reason),
        Ok(measured) => {
            let Measured { seconds, bytes, plan, operations, isa, threads, limit_seconds, advice, .. } =
                measured;
            let plan = plan
                .as_ref()
                .map(|plan| json!({"way": plan.way, "rows": plan.rows, "row": plan.row, "most": plan.most}));
            told["measured"] = json!({
                "seconds": seconds, "bytes": bytes, "bytes_per_second": measured.bytes_per_second(),
                "operations": operations, "operations_per_second": measured.operations_per_second(),
                "plan": plan, "isa": isa, "threads": threads, "limited_by": measured.bound.name(), "limit_seconds": limit_seconds,
                "share": measured.share(), "advice": advice,
            });
        }
    }
    told
}
