//! Ops of independent authors: the text of one op affects no other op that follows it.
//!
//! Each row has two ops on a C scalar with known values, and the graph uses both. CodeOrigin as a whole, the graph has
//! one module for each op. It is compiled, found in a store, and explained.

use super::{call, graph, op};
use precast::{Array, Check, FunctionGraph, Policy, Runtime};
use precast_codegen::external::Declaration;
use precast_graph::Op;
use precast_ops::Ops;
use std::sync::Arc;

/// A row: its description, the two texts, flags of the first, and the values at 1.
struct Row {
    what: &'static str,
    texts: [&'static str; 2],
    args: &'static [&'static str],
    values: [f64; 2],
}

const fn row(what: &'static str, texts: [&'static str; 2], values: [f64; 2]) -> Row {
    Row { what, texts, args: &[], values }
}

const LEAST: [&str; 2] = [
    "#section support_code\n#undef MIN\n#define MIN(a,b) ((a)<(b)?(a):(b))\n#section code\nOUTPUT_0 = MIN(1, 2);\n",
    "#section support_code\n#undef MIN\n#define MIN(a,b) ((a)<=(b)?(b):(a))\n#section code\nOUTPUT_0 = MIN(1, 2);\n",
];
const DEFINED: &str = "#section code\n#ifdef QQ\nOUTPUT_0 = 99;\n#else\nOUTPUT_0 = 2;\n#endif\n";
const PADDED: &str = "#section code\nOUTPUT_0 = sizeof(struct { char c; double d; });\n";
/// (a + b) - a + c, which is 0 for these numbers unless a compiler may reorder it.
const SUM: &str = "#section code\nconst double a = 1e16 * INPUT_0, b = INPUT_0, c = -2 + 2 * INPUT_0;\nOUTPUT_0 = ((a + b) - a) + c;\n";
const OF_ONE: &str = "#section code\nOUTPUT_0 = INPUT_0;\n";

const ROWS: [Row; 12] = [
    row("undef, then define", LEAST, [1.0, 2.0]),
    row(
        "a macro of the other",
        ["#section support_code\n#undef QQ\n#define QQ 1.0\n#section code\nOUTPUT_0 = QQ;\n", DEFINED],
        [1.0, 2.0],
    ),
    row(
        "a macro of the other's code",
        ["#section code\n#define QQ 1.0\nOUTPUT_0 = QQ;\n", DEFINED],
        [1.0, 2.0],
    ),
    row(
        "pack",
        ["#section support_code\n#pragma pack(1)\n#section code\nOUTPUT_0 = INPUT_0;\n", PADDED],
        [1.0, 16.0],
    ),
    row(
        "a pragma that optimises",
        ["#section support_code\n#pragma GCC optimize(\"Ofast\")\n#section code\nOUTPUT_0 = INPUT_0;\n", SUM],
        [1.0, 0.0],
    ),
    Row { what: "a flag", texts: [OF_ONE, SUM], args: &["-Ofast"], values: [1.0, 0.0] },
    Row { what: "a macro by a flag", texts: [OF_ONE, DEFINED], args: &["-DQQ=3"], values: [1.0, 2.0] },
    row(
        "one label for the assembler",
        [
            "#section support_code\ndouble f(void) __asm__(\"label\");\ndouble f(void) { return 1; }\n#section code\nOUTPUT_0 = f();\n",
            "#section support_code\ndouble g(void) __asm__(\"label\");\ndouble g(void) { return 2; }\n#section code\nOUTPUT_0 = g();\n",
        ],
        [1.0, 2.0],
    ),
    row(
        "rounding",
        [
            "#section code\nunsigned u;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(u));\nu |= 0x4000;\n__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(u));\nOUTPUT_0 = INPUT_0;\n",
            "#section code\nvolatile double three = 3;\nOUTPUT_0 = INPUT_0 / three == 0x1.5555555555555p-2 ? 2 : 99;\n",
        ],
        [1.0, 2.0],
    ),
    row(
        "the x87 registers, which MMX fills",
        [
            "#section code\n__asm__ volatile(\"movd %%eax,%%mm0\" ::: \"mm0\");\nOUTPUT_0 = INPUT_0;\n",
            "#section code\nvolatile long double a = INPUT_0;\nOUTPUT_0 = (double)(a * 2);\n",
        ],
        [1.0, 2.0],
    ),
    row(
        "denormals, when the module is loaded",
        [
            "#section init_code\nunsigned u;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(u));\nu |= 0x8040;\n__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(u));\n#section code\nOUTPUT_0 = INPUT_0;\n",
            "#section code\nvolatile double small = 0x1p-1060;\nOUTPUT_0 = small * INPUT_0 == 0 ? 99 : 2;\n",
        ],
        [1.0, 2.0],
    ),
    row(
        "denormals, when an instance is made",
        [
            "#section init_code_struct\nunsigned u;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(u));\nu |= 0x8040;\n__asm__ volatile(\"ldmxcsr %0\" :: \"m\"(u));\n#section code\nOUTPUT_0 = INPUT_0;\n",
            "#section code\nvolatile double small = 0x1p-1060;\nOUTPUT_0 = small * INPUT_0 == 0 ? 99 : 2;\n",
        ],
        [1.0, 2.0],
    ),
];

