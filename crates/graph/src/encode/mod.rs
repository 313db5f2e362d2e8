//! The canonical bytes of a graph: the input of the fingerprint, and the numbering used to generate modules.
//!
//! Two graphs have the same bytes exactly when they compute the same outputs in the same way: equal ops with equal
//! props on equal *edges*. The way a graph was built does not matter. These parts are left out:
//!
//! | left out | because |
//! |---|---|
//! | the order in which applies and constants were added | a walk from the outputs renumbers them |
//! | applies that no output needs | they compute nothing |
//! | names | they only serve readers |
//! | extents, their names, declared types | modules are generic in them; the caller checks legality |
//! | values of constants | modules get them through slots; if all values are C scalars, constants are C literals and count |
//!
//! The bytes include every input by position, used or not, and the rank, dtype and kind of every type. They include
//! the outputs in order, with repeats, and whether two uses share one variable. A graph inside a prop has no slots
//! and belongs to its op alone, so its extents and the bits of its constants are included.
//!
//! # Layout
//! The layout uses the values of `precast_store::key::Canonical`. Each value has a tag that determines its end, so
//! the bytes are unambiguous and can be parsed again, as the tests do:
//! ```text
//! str  01 length: u64 LE, UTF-8      bytes 02 length: u64 LE, bytes     u64 03 value: u64 LE
//! bool 04 00|01                      list  05 count: u64 LE, items
//!
//! graph    = [format, [type of input…], [slot…], [apply…], [edge of output…]]
//! slot     = type                     in a prop, and where all values are C scalars: [type, [extent…], [bits…]]
//! apply    = [op, [edge…], [type of output…]]
//! op       = [name, [[prop name, prop]…]]            props in order of their names
//! prop     = [kind, value]                           kind is a str; value as the kind says, a graph as bytes
//! edge     = [0, input] | [1, slot] | [2, apply, index]
//! type     = [is a tensor, dtype, rank]     in a prop: [is a tensor, dtype, rank, [[] for ?, else [extent]…]]
//! user     = [name, is opaque, dtype, rank]       a type too; in a prop with extents as above; a str comes first
//! ```
//! The name and the props identify an op. An [`OpLibrary`](crate::OpLibrary) guarantees that names are unique.

mod walk;

use crate::Array;
use crate::graph::{FunctionGraph, Origin, VarId};
use crate::op::{Op, Prop};
use crate::{Extent, Type};
use walk::{Edge, Walk};

/// The version of the layout, which is the first value of the bytes.
pub const FORMAT: u64 = 2;

/// Renders the canonical bytes of `graph`. Graphs that differ only in the left-out parts (see the module docs) have
/// equal bytes.
///
/// # Examples
/// ```
/// use precast_graph::{FunctionGraph, Type, encode::canonical};
///
/// let identity = |name| {
///     let mut graph = FunctionGraph::new();
///     let x = graph.input(name, "f64[?]".parse().unwrap()).unwrap();
///     graph.output(x, None).unwrap();
///     graph
/// };
/// assert_eq!(canonical(&identity("x")), canonical(&identity("y")));
/// ```
#[must_use]
pub fn canonical(graph: &FunctionGraph) -> Vec<u8> {
    let mut encoder = Encoder { bytes: Vec::new(), detail: Detail::Keyed };
    encoder.graph(graph);
    encoder.bytes
}

/// Renumbers a graph in canonical order, drops dead applies and unused constants, and forgets every extent and its name.
///
/// Inputs are numbered first. Constants follow in order of first use, which is the order of a module's slots. The
/// outputs of the applies come last, in the order of the walk. A generator that sees only this graph produces equal
/// code for equal [`canonical`] bytes, up to names and to the graphs inside props, which are not renumbered.
///
/// Names and values of constants are kept. The function is idempotent.
#[must_use]
pub fn normalise(graph: &FunctionGraph) -> FunctionGraph {
    renumber(graph, Type::without_extents)
}

/// Renumbers a graph like [`normalise`] but keeps every extent. Rewrites that look at extents start from this form,
/// so that their result does not depend on the order in which the graph was built.
#[must_use]
pub fn order(graph: &FunctionGraph) -> FunctionGraph {
    let mut result = renumber(graph, Type::clone);
    result.declare_as(graph);
    result
}

fn renumber(graph: &FunctionGraph, ty: impl Fn(&Type) -> Type) -> FunctionGraph {
    let walk = Walk::of(graph);
    let mut result = FunctionGraph::new();
    let mut renamed: Vec<Option<VarId>> = vec![None; graph.variables().len()];
    for (position, old) in graph.inputs().iter().enumerate() {
        renamed[old.index()] = Some(result.push_input(graph.input_name(position), ty(graph.ty(*old))));
    }
    for old in &walk.constants {
        if let Origin::Constant(value) = &graph.variable(*old).origin {
            renamed[old.index()] = Some(result.constant_of(value.clone(), ty(graph.ty(*old))));
        }
    }
    for apply in &walk.applies {
        // The walk visits an Apply after all its inputs, so each input has a number here.
        let inputs: Vec<VarId> = apply.inputs.iter().filter_map(|v| renamed[v.index()]).collect();
        let types = apply.outputs.iter().map(|v| ty(graph.ty(*v))).collect();
        let outputs = result.push_apply(apply.op.clone(), &inputs, types);
        for (old, new) in apply.outputs.iter().zip(outputs) {
            renamed[old.index()] = Some(new);
        }
    }
    for (old, new) in renamed.iter().enumerate() {
        if let (Some(name), Some(new)) = (&graph.variables()[old].name, new) {
            result.put_name(*new, name);
        }
    }
    for (position, old) in graph.outputs().iter().enumerate() {
        if let Some(new) = renamed[old.index()] {
            result.push_output(new, graph.declared_output_name(position));
        }
    }
    result
}

