//! Errors in an external op name the author's file and line.

use super::{call, chain, compiled, graph, op, refused};
use precast::Array;
use precast_codegen::external::{Declaration, ExternalCOp};
use precast_store::key::Language;

fn scalar_op(text: &str) -> Declaration {
    Declaration::new("bad").file("src/bad.c", text).input("f64").output("f64")
}

/// Returns the compiler's error message.
fn compile_error(declaration: Declaration) -> String {
    refused(&graph(&op(declaration), &["f64"]))
}

#[test]
fn syntax_error_has_the_author_line() {
    for section in ["support_code", "support_code_apply", "init_code", "init_code_apply", "init_code_struct"]
    {
        let text = format!("\n#section code\nOUTPUT_0 = INPUT_0;\n#section {section}\n\nint x = 1 +;\n");
        let found = compile_error(scalar_op(&text));
        assert!(found.contains("bad/src/bad.c:6:"), "{section}: {found}");
        assert!(found.contains("| int x = 1 +;"), "{section}: {found}");
    }
    let found = compile_error(scalar_op("#section code\nOUTPUT_0 = INPUT_0 +;\n"));
    assert!(found.contains("bad/src/bad.c:2:") && found.contains("bad(f64) -> f64"), "{found}");
}

#[test]
fn error_after_a_section_has_the_unit_line() {
    let found = compile_error(scalar_op("#section code\nOUTPUT_0 = INPUT_0;\n(\n"));
    // Code after the section must not be attributed to a line of the author's file.
    assert!(!found.contains("bad/src/bad.c:4") && found.contains("  unit.c:"), "{found}");
}

#[test]
fn own_header_error_is_reported_there() {
    let text = "#section support_code\n#include \"own.h\"\n#section code\nOUTPUT_0 = INPUT_0;\n";
    let found = compile_error(scalar_op(text).source("src/own.h", "\nint x = 1 +;\n"));
    assert!(found.contains("bad/src/own.h:2:"), "{found}");
}

#[test]
fn missing_header_lists_searched_directories() {
    let text = "#section support_code\n#include \"nowhere.h\"\n#section code\nOUTPUT_0 = INPUT_0;\n";
    let found =
        compile_error(Declaration { header_dirs: vec!["/no/such/place".to_owned()], ..scalar_op(text) });
    assert!(found.contains("bad/src/bad.c:2: cannot find header `nowhere.h`"), "{found}");
    assert!(found.contains("searched: the unit's own files, `/no/such/place`"), "{found}");
}

#[test]
fn missing_library_lists_searched_directories() {
    let declaration = Declaration {
        libraries: vec!["nowhere".to_owned()],
        lib_dirs: vec!["/no/such/place".to_owned()],
        ..scalar_op("#section code\nOUTPUT_0 = INPUT_0;\n")
    };
    let found = compile_error(declaration);
    assert!(found.contains("cannot find library `nowhere`; searched: `/no/such/place`"), "{found}");
}

#[test]
fn a_failure_without_an_error_is_named() {
    let text = "#section support_code\nint f(double x, double *y) { *y = x; return x < 0; }\n";
    let function = compiled(&graph(&op(scalar_op(text).func("f")), &["f64"]));
    assert!(call(&function, &[Array::from(1.0)]).is_ok());
    let found = chain(&call(&function, &[Array::from(-1.0)]).unwrap_err());
    assert!(found.contains("bad: `f` failed without setting an error"), "{found}");
    let text = "#section code\nif (INPUT_0 < 0) FAIL;\nOUTPUT_0 = INPUT_0;\n";
    let function = compiled(&graph(&op(scalar_op(text)), &["f64"]));
    let found = chain(&call(&function, &[Array::from(-1.0)]).unwrap_err());
    assert!(found.contains("bad: the code failed without setting an error"), "{found}");
}

#[test]
fn wrong_arity_is_reported_at_the_definition() {
    let text = "#section support_code\n\nint f(double x) { return 0; }\n";
    let found = ExternalCOp::new(scalar_op(text).func("f")).unwrap_err().to_string();
    assert_eq!(found, "bad/src/bad.c:3: `f` has 1 parameter(s), expected 2: 1 input(s), 1 output(s)");
}

#[test]
fn wrong_argument_kinds_are_errors_in_c() {
    let text = "#section support_code\nint f(double x, float *y) { *y = (float)x; return 0; }\n";
    let found = compile_error(scalar_op(text).func("f"));
    assert!(found.contains("incompatible pointer type"), "{found}");
}

#[test]
fn includes_outside_the_op_are_rejected() {
    for name in ["../../etc", "/etc/passwd"] {
        let text = format!("#section support_code\n#include \"{name}\"\n#section code\n");
        let found = ExternalCOp::new(scalar_op(&text)).unwrap_err().to_string();
        assert!(found.starts_with(&format!("bad/src/bad.c:2: `#include` of `{name}` leaves")), "{found}");
    }
}

