//! Measures the cost of finding a function by signature and calling it, for each encoding. `CEP1000.md` has sample
//! results.
//!
//! Run with `cargo bench -p precast-abi --bench nativecall --features ffi`. The candidates take turns in every round,
//! so that a change in machine load affects all of them. A reported time is the median over the rounds, and the ratio
//! is relative to an indirect call.
#![allow(unsafe_code, reason = "peers are called through C")]
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints a table")]

use precast_abi::nativecall::registry::{Id, Interned};
use precast_abi::nativecall::{Callable, Compact, Encoding, Function, Key, Signature, TableCell, Text};
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Instant;

type Unary = extern "C" fn(f64) -> f64;

const ROUNDS: usize = 41;
const CALLS: u32 = 200_000;
/// The number of callables, each with its own table; chosen so that the tables do not fit in any cache.
const COLD: usize = 1 << 17;

/// Two signatures of the same function: one that takes a single table word and one that takes several.
const SHORT: &str = "d)d~";
const LONG: &str = "#1d#1d#1d)#1d~";

#[inline(never)]
extern "C" fn step(x: f64) -> f64 {
    x + 1.0
}

/// A candidate of the benchmark: `round` makes `calls` calls, and `samples` are in nanoseconds per call.
struct Runner<'a> {
    name: String,
    calls: u32,
    round: Box<dyn FnMut() -> f64 + 'a>,
    samples: Vec<f64>,
}

impl<'a> Runner<'a> {
    /// Measures a chain of dependent calls: each call takes the result of the previous one.
    fn chain(name: &str, mut call: impl FnMut(f64) -> f64 + 'a) -> Self {
        let round = move || (0..CALLS).fold(0.0, |x, _| call(x));
        Self { name: name.to_owned(), calls: CALLS, round: Box::new(round), samples: Vec::new() }
    }

    /// Measures `calls` independent runs of `work`.
    fn each(name: &str, calls: u32, mut work: impl FnMut(u32) -> u64 + 'a) -> Self {
        let round = move || (0..calls).fold(0, |sum, n| work(n) ^ sum) as f64;
        Self { name: name.to_owned(), calls, round: Box::new(round), samples: Vec::new() }
    }

    fn run(&mut self) {
        let start = Instant::now();
        black_box((self.round)());
        self.samples.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(self.calls));
    }

    fn median(&mut self) -> f64 {
        self.samples.sort_by(f64::total_cmp);
        self.samples[self.samples.len() / 2]
    }
}

/// Builds a cell in which `wanted` is the entry at position `place`, counting from 1.
fn cell<E: Encoding>(wanted: &str, place: usize) -> TableCell<E> {
    let cell = TableCell::new();
    cell.add(Key::new(&wanted.parse().unwrap()), step as *const () as u64);
    for n in 1..place {
        // The same length as `wanted`, so that each entry has the same number of words.
        let other = wanted.replacen('d', &"bBhHiIqf"[n..=n], 1);
        cell.add(Key::new(&other.parse().unwrap()), 0);
    }
    cell
}

/// Finds an entry in a table and calls the function found. The key is either a constant or a variable of the program.
macro_rules! found {
    ($name:expr, $cell:expr, $key:expr) => {
        found!($name, $cell, find, $key)
    };
    ($name:expr, $cell:expr, $find:ident, $key:expr) => {
        Runner::chain(&$name, move |x| {
            let address = black_box($cell).table().$find($key).unwrap();
            // SAFETY: `cell` stored the address of `step`.
            let function = unsafe { std::mem::transmute::<*const (), Unary>(address as *const ()) };
            function(x)
        })
    };
}

/// Measures lookups in tables that are not cached, in an order that the CPU cannot predict.
fn cold<'a, E: Encoding>(name: &str, wanted: &str, cells: &'a [TableCell<E>]) -> Runner<'a> {
    let key = Key::<E>::new(&wanted.parse().unwrap());
    Runner::each(name, 20_000, move |n| {
        let at = (n as usize).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        cells[at % COLD].table().find(&key).unwrap_or_default()
    })
}

