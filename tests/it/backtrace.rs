//! Backtraces pass through modules, and name those in a profiling directory that are loaded before the first backtrace.

use crate::external::op;
use precast::{Array, Ops, Policy, Runtime};
use precast_codegen::external::Declaration;
use precast_codegen::{Unit, link};
use precast_compile::compile;
use precast_graph::text;
use precast_ops::rewrite::Form;
use precast_testkit::compiler;
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::iter;
use std::sync::Arc;

thread_local! {
    static TAKEN: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Takes a backtrace. A module calls it by its address.
extern "C" fn take() {
    TAKEN.set(Backtrace::force_capture().to_string());
}

/// The backtrace of a callback that a module calls, which is loaded from a file or from memory.
fn taken(profiling: Option<&std::path::Path>) -> String {
    let ask = "#section code\n((void (*)(void))(intptr_t)INPUT_0)();\nOUTPUT_0 = INPUT_0;\n";
    let ask = Declaration::new("ask").file("ask.c", ask).input("i64").output("i64").header("<stdint.h>");
    let graph = crate::external::graph(&op(ask), &["i64"]);
    let builder = Runtime::builder().policy(Policy::Jit);
    let builder = match profiling {
        Some(directory) => builder.profiling(directory),
        None => builder,
    };
    let function = builder.build().unwrap().named_function("asked", &graph).unwrap();
    let address = (take as extern "C" fn() as usize as u64).cast_signed();
    let address = Array::from(ndarray::arr0(address).into_dyn());
    function.call(&[(&address).into()]).unwrap();
    TAKEN.take()
}

#[test]
fn callback_backtrace_shows_module_callers() {
    let caller = "callback_backtrace_shows_module_callers";
    let directory = tempfile::tempdir().unwrap();
    let text = taken(Some(directory.path()));
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("`{part}` is not in:\n{text}"));
    // std lists the loaded files at the first backtrace of a process. Only nextest gives each test a process.
    let names: &[&str] = match std::env::var_os("NEXTEST") {
        Some(_) => &["backtrace::take", "asked: ask(x0) [", caller],
        None => &["backtrace::take", caller],
    };
    let order: Vec<usize> = names.iter().copied().map(place).collect();
    assert!(order.is_sorted(), "{text}");
    let text = taken(None);
    assert!(text.contains("backtrace::take") && text.contains(caller), "{text}");
}

#[test]
fn modules_have_unwind_tables_and_frame_pointers() {
    let ops = Ops::standard();
    let graph = text::parse(&["sum(exp(x))"], &[text::parse_input("x: f64[?]").unwrap()], &ops).unwrap();
    let module = Arc::new(link(&ops.lower(&graph, Form::Lowered).unwrap(), ops.c()).unwrap());
    let clang = compiler::clang();
    if clang.is_none() {
        println!("skipped: a module of clang: there is no clang");
    }
    for toolchain in iter::once(compiler::toolchain()).chain(clang) {
        let unit = Unit::single(Arc::clone(&module));
        let compiled = compile(&unit, &toolchain, &compiler::variants()[0]).unwrap();
        let bytes = compiled.archive.get("unit.so").unwrap();
        let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(holds(b".eh_frame_hdr\0"), "{}", toolchain.description());
        // push %rbp; mov %rsp, %rbp
        let enters = cfg!(not(target_arch = "x86_64")) || holds(&[0x55, 0x48, 0x89, 0xe5]);
        assert!(enters, "{}", toolchain.description());
    }
}
