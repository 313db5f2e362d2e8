//! Runs several queries concurrently. The threads mostly wait for the network, so they cost little.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The maximum number of concurrent requests to a source.
pub const AT_ONCE: usize = 16;

/// Runs `each` on all items. Returns the answers in the order of the items, and the first error. After an error, no
/// further items are started.
pub(super) fn at_once<T: Sync, R: Send, E: Send>(
    items: &[T],
    each: impl Fn(&T) -> Result<R, E> + Sync,
) -> (Vec<R>, Result<(), E>) {
    let next = AtomicUsize::new(0);
    let came = Mutex::new((Vec::new(), Ok(())));
    let work = || {
        while let Some((at, item)) = take(&next, items) {
            let answer = each(item);
            let mut came = came.lock().unwrap_or_else(PoisonError::into_inner);
            match answer {
                Ok(answer) => came.0.push((at, answer)),
                Err(error) => {
                    next.store(items.len(), Ordering::Relaxed);
                    came.1 = std::mem::replace(&mut came.1, Ok(())).and(Err(error));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..items.len().min(AT_ONCE) {
            // With fewer threads it only takes longer.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let (mut came, ended) = came.into_inner().unwrap_or_else(PoisonError::into_inner);
    came.sort_unstable_by_key(|(at, _)| *at);
    (came.into_iter().map(|(_, answer)| answer).collect(), ended)
}

/// Takes the next item and its position.
fn take<'i, T>(next: &AtomicUsize, items: &'i [T]) -> Option<(usize, &'i T)> {
    let at =
        next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| (at < items.len()).then_some(at + 1));
    at.ok().map(|at| (at, &items[at]))
}

#[cfg(test)]
mod tests {
    use super::super::RemoteError;
    use super::*;

    #[test]
    fn answers_keep_order_until_an_error() {
        let items: Vec<usize> = (0..1000).collect();
        let (all, ended) = at_once(&items, |item| Ok::<_, RemoteError>(item * 2));
        assert!(ended.is_ok() && all == items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let asked = AtomicUsize::new(0);
        let (some, ended) = at_once(&items, |item| {
            asked.fetch_add(1, Ordering::Relaxed);
            match item {
                500.. => Err(RemoteError::NoStore { place: item.to_string() }),
                item => Ok(*item),
            }
        });
        assert!(ended.is_err() && some.is_sorted() && some.len() <= 500);
        assert!(asked.into_inner() <= 500 + AT_ONCE);
    }
}