fn declare(name: &str, text: &str, args: &[&str]) -> Arc<dyn Op> {
    let declaration = Declaration::new(name).file("op.c", text).input("f64").output("f64");
    op(Declaration { compile_args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..declaration })
}

/// Returns a graph with both ops on one input, each with an output.
fn both(ops: &[Arc<dyn Op>; 2]) -> FunctionGraph {
    let mut g = FunctionGraph::new();
    let x = g.input("x", "f64".parse().unwrap()).unwrap();
    let first = g.apply(Arc::clone(&ops[0]), &[x]).unwrap()[0];
    let second = g.apply(Arc::clone(&ops[1]), &[x]).unwrap()[0];
    g.output(first, None).unwrap();
    g.output(second, None).unwrap();
    g
}

#[test]
fn op_macros_do_not_reach_other_ops() {
    for Row { what, texts, args, values } in ROWS {
        if texts[0].contains("__asm__ volatile") && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let ops = [declare("one", texts[0], args), declare("two", texts[1], &[])];
        let store = tempfile::tempdir().unwrap();
        let jit = Runtime::builder().writable(store.path()).policy(Policy::Jit).build().unwrap();
        let wanted = values.map(Array::from);
        let whole = jit.function(&both(&ops)).unwrap();
        for _ in 0..2 {
            assert_eq!(call(&whole, &[Array::from(1.0)]).unwrap(), wanted, "{what}, compiled now");
        }
        for (op, value) in ops.iter().zip(wanted.clone()) {
            let alone = jit.function(&graph(op, &["f64"])).unwrap();
            assert_eq!(call(&alone, &[Array::from(1.0)]).unwrap(), [value], "{what}, op by op");
        }
        drop(jit);
        let strict = Runtime::builder().store(store.path()).policy(Policy::Strict).build().unwrap();
        let explained = strict.explain(&both(&ops)).unwrap();
        assert_eq!((explained.check(), explained.segments.len()), (Check::Whole, 2), "{what}: {explained}");
        let found = strict.function(&both(&ops)).unwrap();
        assert_eq!(call(&found, &[Array::from(1.0)]).unwrap(), wanted, "{what}, found");
        assert_eq!(found.provenance().len(), 2);
        // The program is unaffected too: the linking of a library decides its effect on the thread that opens it.
        let (small, three) = (std::hint::black_box(f64::from_bits(3)), std::hint::black_box(3.0_f64));
        assert!(
            small * three == f64::from_bits(9) && 1.0 / three == f64::from_bits(0x3fd5_5555_5555_5555),
            "{what}"
        );
    }
}

