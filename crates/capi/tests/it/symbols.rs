//! Tests the ABI: the exported symbols, the declarations in the header, and the files next to it.

use crate::installed::{Installed, Language, run};
use object::{Object as _, ObjectSymbol as _};
use precast_testkit::package::root;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    root().join("crates/capi").join(name)
}

fn text(name: &str) -> String {
    fs_err::read_to_string(file(name)).unwrap()
}

/// Returns the committed list.
fn symbols() -> BTreeSet<String> {
    text("symbols.txt").lines().map(str::to_owned).collect()
}

/// Returns the functions that a C text declares or calls: the names before a `(`.
fn functions(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '('));
    let called = words.flat_map(|word| word.split_inclusive('(')).filter_map(|word| word.strip_suffix('('));
    called.filter(|name| name.starts_with("precast_")).map(str::to_owned).collect()
}

/// Returns a C text without its comments.
fn code(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |code, part| code + part.split_once("*/").map_or("", |(_, after)| after))
}

#[test]
fn exported_symbols_match_the_committed_list() {
    let data = fs_err::read(Installed::new().prefix().join("lib/libprecast.so.1")).unwrap();
    let library = object::File::parse(&*data).unwrap();
    let exported = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let exported: BTreeSet<String> = exported.map(|symbol| symbol.name().unwrap().to_owned()).collect();
    assert_eq!(exported, symbols(), "crates/capi/symbols.txt lists what is exported");
}

#[test]
fn header_declares_exports_that_tests_call() {
    assert_eq!(functions(&code(&text("include/precast.h"))), symbols());
    let called = ["tests/c/misuse.c", "examples/score.c"].map(|name| functions(&code(&text(name))));
    let never: Vec<_> =
        symbols().into_iter().filter(|name| !called.iter().any(|c| c.contains(name))).collect();
    assert_eq!(never, Vec::<String>::new());
}

#[test]
fn c_and_cxx_programs_link_every_function() {
    let installed = Installed::new();
    let mut source = "#include <precast.h>\ntypedef void (*any)(void);\nconst any all[] = {\n".to_owned();
    for name in symbols() {
        writeln!(source, "  (any){name},").unwrap();
    }
    source += "};\nint main(void) { return precast_abi_version() != PRECAST_ABI_VERSION; }\n";
    for language in Language::all() {
        let (path, program) = (installed.path(&format!("all.{}", language.suffix())), installed.path("all"));
        fs_err::write(&path, &source).unwrap();
        installed.compile(language, &path, &program, &["-lprecast"]);
        run(&mut installed.command(&program));
    }
}

#[test]
fn build_files_state_our_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(text("precast.pc").contains(&format!("\nVersion: {version}\n")));
    assert!(text("cmake/precast-config-version.cmake").contains(&format!("PACKAGE_VERSION \"{version}\"")));
    let (major, minor) = version.split_once('.').unwrap();
    let minor = minor.split('.').next().unwrap();
    assert!(text("examples/CMakeLists.txt").contains(&format!("find_package(precast {major}.{minor} ")));
}
