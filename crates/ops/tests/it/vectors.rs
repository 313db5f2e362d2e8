//! Tests that loops over functions are vectorised: for single functions, for each region of the functions that kernels
//! call by block, for pairs of functions, and for folds. Scalar code takes many times as long. gcc reports the
//! vectorised loops; other compilers are not tested.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use crate::blocks;
use crate::cases::floats;
use crate::compiler;
use crate::kernels::parse;
use precast_codegen::Unit;
use precast_graph::{DType, Type};
use precast_ops::{Ops, rewrite};
use std::sync::Arc;

/// Functions for which gcc 12 generates branches if it knows that an operand is positive.
const BEHIND: [&str; 2] = ["acos", "cbrt"];

/// The text of a C file and its loops that must be vector code: the line of each, and its function.
struct Loops {
    text: String,
    lines: Vec<(usize, String)>,
}

impl Loops {
    /// Adds C text whose lines with `mark` are loops.
    fn add(&mut self, text: &str, mark: &str, what: &str) {
        let first = self.text.lines().count() + 1;
        let marked = text.lines().enumerate().filter(|(_, line)| line.contains(mark));
        self.lines.extend(marked.map(|(at, line)| (first + at, format!("{what}: {}", line.trim()))));
        self.text.push_str(text);
        self.text.push('\n');
    }
}

/// Returns loops over each function, and over each after `exp` if `is_behind`.
fn loops(is_behind: bool) -> Loops {
    let mut loops = Loops {
        text: "#include <precast/ops/block.h>\n#include <precast/ops/math.h>\n".to_owned(),
        lines: Vec::new(),
    };
    let blocks = blocks::functions();
    let (f32s, f64s) = floats();
    let names = f32s.iter().map(|case| (&case.name, case.arity));
    let names = names.chain(f64s.iter().map(|case| (&case.name, case.arity)));
    for (name, arity) in names {
        let (function, dtype) = name.rsplit_once('_').unwrap();
        if blocks.iter().any(|(block, _)| block.name == function) {
            continue;
        }
        let plain = ["x[i]", "z[i]", "z[i]", "z[i]"][..arity].join(", ");
        let behind =
            (is_behind && arity == 1 && !BEHIND.contains(&function)).then(|| format!("pc_exp_{dtype}(x[i])"));
        for operands in [Some(plain), behind].into_iter().flatten() {
            let text = format!(
                "void f{}(long n, const pc_{dtype} *x, const pc_{dtype} *z, pc_{dtype} *y) {{ (void)z;\n\
                 _Pragma(\"GCC ivdep\") for (long i = 0; i < (n & -64); i++) y[i] = pc_{name}({operands}); }}",
                loops.lines.len()
            );
            loops.add(&text, "for (", name);
        }
    }
    for (block, _) in &blocks {
        let (own, function) = (format!("{}_{}", block.name, block.dtype), block.c_name());
        loops.add(&block.c_text(), "i < (w & -lanes)", &own);
        let operands: String = (0..block.operands).map(|_| "x, ").collect();
        let dtype = block.dtype;
        let call = format!(
            "void g_{own}(long n, const pc_{dtype} *x, pc_{dtype} *y) {{ {function}(n, {operands}y); }}"
        );
        loops.add(&call, "\n", &own);
    }
    loops
}

