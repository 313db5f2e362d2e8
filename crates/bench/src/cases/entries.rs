//! Entries of a bundle. A thousand are opened, verified and bound; the first and the last entry are also timed alone.
//! The case also opens bundles of ten and of a hundred thousand entries, and several bundles as layers.
//!
//! Each entry is a graph with different constants. Either a hundred modules serve them all, or each has its own
//! module with ops that no other entry uses. Every served byte must be hashed, so hashing is the peer.

use super::built::write;
use super::{Bench, graph};
use crate::measure::{Runner, Sample, once};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result, ensure};
use precast::{FunctionGraph, Loader, Policy, Runtime};
use precast_build::Serve;
use precast_ops::GENERATOR;
use precast_store::{Bundle, Entry, write_bundle};
use std::hint::black_box;
use std::path::Path;

const ROUNDS: usize = 25;
const ENTRIES: usize = 1000;
/// The numbers of modules that serve the entries.
const MODULES: [usize; 2] = [100, ENTRIES];
/// The numbers of entries of a small and a large bundle.
const SIZES: [usize; 2] = [10, 100_000];
const LAYERS: usize = 4;

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let rounds = bench.rounds(ROUNDS);
    let directory = tempfile::tempdir()?;
    let mut found = Found::default();
    for modules in MODULES {
        of_modules(modules, directory.path(), rounds, &mut found)?;
    }
    found.lines.extend(of_any_size(directory.path(), rounds)?);
    Ok(found)
}

/// Measures entries that `modules` modules serve.
fn of_modules(modules: usize, place: &Path, rounds: usize, found: &mut Found) -> Result<()> {
    let file = place.join(format!("of-{modules}"));
    let names: Vec<String> = (0..ENTRIES).map(|at| format!("entry{at}")).collect();
    let graphs = names.iter().enumerate().map(|(at, name)| Ok((name.clone(), expression(at, modules)?)));
    write(&graphs.collect::<Result<Vec<_>>>()?, Serve::Whole, &file)?;
    let members: usize = Bundle::open(&file)?.records().iter().map(|record| record.members.len()).sum();
    ensure!(members == modules, "{members} modules serve {ENTRIES} entries, expected {modules}");
    let bytes = fs_err::read(&file)?;
    let all = Runner::new("precast", || {
        let loader = Loader::open(&file)?;
        names.iter().try_for_each(|name| loader.entry(name).map(drop))?;
        Ok(())
    });
    let hashed = Runner::new("BLAKE3 of the file's bytes", || {
        black_box(blake3::hash(black_box(&bytes)));
        Ok(())
    });
    let what = format!("open, verify and bind {ENTRIES} entries of {modules} modules");
    found.lines.push(Line::raced(&what, rounds, vec![all, hashed])?.target(Target::BelowPeerPlus(1e6)));
    found.lines.extend(one_by_one(&file, &names, modules, rounds)?);
    if modules == MODULES[0] {
        let loader = Loader::open(&file)?;
        let again = Runner::short("precast", || drop(black_box(loader.entry("entry7"))));
        found.lines.push(Line::raced("an entry again", rounds, vec![again])?.target(Target::Below(1e3)));
    }
    found.facts.push(format!("{ENTRIES} entries of {modules} modules are {} KiB", bytes.len() / 1024));
    Ok(())
}

/// Measures the first entry of an open bundle, and the last one after all the rest.
fn one_by_one(file: &Path, names: &[String], modules: usize, rounds: usize) -> Result<[Line; 2]> {
    let (mut first, mut last) = (Sample::default(), Sample::default());
    let [one, others @ .., end] = names else { anyhow::bail!("too few entries") };
    for round in 0..=rounds {
        let loader = Loader::open(file)?;
        let (first_ns, function) = once(|| loader.entry(one));
        function.context("the first entry")?;
        others.iter().try_for_each(|name| loader.entry(name).map(drop))?;
        let (last_ns, function) = once(|| loader.entry(end));
        function.context("the last entry")?;
        if round > 0 {
            first.push(first_ns);
            last.push(last_ns);
        }
    }
    let line = |what: &str, sample| Line::new(&format!("the {what} entry of {modules} modules"), sample, &[]);
    Ok([line("1st", &first), line(&format!("{ENTRIES}th"), &last)])
}

/// Measures embedded bundles with few and with many entries: opening one, opening it and loading its last entry, and
/// loading an entry from the last of several layers. No bundle is read as a whole, so all sizes cost the same.
fn of_any_size(place: &Path, rounds: usize) -> Result<Vec<Line>> {
    let file = place.join("one");
    write(&[("entry".to_owned(), graph("x + y", "xy", "f64[?]")?)], Serve::Whole, &file)?;
    let one = Bundle::open(&file)?;
    let records = one.records().into_iter().map(|record| Ok((record.clone(), one.load(&record)?.to_vec())));
    let records = records.collect::<Result<Vec<_>>>()?;
    let entry = one.find_entry("entry").context("the entry")?;
    let bundle = |names: &str, count: usize| -> Result<&'static [u8]> {
        let named = |at| Entry { name: format!("{names}{at}"), ..entry.clone() };
        let entries: Vec<Entry> = (0..count).map(named).collect();
        Ok(write_bundle(&records, &entries, GENERATOR)?.leak())
    };
    let mut lines = Vec::new();
    for count in SIZES {
        let (bytes, last) = (bundle("entry", count)?, format!("entry{}", count - 1));
        let open = Runner::short("precast", || drop(black_box(Loader::embedded(black_box(bytes)))));
        lines.push(Line::raced(&format!("open an embedded bundle of {count} entries"), rounds, vec![open])?);
        let ask = Runner::new("precast", || Ok(Loader::embedded(bytes)?.entry(&last).map(drop)?));
        lines.push(Line::raced(&format!("open it and load the last of {count} entries"), rounds, vec![ask])?);
    }
    let layers = (0..LAYERS).map(|at| bundle(&format!("layer{at}_"), SIZES[1]));
    let layers = layers.collect::<Result<Vec<_>>>()?;
    let last = format!("layer{}_{}", LAYERS - 1, SIZES[1] - 1);
    let ask = Runner::new("precast", || {
        let open = Runtime::builder().policy(Policy::Strict);
        let runtime = layers.iter().fold(open, |open, bytes| open.bundle(bytes)).build()?;
        Ok(runtime.entry(&last).map(drop)?)
    });
    let what = format!("open {LAYERS} layers of {} entries and load the last of the last", SIZES[1]);
    lines.push(Line::raced(&what, rounds, vec![ask])?);
    Ok(lines)
}

/// Returns the graph at a position: one of `modules` op chains, with constants of its position.
fn expression(at: usize, modules: usize) -> Result<FunctionGraph> {
    let mut text = format!("x * {at}.5");
    for bit in 0..modules.next_power_of_two().ilog2() {
        text = if ((at % modules) >> bit) & 1 == 1 {
            format!("sqrt({text} + y)")
        } else {
            format!("({text} - y)")
        };
    }
    graph(&text, "xy", "f64[?]")
}
