//! The generated `precast_model.rs`: one Rust function for each named graph, with typed ranks and dtypes.
//!
//! `precast::include_model!` includes the file and provides the crate as `__precast`. A graph of C scalars is called
//! natively, without arrays, if its module has a native function. [`super::functions`] assigns the names of the
//! graphs, and [`super::rust`] escapes user-defined names. The generated module keeps its own items in `__private`,
//! so that they cannot collide with functions or arguments: modules and functions have different namespaces.

use super::functions::functions;
use super::rust::{doc, identifier, is_exact, literal};
use crate::declared::{Declared, Owner};
use precast_core::program::Port;
use precast_core::{DType, Type};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A graph's interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Graph {
    pub(super) name: String,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    pub(super) owner: Owner,
}

/// Lists the declared graphs, sorted by name.
pub(super) fn graphs(declared: &Declared) -> Vec<Graph> {
    let graph = |(name, named): (&String, &crate::NamedGraph)| {
        let (inputs, outputs) = named.graph.interface();
        Graph { name: name.clone(), inputs, outputs, owner: named.owner }
    };
    declared.graphs().iter().map(graph).collect()
}

/// The source of the functions' modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// The bundle in the same directory.
    Embedded,
    /// The bundle of the program that links this library.
    Program,
}

impl Home {
    /// Returns the beginning of the file, and the names of its functions.
    fn head(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Embedded => (include_str!("embedded.rs.in"), &["loader"]),
            Self::Program => (include_str!("library.rs.in"), &["loader", "use_loader"]),
        }
    }
}

/// The generated functions of graphs.
pub(super) struct Functions {
    /// The Rust source.
    pub(super) text: String,
    /// The warnings about graphs without a function.
    pub(super) warnings: Vec<String>,
}

/// Renders the functions of graphs.
pub(super) fn render(graphs: &[Graph], home: Home) -> Functions {
    let names: Vec<(&str, Owner)> = graphs.iter().map(|graph| (graph.name.as_str(), graph.owner)).collect();
    let (head, own) = home.head();
    let chosen = functions(&names, own);
    let mut text = head.to_owned();
    for error in &chosen.errors {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\ncompile_error!({});", literal(error));
    }
    for graph in graphs {
        if let Some(name) = chosen.named.get(&graph.name) {
            function(&mut text, name, graph);
        }
    }
    Functions { text, warnings: chosen.warnings }
}

fn function(text: &mut String, name: &str, graph: &Graph) {
    let arguments = arguments(&graph.inputs);
    let list = |line: fn(&str, &Type) -> String| -> String {
        arguments.iter().zip(&graph.inputs).map(|(name, port)| line(name, &port.ty)).collect()
    };
    let parameters = list(|name, ty| format!("    {name}: {},\n", parameter(ty)));
    let values = list(|name, ty| format!("        {},\n", value(name, ty)));
    let takes = list(|_, ty| format!("{}, ", held(ty)));
    let types: Vec<String> = graph.outputs.iter().map(|port| held(&port.ty)).collect();
    let result = if let [one] = types.as_slice() { one.clone() } else { format!("({})", types.join(", ")) };
    let native = native(graph, &arguments, &result);
    let lifetime = if graph.inputs.iter().any(|port| port.ty.ndim() > 0) { "<'a>" } else { "" };
    let errors = "Fails if extents do not match, an op rejects a value, or no module fits this host.";
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n{doc}#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = \"as many as the graph has\")]\n\
         pub fn {name}{lifetime}(\n{parameters}) -> Result<{result}, __precast::model::ModelError> {{\n{native}    \
         static __FUNCTION: __precast::model::Handle<({takes}), {result}> = __precast::model::Handle::new({entry});\n    \
         __FUNCTION.call(&__private::MODEL, (\n{values}    ))\n}}\n",
        doc = doc(&[&summary(graph), "", "# Errors", errors]),
        entry = literal(&graph.name),
    );
}

/// Names with another meaning in Rust or in the function's body.
const RESERVED: [&str; 7] = ["Some", "None", "Ok", "Err", "__FUNCTION", "__NATIVE", "__native"];

/// Returns the arguments' names: an input's name if it is a valid Rust name, else a similar one.
fn arguments(ports: &[Port]) -> Vec<String> {
    let mut taken: BTreeSet<String> = RESERVED.into_iter().map(str::to_owned).collect();
    let own: Vec<Option<String>> = ports
        .iter()
        .map(|port| {
            let name = identifier(&port.name);
            (is_exact(&name, &port.name) && taken.insert(name.clone())).then_some(name)
        })
        .collect();
    let like = |(port, own): (&Port, Option<String>)| {
        own.unwrap_or_else(|| {
            let mut name = identifier(&port.name);
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        })
    };
    ports.iter().zip(own).map(like).collect()
}

