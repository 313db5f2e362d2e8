//! Measures the minimum and median of many rounds, by the monotonic clock.
//!
//! A subject and its peers take turns, so a change of the machine's load or clock rate affects both.

use anyhow::{Context as _, Result, ensure};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The durations of one subject, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn push(&mut self, ns: f64) {
        self.0.push(ns);
    }

    pub(crate) fn extend(&mut self, ns: impl IntoIterator<Item = f64>) {
        self.0.extend(ns);
    }

    /// Returns the number of rounds.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the fastest round, in nanoseconds.
    pub(crate) fn min(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the median round, in nanoseconds.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// Returns the spread of the rounds: half the interquartile range, as a fraction of the median.
    pub(crate) fn spread(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |part: usize| sorted.get(sorted.len() * part / 4).copied().unwrap_or(f64::NAN);
        (at(3) - at(1)) / 2.0 / self.median()
    }

    /// Returns every round divided by `pieces`: nanoseconds per piece.
    pub(crate) fn per(&self, pieces: usize) -> Self {
        Self(self.0.iter().map(|ns| ns / pieces as f64).collect())
    }
}

/// Measures one run of `work`, in nanoseconds.
pub(crate) fn once<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (nanoseconds(start.elapsed()), result)
}

fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

/// A competitor in a race: a name, and a function that returns the nanoseconds of one round.
pub(crate) struct Runner<'a> {
    pub(crate) name: String,
    pub(crate) round: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Runner<'a> {
    /// Creates a runner that is timed once per round.
    pub(crate) fn new(name: &str, mut work: impl FnMut() -> Result<()> + 'a) -> Self {
        let round = move || {
            let (ns, result) = once(&mut work);
            result.map(|()| ns)
        };
        Self { name: name.to_owned(), round: Box::new(round) }
    }

    /// Creates a runner for work too short for the clock. A round makes as many calls as take two milliseconds, and
    /// returns the time of one. Calls that do not count run first, to bring data back into the caches.
    pub(crate) fn short(name: &str, mut work: impl FnMut() + 'a) -> Self {
        let mut calls = 0_u32;
        let round = move || {
            if calls == 0 {
                calls = calls_for(2e6, &mut work);
            }
            let begun = Instant::now();
            work();
            while begun.elapsed() < WARM {
                work();
            }
            let (ns, ()) = once(|| (0..calls).for_each(|_| work()));
            Ok(ns / f64::from(calls))
        };
        Self { name: name.to_owned(), round: Box::new(round) }
    }

    /// Makes each round wait until thread pools of other runners are asleep: they would occupy the second processor.
    #[must_use]
    pub(crate) fn rested(mut self) -> Self {
        let mut round = self.round;
        self.round = Box::new(move || {
            std::thread::sleep(REST);
            round()
        });
        self
    }
}

/// The duration of calls that do not count before a round: after about ten, a matrix of 32 MB is in the caches.
const WARM: Duration = Duration::from_millis(20);

/// The time for a thread pool to fall asleep. OpenBLAS threads spin after their last work: measured on Intel Sapphire
/// Rapids, for 120 ms. A contender that starts earlier shares the processors with them.
const REST: Duration = Duration::from_millis(150);

/// Runs all runners in turn, `rounds` times each after one round that does not count.
pub(crate) fn race(rounds: usize, runners: &mut [Runner<'_>]) -> Result<Vec<Sample>> {
    race_cold(1, runners)?;
    race_cold(rounds, runners)
}

/// Runs a [`race`] in which every round counts.
pub(crate) fn race_cold(rounds: usize, runners: &mut [Runner<'_>]) -> Result<Vec<Sample>> {
    let mut samples = vec![Sample::default(); runners.len()];
    for _ in 0..rounds {
        for (runner, sample) in runners.iter_mut().zip(&mut samples) {
            sample.push((runner.round)().with_context(|| format!("cannot measure {}", runner.name))?);
        }
    }
    Ok(samples)
}

/// Returns the number of calls that take at least `ns`.
fn calls_for(ns: f64, work: &mut impl FnMut()) -> u32 {
    let mut calls = 1_u32;
    loop {
        let (taken, ()) = once(|| (0..calls).for_each(|_| work()));
        if taken > ns || calls > 1 << 26 {
            return calls;
        }
        calls *= 2;
    }
}

/// Runs a process to its end and discards its output.
pub(crate) fn process(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed with {status}");
    Ok(())
}

/// Runs a process and returns its output, standard output first.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}
