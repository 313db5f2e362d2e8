//! Tests of chains that threads share: participating threads, result bits, and errors.
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "kernels are C in Rust's clothes")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::native::memory::object::Owned;
use crate::{Array, DType};
use ndarray::ArrayD;
use precast_abi::context::ErrorKind;
use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::ThreadId;
use std::time::Duration;

const ELEMENTS: usize = 200_000;

static SEEN: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

/// Computes `x * x + 1` and rejects negative numbers. Sleeps so that other threads take ranges too.
unsafe extern "C" fn square(ctx: *mut Context, n: i64, data: *const *mut c_char) -> c_int {
    if let Some(seen) = SEEN.lock().unwrap().as_mut() {
        seen.insert(std::thread::current().id());
    }
    std::thread::sleep(Duration::from_micros(200));
    for i in 0..n as usize {
        // SAFETY: the driver's contract: as many elements of each operand.
        let x = unsafe { (*data).cast::<f64>().add(i).read() };
        if x < 0.0 {
            // SAFETY: the context of this range.
            unsafe { host::set_error(ctx, ErrorKind::Value, &format!("{x} is negative")) };
            return -1;
        }
        // SAFETY: as above.
        unsafe { (*data.add(1)).cast::<f64>().add(i).write(x * x + 1.0) };
    }
    0
}

fn chain(stages: usize) -> Chain {
    let link = |at: usize| Chained {
        module: LoadedModule::of_this_program(),
        work: Kernels::Map(square),
        operands: vec![if at == 0 { Value::Input(0) } else { Value::Result(at - 1) }],
        scalar: vec![false],
        typenum: DType::F64.typenum(),
        item_bytes: 8,
        is_shared: true,
    };
    Chain::new(&(0..stages).map(link).collect::<Vec<_>>(), &[(8, false)]).unwrap()
}

/// Returns the result of a chain for `x` on `threads` threads, and the number of threads that took part.
fn run(chain: &Chain, threads: usize, x: &ArrayD<f64>) -> (Result<Array, RunError>, usize) {
    threads::limit(threads);
    *SEEN.lock().unwrap() = Some(HashSet::new());
    let input = Owned::from_array(Array::F64(x.clone()));
    let mut cell = ptr::null_mut::<Tensor>();
    let mut running = Running::new(host::context());
    let mut lines = lines(std::iter::once(chain.lines()));
    // SAFETY: a live tensor of the chain's dtype, and a cell that holds NULL.
    let done = unsafe { chain.run(&mut running, &mut lines, &[input.as_raw().cast()], &raw mut cell) };
    // SAFETY: the cell owns the tensor that the driver stored in it.
    let result = unsafe { Owned::from_raw(cell.cast()) };
    let seen = SEEN.lock().unwrap().take().unwrap().len();
    (done.map(|()| result.into_array().unwrap()), seen)
}

#[test]
fn threads_share_chains_without_changing_bits() {
    let mut x = ArrayD::from_shape_fn(vec![ELEMENTS], |at| at[0] as f64 / 7.0);
    for stages in [1, 3] {
        let chain = chain(stages);
        let (alone, seen) = run(&chain, 1, &x);
        let alone = alone.unwrap();
        assert_eq!(seen, 1);
        // Helpers that are busy in another test do not take part.
        let shared = (0..100).map(|_| run(&chain, 3, &x)).find(|(_, seen)| *seen > 1);
        assert_eq!(shared.unwrap().0.unwrap(), alone, "{stages} stages");
    }
    x[[150_000]] = -1.0;
    x[[190_000]] = -2.0;
    for (threads, stages) in [(1, 1), (3, 1), (1, 3), (3, 3)] {
        let error = run(&chain(stages), threads, &x).0.unwrap_err();
        assert_eq!((error.message.as_str(), error.kind), ("-1 is negative", ErrorKind::Value));
        assert_eq!(error.apply, (stages > 1).then_some(0));
    }
}