/// The most arguments and results of a native function that Rust calls.
const NATIVE: (usize, usize) = (12, 8);

/// Renders the native call of a graph of C scalars; empty for all other graphs.
fn native(Graph { name, inputs, outputs, .. }: &Graph, arguments: &[String], result: &str) -> String {
    let passed =
        |port: &Port| matches!(*port.ty, Type::Scalar(dtype) if !matches!(dtype, DType::F16 | DType::Bf16));
    if inputs.len() > NATIVE.0 || outputs.len() > NATIVE.1 || !inputs.iter().chain(outputs).all(passed) {
        return String::new();
    }
    let types: Vec<&str> = inputs.iter().map(|port| element(port.ty.dtype())).collect();
    format!(
        "    static __NATIVE: __precast::model::NativeHandle<fn({}) -> Result<{result}, __precast::CallError>> =\n        \
         __precast::model::NativeHandle::new({});\n    \
         if let Some(__native) = __NATIVE.find(&__private::MODEL)? {{\n        return Ok(__native.call({})?);\n    }}\n",
        types.join(", "),
        literal(name),
        arguments.join(", "),
    )
}

/// Returns the first line of the documentation: ``score(x: f64[?]) -> out: f64[]``, and the order of several results.
fn summary(Graph { name, inputs, outputs, .. }: &Graph) -> String {
    let ports =
        |ports: &[Port]| -> String { ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") };
    let order = if outputs.len() < 2 {
        String::new()
    } else {
        let names: Vec<&str> = outputs.iter().map(|port| port.name.as_str()).collect();
        format!("; returns {}, in this order", names.join(", "))
    };
    format!("`{name}({}) -> {}`{order}.", ports(inputs), ports(outputs))
}

/// The highest rank for which ndarray has a dedicated type.
const FIXED: usize = 6;

fn dimension(ndim: usize) -> String {
    if ndim > FIXED { "D".to_owned() } else { ndim.to_string() }
}

fn parameter(ty: &Type) -> String {
    let element = element(ty.dtype());
    match ty.ndim() {
        0 => element.to_owned(),
        ndim => format!("impl Into<__precast::ndarray::ArrayView{}<'a, {element}>>", dimension(ndim)),
    }
}

fn value(name: &str, ty: &Type) -> String {
    match ty.ndim() {
        0 => name.to_owned(),
        _ => format!("{name}.into()"),
    }
}

/// Returns the type of an argument or result.
fn held(ty: &Type) -> String {
    let element = element(ty.dtype());
    match ty.ndim() {
        0 => element.to_owned(),
        ndim => format!("__precast::ndarray::Array{}<{element}>", dimension(ndim)),
    }
}

fn element(dtype: DType) -> &'static str {
    match dtype {
        DType::F16 => "__precast::f16",
        DType::Bf16 => "__precast::bf16",
        DType::C64 => "__precast::Complex<f32>",
        DType::C128 => "__precast::Complex<f64>",
        plain => plain.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Graph, Home, Owner, arguments, render};
    use precast_core::program::Port;

    fn ports(names: &[&str]) -> Vec<Port> {
        names.iter().map(|name| Port { name: (*name).to_owned(), ty: "f64".parse().unwrap() }).collect()
    }

    #[test]
    fn argument_names_are_unique() {
        for (names, expected) in [
            (&["x", "fn", "P"][..], &["x", "r#fn", "P"][..]),
            (&["a-b", "a_b", "a.b"], &["a_b_", "a_b", "a_b__"]),
            (&["Ok", "Err", "Ok_"], &["Ok__", "Err_", "Ok_"]),
            (&["ä", "ö", "_"], &["__", "___", "____"]),
            (&["__MODEL", "__native", "__FUNCTION"], &["__MODEL", "__native_", "__FUNCTION_"]),
        ] {
            assert_eq!(arguments(&ports(names)), expected, "{names:?}");
        }
    }

    /// Uses an unchecked graph: the writer must be safe by itself.
    #[test]
    fn hostile_names_stay_inside_comments_and_literals() {
        for name in [
            "x\npub fn injected() {}",
            "*/",
            "\0",
            "\u{202e}",
            "`\n\n```\npub fn injected() {}",
            "\r",
            "\"));",
            "",
        ] {
            let graph = Graph {
                name: name.to_owned(),
                inputs: ports(&[name, "y"]),
                outputs: ports(&[name, "z"]),
                owner: Owner::Package,
            };
            let text = render(std::slice::from_ref(&graph), Home::Embedded).text;
            assert!(text.lines().all(|line| !line.starts_with("pub fn injected")), "{text}");
            assert!(!text.contains(['\0', '\u{202e}', '\r']), "{text}");
        }
    }
}
