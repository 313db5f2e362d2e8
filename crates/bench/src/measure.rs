//! Measuring: minimum and median of many rounds, by the monotonic clock.
//!
//! What is measured and its peer take turns, so that a change of the machine's load or clock rate meets both.

use anyhow::{Context as _, Result, ensure};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Durations of one thing, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn push(&mut self, ns: f64) {
        self.0.push(ns);
    }

    pub(crate) fn extend(&mut self, ns: impl IntoIterator<Item = f64>) {
        self.0.extend(ns);
    }

    /// How many rounds there were.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The fastest round, in nanoseconds.
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The middle round, in nanoseconds.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Every round divided by a number: nanoseconds a piece.
    pub(crate) fn per(&self, pieces: usize) -> Self {
        Self(self.0.iter().map(|ns| ns / pieces as f64).collect())
    }
}

/// How long one run of `work` takes.
pub(crate) fn once<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (nanoseconds(start.elapsed()), result)
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// Runs two things in turn, `rounds` times each after one round that does not count.
pub(crate) fn in_turn(
    rounds: usize,
    mut ours: impl FnMut() -> Result<()>,
    mut peer: impl FnMut() -> Result<()>,
) -> Result<(Sample, Sample)> {
    let (mut first, mut second) = (Sample::default(), Sample::default());
    for round in 0..=rounds {
        let (a, result) = once(&mut ours);
        result?;
        let (b, result) = once(&mut peer);
        result?;
        if round > 0 {
            first.push(a);
            second.push(b);
        }
    }
    Ok((first, second))
}

/// Runs something too short for the clock: each round is as many calls as take about a millisecond.
pub(crate) fn short(rounds: usize, mut work: impl FnMut()) -> Sample {
    let mut calls = 16_u32;
    loop {
        let (ns, ()) = once(|| (0..calls).for_each(|_| work()));
        if ns > 1e6 || calls > 1 << 24 {
            break;
        }
        calls *= 2;
    }
    let mut sample = Sample::default();
    for _ in 0..rounds {
        let (ns, ()) = once(|| (0..calls).for_each(|_| work()));
        sample.push(ns / f64::from(calls));
    }
    sample
}

/// Runs a process to its end, its output thrown away.
pub(crate) fn process(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed with {status}");
    Ok(())
}

/// Runs a process and gives what it prints, standard output first.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}
