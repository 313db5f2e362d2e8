//! `precast check-op`: checks C ops against their contract.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use precast_build::{Declared, Manifest};
use precast_graph::{FunctionGraph, nearest};
use precast_ops::{Ops, combinations};
use precast_runtime::Runtime;
use precast_runtime::debug::{self, Checked, Findings, Options};
use serde_json::{Value, json};

use crate::args::{CheckOpArgs, GraphArgs};
use crate::error::{Exit, Failure};
use crate::graph::{self, Source};
use crate::{arrays, layers, repro, term};

/// Runs the command.
pub(super) fn run(args: &CheckOpArgs) -> Result<Exit, Failure> {
    let ops = Ops::standard();
    let runtime = layers::runtime(&args.layers, args.policy, None, ops)?;
    let mut options = Options::default();
    (options.seed, options.approximate) = (args.seed, args.approximate);
    options.time = Duration::from_secs(args.timeout.into());
    let mut all = Vec::new();
    let names_graph = !args.expr.is_empty() || args.graph.is_some() || args.entry.is_some();
    if names_graph {
        let graph = of_graph(args, &runtime)?;
        let findings = match args.inputs.is_empty() {
            true => debug::check(&runtime, &graph, &options)?,
            false => on_inputs(args, &runtime, &graph, &options)?,
        };
        all.push((None, findings));
    } else {
        for (name, graph) in declared(args, &runtime)? {
            let findings = debug::check(&runtime, &graph, &options);
            all.push((Some(name), findings?));
        }
    }
    layers::tell(&runtime, &args.layers, false);
    told(args, &all)
}

fn on_inputs(
    args: &CheckOpArgs,
    runtime: &Runtime,
    graph: &FunctionGraph,
    options: &Options,
) -> Result<Findings, Failure> {
    let given = arrays::read(&args.inputs)?;
    let inputs: Vec<_> = arrays::arrange(&given, &graph.interface().0)?.into_iter().cloned().collect();
    let findings = debug::check_on(runtime, graph, &inputs, options)?;
    Ok(findings)
}

/// Returns the graph of `--expr`, `--graph` or `--entry`.
fn of_graph(args: &CheckOpArgs, runtime: &Runtime) -> Result<FunctionGraph, Failure> {
    let wanted = GraphArgs {
        expr: args.expr.clone(),
        types: args.types.clone(),
        graph: args.graph.clone(),
        entry: args.entry.clone(),
        manifest: args.manifest.clone(),
        debug_info: false,
        passes: None,
        stabilise: false,
    };
    match graph::read(&wanted, &[], runtime.ops(), &args.layers)? {
        Source::Graph(graph) => Ok(graph),
        Source::Entry(name) => {
            let opened = layers::open(&args.layers, &layers::to_run(&args.layers))?;
            let found = layers::find_graph(&opened, &name, runtime.ops())?;
            found.ok_or_else(|| layers::no_entry(&args.layers, &name, &runtime.entries()))
        }
    }
}

