//! Measures the limits of this machine with two loops. Kernels are compared with these limits.
//!
//! | loop | operation | count |
//! |---|---|---|
//! | [`triad`] | `a[i] = b[i] + s*c[i]`, as in STREAM | 24 bytes an element: two reads, one write |
//! | [`multiply_add`] | fused multiply-adds on registers, enough at once to hide their latency | 2 operations each |
//!
//! Both run on as many threads as the work of a call would, each with its own memory. They use the widest instructions of
//! this CPU that [`cpu`](mod@crate::cpu) allows. The best of several rounds counts, because other programs on the machine
//! only make them slower.

use crate::cpu;
use crate::native::memory::pages;
use std::hint::black_box;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The measuring time of a loop.
const TIME: Duration = Duration::from_millis(20);
/// The number of concurrent multiply-adds, each on its own vector.
const CHAINS: usize = 12;
/// Multiply-adds of each chain in a round.
const STEPS: usize = 4096;

/// Returns the bytes per second that `threads` threads move between the CPU and working sets of `bytes` bytes in total.
#[must_use]
pub fn triad(bytes: usize, threads: usize) -> f64 {
    let n = (bytes / 24 / threads.max(1)).max(64);
    on_threads(threads, || {
        let [mut a, b, c] = [0.0, 1.0, 2.0].map(|value| filled(n, value));
        // Short rounds are combined, so that reading the clock does not matter.
        let calls = (16_384 / n).max(1);
        let seconds = best(|| {
            for _ in 0..calls {
                triad_once(&mut a, black_box(&b), black_box(&c));
                black_box(&mut a);
            }
        });
        (calls * n * 24) as f64 / seconds
    })
}

/// Creates an array on large pages, like the arrays of modules.
fn filled(n: usize, value: f64) -> Vec<f64> {
    let mut array: Vec<f64> = Vec::with_capacity(n);
    // SAFETY: the array's own memory, with capacity for `n` elements.
    unsafe { pages::prefer_large(array.as_mut_ptr().cast(), n * size_of::<f64>()) };
    array.resize(n, value);
    array
}

/// Returns the `f64` operations per second of `threads` threads. For `f32` it is twice as many.
#[must_use]
pub fn multiply_add(threads: usize) -> f64 {
    on_threads(threads, || {
        let mut lanes = 0;
        let seconds = best(|| lanes = black_box(multiply_add_once(black_box(0.5))));
        (2 * lanes * CHAINS * STEPS) as f64 / seconds
    })
}

/// Returns the sum of the results of threads that run at the same time; fewer if the process cannot start all of them.
fn on_threads(threads: usize, measure: impl Fn() -> f64 + Sync) -> f64 {
    if threads <= 1 {
        return measure();
    }
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, &measure).ok();
        let running: Vec<_> = (1..threads).filter_map(start).collect();
        let own = measure();
        own + running.into_iter().filter_map(|thread| thread.join().ok()).sum::<f64>()
    })
}

/// Returns the time of the shortest of several rounds, in seconds.
fn best(mut round: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut least = f64::INFINITY;
    for rounds in 0.. {
        let start = Instant::now();
        round();
        least = least.min(start.elapsed().as_secs_f64());
        if rounds >= 3 && begin.elapsed() > TIME {
            break;
        }
    }
    least.max(1e-9)
}

/// Returns the highest allowed x86-64 level with fused multiply-adds: 4, 3, or 0. Cached, because a
/// look-up takes longer than a loop within the first-level cache.
#[cfg(target_arch = "x86_64")]
fn width() -> u8 {
    static THIS: OnceLock<u8> = OnceLock::new();
    *THIS.get_or_init(|| {
        let width = |level: &cpu::Level| match level.name {
            "x86-64-v4" => Some(4),
            "x86-64-v3" => Some(3),
            _ => None,
        };
        std::iter::successors(cpu::level(), |level| level.below).find_map(width).unwrap_or(0)
    })
}

#[inline(always)]
fn triad_loop(a: &mut [f64], b: &[f64], c: &[f64]) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + 3.0 * c;
    }
}

