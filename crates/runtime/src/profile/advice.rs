//! Advice for kernels that are far from the limit of the machine.

use super::cost::Bound;
use super::{Kernel, Measured, Profile};
use precast_core::cpu::LEVELS;

/// The share of the limit above which no advice is given.
const NEAR: f64 = 0.6;
/// The minimum share of all kernels' time for a kernel to get advice.
const MATTERS: f64 = 0.05;
/// The share of an arithmetic limit above which the measured limit is too low: nothing is faster than the machine.
const BEYOND: f64 = 1.25;
/// The time in seconds below which call overhead dominates.
const CALL: f64 = 2e-6;

/// Adds advice to each kernel that takes significant time and is far from its limit. A kernel that exceeds its limit gets
/// a note that the limit was measured too low.
pub(super) fn add(profile: &mut Profile) {
    let sum = profile.kernels_seconds();
    let (served, level, threads) = (profile.served.clone(), profile.level, profile.threads);
    for Kernel { measured, ops, .. } in &mut profile.kernels {
        let Ok(measured) = measured else { continue };
        if measured.bound == Bound::Arithmetic && measured.share() > BEYOND {
            measured.advice = vec![
                "the measured limit is too low, because another process was running; profile again on an idle machine".to_owned(),
            ];
        }
        if measured.share() < NEAR && measured.seconds >= MATTERS * sum {
            let lowest = served.iter().flatten().min_by_key(|isa| rank(isa));
            measured.advice = advice(measured, ops, lowest.map(String::as_str), level, threads);
        }
    }
}

/// Returns the position of an ISA level in the list of all levels.
fn rank(isa: &str) -> usize {
    LEVELS.iter().position(|level| level.name == isa).unwrap_or(usize::MAX)
}

fn advice(
    measured: &Measured,
    ops: &[String],
    served: Option<&str>,
    level: Option<&'static str>,
    threads: usize,
) -> Vec<String> {
    if measured.isa.is_none() {
        return vec!["interpreted: build it, or compile it with `--policy jit`".to_owned()];
    }
    if measured.seconds < CALL {
        return vec![
            "most of the time is call overhead: pass more elements per call, or use a typed handle"
                .to_owned(),
        ];
    }
    let below = served.zip(level).filter(|(served, level)| rank(served) < rank(level));
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let alone = measured.is_shared && threads == 1 && available > 1;
    let reads_across = |op: &String| ["dimshuffle", "subtensor"].iter().any(|view| op.starts_with(view));
    let across = measured.bound == Bound::Memory && ops.iter().any(reads_across);
    let known = [
        below.map(|(served, level)| {
            format!(
                "the module is built for {served}, and this CPU supports {level}: build with `--isa {level}`"
            )
        }),
        alone.then(|| format!("uses one thread of {available}: set `PRECAST_THREADS=all` for more")),
        across.then(|| "reads through a view: lay out the operand in the order of access".to_owned()),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    if !known.is_empty() {
        return known;
    }
    vec![match measured.bound {
        Bound::Memory => {
            "put more work into one graph, so that more Applies share a pass over memory".to_owned()
        }
        Bound::Arithmetic => {
            "use f32 if its precision suffices: it does twice as many operations at once".to_owned()
        }
    }]
}
