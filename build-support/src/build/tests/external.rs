//! Tests of `[[external]]` as authors write it: headers by name, byte order marks, names reserved by compilers or
//! Rust.

use super::Package;
use precast_core::{Loader, value::Array};

fn package(table: &str, c: &str) -> Package {
    let package = Package::new(&format!(
        "[[external]]\nname = \"scale\"\nfiles = [\"scale.c\"]\ninputs = [\"f64\"]\noutputs = [\"f64\"]\n{table}"
    ));
    package.write("scale.c", c);
    fs_err::create_dir_all(package.path("inc")).unwrap();
    package
}

fn value(package: &Package, x: f64) -> f64 {
    let outcome = package.build().unwrap();
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let function = Loader::open(outcome.bundle).unwrap().entry("scale").unwrap();
    let results = function.call(&[(&Array::from(x)).into()]).unwrap();
    results[0].numbers()[0].parts().0
}

const CODE: &str = "#section code\nOUTPUT_0 = INPUT_0 * K;\n";

#[test]
fn header_dirs_are_searched_and_hashed() {
    for (headers, directories) in
        [("kk.h", "inc"), ("<kk.h>", "./inc/"), ("\\\"kk.h\\\"", "inc/deep/.."), ("inc/kk.h", "")]
    {
        let directories = if directories.is_empty() {
            String::new()
        } else {
            format!("header_dirs = [\"{directories}\"]\n")
        };
        let package = package(&format!("headers = [\"{headers}\"]\n{directories}"), CODE);
        package.write("inc/kk.h", "#include \"more.h\"\n#define K FACTOR\n");
        package.write("inc/more.h", "#define FACTOR 1.5\n");
        assert_eq!(value(&package, 2.0), 3.0, "{headers}");
        package.write("inc/more.h", "#define FACTOR 1.0\n");
        assert_eq!(value(&package, 2.0), 2.0, "{headers}");
    }
}

#[test]
fn files_may_begin_with_a_byte_order_mark() {
    let table = "headers = [\"kk.h\"]\nparams = { mode = \"TWO\" }\n[external.param_types]\n\
                 mode = { enum = [\"ONE\", \"TWO\"], headers = [\"<modes.h>\"] }\n";
    let package = package(
        &format!("header_dirs = [\"inc\"]\n{table}"),
        "\u{feff}#section code\nOUTPUT_0 = INPUT_0 * K * PARAMS->mode;\n",
    );
    package.write("kk.h", "\u{feff}#include \"inc/more.h\"\n");
    package.write("inc/more.h", "\u{feff}#define K 1.5\n");
    package.write("inc/modes.h", "enum { ONE = 10, TWO = 20 };\n");
    assert_eq!(value(&package, 2.0), 60.0);
}

#[test]
fn error_names_param_that_a_macro_replaces() {
    let table = "headers = [\"kk.h\"]\nparams = { depth = 3 }\n";
    let package = package(table, "#section code\nOUTPUT_0 = INPUT_0 * PARAMS->depth;\n");
    package.write("kk.h", "static inline int deep(void) { return 3; }\n");
    assert_eq!(value(&package, 2.0), 6.0);
    package.write("kk.h", "#define depth 3\n");
    let refusal = package.refusal();
    assert!(refusal.contains("`depth` is a macro here"), "{refusal}");
}
