//! Calls made at run time from a signature.

use super::sig;
use precast_abi::context::{Context, Error, ErrorKind};
use precast_abi::nativecall::call::{Call, InvokeError, PrepareError, Value};
use precast_abi::nativecall::{Code, Field, Function, Native, Plain};

#[repr(C)]
#[derive(Clone, Copy)]
struct Pair {
    x: f64,
    n: i32,
}

// SAFETY: the struct is `repr(C)` and these are its fields.
unsafe impl Field for Pair {
    const CODE: Code = Code::structure(&[f64::CODE, i32::CODE]);
}

// SAFETY: the fields are numbers.
unsafe impl Plain for Pair {}

extern "C" fn mix(a: i8, b: u16, c: f32, d: f64, e: i64, f: u8, g: i32, h: f64) -> f64 {
    f64::from(a) + f64::from(b) + f64::from(c) + d + e as f64 + f64::from(f) + f64::from(g) + h
}

extern "C" fn swap(pair: Pair) -> Pair {
    Pair { x: f64::from(pair.n), n: pair.x as i32 }
}

extern "C" fn small(x: i8) -> i8 {
    -x
}

unsafe extern "C" fn root(x: f64, context: *mut Context) -> f64 {
    if x < 0.0 {
        // SAFETY: the caller passes a valid context.
        unsafe { &mut *context }.error.set(ErrorKind::Value, "negative");
    }
    x.sqrt()
}

unsafe extern "C" fn divide(a: i32, b: i32, quotient: *mut i32, rest: *mut i32) -> i32 {
    if b == 0 {
        return 7;
    }
    // SAFETY: the caller has room for both results.
    unsafe { *quotient = a / b };
    // SAFETY: as above.
    unsafe { *rest = a % b };
    0
}

fn invoke<F: Native>(function: F, arguments: &[Value]) -> Result<Vec<Value>, InvokeError> {
    // SAFETY: Rust functions are never unloaded, and those with plain arguments are safe to call.
    let function = unsafe { Function::of_unsafe(function) };
    let call = Call::new(function.signature()).unwrap();
    // SAFETY: the arguments contain no pointers, and the functions do not use the host.
    unsafe { call.invoke(&function, arguments, &mut context()) }
}

fn context() -> Context {
    Context { host: std::ptr::null(), error: Error::NONE }
}

#[test]
fn values_pass_as_in_c() {
    let arguments = [
        (-1_i8).into(),
        2_u16.into(),
        3.5_f32.into(),
        4.25_f64.into(),
        (-5_i64).into(),
        6_u8.into(),
        7_i32.into(),
        8.0_f64.into(),
    ];
    let mix = mix as extern "C" fn(i8, u16, f32, f64, i64, u8, i32, f64) -> f64;
    assert_eq!(invoke(mix, &arguments), Ok(vec![24.75_f64.into()]));
    assert_eq!(invoke(small as extern "C" fn(i8) -> i8, &[5_i8.into()]), Ok(vec![(-5_i8).into()]));
}

#[test]
fn structs_pass_by_value() {
    let mut bytes = 2.0_f64.to_ne_bytes().to_vec();
    bytes.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
    let result = invoke(swap as extern "C" fn(Pair) -> Pair, &[Value::from_bytes(&bytes)]).unwrap().remove(0);
    assert_eq!(result.bytes().len(), size_of::<Pair>());
    assert_eq!(result.bytes()[..8], 3.0_f64.to_ne_bytes());
    assert_eq!(result.bytes()[8..12], 2_i32.to_ne_bytes());
}

#[test]
fn failures_are_reported_in_each_way() {
    let root = root as unsafe extern "C" fn(f64, *mut Context) -> f64;
    assert_eq!(invoke(root, &[4.0_f64.into()]), Ok(vec![2.0_f64.into()]));
    assert!(invoke(root, &[(-4.0_f64).into()]).unwrap_err().to_string().ends_with("failed: negative"));
    let divide: unsafe extern "C" fn(i32, i32, *mut i32, *mut i32) -> i32 = divide;
    let address = std::ptr::NonNull::new(divide as *mut std::ffi::c_void).unwrap();
    // SAFETY: the function returns a status and writes results through pointers after the arguments, as `!s` requires.
    let divide = unsafe { Function::new(sig("ii)ii!s~"), address) };
    let call = Call::new(divide.signature()).unwrap();
    // SAFETY: the arguments contain no pointers.
    let divided = |a: i32, b: i32| unsafe { call.invoke(&divide, &[a.into(), b.into()], &mut context()) };
    assert_eq!(divided(17, 5), Ok(vec![3_i32.into(), 2_i32.into()]));
    assert!(divided(1, 0).unwrap_err().to_string().ends_with("failed: status 7"));
}

#[test]
fn mismatched_call_is_rejected_before_it_runs() {
    let small = small as extern "C" fn(i8) -> i8;
    assert!(matches!(invoke(small, &[]), Err(InvokeError::Count { expected: 1, found: 0, .. })));
    assert!(matches!(invoke(small, &[1_i32.into()]), Err(InvokeError::Size { expected: 1, found: 4, .. })));
    let call = Call::new(&sig("b)b")).unwrap();
    // SAFETY: the arguments contain no pointers.
    let other = unsafe { call.invoke(&Function::of(small), &[1_i8.into()], &mut context()) };
    assert!(matches!(other, Err(InvokeError::Signature { .. })));
    assert!(matches!(Call::new(&sig("d)dd")), Err(PrepareError::Results(_))));
    assert!(matches!(Call::new(&sig("O)O!p")), Err(PrepareError::Python(_))));
    assert!(matches!(Call::new(&sig("e)d")), Err(PrepareError::Field(_))));
}

#[test]
fn every_kind_of_field_has_a_layout() {
    for text in super::texts::signatures() {
        let is_c =
            !text.contains(['e', 'E']) && sig(text).prototype().results.len() < 2 && !text.contains("!p");
        let has_halves = text.contains('e') || text.contains('E');
        assert!(Call::new(&sig(text)).is_ok() || !is_c || has_halves, "{text}: {:?}", Call::new(&sig(text)));
    }
}
