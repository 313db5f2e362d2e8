//! Tests random ops with support code at every level and conflicting names. They always compile and give correct
//! results, as a whole and op by op, in a static program.

use crate::run::{Outcome, opwise, whole};
use precast_codegen::template::render;
use precast_codegen::{
    CCompiler, CLinkerObject, COp, Library, LinkError, Module, Node, SourceSet, Sub, link, segments,
};
use precast_graph::{Array, FunctionGraph, MakeNodeError, Op, PerformError, Prop, Props, Type, VarId};
use precast_store::key::Language;
use precast_testkit::Choices;
use proptest::prelude::*;
use std::sync::Arc;

/// Names that authors often use, including some that the generated code also uses.
const POOL: [&str; 16] = [
    "helper", "scale", "init", "run", "cleanup", "data", "line", "define", "N", "args", "temps", "slots",
    "opaque", "ndim", "weight", "M",
];
/// The template marks that are replaced by names of the pool.
const NAMES: [&str; 11] = ["N", "E", "C", "T", "D", "V", "F", "G", "H", "A", "S"];

/// An author's op: the names and the numbers in its C code.
#[derive(Debug, Clone, PartialEq)]
struct Author {
    number: usize,
    names: Vec<&'static str>,
    numbers: [i64; 7],
    guard: &'static str,
    /// Whether the helpers of an Apply contain its name, as they should.
    careful: bool,
    cxx: bool,
}

impl Author {
    fn draw(number: usize, choices: &mut Choices, cxx: bool) -> Self {
        let mut pool = POOL.to_vec();
        let names = NAMES.iter().map(|_| pool.remove(choices.below(pool.len()))).collect();
        let numbers = std::array::from_fn(|_| choices.below(9) as i64 + 1);
        let guard = ["UTIL_H", "HELPER_H"][choices.below(2)];
        Self { number, names, numbers, guard, careful: choices.below(2) == 0, cxx }
    }

    /// Fills a template; `apply` is the name of the Apply if there is one.
    fn render(&self, template: &str, apply: Option<&str>, more: &[(&str, &str)]) -> String {
        let mut values: Vec<(String, String)> = NAMES
            .iter()
            .zip(&self.names)
            .map(|(mark, name)| ((*mark).to_owned(), (*name).to_owned()))
            .collect();
        for (i, number) in self.numbers.iter().enumerate() {
            values.push((format!("K{i}"), number.to_string()));
        }
        let inline = if self.cxx { "inline " } else { "" };
        let loaded = self.number.to_string();
        let fixed = [("GUARD", self.guard), ("MACRO", "ADD"), ("INLINE", inline), ("LOADED", &loaded)];
        let template_use = format!("+ {}_one.value()", self.names[3]);
        values.push(("MORE".to_owned(), if self.cxx { template_use } else { String::new() }));
        values
            .extend(fixed.iter().chain(more).map(|(mark, value)| ((*mark).to_owned(), (*value).to_owned())));
        if let Some(apply) = apply.filter(|_| self.careful) {
            for (mark, value) in values.iter_mut().filter(|(mark, _)| mark == "A" || mark == "S") {
                let _ = mark;
                *value = format!("{apply}_{value}");
            }
        }
        let values: Vec<(&str, &str)> =
            values.iter().map(|(mark, value)| (mark.as_str(), value.as_str())).collect();
        render(template, &values)
    }

    /// Computes the result of the op in Rust.
    fn value(&self, x: f64) -> f64 {
        let [n, c, v, g, h, a, s] = self.numbers.map(|k| k as f64);
        let (f, more) = ((x + n + v + c) * g, if self.cxx { 2.0 + g } else { 0.0 });
        f + (1.0 + h) + (2.0 + h) + (x + a) + s * n + 7.0 + more
    }
}

#[derive(Debug)]
struct Written(Author);

impl Op for Written {
    fn name(&self) -> &str {
        "written"
    }
    fn props(&self) -> Props {
        Props::from([("author".to_owned(), Prop::Int(self.0.number as i64))])
    }
    fn make_node(&self, inputs: &[Type]) -> Result<Vec<Type>, MakeNodeError> {
        Ok(inputs.to_vec())
    }
    fn perform(&self, _: &[&Array]) -> Result<Vec<Array>, PerformError> {
        Err(PerformError::value("written", "not needed here"))
    }
}

