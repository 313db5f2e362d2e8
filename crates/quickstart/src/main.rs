//! A small scoring service on real data.

#![allow(clippy::print_stdout, reason = "the report is what this program is for")]

mod data;

fn main() {
    let wines = data::Wines::read();
    let good = wines.grades.iter().filter(|grade| **grade >= 6.0).count();
    println!("{} wines, {} measurements, {good} good", wines.grades.len(), wines.measurements.ncols());
}