/// How much detail of types and constants is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Neither extents nor values: for the keyed graph.
    Keyed,
    /// Everything except names: for a graph inside a prop.
    Whole,
}

struct Encoder {
    bytes: Vec<u8>,
    detail: Detail,
}

impl Encoder {
    fn graph(&mut self, graph: &FunctionGraph) {
        let walk = Walk::of(graph);
        self.list(5);
        self.u64(FORMAT);
        self.list(graph.inputs().len());
        for input in graph.inputs() {
            self.ty(graph.ty(*input));
        }
        self.list(walk.constants.len());
        let values = self.detail == Detail::Whole || walk.is_of_numbers(graph);
        for constant in &walk.constants {
            self.slot(graph, *constant, values);
        }
        self.list(walk.applies.len());
        for apply in &walk.applies {
            self.list(3);
            self.op(&*apply.op);
            self.edges(&walk, &apply.inputs);
            self.list(apply.outputs.len());
            for output in &apply.outputs {
                self.ty(graph.ty(*output));
            }
        }
        self.edges(&walk, graph.outputs());
    }

    fn slot(&mut self, graph: &FunctionGraph, constant: VarId, values: bool) {
        let variable = graph.variable(constant);
        let (Origin::Constant(value), true) = (&variable.origin, values) else {
            return self.ty(&variable.ty);
        };
        self.list(3);
        self.ty(&variable.ty);
        self.array(value);
    }

    /// Encodes the extents and the bits of a value.
    fn array(&mut self, value: &Array) {
        self.list(value.shape().len());
        for n in value.shape() {
            self.u64(*n as u64);
        }
        let bits = value.bits();
        self.list(bits.len());
        for element in bits {
            self.u64(element);
        }
    }

    fn op(&mut self, op: &dyn Op) {
        let props = op.props();
        self.list(2);
        self.str(op.name());
        self.list(props.len());
        for (name, prop) in &props {
            self.list(2);
            self.str(name);
            self.prop(prop);
        }
    }

    fn prop(&mut self, prop: &Prop) {
        self.list(2);
        match prop {
            Prop::Bool(value) => {
                self.str("bool");
                self.bytes.extend([4, u8::from(*value)]);
            }
            Prop::Int(value) => {
                self.str("int");
                self.u64(value.cast_unsigned());
            }
            Prop::Str(value) => {
                self.str("str");
                self.str(value);
            }
            Prop::DType(value) => {
                self.str("dtype");
                self.str(value.name());
            }
            Prop::Float(value) => {
                self.str("float");
                self.u64(value.to_bits());
            }
            Prop::Array(value) => {
                self.str("array");
                self.list(3);
                self.ty(&value.ty());
                self.array(value);
            }
            Prop::List(items) => {
                self.str("list");
                self.list(items.len());
                for item in items {
                    self.prop(item);
                }
            }
            Prop::Op(op) => {
                self.str("op");
                self.op(&**op);
            }
            Prop::Graph(graph) => {
                self.str("graph");
                let mut nested = Self { bytes: Vec::new(), detail: Detail::Whole };
                nested.graph(graph);
                self.tagged(2, nested.bytes.len() as u64);
                self.bytes.extend(nested.bytes);
            }
        }
    }

    fn edges(&mut self, walk: &Walk<'_>, variables: &[VarId]) {
        self.list(variables.len());
        for edge in variables.iter().filter_map(|v| walk.edges[v.index()]) {
            let (kind, first, second) = match edge {
                Edge::Input(position) => (0, position, None),
                Edge::Slot(position) => (1, position, None),
                Edge::Output(apply, index) => (2, apply, Some(index)),
            };
            self.list(if second.is_some() { 3 } else { 2 });
            self.u64(kind);
            self.u64(first as u64);
            if let Some(second) = second {
                self.u64(second as u64);
            }
        }
    }

    fn ty(&mut self, ty: &Type) {
        let whole = self.detail == Detail::Whole;
        let fields = if ty.as_user().is_some() { 4 } else { 3 };
        self.list(fields + usize::from(whole));
        if let Type::User(user) = ty {
            self.str(user.name());
            self.bytes.extend([4, u8::from(user.is_opaque())]);
        } else {
            self.bytes.extend([4, u8::from(matches!(ty, Type::Tensor(_)))]);
        }
        self.str(ty.dtype().name());
        self.u64(ty.ndim() as u64);
        if whole {
            self.list(ty.ndim());
            for extent in ty.shape() {
                match extent {
                    Extent::Unknown => self.list(0),
                    Extent::Fixed(n) => {
                        self.list(1);
                        self.u64(*n);
                    }
                }
            }
        }
    }

    fn str(&mut self, text: &str) {
        self.tagged(1, text.len() as u64);
        self.bytes.extend(text.as_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.tagged(3, value);
    }

    fn list(&mut self, count: usize) {
        self.tagged(5, count as u64);
    }

    fn tagged(&mut self, tag: u8, number: u64) {
        self.bytes.push(tag);
        self.bytes.extend(number.to_le_bytes());
    }
}
