//! Random ops of hostile, independent authors: clashing macros, `#undef`, pragmas, flags, headers with equal guards,
//! equal names for functions, types and labels, and changed registers.
//!
//! ```text
//! seed ─▶ 2–4 authors, C or C++ ─▶ a graph of their ops and ops of the library, each value an output
//!                                     ├─▶ as a whole: compiled now, then found in a store ┐
//!                                     └─▶ op by op                                        ┴─▶ the numbers that Rust computes
//! ```
//! An author draws attacks on other texts, and checks for attacks by other texts: each failed check adds to the
//! result. `PRECAST_FUZZ_COUNT` and `PRECAST_FUZZ_SEED` are the same as for the other random graphs, with one graph
//! of authors per fifty of those.

use crate::external::{call, op};
use precast::{Array, FunctionGraph, Policy, Runtime};
use precast_codegen::external::Declaration;
use precast_graph::{Op, OpLibrary as _, Operand, VarId};
use precast_ops::Ops;
use precast_store::key::Language;
use precast_testkit::{Budget, Choices};
use std::fmt::Write as _;
use std::sync::Arc;

/// The attacks of a text at file scope, which would change a following text.
const ATTACKS: [&str; 12] = [
    "#undef LEAST\n#define LEAST(a, b) ((a) <= (b) ? (b) : (a))\n",
    "#undef QQ\n#define QQ 1.0\n",
    "#define LOCAL 1\n#define OTHER LOCAL\n",
    "#undef NULL\n#define NULL ((void *)0)\n",
    "#define helper(x) ((x) + 1000)\n",
    "#define SIZE sizeof(long double)\n#undef SIZE\n",
    "#pragma pack(1)\n",
    "#pragma GCC optimize(\"Ofast\")\n",
    "#pragma GCC diagnostic error \"-Wunused-variable\"\n",
    "#define data 3\n#define ndim 4\n#define run 5\n#define args 6\n",
    "struct pair { char c; double d; } __attribute__((packed));\n",
    "double labelled(void) __asm__(\"same_label\");\ndouble labelled(void) { return 7; }\n",
];
/// The attacks of a text while it computes.
const LEAVINGS: [&str; 4] = [
    "",
    "#define LOCAL 2\n",
    "unsigned register_;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(register_));\nregister_ |= 0x8040;\n__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(register_));\n",
    "unsigned register_;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(register_));\nregister_ |= 0x6000;\n__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(register_));\n",
];
/// The flags of one op.
const FLAGS: [&[&str]; 4] = [&[], &["-Ofast"], &["-DQQ=9", "-DLOCAL=8"], &["-O1", "-fwrapv"]];

/// An op, and the number that it adds to its input.
struct Author {
    op: Arc<dyn Op>,
    adds: f64,
}

impl Author {
    fn draw(number: usize, choices: &mut Choices) -> Self {
        let cxx = choices.below(3) == 0;
        let mut attacks: Vec<&str> =
            (0..choices.below(4)).map(|_| ATTACKS[choices.below(ATTACKS.len())]).collect();
        // Directives come before the code that they change, and no definition occurs twice.
        attacks.sort_by_key(|text| (!text.starts_with('#'), *text));
        attacks.dedup();
        let (leaves, flags) = (LEAVINGS[choices.below(4)], FLAGS[choices.below(4)]);
        let leaves = if cfg!(target_arch = "x86_64") { leaves } else { "" };
        let [base, constant, guarded] = [0; 3].map(|_| choices.below(9) + 1);
        let says = |words: &str| attacks.iter().any(|text| text.contains(words)) || leaves.contains(words);
        let has_flag = |flag: &str| flags.contains(&flag);
        let mut support = String::from("#include \"util.h\"\n");
        // Attacks and checks are distinct: an author omits checks for its own attacks.
        let (mut asks, mut adds) = (String::new(), (base + constant + guarded) as f64);
        let own_helper = if says("helper(x)") { "own_helper" } else { "helper" };
        writeln!(
            support,
            "enum choice {{ NONE, CHOICE = {constant} }};\ntypedef {} real;",
            ["double", "float"][choices.below(2)]
        )
        .unwrap();
        writeln!(support, "static real {own_helper}(real x) {{ return x + {base}; }}").unwrap();
        attacks.iter().for_each(|text| support.push_str(text));
        if !says("#define QQ") && !has_flag("-DQQ=9") {
            asks.push_str("#ifdef QQ\nasked += 100;\n#endif\n");
        }
        if !says("#define LOCAL") && !has_flag("-DQQ=9") {
            asks.push_str("#ifdef LOCAL\nasked += 200;\n#endif\n");
        }
        if !says("#define LEAST") {
            asks.push_str("#ifdef LEAST\nasked += 400;\n#endif\n");
        }
        if !says("packed") && !says("pack(") {
            asks.push_str(
                "struct pair { char c; double d; };\nasked += sizeof(struct pair) == 16 ? 0 : 800;\n",
            );
        }
        if !says("Ofast") && !has_flag("-Ofast") {
            asks.push_str("asked += ((1e16 * one + one) - 1e16 * one) + (one - 1) == 0 ? 0 : 1600;\n");
        }
        if !says("mxcsr") {
            asks.push_str("asked += one / 3 == 0x1.5555555555555p-2 ? 0 : 3200;\nasked += 0x1p-1060 * one == 0 ? 6400 : 0;\n");
        }
        if says("labelled") {
            asks.push_str("asked += labelled();\n");
            adds += 7.0;
        }
        let code = format!(
            "volatile double one = 1;\ndouble asked = 0;\n{asks}{leaves}OUTPUT_0 = INPUT_0 + {own_helper}(0) + CHOICE + GUARDED + asked;\n(void)one;\n"
        );
        let text = format!("#section support_code\n{support}\n#section code\n{code}");
        let header = format!("#ifndef UTIL_H\n#define UTIL_H\n#define GUARDED {guarded}\n#endif\n");
        let name = format!("author{number}");
        let declaration = Declaration {
            compile_args: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            language: Some(if cxx { Language::Cxx } else { Language::C }),
            sources: [("util.h".to_owned(), header.into())].into(),
            ..Declaration::new(&name).file("op.c", text.as_str()).input("f64").output("f64")
        };
        Self { op: op(declaration), adds }
    }
}