fn cells<E: Encoding>(wanted: &str) -> Vec<TableCell<E>> {
    (0..COLD).map(|_| cell(wanted, 1)).collect()
}

fn print(title: &str, mut runners: Vec<Runner<'_>>) {
    for _ in 0..ROUNDS {
        runners.iter_mut().for_each(Runner::run);
    }
    println!("\n{title}");
    let base = runners.first_mut().map_or(1.0, Runner::median);
    for runner in &mut runners {
        let ns = runner.median();
        println!("{ns:9.2} ns  ×{:<6.2} {}", ns / base, runner.name);
    }
}

fn calls() {
    const WORD: &Key<Text> = &Key::<Text>::literal(SHORT);
    const WORDS: &Key<Text> = &Key::<Text>::literal(LONG);
    const PACKED: &Key<Compact> = &Key::<Compact>::literal(LONG);
    let (short, long) = (SHORT.parse::<Signature>().unwrap(), LONG.parse::<Signature>().unwrap());
    let words = [Key::<Interned>::new(&short), Key::<Interned>::new(&long)];
    let [interned, interned_long] = [0, 1].map(|n| words[n].words()[0]);
    let [id, id_long] = [&short, &long].map(|signature| Key::<Id>::new(signature).words()[0]);
    let pointer: Unary = step;
    let callable = Callable::default();
    callable.add(&Function::of(pointer));
    let bound = callable.bind::<Unary>().unwrap();
    let by_text = HashMap::from([(SHORT, pointer)]);
    let by_word = HashMap::from([(WORD.words()[0], pointer)]);
    let text = [1, 4, 8].map(|place| cell::<Text>(SHORT, place));
    let text_long = [1, 4].map(|place| cell::<Text>(LONG, place));
    let packed = [1, 4].map(|place| cell::<Compact>(LONG, place));
    let (ids, ids_long) = &([1, 4, 8].map(|place| cell::<Id>(SHORT, place)), cell::<Id>(LONG, 1));
    let (strings, strings_long) =
        &([1, 4, 8].map(|place| cell::<Interned>(SHORT, place)), cell::<Interned>(LONG, 1));
    let mut runners = vec![
        Runner::chain("indirect call", |x| black_box(pointer)(x)),
        Runner::chain("direct call, not inlined", |x| step(x)),
        Runner::chain("typed handle (Callable::bind, once)", |x| black_box(&bound).call(x)),
        Runner::chain("Callable::bind and call", |x| black_box(&callable).bind::<Unary>().unwrap().call(x)),
        Runner::chain("HashMap<&str, fn>, std", |x| by_text[black_box(SHORT)](x)),
        Runner::chain("HashMap<u64, fn>, std", |x| by_word[&black_box(WORD.words()[0])](x)),
        Runner::chain("dlsym", dlsym),
    ];
    for (place, cell) in [1, 4, 8].into_iter().zip(&text) {
        runners.push(found!(format!("2, text, 8 bytes, entry {place}"), cell, WORD));
    }
    for (place, cell) in [1, 4].into_iter().zip(&text_long) {
        runners.push(found!(format!("2, text, 24 bytes, entry {place}"), cell, WORDS));
    }
    for (place, cell) in [1, 4].into_iter().zip(&packed) {
        runners.push(found!(format!("2, compact, the same in 8 bytes, entry {place}"), cell, PACKED));
    }
    for (place, cell) in [1, 4, 8].into_iter().zip(ids) {
        runners.push(found!(format!("1A, number, entry {place}"), cell, find_word, black_box(id)));
    }
    runners.push(found!("1A, number of the 24 bytes, entry 1", ids_long, find_word, black_box(id_long)));
    for (place, cell) in [1, 4, 8].into_iter().zip(strings) {
        runners.push(found!(format!("1B, interned, entry {place}"), cell, find_word, black_box(interned)));
    }
    runners.push(found!("1B, interned 24 bytes, entry 1", strings_long, find_word, black_box(interned_long)));
    #[cfg(feature = "ffi")]
    runners.push(ffi());
    print("find and call, tables in the first cache", runners);
}

