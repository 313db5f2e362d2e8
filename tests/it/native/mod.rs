//! Graphs of C scalars as plain C functions: from Rust through typed handles, from C through the module's table.

mod host;

use crate::compiled::Granularity;
use crate::external::{call, compiled, op};
use crate::graphs::{graph, outputs};
use precast::{
    Array, BindNativeError, CallError, Complex, DType, Function, FunctionGraph, Loader, Native, NoNative,
    Ops, Policy, Runtime,
};
use precast_codegen::external::Declaration;
use precast_codegen::link;
use precast_graph::{Type, interpret};
use precast_ops::{Elemwise, fingerprint, rewrite};
use precast_testkit::arrays::specials;
use precast_testkit::scalar_op;
use precast_testkit::ulp::same_bits;
use std::sync::Arc;

type Fallible = fn(f64) -> Result<f64, CallError>;

const GAUSS: &str = "exp(-x*x)*0.5";

fn gauss() -> Function {
    compiled(&graph(GAUSS, &["x=f64"]))
}

/// Returns the signature of the native function of a graph's module, or the reason for not having one.
fn signature(graph: &FunctionGraph) -> Result<String, String> {
    let native = precast_codegen::native(&rewrite::lower(graph).unwrap(), Ops::standard().c()).unwrap();
    native.map_err(|reason| reason.to_string())
}

#[test]
fn scalar_graph_is_a_plain_function() {
    let text = graph(GAUSS, &["x=f64"]);
    let function = gauss();
    let native = function.native::<fn(f64) -> f64>().unwrap();
    assert_eq!(native.function().signature(), "d)d~");
    let values = specials(DType::F64).numbers();
    for x in values.iter().map(|number| number.parts().0).chain((0..500).map(|i| f64::from(i) * 0.01 - 2.5)) {
        let found = Array::from(native.call(x));
        let given = [Array::from(x)];
        assert!(same_bits(&found, &call(&function, &given).unwrap()[0]), "{x}");
        assert!(same_bits(&found, &interpret(&text, &given).unwrap()[0]), "{x}");
    }
}

#[test]
fn literals_are_embedded_and_array_constants_are_not() {
    let key = |text: &str, ty: &str| {
        let lowered = rewrite::lower(&graph(text, &[ty])).unwrap();
        (link(&lowered, Ops::standard().c()).unwrap().key(), fingerprint(&lowered, &Ops::standard()).unwrap())
    };
    let [a, b] = ["x*0.5 + 1", "x*0.25 + 1"].map(|text| key(text, "x=f64"));
    assert!(a.0 != b.0 && a.1 != b.1, "functions of other literals are others");
    assert_eq!(key("x*0.5 + 1", "x=f64[?]"), key("x*0.25 + 1", "x=f64[?]"));
    // Each is found by its own key and fingerprint.
    let store = tempfile::tempdir().unwrap();
    let scaled = |scale: f64, policy: Policy| {
        let runtime = Runtime::builder().writable(store.path()).policy(policy).build().unwrap();
        let function = runtime.function(&graph(&format!("x*{scale:?} + 1"), &["x=f64"])).unwrap();
        runtime.flush();
        function.native::<fn(f64) -> f64>().unwrap().call(8.0)
    };
    for policy in [Policy::Jit, Policy::Strict] {
        assert_eq!([0.5, 0.25, -0.0].map(|scale| scaled(scale, policy)), [5.0, 3.0, 1.0]);
    }
}

#[test]
fn literals_of_every_dtype_keep_their_value() {
    for dtype in DType::ALL {
        for value in specials(dtype).numbers() {
            let mut graph = FunctionGraph::new();
            let x = graph.input("x", Type::Scalar(DType::Bool)).unwrap();
            let (one, zero) = (Array::of(value, dtype), Array::zeros(dtype, &[]));
            let [yes, no] = [&one, &zero].map(|value| graph.constant_of(value.clone(), Type::Scalar(dtype)));
            let switch = Arc::new(Elemwise::new(precast_ops::scalar::find("switch").unwrap()));
            let picked = graph.apply(switch, &[x, yes, no]).unwrap()[0];
            graph.output(picked, None).unwrap();
            let module = link(&graph, Ops::standard().c()).unwrap();
            assert!(module.body.contains("/* V1: literal */"), "{}", module.body);
        }
    }
    let text = "switch(x < 0, -1.5e300, switch(x < 1, 5e-324, switch(x < 2, -0.0, nan)))";
    let native = compiled(&graph(text, &["x=f64"])).native::<fn(f64) -> f64>().unwrap();
    assert_eq!([-1.0, 0.0].map(|x| native.call(x)), [-1.5e300, 5e-324]);
    assert!(native.call(1.5).is_sign_negative() && native.call(1.5) == 0.0 && native.call(3.0).is_nan());
    let native = compiled(&graph("x + -9223372036854775808", &["x=i64"])).native::<fn(i64) -> i64>().unwrap();
    assert_eq!([0, -1].map(|x| native.call(x)), [i64::MIN, i64::MAX]);
}