#[cfg(target_arch = "x86_64")]
fn triad_once(a: &mut [f64], b: &[f64], c: &[f64]) {
    #[target_feature(enable = "avx512f")]
    fn v4(a: &mut [f64], b: &[f64], c: &[f64]) {
        triad_loop(a, b, c);
    }
    #[target_feature(enable = "avx2")]
    fn v3(a: &mut [f64], b: &[f64], c: &[f64]) {
        triad_loop(a, b, c);
    }
    match width() {
        // SAFETY: level 4 has AVX-512F, and `width` returns it only if this CPU has the level.
        4 => unsafe { v4(a, b, c) },
        // SAFETY: level 3 has AVX2; as above.
        3 => unsafe { v3(a, b, c) },
        _ => triad_loop(a, b, c),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn triad_once(a: &mut [f64], b: &[f64], c: &[f64]) {
    triad_loop(a, b, c);
}

/// Runs the chains once and returns the number of lanes in a vector. A `map` would not inherit the target features of the
/// function, so each step would be a call and vectors would go through memory.
#[cfg(target_arch = "x86_64")]
fn multiply_add_once(x: f64) -> usize {
    use std::arch::x86_64::{_mm256_fmadd_pd, _mm256_set1_pd, _mm512_fmadd_pd, _mm512_set1_pd};
    #[target_feature(enable = "avx512f")]
    fn v4(x: f64) {
        let factor = _mm512_set1_pd(x);
        let mut chains = [_mm512_set1_pd(1.0); CHAINS];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = _mm512_fmadd_pd(*chain, factor, factor);
            }
        }
        black_box(chains);
    }
    #[target_feature(enable = "avx2,fma")]
    fn v3(x: f64) {
        let factor = _mm256_set1_pd(x);
        let mut chains = [_mm256_set1_pd(1.0); CHAINS];
        for _ in 0..STEPS {
            for chain in &mut chains {
                *chain = _mm256_fmadd_pd(*chain, factor, factor);
            }
        }
        black_box(chains);
    }
    match width() {
        4 => {
            // SAFETY: level 4 has AVX-512F, and `width` returns it only if this CPU has the level.
            unsafe { v4(x) };
            8
        }
        3 => {
            // SAFETY: level 3 has AVX2 and FMA; as above.
            unsafe { v3(x) };
            4
        }
        _ => portable(x),
    }
}

/// Runs the chains once and returns the number of lanes in a vector.
#[cfg(not(target_arch = "x86_64"))]
fn multiply_add_once(x: f64) -> usize {
    portable(x)
}

/// Runs the chains on vectors of two, which every 64-bit CPU has. Multiply-adds are fused if that is one instruction.
fn portable(x: f64) -> usize {
    let step = |value: f64| {
        if cfg!(target_arch = "aarch64") { value.mul_add(x, x) } else { value * x + x }
    };
    let mut chains = [[1.0_f64; 2]; CHAINS];
    for _ in 0..STEPS {
        for lane in chains.as_flattened_mut() {
            *lane = step(*lane);
        }
    }
    black_box(chains);
    2
}

#[cfg(test)]
mod tests {
    use super::{multiply_add, triad};

    #[test]
    fn loops_progress_on_any_number_of_threads() {
        for threads in [0, 1, 2] {
            assert!(triad(1, threads).is_finite() && triad(100_000, threads) > 0.0);
            assert!(multiply_add(threads).is_finite() && multiply_add(threads) > 0.0);
        }
    }

    /// Runs in a child process in which no thread can start: each stack would be larger than the address space.
    #[test]
    fn loops_are_measured_without_threads() {
        const CHILD: &str = "PRECAST_ROOFLINE_TEST_NO_THREAD";
        if std::env::var_os(CHILD).is_none() {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let name = "native::kernels::roofline::tests::loops_are_measured_without_threads";
            child.args(["--exact", name, "--test-threads=1"]).env(CHILD, "1");
            child.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
            assert!(child.status().unwrap().success());
            return;
        }
        assert!(std::thread::Builder::new().spawn(|| ()).is_err());
        assert!(triad(100_000, 2) > 0.0 && multiply_add(2) > 0.0);
    }
}
