//! Builds a matrix of ops on one core, against one bare compiler run per op.
//!
//! ```text
//! arithmetic   every arithmetic op × every dtype it has × as many ranks as make 1000 combinations
//! mixed        also functions, reductions and movement
//! ```
//! Modules serve every rank, so there are fewer modules than combinations. The report shows both numbers.

use super::{Bench, bare_compiler, graph, variant, write_unit};
use crate::measure::{Runner, Sample, once, race};
use crate::report::{Figure, Found, Line, Target};
use anyhow::{Context as _, Result, ensure};
use precast::DType;
use precast_build::{Declared, Executed, Execution, Manifest, Matrix, Plan, SourceLocation, execute, plan};
use precast_compile::{Parallel, Toolchain};
use precast_ops::{Ops, combinations};
use precast_store::Store;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const ROUNDS: usize = 3;
/// The minimum number of combinations in the arithmetic matrix.
const COMBINATIONS: usize = 1000;
const ARITHMETIC: [&str; 13] =
    ["add", "sub", "mul", "div", "neg", "abs", "maximum", "minimum", "eq", "ne", "lt", "le", "sqrt"];
const PEER: &str = "one bare gcc -O3 -shared of a single op";

/// Returns a manifest whose matrix grows with the list of ranks; `rerun` uses it too.
pub(super) fn manifest(ranks: &[usize]) -> String {
    const ALL: &str = r#"["f32", "f64", "i64"]"#;
    const FLOATS: &str = r#"["f32", "f64"]"#;
    let everything =
        ["add", "sub", "mul", "maximum", "minimum", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"];
    let floats = ["div", "exp", "log", "sqrt", "tanh", "sigmoid", "mean"];
    let more = ["sum", "max", "switch", "transpose", "cast"];
    let everything = everything.iter().chain(&more).map(|name| (name, ALL));
    let ops = everything.chain(floats.iter().map(|name| (name, FLOATS)));
    let op = |(name, dtypes): (&&str, &str)| {
        format!("[[op]]\nname = \"{name}\"\ndtypes = {dtypes}\nndim = {ranks:?}\n")
    };
    ops.map(op).collect()
}

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let mut found = Found::default();
    let rounds = bench.rounds(ROUNDS);
    build("arithmetic", &arithmetic()?, rounds, 12e6, &mut found)?;
    let manifest = Manifest::parse(Path::new("precast.toml"), manifest(&[1, 2, 3]))?;
    let mut mixed = Declared::default();
    manifest.declare(&mut mixed)?;
    build("mixed", &mixed, rounds, 10e6, &mut found)?;
    Ok(found)
}

/// Declares every arithmetic op with every dtype it supports, in as few ranks as give enough combinations.
fn arithmetic() -> Result<Declared> {
    let ops = Ops::standard();
    let has = |name: &str, dtype: DType| combinations(name, &[dtype], &[1], &ops).is_ok();
    let dtypes = |name: &str| DType::ALL.into_iter().filter(|dtype| has(name, *dtype)).collect();
    let matrices = ARITHMETIC.map(|name| (name, dtypes(name)));
    let declared = |ranks: usize| {
        let mut declared = Declared::default();
        for (name, dtypes) in &matrices {
            let (name, place, ndim) =
                ((*name).to_owned(), SourceLocation::in_build("bench", name), (1..=ranks).collect());
            declared.op(Matrix { name, dtypes: BTreeSet::clone(dtypes), ndim, is_own: false, place });
        }
        declared
    };
    for ranks in 1..=32 {
        if plan(&declared(ranks))?.combinations >= COMBINATIONS {
            return Ok(declared(ranks));
        }
    }
    Ok(declared(32))
}

fn build(name: &str, declared: &Declared, rounds: usize, target_ns: f64, found: &mut Found) -> Result<()> {
    let (plan, toolchain) = (plan(declared)?, Toolchain::find(None)?);
    let variants = [variant(&toolchain)?];
    let parallel = Parallel::Jobs(NonZeroUsize::new(1).context("one is not zero")?);
    let execution = Execution { parallel, ..Execution::new(&toolchain, &variants) };
    let mut kept: Vec<Executed> = Vec::new();
    let ours = Runner::new("precast", || {
        kept.push(execute(&plan, &execution)?);
        Ok(())
    });
    let directory = tempfile::tempdir()?;
    let files = singles(directory.path())?;
    let bare = || {
        let (ns, result) = once(|| files.iter().try_for_each(|file| bare_compiler(file)));
        result.map(|()| ns / files.len() as f64)
    };
    let mut runners = [ours, Runner { name: PEER.to_owned(), round: Box::new(bare) }];
    let samples = race(rounds, &mut runners)?;
    drop(runners);
    let (combinations, modules) = (plan.combinations, plan.modules());
    let line = |what: &str, pieces: usize| {
        Line::new(&format!("{name}: {what} of {pieces}"), &samples[0].per(pieces), &[(PEER, &samples[1])])
    };
    found.lines.push(line("a combination", combinations).target(Target::Below(target_ns)));
    found.lines.push(line("a module", modules));
    let identical = kept
        .windows(2)
        .all(|pair| pair[0].artifacts == pair[1].artifacts && pair[0].entries == pair[1].entries);
    ensure!(identical, "two builds of one plan differ");
    found.facts.push(facts(name, &plan, &kept, &samples[0], &toolchain)?);
    Ok(())
}

/// Returns the counts and sizes of a build.
fn facts(
    name: &str,
    plan: &Plan,
    built: &[Executed],
    times: &Sample,
    toolchain: &Toolchain,
) -> Result<String> {
    let last = built.last().context("no build")?;
    let place = tempfile::tempdir()?;
    let archives = archive_bytes(plan, place.path())?;
    let whole = Figure::from(times).median_ns / 1e9;
    Ok(format!(
        "{name}: {} combinations are {} distinct modules in {} units, built in {whole:.1} s; archives {} KiB, one bundle {} KiB; \
         {} builds, every byte equal.",
        plan.combinations,
        plan.modules(),
        plan.units.len(),
        archives.div_ceil(1024),
        last.bundle(toolchain)?.len().div_ceil(1024),
        built.len(),
    ))
}

/// Returns the size of the archives in a store.
fn archive_bytes(plan: &Plan, place: &Path) -> Result<u64> {
    let store = Store::create(place.join("store"))?;
    let toolchain = Toolchain::find(None)?;
    let variants = [variant(&toolchain)?];
    let execution = Execution { store: Some(&store), ..Execution::new(&toolchain, &variants) };
    execute(plan, &execution)?;
    let mut bytes = 0;
    for shelf in fs_err::read_dir(store.path().join("objects"))? {
        for object in fs_err::read_dir(shelf?.path())? {
            bytes += object?.metadata()?.len();
        }
    }
    Ok(bytes)
}

/// Writes the peer's work: single ops, each a file in a separate directory.
fn singles(directory: &Path) -> Result<Vec<PathBuf>> {
    let texts = ["x + y", "x - y", "maximum(x, y)", "x < y", "abs(x)", "x / y"];
    let single = |(number, text): (usize, &&str)| {
        let directory = directory.join(number.to_string());
        fs_err::create_dir(&directory)?;
        write_unit(&graph(text, "xy", "f64[?]")?, &directory)
    };
    texts.iter().enumerate().map(single).collect()
}
