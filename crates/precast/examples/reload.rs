//! Reloads bundles while threads call them: `reload THREADS ROUNDS BUNDLE…`.
//!
//! For each line of its input, every thread replaces the shared function `ROUNDS` times and calls it; then the program prints `done`.
//! Each bundle has an entry `score`, which takes a vector and returns a multiple of its sum.
#![allow(clippy::print_stdout, reason = "the caller waits for the lines")]

use precast::{Array, ArrayRef, Function, Loader};
use std::error::Error;
use std::sync::{PoisonError, RwLock};

pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A model that is replaced while threads call it.
pub(crate) struct Model(RwLock<Function>);

impl Model {
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        Ok(Self(RwLock::new(Loader::open(path)?.entry("score")?)))
    }

    /// Loads before it takes the lock: calls continue during the load, and a failed bundle changes nothing.
    fn reload(&self, path: &str) -> Result<(), Failure> {
        let function = Loader::open(path)?.entry("score")?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = function;
        Ok(())
    }

    /// Calls the current function. A call that started before a reload finishes with its original function.
    fn score(&self, x: ArrayRef<'_>) -> Result<f64, Failure> {
        let function = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Array::F64(result) = function.call(&[x])?.remove(0) else { return Err("not f64".into()) };
        Ok(result.sum())
    }
}

/// Replaces and calls a model, starting with bundle `first`.
pub(crate) fn work(model: &Model, bundles: &[String], first: usize, rounds: usize) -> Result<(), Failure> {
    let x = Array::from(ndarray::Array1::from_vec(vec![1.0, 2.0]).into_dyn());
    for path in bundles.iter().cycle().skip(first).take(rounds) {
        model.reload(path)?;
        let multiple = model.score(ArrayRef::from(&x))? / 3.0;
        if multiple.fract() != 0.0 || !(1.0..=bundles.len() as f64).contains(&multiple) {
            return Err(format!("no bundle returns {multiple} times the sum").into());
        }
    }
    Ok(())
}

#[allow(dead_code, reason = "a test calls `work`")]
fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, rounds, bundles @ ..] = arguments.as_slice() else {
        return Err("usage: reload THREADS ROUNDS BUNDLE…".into());
    };
    let (threads, rounds): (usize, usize) = (threads.parse()?, rounds.parse()?);
    let model = Model::open(bundles.first().ok_or("a bundle is required")?)?;
    for line in std::io::stdin().lines() {
        line?;
        let work = |first| work(&model, bundles, first, rounds);
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || work(first))).collect();
            running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })?;
        println!("done");
    }
    Ok(())
}
