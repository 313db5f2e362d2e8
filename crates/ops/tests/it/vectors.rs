//! Tests that loops over functions are vectorised, for single functions, for pairs of functions, and for folds.
//! Scalar code takes many times as long. gcc reports the vectorised loops; other compilers are not tested.

#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

use crate::cases::floats;
use crate::compiler;
use crate::kernels::parse;
use precast_codegen::Unit;
use precast_graph::DType;
use precast_ops::Ops;
use std::fmt::Write as _;
use std::sync::Arc;

/// Functions that branch between algorithms.
const BRANCHES: [&str; 1] = ["gammaln"];
/// Functions for which gcc 12 generates branches if it knows that an operand is positive.
const BEHIND: [&str; 4] = ["acos", "cbrt", "digamma", "trigamma"];

#[test]
fn loops_over_functions_are_vector_code() {
    if !compiler::is_gcc() {
        return eprintln!("skipped: which loops are vector code: the C compiler is not gcc");
    }
    let (f32s, f64s) = floats();
    let names = f32s.iter().map(|case| (&case.name, case.arity));
    let names = names.chain(f64s.iter().map(|case| (&case.name, case.arity)));
    let unary: Vec<&str> = names.filter(|(_, arity)| *arity == 1).map(|(name, _)| name.as_str()).collect();
    assert!(unary.len() > 40, "{unary:?}");
    let mut text = "#include <precast/ops/math.h>\n".to_owned();
    let mut loops = Vec::new();
    for name in &unary {
        let (function, dtype) = name.rsplit_once('_').unwrap();
        for operand in ["x[i]".to_owned(), format!("pc_exp_{dtype}(x[i])")] {
            let position = loops.len();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "void f{position}(long n, const pc_{dtype} *x, pc_{dtype} *y) {{ _Pragma(\"GCC ivdep\") \
                 for (long i = 0; i < n; i++) y[i] = pc_{name}({operand}); }}"
            );
            let is_behind = position % 2 == 1;
            let is_known = BRANCHES.contains(&function) || is_behind && BEHIND.contains(&function);
            loops.push((format!("{name} of {operand}"), is_known));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loops.c");
    fs_err::write(&file, text).unwrap();
    let lines = compiler::vectorised(folder.path(), *compiler::levels().last().unwrap(), &file);
    // The first line is that of the header.
    let left = loops.iter().zip(2_usize..).filter(|((_, is_known), line)| !is_known && !lines.contains(line));
    let left: Vec<&str> = left.map(|((what, _), _)| what.as_str()).collect();
    assert!(left.is_empty(), "not vector code: {left:?}");
}

#[test]
fn folds_of_sums_are_vector_code() {
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
fn kernels_that_wait_for_operands_are_light() {
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