#[test]
fn invalid_declarations_are_rejected() {
    let good = || scalar_op("#section code\nOUTPUT_0 = INPUT_0;\n");
    let problem = |d: Declaration| ExternalCOp::new(d).unwrap_err().to_string();
    assert!(problem(Declaration { name: "a b".to_owned(), ..good() }).contains("invalid op name `a b`"));
    assert!(problem(good().file("../x.c", "")).contains("invalid file name `../x.c`"));
    assert!(problem(good().source("src/bad.c", "")).contains("two files of the op are named"));
    assert!(problem(good().func("f")).contains("calls `f`, which is not defined in any section"));
    assert!(
        problem(scalar_op("#section support_code\n")).contains("has neither a section `code` nor a function")
    );
    assert!(
        problem(good().input("{T}[?]?").input("f64")).contains("has an optional input before a required one")
    );
    assert!(problem(Declaration { max_inputs: Some(0), ..good() }).contains("`max_inputs` is 0"));
    assert!(
        problem(Declaration { view_map: vec![(0, 1)], ..good() })
            .contains("`view_map` has invalid positions [0, 1]")
    );
    let both = "#section support_code\nint f(double x, double *y) { return 0; }\n#section code\n;\n";
    assert!(
        problem(scalar_op(both).func("f"))
            .starts_with("bad/src/bad.c:4: found both a section `code` and `func`")
    );
}

#[test]
fn external_op_without_reference_cannot_be_interpreted() {
    let graph = graph(&op(scalar_op("#section code\nOUTPUT_0 = INPUT_0;\n")), &["f64"]);
    let found = chain(&precast_graph::interpret(&graph, &[Array::from(1.0)]).unwrap_err());
    assert!(found.contains("`bad` has no reference implementation: it is declared in C only"), "{found}");
}

#[test]
fn system_file_is_rejected_under_any_name() {
    let read = |support: &str| {
        compile_error(scalar_op(&format!(
            "#section support_code\n{support}\n#section code\nOUTPUT_0 = INPUT_0;\n"
        )))
    };
    let found = read("#define SECRET \"/etc/passwd\"\n#include SECRET");
    assert!(found.contains("bad/src/bad.c:2: `/etc/passwd` is included from outside the unit"), "{found}");
    let found = read("\n__asm__(\".incbin \\\"/etc/passwd\\\"\");");
    assert!(found.contains("bad/src/bad.c:3: `/etc/passwd` is read from outside the unit"), "{found}");
}

#[test]
fn own_header_function_is_checked() {
    let header = "\nstatic int f(double x) { return x > 0; }\n";
    let text = "#section support_code\n#include \"own.h\"\n";
    let declaration = scalar_op(text).source("src/own.h", header).func("f");
    let found = ExternalCOp::new(declaration).unwrap_err().to_string();
    assert!(found.starts_with("bad/src/own.h:2: `f` has 1 parameter(s), expected 2"), "{found}");
}

#[test]
fn unbalanced_section_is_reported_at_its_place() {
    let problem = |text: &str| ExternalCOp::new(scalar_op(text)).unwrap_err().to_string();
    let open =
        problem("#section support_code\nstatic int f(int x) { return x;\n#section code\nOUTPUT_0 = 1;\n");
    assert!(open.starts_with("bad/src/bad.c:2: unbalanced `{` in its section"), "{open}");
    let leaves = problem("#section code\n\nif (INPUT_0 < 0) return 1;\nOUTPUT_0 = INPUT_0;\n");
    assert!(leaves.starts_with("bad/src/bad.c:3: `return` in section `code` would skip"), "{leaves}");
}

#[test]
fn section_errors_have_author_lines_in_cxx() {
    let sections = ["support_code_struct", "cleanup_code_struct", "code_cleanup", "code"];
    for (section, language) in sections.iter().flat_map(|s| [(s, Language::C), (s, Language::Cxx)]) {
        let text = format!("#section code\nOUTPUT_0 = INPUT_0;\n#section {section}\n\nint x = 1 +;\n");
        let found = compile_error(Declaration { language: Some(language), ..scalar_op(&text) });
        assert!(found.contains("bad/src/bad.c:5:"), "{section} {language}: {found}");
    }
    // Also if names are changed because another op has them.
    let author = |name: &str, mistake: &str| {
        let text =
            format!("#section support_code\nstatic int helper = 1;\n#section code\nOUTPUT_0 = {mistake};\n");
        op(Declaration::new(name).file("f.c", &text).input("f64").output("f64"))
    };
    let mut both = precast::FunctionGraph::new();
    let x = both.input("x", "f64".parse().unwrap()).unwrap();
    let y = both.apply(author("one", "INPUT_0 + helper"), &[x]).unwrap()[0];
    let z = both.apply(author("two", "helper + INPUT_0 + nothing"), &[y]).unwrap()[0];
    both.output(z, None).unwrap();
    let found = refused(&both);
    assert!(found.contains("two/f.c:4:") && found.contains("nothing"), "{found}");
}