impl CLinkerObject for Written {
    fn c_headers(&self) -> Vec<String> {
        vec![format!("author{}/util.h", self.0.number)]
    }
    fn c_sources(&self) -> SourceSet {
        let text = self.0.render(include_str!("../c/scopes/header.h.in"), None, &[]);
        SourceSet::from([(format!("author{}/util.h", self.0.number), text.into())])
    }
    fn c_support_code(&self) -> Vec<String> {
        let mut code = vec![self.0.render(include_str!("../c/scopes/loaded.c.in"), None, &[])];
        code.push(self.0.render(include_str!("../c/scopes/support.c.in"), None, &[]));
        if self.0.cxx {
            code.push(self.0.render(include_str!("../c/scopes/template.cc.in"), None, &[]));
        }
        code
    }
    fn c_init_code(&self) -> Vec<String> {
        vec![format!("loaded_{} = 7;", self.0.number)]
    }
    fn c_compiler(&self) -> Option<CCompiler> {
        self.0.cxx.then_some(CCompiler { language: Language::Cxx })
    }
}

impl COp for Written {
    fn c_support_code_apply(&self, _: &Node, name: &str) -> Result<String, LinkError> {
        Ok(self.0.render(include_str!("../c/scopes/apply.c.in"), Some(name), &[]))
    }
    fn c_support_code_struct(&self, _: &Node, name: &str) -> String {
        self.0.render("double @S@;\nvoid *@NAME@_memory;\n", Some(name), &[("NAME", name)])
    }
    fn c_init_code_struct(&self, _: &Node, name: &str, sub: &Sub) -> String {
        let more = [("NAME", name), ("FAIL", &*sub.fail)];
        self.0.render(include_str!("../c/scopes/init_struct.c.in"), Some(name), &more)
    }
    fn c_cleanup_code_struct(&self, _: &Node, name: &str) -> String {
        self.0.render("ctx->host->release(ctx, self->@NAME@_memory);", Some(name), &[("NAME", name)])
    }
    fn c_code(
        &self,
        _: &Node,
        name: &str,
        i: &[String],
        o: &[String],
        sub: &Sub,
    ) -> Result<String, LinkError> {
        let more = [("X", &*i[0]), ("Z", &*o[0]), ("FAIL", &*sub.fail)];
        Ok(self.0.render(include_str!("../c/scopes/code.c.in"), Some(name), &more))
    }
}

/// Draws a graph with several Applies of several authors' ops; every value is an output.
fn draw(seed: u64, cxx: bool) -> (FunctionGraph, Vec<f64>) {
    let mut choices = Choices::seeded(seed);
    let authors: Vec<Author> = (0..=choices.below(4)).map(|i| Author::draw(i, &mut choices, cxx)).collect();
    let mut graph = FunctionGraph::new();
    let mut values: Vec<(VarId, f64)> = vec![(graph.input("x", "f64".parse().unwrap()).unwrap(), 2.0)];
    for _ in 0..=choices.below(5) {
        let author = authors[choices.below(authors.len())].clone();
        let (from, x) = values[choices.below(values.len())];
        let y = author.value(x);
        values.push((graph.apply(Arc::new(Written(author)), &[from]).unwrap()[0], y));
    }
    for (id, _) in &values[1..] {
        graph.output(*id, None).unwrap();
    }
    (graph, values[1..].iter().map(|(_, y)| *y).collect())
}

fn library() -> Library {
    Library::new().with_c::<Written>()
}

fn numbers(outcome: &Outcome) -> Vec<f64> {
    let number = |(_, bytes): &(i32, Vec<u8>)| f64::from_le_bytes(bytes[..8].try_into().unwrap());
    outcome.outputs.as_ref().unwrap().iter().map(number).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn helper_names_of_ops_do_not_clash(seed: u64, cxx: bool) {
        let (graph, expected) = draw(seed, cxx);
        let inputs = [Array::from(2.0)];
        prop_assert_eq!(numbers(&whole(&graph, &library(), &inputs)), expected.clone(), "as a whole");
        prop_assert_eq!(numbers(&opwise(&graph, &library(), &inputs)), expected, "op by op");
    }
}

/// Uses two authors' ops that differ only in their numbers, so that all their helpers have the same names.
#[test]
fn author_code_stays_unchanged_in_its_module() {
    let mut one = Author::draw(0, &mut Choices::seeded(1), false);
    one.names = vec!["n", "e", "c", "t", "d", "v", "f", "g", "h", "a", "s"];
    let other = Author { number: 1, numbers: [9; 7], ..one.clone() };
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", "f64".parse().unwrap()).unwrap();
    for author in [&one, &other, &one] {
        let y = graph.apply(Arc::new(Written(author.clone())), &[x]).unwrap()[0];
        graph.output(y, None).unwrap();
    }
    let parts = segments(&graph, &library()).unwrap();
    let modules: Vec<Module> = parts.iter().map(|part| link(&part.graph, &library()).unwrap()).collect();
    for module in &modules {
        assert!(module.body.contains("static double f(double x)") && module.is_alone, "{}", module.body);
    }
    assert_eq!(modules[0], modules[2], "both uses of an op are one module");
    assert_ne!(modules[0].key(), modules[1].key());
}
