//! A case for each function that `perform` calls in C. If an oracle lacks a function, its test fails.

use precast_graph::{Complex, DType};
use precast_ops::scalar::{self, Value};

/// A function by its name, e.g. `exp_f64`. The operands of one element are adjacent.
pub(crate) struct Case<T> {
    pub(crate) name: String,
    pub(crate) arity: usize,
    /// The header, relative to `precast/ops/math/`.
    pub(crate) header: String,
    pub(crate) function: Box<Function<T>>,
}

type Function<T> = dyn Fn(&[T]) -> T;
type Cases<T> = Vec<Case<T>>;

/// Returns the functions of f32 and of f64.
pub(crate) fn floats() -> (Cases<f32>, Cases<f64>) {
    let f32 = |value| if let Value::F32(x) = value { Some(x) } else { None };
    let f64 = |value| if let Value::F64(x) = value { Some(x) } else { None };
    (cases(DType::F32, f32), cases(DType::F64, f64))
}

/// Returns the functions of c64 and of c128.
pub(crate) fn complex() -> (Cases<Complex<f32>>, Cases<Complex<f64>>) {
    let c64 = |value| if let Value::C64(z) = value { Some(z) } else { None };
    let c128 = |value| if let Value::C128(z) = value { Some(z) } else { None };
    (cases(DType::C64, c64), cases(DType::C128, c128))
}

fn cases<T: Copy + Into<Value> + 'static>(dtype: DType, of: fn(Value) -> Option<T>) -> Cases<T> {
    let ops = scalar::names().into_iter().filter_map(scalar::find);
    let case = |op: std::sync::Arc<dyn scalar::ScalarOp>| {
        let (name, arity) = (format!("{}_{dtype}", op.name()), op.arity());
        op.output(&vec![dtype; arity])?;
        let header = op.c_headers(&vec![dtype; arity]).first()?.strip_prefix("precast/ops/math/")?.to_owned();
        let function = Box::new(move |x: &[T]| {
            let values: Vec<Value> = x.iter().map(|x| (*x).into()).collect();
            of(op.perform(&values).unwrap()[0]).unwrap()
        });
        Some(Case { name, arity, header, function: function as Box<Function<T>> })
    };
    ops.filter_map(case).collect()
}

/// Returns the list of functions that `tests/c/{math,complex}.c` include: the headers, then one line of `ONE` to
/// `FOUR` per function.
pub(crate) fn list<T>(cases: &[Case<T>]) -> String {
    let mut headers: Vec<&str> = cases.iter().map(|case| case.header.as_str()).collect();
    headers.sort_unstable();
    headers.dedup();
    let headers: String = headers.iter().map(|h| format!("#include <precast/ops/math/{h}>\n")).collect();
    let of = |arity| {
        let all = cases.iter().filter(move |case| case.arity == arity);
        all.map(|case| format!(" F({})", case.name.rsplit_once('_').unwrap().0)).collect::<String>()
    };
    let rows = ["ONE", "TWO", "THREE", "FOUR"]
        .iter()
        .zip(1..)
        .map(|(name, n)| format!("#define {name}(F){}\n", of(n)));
    headers + &rows.collect::<String>()
}
