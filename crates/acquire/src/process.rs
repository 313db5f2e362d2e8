//! State that a forked child does not share with its parent.
//!
//! A fork copies the memory of all threads, but only the forking thread continues. A lock that another thread held
//! stays locked in the child, and a result that another thread was computing never arrives. State that threads wait
//! for is therefore kept per process: the child starts with a new value.

use std::sync::OnceLock;

/// A value for each process that used it: this process and its ancestors by fork.
#[derive(Debug)]
pub struct PerProcess<T> {
    first: OnceLock<Box<Node<T>>>,
}

#[derive(Debug)]
struct Node<T> {
    process: u32,
    value: T,
    next: OnceLock<Box<Self>>,
}

impl<T> PerProcess<T> {
    /// Creates an empty cell.
    #[must_use]
    pub const fn new() -> Self {
        Self { first: OnceLock::new() }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> PerProcess<T> {
    /// Returns the value of this process.
    pub fn get(&self) -> &T {
        self.get_in(std::process::id())
    }

    fn get_in(&self, process: u32) -> &T {
        let mut place = &self.first;
        loop {
            let made = || Box::new(Node { process, value: T::default(), next: OnceLock::new() });
            let node = place.get_or_init(made);
            if node.process == process {
                return &node.value;
            }
            place = &node.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PerProcess;
    use std::sync::Mutex;

    #[test]
    fn each_process_has_its_value() {
        let all = PerProcess::<Mutex<u32>>::default();
        for process in [1, 2, 3] {
            // Simulates a parent that holds its lock during a fork.
            let held = all.get_in(process).lock().unwrap();
            *all.get_in(process + 1).lock().unwrap() = process;
            drop(held);
        }
        assert_eq!([1, 2, 3, 4].map(|process| *all.get_in(process).lock().unwrap()), [0, 1, 2, 3]);
    }
}
