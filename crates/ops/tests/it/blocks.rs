//! Tests the functions that kernels call by block: their regions, and blocks of every mix of regions. The test program
//! `tests/c/block.c` finds the edges of regions from the predicates, so new functions need no entry here.

use crate::compiler;
use precast_graph::DType;
use precast_ops::scalar::{self, BlockFunction};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns all functions that kernels call by block, and their headers.
pub(crate) fn functions() -> Vec<(BlockFunction, Vec<String>)> {
    let ops = scalar::names().into_iter().filter_map(scalar::find);
    let of = |op: std::sync::Arc<dyn scalar::ScalarOp>| {
        [DType::F32, DType::F64].map(|dtype| {
            let dtypes = vec![dtype; op.arity()];
            Some((op.block(&dtypes)?, op.c_headers(&dtypes)))
        })
    };
    ops.flat_map(of).flatten().collect()
}

/// Returns the C text of functions and the table of `tests/c/block.c`.
fn table(functions: &[(BlockFunction, Vec<String>)]) -> String {
    let mut text = String::new();
    let mut rows = String::new();
    let operands = functions.iter().map(|(function, _)| function.operands).max().unwrap();
    // Writing to a string cannot fail.
    for (_, headers) in functions {
        for header in headers {
            let _ = writeln!(text, "#include <{header}>");
        }
    }
    let _ = writeln!(
        text,
        "#define OPERANDS {operands}\ntypedef struct function {{\n  const char *name;\n  int arity, width, regions;\n  \
         void (*one)(const void *x, void *y);\n  void (*block)(int64_t n, void *const *data);\n  \
         uint64_t (*is[8])(const void *x);\n  void (*form[8])(const void *x, void *y);\n}} function;"
    );
    for (function, _) in functions {
        let BlockFunction { name, dtype, operands, regions, .. } = *function;
        let own = format!("{name}_{dtype}");
        let element = |k: usize| format!("((const pc_{dtype} *)x)[{k}]");
        let elements: Vec<String> = (0..operands).map(element).collect();
        let elements = elements.join(", ");
        let data: Vec<String> = (0..operands).map(|k| format!("(const pc_{dtype} *)data[{k}]")).collect();
        let _ = writeln!(
            text,
            "{}static void {own}_one(const void *x, void *y) {{ *(pc_{dtype} *)y = pc_{own}_one({elements}); }}\n\
             static void {own}_block(int64_t n, void *const *data) {{ pc_{own}_block(n, {}, (pc_{dtype} *)data[{operands}]); }}",
            function.c_text(),
            data.join(", "),
        );
        let (mut is, mut forms) = (String::new(), String::new());
        for region in regions {
            let _ = writeln!(
                text,
                "static uint64_t {own}_is_{region}(const void *x) {{ return pc_{name}_is_{region}_{dtype}({elements}); }}\n\
                 static void {own}_{region}(const void *x, void *y) {{ *(pc_{dtype} *)y = pc_{name}_{region}_{dtype}({elements}); }}"
            );
            let _ = write!(is, "{own}_is_{region}, ");
            let _ = write!(forms, "{own}_{region}, ");
        }
        let width = 8 * dtype.itemsize_bytes();
        let _ = writeln!(
            rows,
            "  {{\"{own}\", {operands}, {width}, {}, {own}_one, {own}_block, {{{is}NULL}}, {{{forms}NULL}}}},",
            regions.len()
        );
    }
    format!("{text}static const function functions[] = {{\n{rows}}};\n")
}

/// Checks one function in `of` at each level, other ones at the next, with this many values.
fn check(values: u64, of: u64) {
    let folder = tempfile::tempdir().unwrap();
    let source: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/block.c");
    for (position, level) in (0..).zip(compiler::levels()) {
        let functions = compiler::share(functions(), position, of);
        fs_err::write(folder.path().join("functions.h"), table(&functions)).unwrap();
        let program = compiler::program(folder.path(), level, std::slice::from_ref(&source), "gnu11");
        let output = Command::new(program).arg(values.to_string()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}: {} {text}", level.0, output.status);
    }
}

#[test]
fn blocks_match_single_elements_at_every_level() {
    check(1 << 14, 2 * compiler::LEVELS);
}

#[test]
#[ignore = "takes minutes: run it after changes to a region"]
fn regions_match_the_general_form() {
    check(10_000_000, 1);
}

#[test]
fn functions_of_several_kernels_are_defined_once() {
    let functions = functions();
    assert!(functions.len() >= 12, "{functions:?}");
    assert!(functions.iter().any(|(function, _)| function.regions.len() > 1));
}