fn cold_tables() {
    let (text, text_long) = (cells::<Text>(SHORT), cells::<Text>(LONG));
    let (packed, ids, strings) = (cells::<Compact>(LONG), cells::<Id>(LONG), cells::<Interned>(LONG));
    print(
        "find only, one of 131 072 tables, in no cache",
        vec![
            cold("2, text, 8 bytes", SHORT, &text),
            cold("2, text, 24 bytes", LONG, &text_long),
            cold("2, compact, the same in 8 bytes", LONG, &packed),
            cold("1A, number", LONG, &ids),
            cold("1B, interned", LONG, &strings),
        ],
    );
}

fn preparation() {
    let (short, long): (Signature, Signature) = (SHORT.parse().unwrap(), LONG.parse().unwrap());
    let _kept = (Key::<Interned>::new(&short), Key::<Interned>::new(&long));
    let fresh: Vec<Signature> =
        (0..4000).map(|n| format!("#{}d{})d", n % 32, "qf".repeat(n / 32)).parse().unwrap()).collect();
    print(
        "making a key at run time",
        vec![
            Runner::each("2, text, 4 characters", 20_000, |_| {
                Key::<Text>::parse(black_box(SHORT)).unwrap().words()[0]
            }),
            Runner::each("2, text, 14 characters", 20_000, |_| {
                Key::<Text>::parse(black_box(LONG)).unwrap().words()[0]
            }),
            Runner::each("2, compact, 14 characters", 20_000, |_| {
                Key::<Compact>::parse(black_box(LONG)).unwrap().words()[0]
            }),
            Runner::each("1A, a known number", 20_000, |_| Key::<Id>::new(black_box(&long)).words()[0]),
            Runner::each("1B, a known string, and its release", 20_000, |_| {
                Key::<Interned>::new(black_box(&long)).words()[0]
            }),
            Runner::each("1B, a new string, and its release", 4000, |n| {
                Key::<Interned>::new(&fresh[n as usize]).words()[0]
            }),
        ],
    );
}

/// Calls a function through a symbol that is looked up on every call.
fn dlsym(x: f64) -> f64 {
    unsafe extern "C" {
        fn dlsym(handle: *mut std::ffi::c_void, name: *const std::ffi::c_char) -> *const ();
    }
    // SAFETY: NULL is RTLD_DEFAULT; the name ends with NUL.
    let address = unsafe { dlsym(std::ptr::null_mut(), black_box(c"copysign").as_ptr()) };
    assert!(!address.is_null(), "libc has copysign");
    // SAFETY: C's `copysign` has this type.
    let function = unsafe { std::mem::transmute::<*const (), extern "C" fn(f64, f64) -> f64>(address) };
    function(x, 1.0)
}

/// Measures a call made by libffi.
#[cfg(feature = "ffi")]
fn ffi() -> Runner<'static> {
    use precast_abi::context::{Context, Error};
    use precast_abi::nativecall::call::{Call, Value};
    let function = Function::of(step as Unary);
    let call = Call::new(function.signature()).unwrap();
    let mut context = Context { host: std::ptr::null(), error: Error::NONE };
    Runner::chain("libffi, a call laid out once", move |x| {
        // SAFETY: the arguments contain no pointers, and the function takes no context.
        let results = unsafe { call.invoke(&function, &[Value::from(x)], &mut context) };
        f64::try_from(results.unwrap().remove(0)).unwrap()
    })
}

fn main() {
    // `cargo test --all-targets` also runs this program, but needs no measurements.
    if std::env::args().any(|arg| arg == "--bench") {
        calls();
        cold_tables();
        preparation();
    }
}
