//! Throughput over arrays far larger than the caches, on one thread.

use super::{Found, graph};
use crate::measure::{Sample, in_turn, once};
use crate::report::{Row, Target};
use anyhow::{Result, ensure};
use ndarray::{Array1, Zip};
use precast::{Array, ArrayRef, Policy, Runtime};
use std::hint::black_box;
use std::process::Command;

const LEN: usize = 10_000_000;
const ROUNDS: usize = 9;
const FLOOR: &str = "reading the three arrays";

pub(crate) fn run() -> Result<Found> {
    let [x, y, z] = [0.1, 0.2, 0.3].map(|step| Array1::from_shape_fn(LEN, |i| (i as f64 * step).sin()));
    let inputs = [x.view(), y.view(), z.view()].map(ArrayRef::from);
    let runtime = Runtime::builder().policy(Policy::Jit).build()?;
    let numpy = numpy();
    let peers = numpy.as_ref().map_or([None, None], |[score, product]| [Some(score), Some(product)]);
    let mut found = Found::default();
    found.rows.extend(score(&runtime, &inputs, [&x, &y, &z], peers[0])?);
    found.rows.extend(product(&runtime, &inputs, [&x, &y, &z], peers[1])?);
    if numpy.is_none() {
        found
            .skipped
            .push("NumPy as a peer of throughput: `python3 -c 'import numpy'` fails here".to_owned());
    }
    Ok(found)
}

fn score(
    runtime: &Runtime,
    inputs: &[ArrayRef<'_>],
    [x, y, z]: [&Array1<f64>; 3],
    numpy: Option<&Sample>,
) -> Result<Vec<Row>> {
    let function = runtime.function(&graph("sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?)?;
    let mut out = [Array::from(0.0_f64)];
    let (ours, scalar) = in_turn(
        ROUNDS,
        || Ok(function.call_into(inputs, &mut out)?),
        || {
            let terms = x.iter().zip(y).zip(z).map(|((x, y), z)| (-x * x).exp() * y + z);
            black_box(terms.sum::<f64>());
            Ok(())
        },
    )?;
    let sum = black_box((0..LEN).map(|i| (-x[i] * x[i]).exp() * y[i] + z[i]).sum::<f64>());
    let Array::F64(found) = &out[0] else { anyhow::bail!("another dtype") };
    ensure!((found.sum() - sum).abs() < 1e-6 * sum.abs(), "{found} is not {sum}");
    let mut kept = Array1::<f64>::zeros(LEN);
    let zip = rounds(|| {
        Zip::from(&mut kept).and(x).and(y).and(z).for_each(|o, x, y, z| *o = (-x * x).exp() * y + z);
        black_box(kept.sum());
    });
    let floor = rounds(|| {
        let _ = black_box(read(&[x, y, z]));
    });
    let what = "sum(exp(-x*x)*y+z), 1e7 f64, one thread";
    let row = |peer, theirs| Row::new("throughput", what, &ours, peer, theirs).target(Target::Below(12e6));
    let peers = [("Rust loop with f64::exp", &scalar), ("ndarray Zip, then sum", &zip), (FLOOR, &floor)];
    Ok(peers
        .into_iter()
        .chain(numpy.map(|sample| ("NumPy", sample)))
        .map(|(peer, theirs)| row(peer, theirs))
        .collect())
}

fn product(
    runtime: &Runtime,
    inputs: &[ArrayRef<'_>],
    [x, y, z]: [&Array1<f64>; 3],
    numpy: Option<&Sample>,
) -> Result<Vec<Row>> {
    let function = runtime.function(&graph("(x + y) * z", "xyz", "f64[?]")?)?;
    let mut out = [Array::from(Array1::<f64>::zeros(LEN).into_dyn())];
    let mut kept = Array1::<f64>::zeros(LEN);
    let mut looped = vec![0.0; LEN];
    let (ours, zip) = in_turn(
        ROUNDS,
        || Ok(function.call_into(inputs, &mut out)?),
        || {
            Zip::from(&mut kept).and(x).and(y).and(z).for_each(|o, x, y, z| *o = (x + y) * z);
            black_box(&kept);
            Ok(())
        },
    )?;
    let scalar = rounds(|| {
        for (((o, x), y), z) in looped.iter_mut().zip(x).zip(y).zip(z) {
            *o = (x + y) * z;
        }
        black_box(&looped);
    });
    let floor = rounds(|| {
        let _ = black_box(read(&[x, y, z]));
    });
    let what = "(x+y)*z, 1e7 f64, one thread, output reused";
    let row = |peer, theirs| Row::new("throughput", what, &ours, peer, theirs);
    let peers = [("Rust loop", &scalar), ("ndarray Zip", &zip), (FLOOR, &floor)];
    Ok(peers
        .into_iter()
        .chain(numpy.map(|sample| ("NumPy", sample)))
        .map(|(peer, theirs)| row(peer, theirs))
        .collect())
}

fn rounds(mut work: impl FnMut()) -> Sample {
    let mut sample = Sample::default();
    for round in 0..=ROUNDS {
        let (ns, ()) = once(&mut work);
        if round > 0 {
            sample.push(ns);
        }
    }
    sample
}

/// Reads every element once, in eight independent sums, the arrays side by side: the floor that memory sets.
fn read(arrays: &[&Array1<f64>]) -> f64 {
    let slices: Vec<&[f64]> = arrays.iter().filter_map(|array| array.as_slice()).collect();
    let mut sums = [0.0; 8];
    for start in (0..LEN).step_by(8) {
        for lanes in slices.iter().filter_map(|slice| slice.get(start..start + 8)) {
            sums.iter_mut().zip(lanes).for_each(|(sum, x)| *sum += x);
        }
    }
    sums.iter().sum()
}

/// NumPy's durations of the two expressions; `None` where there is no NumPy.
fn numpy() -> Option<[Sample; 2]> {
    let script = include_str!("../../numpy_peer.py");
    let output = Command::new("python3").args(["-c", script]).env("OMP_NUM_THREADS", "1").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut samples = text.lines().map(|line| {
        let mut sample = Sample::default();
        sample.extend(line.split(' ').filter_map(|ns| ns.parse::<f64>().ok()));
        sample
    });
    Some([samples.next()?, samples.next()?])
}