/// The level without SSE 4.1 is excluded: it cannot compare 64-bit integers, which selects of f64 need.
#[test]
fn loops_over_functions_are_vectorized() {
    if !compiler::is_gcc() {
        return eprintln!("skipped: which loops are vector code: the C compiler is not gcc");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loops.c");
    let levels = compiler::levels();
    let (highest, _) = *levels.last().unwrap();
    for level in levels.into_iter().filter(|(name, _)| *name != "x86-64") {
        let Loops { text, lines } = loops(level.0 == highest);
        assert!(lines.len() > 60, "{lines:?}");
        fs_err::write(&file, text).unwrap();
        let found = compiler::vectorised(folder.path(), level, &file);
        let left: Vec<_> = lines.iter().filter(|(line, _)| !found.contains(line)).collect();
        assert!(left.is_empty(), "not vector code at {}: {left:?}", level.0);
    }
}

#[test]
fn sum_folds_are_vectorized() {
    if !cfg!(target_arch = "x86_64") {
        return eprintln!("skipped: whether folds are vector code: this is not x86-64");
    }
    if !compiler::is_gcc() {
        return eprintln!("skipped: whether folds are vector code: the C compiler is not gcc");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("folds.c");
    for level in compiler::levels() {
        for (dtype, add) in [("f64", "addpd"), ("f32", "addps"), ("i64", "paddq")] {
            let text = format!(
                "#include <precast/ops/monoid.h>\nPC_MONOID_sum_{dtype}(sum, PC_MONOID_ROWS)\n\
                 const pc_monoid *monoid(void);\nconst pc_monoid *monoid(void) {{ return &sum; }}\n"
            );
            fs_err::write(&file, text).unwrap();
            let assembly = compiler::assembly(folder.path(), level, &file);
            let (_, fold) = assembly.split_once("\nsum_fold:").unwrap();
            let (fold, _) = fold.split_once(".size").unwrap();
            assert!(fold.contains(add), "the fold of {dtype} at {} has no `{add}`", level.0);
            assert!(
                !fold.contains("%zmm"),
                "the fold of {dtype} at {} has vectors as long as a line",
                level.0
            );
        }
    }
}

#[test]
fn memory_bound_kernels_are_light() {
    let is_light = |text: &str| {
        let module = precast_codegen::link(&parse(text, DType::F64), Ops::standard().c()).unwrap();
        Unit::single(Arc::new(module)).text().contains("PC_LIGHT static int")
    };
    for text in ["x + y", "where(x > y, x, 0.5*y)", "((x + y)*z - x/2 + y)*(z - 1) + x*y - z", "sum(x*y)"] {
        assert!(is_light(&format!("out = {text}")), "{text}");
    }
    let chain = "((((x*y + 0.9)*x + 0.8)*x + 0.7)*x + 0.6)*x + 0.5";
    let wide = "(x + 1)*(x + 2) + (x + 3)*(x + 4)";
    for text in ["exp(x)", "x + tanh(y)", "x % y", chain, wide] {
        assert!(!is_light(&format!("out = {text}")), "{text}");
    }
}

/// A loop of a small graph that reads bools beside numbers.
#[test]
fn choices_in_small_graphs_are_vectorized() {
    if !compiler::is_gcc() {
        return eprintln!("skipped: which loops are vector code: the C compiler is not gcc");
    }
    let inputs = [("x", "f64[40]"), ("y", "f64[40]"), ("c", "bool[40]"), ("t", "f32[40]")]
        .map(|(name, ty)| (name.to_owned(), ty.parse::<Type>().unwrap()));
    let texts = ["z = where(c, log(x), x / y); z - sum(z)", "sum(t) + where(c, t, 2*t)"];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("choices.c");
    for text in texts {
        let graph = precast_graph::text::parse(&[text], &inputs, &Ops::standard()).unwrap();
        let graph = Arc::new(rewrite::lower(&graph).unwrap());
        let module = precast_codegen::link(&graph, Ops::standard().c()).unwrap();
        let source = Unit::single(Arc::new(module)).text();
        fs_err::write(&file, &source).unwrap();
        for level in compiler::levels().into_iter().filter(|(name, _)| *name != "x86-64") {
            let found = compiler::vectorised(folder.path(), level, &file);
            let choices: Vec<usize> = (source.lines().enumerate())
                .filter(|(_, line)| line.contains("for (int i0 = 0; i0 < 40; i0++)"))
                .map(|(at, _)| at + 1)
                .collect();
            assert!(!choices.is_empty(), "{source}");
            let left: Vec<_> = choices.iter().filter(|line| !found.contains(line)).collect();
            assert!(left.is_empty(), "{text} at {}: lines {left:?} of\n{source}", level.0);
        }
    }
}
