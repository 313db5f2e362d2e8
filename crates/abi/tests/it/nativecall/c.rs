//! The C header agrees with the Rust side, reads only its own memory, and finds the same registry.

use super::sig;
use super::texts::{anything, signatures};
use precast_abi::nativecall::registry::{Interned, Registry, meet};
use precast_abi::nativecall::{Callable, Compact, Function, Key, Problem, Signature, TableCell, Text};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use std::ffi::{CString, c_char};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c");
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// Compiles a file of `tests/c` with the headers of this crate.
pub(super) fn compile(file: &str, output: &Path, flags: &[&str]) -> Result<(), String> {
    let compiler = cc::Build::new()
        .target("x86_64-unknown-linux-gnu")
        .host("x86_64-unknown-linux-gnu")
        .opt_level(1)
        .cargo_metadata(false)
        .get_compiler();
    let built = Command::new(compiler.path())
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-I", INCLUDE])
        .arg(Path::new(TESTS).join(file))
        .arg("-o")
        .arg(output)
        .args(flags)
        .output()
        .unwrap();
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

/// Returns the Rust side's result for a text, in the output format of `tests/c/nativecall.c`.
fn answer(bytes: &[u8]) -> String {
    let error = std::str::from_utf8(bytes).ok().map(Signature::parse);
    match error {
        Some(Ok(signature)) => {
            let mut line = format!("0 {}", bytes.len());
            for (name, words) in [
                ("text", Key::<Text>::new(&signature).words()),
                ("compact", Key::<Compact>::new(&signature).words()),
            ] {
                write!(line, " {name}").unwrap();
                words.iter().for_each(|word| write!(line, " {word:016x}").unwrap());
                write!(line, " {signature}").unwrap();
            }
            line
        }
        Some(Err(error)) => format!("{} {}", error.problem as i32, error.at),
        // The first byte that is not UTF-8 is not a valid code either.
        None => {
            let valid = std::str::from_utf8(bytes).unwrap_err().valid_up_to();
            let mut ascii = bytes.to_vec();
            ascii[valid..].fill(b'\x01');
            answer(&ascii)
        }
    }
}

#[test]
fn c_and_rust_agree_on_every_text() {
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("nativecall");
    if compile("nativecall.c", &program, &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        .is_err()
    {
        println!("skipped: the sanitizers, which this compiler does not have");
        compile("nativecall.c", &program, &[]).unwrap();
    }
    let mut runner = TestRunner::deterministic();
    let mut texts: Vec<Vec<u8>> = signatures().iter().map(|text| text.as_bytes().to_vec()).collect();
    texts.extend((0..5000).map(|_| anything().new_tree(&mut runner).unwrap().current()));
    let input = texts.iter().flat_map(|text| {
        let len = u16::try_from(text.len()).unwrap().to_le_bytes();
        len.into_iter().chain(text.iter().copied())
    });
    let input: Vec<u8> = input.collect();
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut lines = stdout.lines();
    for text in &texts {
        assert_eq!(lines.next(), Some(answer(text).as_str()), "{:?}", String::from_utf8_lossy(text));
    }
    assert_eq!(lines.collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(output.status.success());
}

#[test]
fn each_header_compiles_alone_in_c_and_cxx() {
    for (name, text) in precast_abi::NATIVECALL_HEADERS {
        assert!(text.contains("#ifndef PRECAST_NATIVECALL"));
        for (language, standard) in [("c", "-std=gnu11"), ("c++", "-std=c++17")] {
            let scratch = tempfile::tempdir().unwrap();
            let file = scratch.path().join("alone.c");
            fs_err::write(&file, format!("#include <{name}>\n")).unwrap();
            let compiler = if language == "c" { "cc" } else { "c++" };
            let output = Command::new(compiler)
                .args([
                    "-x",
                    language,
                    standard,
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-pedantic",
                    "-fsyntax-only",
                    "-I",
                    INCLUDE,
                ])
                .arg(&file)
                .output();
            match output {
                Ok(output) => {
                    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
                }
                Err(_) => println!("skipped: no `{compiler}`"),
            }
        }
    }
}

#[test]
fn problem_numbers_match_the_header() {
    let header = precast_abi::NATIVECALL_HEADERS[0].1;
    for (name, problem) in [
        ("LONG", Problem::Long),
        ("CLOSING", Problem::Closing),
        ("CODE", Problem::Code),
        ("UNFINISHED", Problem::Unfinished),
        ("EMPTY", Problem::Empty),
        ("DEPTH", Problem::Depth),
        ("RANK", Problem::Rank),
        ("ELEMENT", Problem::Element),
        ("ERRORS", Problem::Errors),
    ] {
        let number = problem as i32;
        assert!(header.contains(&format!("PC_NATIVE_{name} = {number}")), "{name}");
    }
}

/// Runs one of the ignored tests below in its own process, so that it has the environment for itself.
fn in_its_own_process(test: &str) {
    let scratch = tempfile::tempdir().unwrap();
    for name in ["first", "second"] {
        compile("nativecall_party.c", &scratch.path().join(name), &["-shared", "-fPIC"]).unwrap();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([&format!("nativecall::c::{test}"), "--exact", "--ignored", "--nocapture"])
        .env("PARTIES", scratch.path())
        .env("_NATIVECALL_REGISTRY_1", "00000000deadbeef:00112233445566778899aabbccddeeff")
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

type Call = unsafe extern "C" fn(*const TableCell<Text>, f64) -> f64;
type Has = unsafe extern "C" fn(*const TableCell<Text>, *const c_char) -> i32;
type Share = unsafe extern "C" fn() -> *const Registry;
type IsMine = unsafe extern "C" fn(*const Registry) -> i32;

/// A copy of the C party, loaded like `dlopen` without `RTLD_GLOBAL`.
struct Party(libloading::Library);

impl Party {
    fn load(name: &str) -> Self {
        Self::at(&PathBuf::from(std::env::var_os("PARTIES").unwrap()).join(name))
    }

    fn at(path: &Path) -> Self {
        // SAFETY: this test compiled the library, and loading it runs no code.
        Self(unsafe { libloading::Library::new(path) }.unwrap())
    }

    fn share(&self) -> *const Registry {
        // SAFETY: the symbol has this type.
        let share = unsafe { self.0.get::<Share>(b"party_share\0") }.unwrap();
        // SAFETY: no other thread uses the environment.
        unsafe { share() }
    }

    fn is_mine(&self, registry: *const Registry) -> bool {
        // SAFETY: the symbol has this type.
        let is_mine = unsafe { self.0.get::<IsMine>(b"party_is_mine\0") }.unwrap();
        // SAFETY: it only compares addresses.
        unsafe { is_mine(registry) != 0 }
    }

    fn call(&self, callable: &Callable, x: f64) -> f64 {
        // SAFETY: the symbol has this type.
        let call = unsafe { self.0.get::<Call>(b"party_call\0") }.unwrap();
        // SAFETY: a cell starts with a `pc_native_cell`.
        unsafe { call(callable.cell(), x) }
    }

    fn has(&self, callable: &Callable, signature: &Signature) -> bool {
        let text = CString::new(signature.as_str()).unwrap();
        // SAFETY: the symbol has this type.
        let has = unsafe { self.0.get::<Has>(b"party_has\0") }.unwrap();
        // SAFETY: a cell starts with a `pc_native_cell`; the text is NUL-terminated.
        let has = unsafe { has(callable.cell(), text.as_ptr()) };
        assert!(has >= 0, "C refuses `{signature}`");
        has == 1
    }
}

#[test]
fn c_calls_functions_added_during_its_calls() {
    extern "C" fn half(x: f32) -> f32 {
        x / 2.0
    }
    extern "C" fn twice(x: f64) -> f64 {
        x * 2.0
    }
    const COUNT: usize = 1000;
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("party");
    compile("nativecall_party.c", &path, &["-shared", "-fPIC", "-O2"]).unwrap();
    let (party, callable) = (Party::at(&path), Callable::default());
    assert_eq!(party.call(&callable, 3.0), -1.0);
    let function = Function::of(half as extern "C" fn(f32) -> f32);
    callable.add(&function);
    assert_eq!(party.call(&callable, 3.0), 1.5);
    let signatures: Vec<_> =
        (0..COUNT).map(|n| sig(&format!("#{}d{})d", n % 32, "d".repeat(n / 32)))).collect();
    let (party, signatures, callable) = (&party, &signatures, &callable);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for signature in signatures {
                // SAFETY: it is never called.
                callable.add(&unsafe { Function::new(signature.clone(), function.address()) });
            }
            callable.add(&Function::of(twice as extern "C" fn(f64) -> f64));
        });
        for _ in 0..7 {
            scope.spawn(move || {
                let mut next = 0;
                while next < COUNT || party.call(callable, 3.0) != 6.0 {
                    while next < COUNT && party.has(callable, &signatures[next]) {
                        next += 1;
                    }
                    assert!(next == 0 || party.has(callable, &signatures[next - 1]), "{next} vanished");
                    std::thread::yield_now();
                }
            });
        }
    });
    assert_eq!(callable.entries().count(), COUNT + 2);
}

#[test]
fn all_parties_use_the_first_registry() {
    in_its_own_process("c_uses_the_registry_of_rust");
    in_its_own_process("rust_uses_the_registry_of_c");
    in_its_own_process("rust_cannot_replace_a_used_registry");
}

#[test]
#[ignore = "run by `all_parties_use_the_first_registry`"]
fn c_uses_the_registry_of_rust() {
    // SAFETY: no other thread uses the environment.
    let own = unsafe { meet::share() }.unwrap();
    for name in ["first", "second"] {
        assert!(std::ptr::eq(Party::load(name).share(), own));
    }
    // Another program inherits the variable and must not trust it, since the address is invalid there.
    let inherited = Command::new(std::env::current_exe().unwrap())
        .args(["nativecall::c::rust_uses_the_registry_of_c", "--exact", "--ignored"])
        .status();
    assert!(inherited.unwrap().success());
}

#[test]
#[ignore = "run by `all_parties_use_the_first_registry`"]
fn rust_uses_the_registry_of_c() {
    let (first, second) = (Party::load("first"), Party::load("second"));
    let registry = first.share();
    assert!(first.is_mine(registry) && !second.is_mine(registry));
    assert!(std::ptr::eq(second.share(), registry));
    // SAFETY: no other thread uses the environment.
    assert!(std::ptr::eq(unsafe { meet::share() }.unwrap(), registry));
    let (one, two) = (Key::<Interned>::new(&sig("dqh)d")), Key::<Interned>::new(&sig("dqh)d")));
    assert_eq!(one.words(), two.words());
    // The party has room for 64 signatures. A rejected signature must not be found, and must not match another one.
    let (cell, signatures) =
        (TableCell::<Interned>::new(), (0..100).map(|n| sig(&format!("{})b", "b".repeat(n)))));
    let keys: Vec<Key<Interned>> = signatures.map(|signature| Key::new(&signature)).collect();
    let again = (0..100).map(|n| Key::<Interned>::new(&sig(&format!("{})b", "b".repeat(n)))));
    keys.into_iter().zip(0..).for_each(|(key, payload)| cell.add(key, payload));
    let found: Vec<_> = again.map(|key| cell.table().find(&key)).collect();
    let known: Vec<_> = (0..100).map(|n| (n < 63).then_some(n)).collect();
    assert_eq!(found, known);
}

#[test]
#[ignore = "run by `all_parties_use_the_first_registry`"]
fn rust_cannot_replace_a_used_registry() {
    let key = Key::<Interned>::new(&sig("d)d"));
    let first = Party::load("first");
    first.share();
    // SAFETY: no other thread uses the environment.
    let error = unsafe { meet::share() }.unwrap_err();
    assert_eq!(error, meet::ShareError::InUse);
    drop(key);
}