/// Returns the graphs that a manifest declares under the name, or all of them; without a manifest, the combinations
/// of a built-in op.
fn declared(args: &CheckOpArgs, runtime: &Runtime) -> Result<Vec<(String, FunctionGraph)>, Failure> {
    let name = args.op.as_deref();
    let all =
        |name: &str, dtypes: &[_], ndim: &[_], ops: &Ops| -> Result<Vec<(String, FunctionGraph)>, Failure> {
            let found = combinations(name, dtypes, ndim, ops)?;
            Ok(found.into_iter().map(|combination| (combination.signature, combination.graph)).collect())
        };
    let Some(path) = &args.manifest else {
        let name = name.unwrap_or_default();
        if Path::new(name).is_file() {
            let failure = Failure::usage(format!("`{name}` is a file, expected an op"));
            return Err(failure.hint(format!("check the ops of a manifest with `--manifest {name}`")));
        }
        return all(name, &args.dtype, &args.ndim, runtime.ops());
    };
    let refused = |error: precast_build::DeclareError| {
        Failure::new(format!("cannot check `{}`", path.display())).because(error)
    };
    let mut declared = Declared::new(runtime.ops().clone());
    Manifest::read(path).map_err(refused)?.declare(&mut declared).map_err(refused)?;
    let is_wanted = |known: &str| {
        let rest = name.map_or(Some(""), |name| known.strip_prefix(name));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let graphs = declared.graphs().iter().filter(|(known, _)| is_wanted(known));
    let mut found: Vec<_> = graphs.map(|(known, named)| (known.clone(), named.graph.clone())).collect();
    for matrix in declared.matrices().iter().filter(|matrix| is_wanted(&matrix.name)) {
        let (dtypes, ndim): (Vec<_>, Vec<_>) =
            (matrix.dtypes.iter().copied().collect(), matrix.ndim.iter().copied().collect());
        found.extend(all(&matrix.name, &dtypes, &ndim, &matrix.ops(declared.ops()))?);
    }
    if found.is_empty() {
        let what = name.map_or_else(|| "anything".to_owned(), |name| format!("`{name}`"));
        let ops = declared.ops().externals().map(|op| op.declaration().name.as_str());
        let known = ops.chain(declared.graphs().keys().map(String::as_str));
        let near = name.and_then(|name| nearest(name, known));
        let near = near.map_or_else(String::new, |near| format!("; nearest `{near}`"));
        return Err(Failure::new(format!("`{}` does not declare {what}{near}", path.display())));
    }
    Ok(found)
}

/// Prints the findings, and writes reproducers of violations.
fn told(args: &CheckOpArgs, all: &[(Option<String>, Findings)]) -> Result<Exit, Failure> {
    let (mut text, mut values, mut broken, mut checked) = (String::new(), Vec::new(), 0, 0);
    let mut names = repro::Names::default();
    for (name, findings) in all {
        if let Some(name) = name.as_ref().filter(|_| findings.applies.len() > 1) {
            let _ = writeln!(text, "{name}");
        }
        for apply in &findings.applies {
            checked += usize::from(apply.skipped.is_none());
            let _ = writeln!(text, "{}", line(apply));
            let mut violations = Vec::new();
            for violation in &apply.violations {
                broken += 1;
                let written = repro::write(&args.repro, &mut names, violation)?;
                let _ = writeln!(text, "  {}: {} ({})", violation.kind, violation.detail, violation.trial);
                let _ = writeln!(text, "    reproduce: {}", written.command);
                violations.push(json!({
                    "kind": violation.kind.name(), "detail": violation.detail, "trial": violation.trial,
                    "repro": written.directory.to_string_lossy(), "again": written.command,
                }));
            }
            values.push(json_apply(name.as_deref(), apply, violations));
        }
    }
    if args.json {
        term::print_json(&json!({"checked": checked, "violations": broken, "applies": values}))?;
    } else {
        let _ = writeln!(text, "{checked} checked, {broken} violation(s)");
        term::print(&text)?;
    }
    if checked == 0 {
        return Err(Failure::new("nothing was checked: all Applies were skipped"));
    }
    Ok(if broken == 0 { Exit::Ok } else { Exit::Violation })
}

/// Renders the result of one Apply as a line.
pub(super) fn line(apply: &Checked) -> String {
    let Checked { signature, accepted, refused, .. } = apply;
    if let Some(reason) = &apply.skipped {
        return format!("skipped  {signature}: {reason}");
    }
    let word = if apply.violations.is_empty() { "ok      " } else { "BROKEN  " };
    let against = if apply.has_reference { "compared with perform" } else { "no perform" };
    let refused = if *refused > 0 { format!(", {refused} rejected") } else { String::new() };
    format!("{word} {signature}: {accepted} input(s){refused}, {against}")
}

fn json_apply(name: Option<&str>, apply: &Checked, violations: Vec<Value>) -> Value {
    json!({
        "name": name, "signature": apply.signature, "apply": apply.apply, "reference": apply.has_reference,
        "accepted": apply.accepted, "refused": apply.refused, "skipped": apply.skipped, "violations": violations,
    })
}
