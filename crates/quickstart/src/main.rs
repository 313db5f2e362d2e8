//! A small scoring service: real data and a logistic model, with everything precompiled into this binary.
//!
//! ```text
//! build.rs   precast.toml ──compile──▶ bundle ─┐
//!            model/*.csv ─────decode──▶ data ──┼─▶ this binary: verify, load, score, report
//!            model/model.toml ────────▶ model ─┘   no compiler, no files, no environment, no other process
//! ```
//! The program links no compiler and no code generator. A graph that was not precompiled is a compile error of the
//! program itself.
//!
//! Times count from the first instruction of `main`. They exclude the kernel's exec and the dynamic linker, because
//! Linux reports the start of a process only in ticks of 10 ms. The bench measures whole processes.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints a report, or why it cannot"
)]

mod data;
mod model;
mod report;

use data::Wines;
use model::{GOOD_FROM_GRADE, HELD_OUT_EVERY};
use ndarray::s;
use report::Report;
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    match run(Instant::now()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let causes = std::iter::successors(error.source(), |cause| (*cause).source());
            causes.for_each(|cause| eprintln!("  caused by: {cause}"));
            ExitCode::FAILURE
        }
    }
}

fn run(start: Instant) -> Result<(), Box<dyn Error>> {
    let wines = Wines::read();
    // Every n-th row is a strided view, so scoring copies nothing.
    let held_out = wines.measurements.slice(s![..;HELD_OUT_EVERY, ..]);
    let scores = model::score(held_out)?;
    let first = start.elapsed();
    let good = |grade: &f64| if *grade >= GOOD_FROM_GRADE as f64 { 1.0 } else { 0.0 };
    let truth = wines.grades.slice(s![..;HELD_OUT_EVERY]).map(good);
    let figures = model::evaluate(scores.view(), truth.view())?;
    let all = start.elapsed();
    let (rows, good) = (wines.grades.len(), truth.sum());
    let scores = scores.as_slice().ok_or("scores that are not contiguous")?;
    let modules = model::modules()?;
    // One write of the whole text, rather than about thirty for its lines.
    let report = Report { rows, scores, good, figures: &figures, modules, first, all }.to_string();
    print!("{report}");
    Ok(())
}
