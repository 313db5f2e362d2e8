//! Calls on small stacks: threads of C programs may have 128 KiB, like musl's, and a call uses at most 96 KiB of
//! them.
//!
//! Drivers use the stack or memory of the host, depending on the amount of work. The test therefore uses small and
//! large arrays, on one thread and on several.

use crate::compiled::{Granularity, bundle};
use crate::graphs::outputs;
use ndarray::Array2;
use precast::{Array, ArrayRef, Policy, Runtime, threads};
use precast_compile::Isa;
use precast_graph::interpret;

const STACK_BYTES: usize = 96 * 1024;

fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

fn matrix(rows: usize, columns: usize) -> Array {
    let element = |(i, j)| ((i * 31 + j * 17) % 64) as f64 / 8.0 - 3.5;
    Array::from(Array2::from_shape_fn((rows, columns), element).into_dyn())
}

#[test]
fn calls_need_little_stack() {
    // Every driver with all its paths: rows, columns, blocks, tiles, gathered operands, large steps; kernels in
    // stages.
    let texts = [
        "a = softmax(x, axis=1)",
        "b = softmax(x, axis=0)",
        "c = softmax(transpose(y)[:, ::2], axis=1)",
        "d = sum(x*x, axis=1)",
        "e = sum(x, axis=0)",
        "f = sum(x*transpose(y), axis=0)",
        "g = sum(exp(x))",
        "h = x + transpose(y)",
        "i = x[:, ::-2]*2.5 + sum(x, axis=1)[:, None]",
        "k = exp(sin(log(abs(tanh(cos(exp(sin(tanh(log1p(exp(x)))))))))))",
        "l = softmax(exp(sin(tanh(cos(exp(sin(tanh(log1p(exp(x))))))))), axis=1)",
        "j = dot(x[:100], y[:, :100])",
    ];
    let graph = outputs(&texts, &["x=f64[?,?]", "y=f64[?,?]"]);
    let served = [Granularity::Whole, Granularity::Groups].map(|granularity| {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("stack.bundle");
        fs_err::write(&file, bundle(std::slice::from_ref(&graph), granularity, Isa::native().unwrap()))
            .unwrap();
        let runtime = Runtime::builder().bundle_file(&file).policy(Policy::Strict).build().unwrap();
        (granularity, runtime.function(&graph).unwrap())
    });
    for (rows, columns) in [(2, 3), (40, 30), (150, 300), (3, 12_000), (12_000, 3)] {
        let inputs = [matrix(rows, columns), matrix(columns, rows)];
        let expected = interpret(&graph, &inputs).unwrap();
        let inputs = inputs.each_ref().map(ArrayRef::from);
        for (granularity, function) in &served {
            for n in [1, 3] {
                threads::limit(n);
                let found = on_a_small_stack(|| function.call(&inputs).unwrap());
                // Bits of products are only the same within a class of CPU.
                assert_eq!(found[..11], expected[..11], "{granularity:?} {rows} x {columns}, {n} thread(s)");
                assert_eq!(found[11].shape(), expected[11].shape());
            }
        }
    }
}
