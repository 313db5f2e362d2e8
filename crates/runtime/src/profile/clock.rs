//! Measures time: the median of several rounds, each long enough to make the cost of reading the clock negligible.

use super::borrowed;
use precast_core::native::LoopPlan;
use precast_core::{CallError, Function};
use precast_graph::Array;
use std::time::{Duration, Instant};

/// The minimum duration of a round.
const ROUND: Duration = Duration::from_millis(2);
/// The most calls of a round, and the most rounds.
const MOST: (u32, usize) = (100_000, 101);

/// Returns the seconds per call, with outputs that reuse those of the previous call, the results, and the plan of the
/// first loop.
pub(super) fn seconds(
    function: &Function,
    inputs: &[Array],
    time: Duration,
) -> Result<(f64, Vec<Array>, Option<LoopPlan>), CallError> {
    let inputs = borrowed(inputs);
    let mut outputs = function.call(&inputs)?;
    let begin = Instant::now();
    let (called, plan) = LoopPlan::of(|| function.call_into(&inputs, &mut outputs));
    called?;
    let once = begin.elapsed().max(Duration::from_nanos(1));
    let calls = u32::try_from(ROUND.as_nanos() / once.as_nanos()).unwrap_or(MOST.0).clamp(1, MOST.0);
    let mut rounds = Vec::new();
    while rounds.is_empty() || (begin.elapsed() < time && rounds.len() < MOST.1) {
        let start = Instant::now();
        for _ in 0..calls {
            function.call_into(&inputs, &mut outputs)?;
        }
        rounds.push(start.elapsed().as_secs_f64() / f64::from(calls));
    }
    rounds.sort_by(f64::total_cmp);
    Ok((rounds[rounds.len() / 2].max(1e-9), outputs, plan))
}
