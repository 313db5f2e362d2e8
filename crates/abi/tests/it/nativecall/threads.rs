//! Eight threads call the functions they find while a thousand specializations are added, in Rust and C. C alone also
//! runs under ThreadSanitizer. (loom tries every order of a few operations in `src/nativecall/loom.rs`.)

use super::c::compile;
use super::sig;
use precast_abi::nativecall::{Key, Signature, TableCell, Text};
use std::ffi::{CString, c_char};
use std::process::Command;

const COUNT: usize = 1000;

type Value = extern "C" fn() -> i64;
/// The type of `call_while_added` in `tests/c/nativecall_threads.c`.
type CallWhileAdded = unsafe extern "C" fn(*const TableCell<Text>, *const *const c_char, usize, usize) -> i32;

extern "C" fn value<const N: i64>() -> i64 {
    N
}

/// Returns the function of the `n`-th signature, which returns `n % 8`.
fn function(n: usize) -> Value {
    [value::<0>, value::<1>, value::<2>, value::<3>, value::<4>, value::<5>, value::<6>, value::<7>][n % 8]
}

/// Calls the functions of each writer's signatures in the order they are added, until all are found.
fn call_in_rust(cell: &TableCell<Text>, keys: &[Key<Text>]) {
    let mut next = [0, 1];
    while next.iter().any(|next| *next < COUNT) {
        let table = cell.table();
        for next in &mut next {
            while let Some(found) = keys.get(*next).and_then(|key| table.find(key)) {
                // SAFETY: every payload is the address of such a function.
                let found = unsafe { std::mem::transmute::<usize, Value>(found as usize) };
                assert_eq!(found(), (*next % 8) as i64);
                *next += 2;
            }
            assert!(*next < 2 || table.find(&keys[*next - 2]).is_some(), "{} vanished", *next - 2);
        }
        std::thread::yield_now();
    }
}

#[test]
fn threads_of_both_languages_call_during_insertions() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("threads.so");
    compile("nativecall_threads.c", &path, &["-shared", "-fPIC", "-O2", "-pthread"]).unwrap();
    // SAFETY: this test compiled the library, and loading it runs no code.
    let library = unsafe { libloading::Library::new(&path) }.unwrap();
    // SAFETY: the symbol has this type.
    let call_in_c = unsafe { library.get::<CallWhileAdded>(b"call_while_added\0") }.unwrap();
    let signatures: Vec<Signature> =
        (0..COUNT).map(|n| sig(&format!("#{}d{})q", n % 32, "d".repeat(n / 32)))).collect();
    let keys: Vec<Key<Text>> = signatures.iter().map(Key::new).collect();
    let texts: Vec<CString> = signatures.iter().map(|text| CString::new(text.as_str()).unwrap()).collect();
    for _ in 0..4 {
        let cell = TableCell::<Text>::new();
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let (cell, signatures) = (&cell, &signatures);
                scope.spawn(move || {
                    for n in (writer..COUNT).step_by(2) {
                        cell.add(Key::new(&signatures[n]), function(n) as usize as u64);
                    }
                });
            }
            for _ in 0..4 {
                scope.spawn(|| call_in_rust(&cell, &keys));
            }
            let texts: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
            // SAFETY: a cell starts with a `pc_native_cell` and outlives the call, as do the texts, which are
            // NUL-terminated.
            let wrong = unsafe { call_in_c(&cell, texts.as_ptr(), COUNT, 4) };
            assert_eq!(wrong, 0);
        });
    }
}

#[test]
fn thread_sanitizer_accepts_the_header_readers() {
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("threads");
    let flags = ["-DAS_A_PROGRAM", "-fsanitize=thread", "-O1", "-pthread"];
    if compile("nativecall_threads.c", &program, &flags).is_err() {
        return println!("skipped: ThreadSanitizer, which this compiler does not have");
    }
    let ran = Command::new(&program).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    if told.contains("unexpected memory mapping") {
        return println!("skipped: ThreadSanitizer, which does not run under this kernel");
    }
    assert!(ran.status.success() && told.is_empty(), "{told}");
}