#[test]
fn wrong_type_error_names_both_signatures() {
    let function = gauss();
    let error = function.native::<fn(f64, f64) -> f64>().unwrap_err();
    assert_eq!(error.to_string(), "the native function has signature `d)d~`, expected `dd)d~`");
    for error in [
        function.native::<fn(f32) -> f64>().unwrap_err(),
        function.native::<fn(f64) -> f32>().unwrap_err(),
        function.native::<fn(i64) -> f64>().unwrap_err(),
        function.native::<fn() -> f64>().unwrap_err(),
        function.native::<fn(f64) -> (f64, f64)>().unwrap_err(),
        function.native::<fn(f64) -> Complex<f64>>().unwrap_err(),
        function.native::<fn(f32) -> Result<f64, CallError>>().unwrap_err(),
    ] {
        assert!(matches!(&error, BindNativeError::Signature { found, .. } if found == "d)d~"), "{error}");
    }
}

#[test]
fn missing_native_function_has_a_reason() {
    for (text, inputs, reason) in [
        ("x + y", &["x=f64", "y=f64[?]"][..], "`input 1` is `f64[..]`, expected a C scalar"),
        ("x + 1", &["x=f64[]"], "`input 0` is `f64[]`, expected a C scalar"),
        ("x + x", &["x=f16"], "`input 0` is `f16`, but C functions cannot take 16-bit floats"),
        ("cast(x, 'bf16')", &["x=f64"], "`output 0` is `bf16`, but C functions cannot take 16-bit floats"),
    ] {
        let graph = graph(text, inputs);
        assert_eq!(signature(&graph).unwrap_err(), reason, "{text}");
    }
    let function = compiled(&graph("x + y", &["x=f64", "y=f64[?]"]));
    let error = function.native::<fn(f64, f64) -> f64>().unwrap_err();
    assert_eq!(error.to_string(), "no native function: `y` is `f64[?]`, expected a C scalar");
    let runtime = Runtime::builder().policy(Policy::Interpret).build().unwrap();
    let function = runtime.function(&graph(GAUSS, &["x=f64"])).unwrap();
    assert_eq!(function.native_function().unwrap_err(), &NoNative::Body);
}

#[test]
fn several_results_are_a_tuple() {
    let texts = ["a = x*2.0", "b = x < 1", "c = cast(x, 'i32')", "d = cast(x, 'f32')"];
    let graph = outputs(&texts, &["x=f64"]);
    assert_eq!(signature(&graph).unwrap(), "d)T{d?if}~");
    let native = compiled(&graph).native::<fn(f64) -> (f64, bool, i32, f32)>().unwrap();
    assert_eq!(native.call(0.5), (1.0, true, 0, 0.5));
    assert_eq!(native.call(-7.25), (-14.5, true, -7, -7.25));
    let many = compiled(&outputs(&["a = x + 1.0", "b = x + 2.0", "c = x + 3.0"], &["x=f64"]));
    assert_eq!(many.native::<fn(f64) -> (f64, f64, f64)>().unwrap().call(1.0), (2.0, 3.0, 4.0));
}

#[test]
fn every_c_dtype_passes_by_value() {
    macro_rules! same {
        ($($dtype:literal: $number:ty),*) => {$(
            let text = graph("switch(c, x, y)", &["c=bool", concat!("x=", $dtype), concat!("y=", $dtype)]);
            let function = compiled(&text);
            let native = function.native::<fn(bool, $number, $number) -> $number>().unwrap();
            let dtype: DType = $dtype.parse().unwrap();
            for number in specials(dtype).numbers() {
                let array = Array::of(number, dtype);
                let element = ndarray::ArrayD::<$number>::try_from(array.clone()).unwrap()[[]];
                let other = <$number>::default();
                assert!(same_bits(&Array::from(native.call(true, element, other)), &array), "{number:?}");
                assert!(same_bits(&Array::from(native.call(false, other, element)), &array), "{number:?}");
            }
        )*};
    }
    same!("bool": bool, "i8": i8, "u8": u8, "i16": i16, "u16": u16, "i32": i32, "u32": u32, "i64": i64,
          "u64": u64, "f32": f32, "f64": f64, "c64": Complex<f32>, "c128": Complex<f64>);
    // Unequal parts, passed in registers and in a struct.
    let function = compiled(&outputs(&["a = z*w", "b = conj(z)"], &["z=c128", "w=c64"]));
    let native = function.native::<fn(Complex<f64>, Complex<f32>) -> (Complex<f64>, Complex<f64>)>().unwrap();
    let (z, w) = (Complex::new(1.0, 2.0), Complex::new(3.0_f32, 4.0));
    assert_eq!(native.call(z, w), (Complex::new(-5.0, 10.0), Complex::new(1.0, -2.0)));
}

/// Returns the graph of `1/x`, which rejects 0.
fn reciprocal() -> FunctionGraph {
    let perform = |x| if x == 0.0 { Err("zero has none") } else { Ok(1.0 / x) };
    let c = "if (@X@ == 0) { pc_error_format(ctx, PC_ERROR_VALUE, \"%s has none\", \"zero\"); @FAIL@ }\n@Y@ = 1 / @X@;";
    let mut graph = FunctionGraph::new();
    let x = graph.input("x", Type::Scalar(DType::F64)).unwrap();
    let y = graph.apply(Arc::new(Elemwise::new(scalar_op("reciprocal", perform, c))), &[x]).unwrap()[0];
    graph.output(y, None).unwrap();
    graph
}

