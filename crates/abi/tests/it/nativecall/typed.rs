//! Tests of Rust types' signatures, and of handles that bind only to a matching type.

use super::sig;
use precast_abi::context::{Context, Error, ErrorKind};
use precast_abi::nativecall::{Callable, Code, Field, Function, Native, Plain};
use std::ffi::c_void;

#[repr(C)]
#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
    layer: i32,
}

// SAFETY: the struct is `repr(C)` and these are its fields.
unsafe impl Field for Point {
    const CODE: Code = Code::structure(&[f64::CODE, f64::CODE, i32::CODE]);
}

// SAFETY: the fields are numbers.
unsafe impl Plain for Point {}

extern "C" fn scale(x: f64, by: i32) -> f64 {
    x * f64::from(by)
}

extern "C" fn norm(p: Point) -> f64 {
    p.x.hypot(p.y) + f64::from(p.layer)
}

unsafe extern "C" fn sum(values: *const f64, len: usize) -> f64 {
    // SAFETY: the caller passes `len` valid values.
    unsafe { std::slice::from_raw_parts(values, len) }.iter().sum()
}

unsafe extern "C" fn root(x: f64, context: *mut Context) -> f64 {
    if x < 0.0 {
        // SAFETY: the caller passes a valid context.
        unsafe { &mut *context }.error.set(ErrorKind::Value, "negative");
    }
    x.sqrt()
}

/// Checks the signature of a type at compile time.
macro_rules! signatures {
    ($($type:ty, $text:literal;)+) => {$({
        const SIGNATURE: &str = <$type>::SIGNATURE;
        assert_eq!(SIGNATURE, $text);
        assert_eq!(sig($text).as_str(), $text);
    })+};
}

#[test]
fn types_have_signatures_at_compile_time() {
    signatures! {
        extern "C" fn(f64, i32) -> i32, "di)i~";
        extern "C" fn(), ")~";
        extern "C" fn(bool, i8, u8, i16, u16, u32, i64, u64, f32), "?bBhHIqQf)~";
        extern "C" fn(Point) -> Point, "T{ddi})T{ddi}~";
        unsafe extern "C" fn(*const f64, usize) -> f64, "&dQ)d~";
        unsafe extern "C" fn(*mut *const i32, *mut c_void) -> *const c_void, "&&iP)P~";
        unsafe extern "C" fn(unsafe extern "C" fn(f64) -> f64, f64) -> f64, "X{d)d~}d)d~";
        unsafe extern "C" fn(f64, *mut Context) -> f64, "d)d!c~";
        extern "C" fn(f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64) -> f64, "dddddddddddd)d~";
    }
    assert_eq!(Code::tensor(Some(12), f32::CODE).as_str(), "#12f");
    assert_eq!(Code::tensor(None, f64::CODE).as_str(), "#d");
}

#[test]
fn functions_are_bound_by_their_types_and_called() {
    let callable = Callable::default();
    callable.add(&Function::of(scale as extern "C" fn(f64, i32) -> f64));
    callable.add(&Function::of(norm as extern "C" fn(Point) -> f64));
    // SAFETY: Rust functions are never unloaded; their arguments contain pointers, so they stay unsafe to call.
    callable.add(&unsafe { Function::of_unsafe(sum as unsafe extern "C" fn(*const f64, usize) -> f64) });
    // SAFETY: as above.
    callable.add(&unsafe { Function::of_unsafe(root as unsafe extern "C" fn(f64, *mut Context) -> f64) });
    let bound = callable.bind::<extern "C" fn(f64, i32) -> f64>().unwrap();
    assert_eq!(bound.call(1.5, 4), 6.0);
    let norm = callable.bind::<extern "C" fn(Point) -> f64>().unwrap();
    assert_eq!(norm.call(Point { x: 3.0, y: 4.0, layer: 2 }), 7.0);
    let sum = callable.bind::<unsafe extern "C" fn(*const f64, usize) -> f64>().unwrap();
    let values = [1.0, 2.0];
    // SAFETY: the values are valid.
    assert_eq!(unsafe { sum.call(values.as_ptr(), values.len()) }, 3.0);
    let root = callable.bind::<unsafe extern "C" fn(f64, *mut Context) -> f64>().unwrap();
    let mut context = Context { host: std::ptr::null(), error: Error::NONE };
    // SAFETY: the function does not use the host.
    assert_eq!(unsafe { root.call(4.0, &raw mut context) }, 2.0);
    // SAFETY: as above.
    unsafe { root.call(-1.0, &raw mut context) };
    assert_eq!(context.error.message(), "negative");
}

#[test]
fn wrong_type_error_lists_available_types() {
    let callable = Callable::default();
    assert_eq!(
        callable.bind::<extern "C" fn()>().unwrap_err().to_string(),
        "no function with the signature `)~`; available: none"
    );
    callable.add(&Function::of(scale as extern "C" fn(f64, i32) -> f64));
    callable.add(&Function::of(norm as extern "C" fn(Point) -> f64));
    let error = callable.bind::<extern "C" fn(f64, i64) -> f64>().unwrap_err();
    assert_eq!(error.to_string(), "no function with the signature `dq)d~`; available: `T{ddi})d~`, `di)d~`");
    // The same numbers inside a struct are a different type, and so are pointers and values.
    assert!(callable.bind::<extern "C" fn(f64, f64, i32) -> f64>().is_err());
    assert!(callable.bind::<unsafe extern "C" fn(*const f64, i32) -> f64>().is_err());
}

#[test]
fn function_needing_the_gil_is_not_bound_without() {
    let callable = Callable::default();
    let address = Function::of(scale as extern "C" fn(f64, i32) -> f64).address();
    // SAFETY: the function has this signature, which does not claim `~`.
    callable.add(&unsafe { Function::new(sig("di)d"), address) });
    assert!(callable.bind::<extern "C" fn(f64, i32) -> f64>().is_err());
    // SAFETY: no GIL exists in this process.
    let bound = unsafe { callable.bind_with_gil::<extern "C" fn(f64, i32) -> f64>() }.unwrap();
    assert_eq!(bound.call(2.0, 2), 4.0);
}

#[test]
fn newest_function_of_a_signature_is_called() {
    extern "C" fn one() -> i32 {
        1
    }
    extern "C" fn two() -> i32 {
        2
    }
    let callable = Callable::default();
    callable.add(&Function::of(one as extern "C" fn() -> i32));
    let old = callable.bind::<extern "C" fn() -> i32>().unwrap();
    callable.add(&Function::of(two as extern "C" fn() -> i32));
    assert_eq!((old.call(), callable.bind::<extern "C" fn() -> i32>().unwrap().call()), (1, 2));
    assert_eq!(callable.entries().count(), 2);
}