/// Draws a graph, its authors, and its values at 1.
fn draw(seed: u64) -> (FunctionGraph, Vec<Author>, Vec<f64>) {
    let mut choices = Choices::seeded(seed);
    let authors: Vec<Author> = (0..2 + choices.below(3)).map(|i| Author::draw(i, &mut choices)).collect();
    let (mut graph, ops) = (FunctionGraph::new(), Ops::standard());
    let mut values: Vec<(VarId, f64)> = vec![(graph.input("x", "f64".parse().unwrap()).unwrap(), 1.0)];
    for step in 0..authors.len() + choices.below(3) {
        let (from, x) = values[choices.below(values.len())];
        let author = authors.get(step).unwrap_or(&authors[choices.below(authors.len())]);
        let made = graph.apply(Arc::clone(&author.op), &[from]).unwrap()[0];
        values.push((made, x + author.adds));
        if choices.one_in(2) {
            let (other, y) = values[choices.below(values.len())];
            let operands = [Operand::Var(made), Operand::Var(other)];
            let sum =
                ops.call(&mut graph, "add", &operands, &precast_graph::Keywords::new()).unwrap().unwrap();
            let sum = sum.variable(&mut graph).unwrap();
            values.push((sum, x + author.adds + y));
        }
    }
    for (value, _) in &values[1..] {
        graph.output(*value, None).unwrap();
    }
    (graph, authors, values[1..].iter().map(|(_, value)| *value).collect())
}

fn numbers(arrays: &[Array]) -> Vec<f64> {
    arrays.iter().map(|array| f64::from_bits(array.bits()[0])).collect()
}

#[test]
fn hostile_authors_graphs_equal_their_ops() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (count, seed) = (number("PRECAST_FUZZ_COUNT", 400).div_ceil(50), number("PRECAST_FUZZ_SEED", 0));
    let (mut ops, mut applies) = (0, 0);
    let budget = Budget::start();
    for seed in (seed..seed + count).take_while(|_| !budget.is_spent()) {
        let (graph, authors, expected) = draw(seed);
        let store = tempfile::tempdir().unwrap();
        let jit = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
        let function = jit
            .function(&graph)
            .unwrap_or_else(|error| panic!("seed {seed}: {}", crate::external::chain(&error)));
        for round in 0..2 {
            let found = call(&function, &[Array::from(1.0)]).unwrap();
            assert_eq!(numbers(&found), expected, "seed {seed}, call {round}, as a whole: {graph}");
        }
        for author in &authors {
            let alone = jit.function(&crate::external::graph(&author.op, &["f64"])).unwrap();
            let found = call(&alone, &[Array::from(1.0)]).unwrap();
            assert_eq!(numbers(&found), [1.0 + author.adds], "seed {seed}, op by op");
        }
        drop(jit);
        let strict = Runtime::builder().store(store.path()).policy(Policy::Strict).build().unwrap();
        let found = call(&strict.function(&graph).unwrap(), &[Array::from(1.0)]).unwrap();
        assert_eq!(numbers(&found), expected, "seed {seed}, found: {graph}");
        ops += authors.len();
        applies += graph.applies().len();
    }
    println!("{count} graphs of {applies} Applies, of {ops} authors' ops: whole, found and op by op agree");
}