/// Views, in-place forms and constants between segments: results do not depend on the boundaries of modules.
#[test]
fn values_pass_between_the_modules_of_a_graph() {
    let twice = "#section code\nif (OUTPUT_0 == NULL || OUTPUT_0->shape[0] != INPUT_0->shape[0]) {\n  pc_xdecref((pc_object *)OUTPUT_0);\n  OUTPUT_0 = ctx->host->tensor_new(ctx, TYPENUM_OUTPUT_0, 1, INPUT_0->shape);\n  if (OUTPUT_0 == NULL) { FAIL }\n}\nfor (int64_t i = 0; i < INPUT_0->shape[0]; i++)\n  *(pc_f64 *)(OUTPUT_0->data + i * OUTPUT_0->strides[0]) = 2 * *(pc_f64 *)(INPUT_0->data + i * INPUT_0->strides[0]);\n";
    let twice = op(Declaration::new("twice").file("op.c", twice).input("f64[?]").output("f64[?]"));
    let ops = Ops::standard();
    let parse = |g: &mut FunctionGraph, name: &str, args: &[precast_graph::VarId]| {
        let operands: Vec<precast_graph::Operand> =
            args.iter().map(|v| precast_graph::Operand::Var(*v)).collect();
        let made = precast_graph::OpLibrary::call(&ops, g, name, &operands, &precast_graph::Keywords::new());
        made.unwrap().unwrap().variable(g).unwrap()
    };
    let mut g = FunctionGraph::new();
    let x = g.input("x", "f64[?]".parse().unwrap()).unwrap();
    let c = g.constant(super::vector(&[10.0, 20.0, 30.0]));
    let shifted = parse(&mut g, "add", &[x, c]);
    let doubled = g.apply(Arc::clone(&twice), &[shifted]).unwrap()[0];
    let negative = parse(&mut g, "neg", &[doubled]);
    let sum = parse(&mut g, "add", &[negative, shifted]);
    let again = g.apply(Arc::clone(&twice), &[sum]).unwrap()[0];
    let all = parse(&mut g, "add", &[again, doubled]);
    g.output(all, Some("all")).unwrap();
    g.output(sum, Some("sum")).unwrap();
    let runtime = Runtime::builder().policy(Policy::Jit).build().unwrap();
    let function = runtime.function(&g).unwrap();
    let value = |x: f64, c: f64| (2.0 * (x + c) + 2.0 * ((x + c) - 2.0 * (x + c)), (x + c) - 2.0 * (x + c));
    for xs in [[1.0, 2.0, 3.0], [-5.0, 0.5, 7.0]] {
        let made: Vec<(f64, f64)> = xs.iter().zip([10.0, 20.0, 30.0]).map(|(x, c)| value(*x, c)).collect();
        let (all, sum): (Vec<f64>, Vec<f64>) = made.into_iter().unzip();
        assert_eq!(
            call(&function, &[super::vector(&xs)]).unwrap(),
            [super::vector(&all), super::vector(&sum)]
        );
    }
    // Two segments, and one module.
    let missing =
        runtime.explain(&g).unwrap().missing().filter(|miss| miss.signature.contains("twice")).count();
    assert_eq!(missing, 1);
}

/// A macro that would change the generated code is rejected; the compiler's own macros and macros that are undefined
/// again are allowed.
#[test]
fn macros_that_change_generated_code_are_rejected() {
    let text =
        |macros: &str| format!("#section support_code\n{macros}\n#section code\nOUTPUT_0 = INPUT_0;\n");
    for (macros, name) in [
        ("#define V0 2.0", Some("V0")),
        ("#define failure 0", Some("failure")),
        ("#define goto", Some("goto")),
        ("#define data 3\n#define ndim 4\n#define args 5\n#define cleanup 6", None),
        ("#define V0 2.0\n#undef V0", None),
    ] {
        let op = declare("named", &text(macros), &[]);
        match name {
            Some(name) => {
                let message = super::refused(&graph(&op, &["f64"]));
                assert!(message.contains(&format!("`{name}` is a macro here")), "{message}");
            }
            None => {
                let function = super::compiled(&graph(&op, &["f64"]));
                assert_eq!(call(&function, &[Array::from(4.0)]).unwrap(), [Array::from(4.0)], "{macros}");
            }
        }
    }
}