#[test]
fn fallible_function_can_be_called_again() {
    let function = compiled(&reciprocal());
    let native = function.native::<Fallible>().unwrap();
    assert_eq!(native.function().signature(), "d)d!c~");
    for _ in 0..3 {
        assert_eq!(native.call(4.0).unwrap(), 0.25);
        let error = native.call(0.0).unwrap_err();
        let CallError::Op { message, .. } = &error else { panic!("{error}") };
        assert_eq!(message, "zero has none");
    }
    let error = function.native::<fn(f64) -> f64>().unwrap_err().to_string();
    assert!(
        error.starts_with("the native function has signature `d)d!c~`, expected `d)d~`\nhint: request"),
        "{error}"
    );
    // A function that cannot fail may be called as if it could.
    assert_eq!(gauss().native::<Fallible>().unwrap().call(0.0).unwrap(), 0.5);
}

#[test]
fn integer_powers_fail_natively_like_perform() {
    let native = compiled(&graph("x ** y", &["x=i64", "y=i64"]));
    let native = native.native::<fn(i64, i64) -> Result<i64, CallError>>().unwrap();
    assert_eq!(native.call(3, 4).unwrap(), 81);
    assert!(native.call(3, -1).unwrap_err().to_string().contains("negative"));
}

fn external(text: &str) -> Function {
    let declared = Declaration::new("own").file("own.c", text).input("f64").output("f64");
    compiled(&crate::external::graph(&op(declared), &["f64"]))
}

#[test]
fn native_author_code_preserves_the_thread() {
    let text = "#section code\nOUTPUT_0 = 2 * INPUT_0;\n";
    // Macros could hide an error report in the code, so the function counts as fallible.
    assert_eq!(external(text).native::<Fallible>().unwrap().call(21.0).unwrap(), 42.0);
    let text = "#section code\nif (INPUT_0 < 0) { pc_error_set(ctx, PC_ERROR_VALUE, \"negative\"); FAIL }\n\
                OUTPUT_0 = __builtin_sqrt(INPUT_0);\n";
    let native = external(text).native::<Fallible>().unwrap();
    assert_eq!(native.call(9.0).unwrap(), 3.0);
    assert!(native.call(-9.0).unwrap_err().to_string().contains("negative"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn author_rounding_modes_are_respected() {
    let text = "#section code\nunsigned u;\n__asm__ volatile(\"stmxcsr %0\" : \"=m\"(u));\nu |= 0x4000;\n\
                __asm__ volatile(\"ldmxcsr %0\" :: \"m\"(u));\nvolatile double x = INPUT_0;\nOUTPUT_0 = x / 3;\n";
    let function = external(text);
    let native = function.native::<Fallible>().unwrap();
    let third = |x: f64| std::hint::black_box(x) / 3.0;
    let mut above = 0;
    for x in (1..50).map(f64::from) {
        let found = native.call(x).unwrap();
        assert_eq!(call(&function, &[Array::from(x)]).unwrap(), [Array::from(found)]);
        above += u32::from(found > third(x));
    }
    assert!(above > 10, "it rounds upwards, and the thread to nearest");
}

#[test]
fn ops_with_state_have_no_native_function() {
    let text = "#section support_code_struct\ndouble seen;\n#section code\nself->seen += INPUT_0; OUTPUT_0 = self->seen;\n";
    let error = external(text).native::<Fallible>().unwrap_err().to_string();
    assert!(error.contains("the module needs an instance"), "{error}");
}

#[test]
fn handles_keep_libraries_across_threads() {
    let native: Native<fn(f64) -> f64> = gauss().native().unwrap();
    let handles: Vec<_> = (0..4).map(|_| native.clone()).collect();
    drop(native);
    let sums: Vec<f64> = std::thread::scope(|scope| {
        let sum =
            |native: Native<fn(f64) -> f64>| (0..1000).map(|i| native.call(f64::from(i) * 1e-3)).sum::<f64>();
        let threads: Vec<_> = handles.into_iter().map(|native| scope.spawn(move || sum(native))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(sums.iter().all(|sum| sum.to_bits() == sums[0].to_bits()));
}

#[test]
fn partly_served_graph_counts_its_modules() {
    let text = graph("exp(x)*y", &["x=f64", "y=f64"]);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("parts.bundle");
    let isa = precast_compile::Isa::native().unwrap();
    fs_err::write(&path, crate::compiled::bundle(std::slice::from_ref(&text), Granularity::OpByOp, isa))
        .unwrap();
    let runtime = Runtime::builder().bundle_file(&path).policy(Policy::Strict).build().unwrap();
    let function = runtime.function(&text).unwrap();
    assert_eq!(function.native_function().unwrap_err(), &NoNative::Modules { modules: 2 });
    assert!(Loader::open(&path).unwrap().entry("none").is_err());
}
