//! A static program, which can load nothing: its graphs are linked into it, and nothing of theirs is made when it starts.

mod model {
    precast::include_model!();
}

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The heap, which counts how often it is asked.
struct Counted;

static ASKED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static HEAP: Counted = Counted;

// SAFETY: the system's allocator, and a count beside it.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ASKED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

/// What `call` gives, and how often it asked the heap.
fn counted<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = ASKED.load(Ordering::Relaxed);
    let made = call();
    (made, ASKED.load(Ordering::Relaxed) - before)
}

fn main() -> Result<(), Box<dyn Error>> {
    let at_start = ASKED.load(Ordering::Relaxed);
    let [x, y, z] = [0.5, 1.0, 2.0].map(|value| ndarray::Array1::<f64>::from_elem(3, value));
    let (score, first) = counted(|| model::score(&x, &y, &z));
    let (again, second) = counted(|| model::score(&x, &y, &z));
    println!("{:.6} {}", score?, again? > 0.0);
    println!("{}", model::larger(&x.mapv(|value| value as f32), 0.25)?);
    println!("asked of the heap: {at_start} {first} {second}");
    Ok(())
}
