//! Fits the logistic model of the quickstart by Newton's method, with functions that were compiled ahead.
//!
//! ```text
//! precast.toml ──build.rs──▶ cost, its gradient, products with its Hessian ─┐
//! the quickstart's wines ──▶ standardised measurements, and truth ──────────┴─▶ Newton's steps ──▶ weights
//! ```
//! Nobody wrote a derivative: `gradients = ["w"]` and `hvp` in precast.toml do. Each step solves a linear system by
//! conjugate gradients, which need products with the Hessian instead of the Hessian. The weights are those of
//! `crates/quickstart/model/train.py`, and their bits are the same at every ISA level.

#![allow(clippy::print_stdout, reason = "a program that prints its result")]

use ndarray::{Array1, Array2, Axis, s};
use std::error::Error;

mod graphs {
    precast::include_model!();
}

const WINES: &str = include_str!("../../quickstart/model/winequality-red.csv");

/// The lowest grade of a good wine, the first of so many rows that was not used for training, and the penalty.
const GOOD: f64 = 6.0;
const HELD_OUT_EVERY: usize = 4;
const RIDGE: f64 = 1.0;

/// The largest step at which the weights count as found.
const ENOUGH: f64 = 1e-12;

/// The wines to train with: a row for each, with a last column of ones, and whether it is good.
fn wines() -> Result<(Array2<f64>, Array1<f64>), Box<dyn Error>> {
    let lines = WINES.lines().filter(|line| !line.starts_with('#')).skip(1).enumerate();
    let (mut numbers, mut columns) = (Vec::new(), 0);
    for (_, line) in lines.filter(|(row, _)| row % HELD_OUT_EVERY != 0) {
        let row = line.split(',').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        columns = row.len();
        numbers.extend(row);
    }
    let mut table = Array2::from_shape_vec((numbers.len() / columns, columns), numbers)?;
    let truth = table.column(columns - 1).mapv(|grade| if grade >= GOOD { 1.0 } else { 0.0 });
    let mut measurements = table.slice_mut(s![.., ..columns - 1]);
    let mean = measurements.mean_axis(Axis(0)).ok_or("no wines")?;
    measurements -= &mean;
    let scale = measurements.mapv(|x| x * x).mean_axis(Axis(0)).ok_or("no wines")?.mapv(f64::sqrt);
    measurements /= &scale;
    table.column_mut(columns - 1).fill(1.0);
    Ok((table, truth))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (x, y) = wines()?;
    let mut ridge = Array1::from_elem(x.ncols(), RIDGE);
    // The last weight is the bias, which is not penalised.
    ridge[x.ncols() - 1] = 0.0;
    let mut w = Array1::zeros(x.ncols());
    for number in 1..=50 {
        let (cost, gradient) = graphs::cost_value_and_grad(&x, &y, &ridge, &w)?;
        let step = solve(&gradient, |direction| Ok(graphs::curvature(&x, &y, &ridge, &w, direction)?))?;
        let size = step.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        println!("step {number:>2}   cost {cost:<20} largest change {size:.1e}");
        w -= &step;
        if size < ENOUGH {
            break;
        }
    }
    let bias = w[x.ncols() - 1];
    println!("weights {:?}\nbias {bias:?}", w.slice(s![..-1]).to_vec());
    Ok(())
}

/// Solves `product(step) = gradient` by conjugate gradients, which end after as many steps as there are unknowns.
fn solve(
    gradient: &Array1<f64>,
    product: impl Fn(&Array1<f64>) -> Result<Array1<f64>, Box<dyn Error>>,
) -> Result<Array1<f64>, Box<dyn Error>> {
    let mut step = Array1::zeros(gradient.len());
    let (mut rest, mut direction) = (gradient.clone(), gradient.clone());
    let mut size = rest.dot(&rest);
    let enough = size * 1e-30;
    for _ in 0..2 * gradient.len() {
        if size <= enough {
            break;
        }
        let along = product(&direction)?;
        let length = size / direction.dot(&along);
        step.scaled_add(length, &direction);
        rest.scaled_add(-length, &along);
        let next = rest.dot(&rest);
        direction = &rest + &(direction * (next / size));
        size = next;
    }
    Ok(step)
}
