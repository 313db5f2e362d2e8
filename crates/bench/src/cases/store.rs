//! The store: a hit, a durable publish, verification, and stores of several sizes.
//!
//! Peers do the minimum of the same work. ccache finds an object by its inputs, two fsyncs make a file and a
//! statement about it durable, and BLAKE3 reads every byte once.

use super::{Bench, compiled, graph, write_unit};
use crate::measure::{Runner, process};
use crate::report::{Found, Line, Target};
use anyhow::{Context as _, Result, ensure};
use precast_compile::Compiled;
use precast_store::archive::{Archive, Limits, SHARED_OBJECT};
use precast_store::key::ContentId;
use precast_store::{ActionKey, Layer, Record, Store};
use std::hint::black_box;
use std::io::Write as _;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

const ROUNDS: usize = 100;
/// The numbers of records of a small, a larger and a large store.
const SIZES: [usize; 3] = [100, 10_000, 100_000];
/// The start of a range of numbers that no round uses.
const USED: usize = 1 << 20;
/// The number of verified archives, and the size of each in bytes.
const VERIFIED: (usize, usize) = (32, 1 << 20);

pub(crate) fn run(bench: &Bench) -> Result<Found> {
    let rounds = bench.rounds(ROUNDS);
    let directory = tempfile::tempdir()?;
    let place = directory.path();
    let compiled = compiled(&graph("out = sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?)?;
    let mut found = Found::default();
    hit(place, &compiled, rounds, &mut found)?;
    found.lines.push(publish(place, &compiled, rounds)?);
    found.lines.push(verify(place, &compiled, bench.rounds(10))?);
    let sizes = if bench.quick { &SIZES[..1] } else { &SIZES };
    for size in sizes {
        found.lines.push(of_size(place, &compiled, *size, rounds)?);
    }
    Ok(found)
}

/// Returns the artifact with `bytes` bytes of real machine code, and with different modules for each `number`.
fn sized(compiled: &Compiled, bytes: usize, number: usize) -> Result<Compiled> {
    let mut archive = compiled.archive.clone();
    archive.members.insert(SHARED_OBJECT.to_owned(), code(bytes, number)?);
    let mut record = other(&compiled.record, number);
    (record.digest, record.size) = (archive.digest()?, archive.size());
    Ok(Compiled { archive, record })
}

/// Returns machine code of this program, from its middle because tables of symbols and constants come first.
fn code(bytes: usize, number: usize) -> Result<Vec<u8>> {
    let program = fs_err::read(std::env::current_exe()?)?;
    let start = program.len() / 2 + number;
    Ok(program.get(start..start + bytes).context("this program is too small")?.to_vec())
}

/// Returns a record of other modules.
fn other(record: &Record, number: usize) -> Record {
    let mut record = record.clone();
    let id = ContentId::of(number.to_string());
    record.action = ActionKey::from_bytes(*id.as_bytes());
    for member in &mut record.members {
        member.fingerprints.clear();
        if let Some(document) = &mut member.document {
            document.text = id;
            member.key = document.key();
        }
    }
    record
}

fn hit(place: &Path, compiled: &Compiled, rounds: usize, found: &mut Found) -> Result<()> {
    let Compiled { archive, record } = sized(compiled, 200 << 10, 1)?;
    let store = Store::create(place.join("hit"))?;
    store.publish(&archive, &record)?;
    let (key, layer) = (record.members[0].key, Layer::from(store));
    // Same steps as in a runtime.
    let ours = || {
        Runner::new("precast", || {
            let found = layer.find(&key)?;
            let loaded = layer.load(found.first().context("a miss")?)?;
            black_box(loaded.map_err(anyhow::Error::msg)?);
            Ok(())
        })
    };
    let what = "find, decode and verify 200 KiB";
    found.lines.push(Line::raced(what, rounds, vec![ours()])?.target(Target::Below(0.3e6)));
    let unit =
        write_unit(&graph("out = sum(exp(-x*x)*y + z)", "xyz", "f64[?]")?, &place.join("ccache-unit"))?;
    let ccache = || {
        let mut command = Command::new("ccache");
        command.env("CCACHE_DIR", place.join("ccache")).current_dir(place.join("ccache-unit"));
        command.args(["gcc", "-O3", "-fPIC", "-Iinclude", "-c"]).arg(&unit).args(["-o", "unit.o"]);
        process(&mut command)
    };
    if ccache().is_err() {
        found.skipped.push("a hit compared with ccache's: `ccache` is not installed".to_owned());
        return Ok(());
    }
    let runners = vec![ours(), Runner::new("ccache, a direct hit, its process", ccache)];
    found.lines.push(Line::raced("the same", rounds, runners)?.target(Target::TimesPeer(0.125)));
    Ok(())
}

fn publish(place: &Path, compiled: &Compiled, rounds: usize) -> Result<Line> {
    let path = place.join("publish");
    // The store is in use, so most of its directories exist.
    fill(&path, compiled, USED..USED + 2000)?;
    let store = Store::open(path)?;
    let bytes = 64 << 10;
    let mut all = (0..=rounds).map(|number| sized(compiled, bytes, number)).collect::<Result<Vec<_>>>()?;
    let content = code(bytes, 0)?;
    let ours = Runner::new("precast", move || {
        let Compiled { archive, record } = all.pop().context("too many rounds")?;
        ensure!(store.publish(&archive, &record)?.fresh, "it was there");
        Ok(())
    });
    let mut number = 0;
    let files = place.join("files");
    fs_err::create_dir(&files)?;
    let peer = Runner::new("two files of that size, each fsynced", move || {
        for _ in 0..2 {
            number += 1;
            let mut file = fs_err::File::create(files.join(number.to_string()))?;
            file.write_all(&content)?;
            file.sync_all()?;
        }
        Ok(())
    });
    Ok(Line::raced("publish 64 KiB durably", rounds, vec![ours, peer])?.target(Target::TimesPeer(1.3)))
}

fn verify(place: &Path, compiled: &Compiled, rounds: usize) -> Result<Line> {
    let store = Store::create(place.join("verify"))?;
    let (mut contents, mut frames) = (Vec::new(), Vec::new());
    for number in 0..VERIFIED.0 {
        let Compiled { archive, record } = sized(compiled, VERIFIED.1, number)?;
        store.publish(&archive, &record)?;
        frames.push(archive.pack()?.1);
        contents.push(archive.members.into_values().flatten().collect::<Vec<u8>>());
    }
    let ours = Runner::new("precast", || {
        ensure!(store.verify()?.is_intact(), "damage");
        Ok(())
    });
    let peer = Runner::new("BLAKE3 of the same bytes, in memory", || {
        for content in &contents {
            black_box(blake3::hash(black_box(content)));
        }
        Ok(())
    });
    let decoded = Runner::new("decoded and hashed, in memory, by one thread", || {
        for frame in &frames {
            black_box(Archive::unpack(black_box(frame), &Limits::default())?);
        }
        Ok(())
    });
    let what = format!("verify {} archives of {} MiB", VERIFIED.0, VERIFIED.1 >> 20);
    Ok(Line::raced(&what, rounds, vec![ours, peer, decoded])?.target(Target::TimesPeer(1.25)))
}

/// Publishes records of other modules, all with one archive.
fn fill(path: &Path, compiled: &Compiled, numbers: Range<usize>) -> Result<()> {
    let store = Store::create(path)?;
    let numbers: Vec<usize> = numbers.collect();
    for some in numbers.chunks(2000) {
        let records: Vec<Record> = some.iter().map(|number| other(&compiled.record, *number)).collect();
        let items: Vec<_> = records.iter().map(|record| (&compiled.archive, record)).collect();
        store.publish_all(&items).map_err(|(_, error)| error)?;
    }
    Ok(())
}

fn of_size(place: &Path, compiled: &Compiled, size: usize, rounds: usize) -> Result<Line> {
    let (large, small) = (place.join("large"), place.join(format!("small-{size}")));
    fill(&large, compiled, 0..size)?;
    fill(&small, compiled, 0..SIZES[0])?;
    let key = other(&compiled.record, SIZES[0] / 2).members[0].key;
    let find = |path: &Path| {
        ensure!(Store::open(path)?.find(&key)?.len() == 1, "a miss");
        Ok(())
    };
    let ours = Runner::new("precast", || find(&large));
    let peer = Runner::new(&format!("in a store of {}", SIZES[0]), || find(&small));
    let what = format!("open and find, {size} records");
    Ok(Line::raced(&what, rounds, vec![ours, peer])?.target(Target::TimesPeer(1.25)))
}
