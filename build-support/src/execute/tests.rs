//! Tests with the real compiler: the result depends only on the plan, the variants and the toolchain.

use super::{ExecuteError, Executed, Execution, Locked, Mode, execute, pack};
use crate::declared::{Declared, matrix};
use crate::history;
use crate::lock::{Lock, LockError, Pin};
use crate::manifest::Manifest;
use crate::place::SourceLocation;
use crate::plan::{Plan, plan};
use precast_acquire::Reason;
use precast_compile::{Isa, Parallel, Variant};
use precast_store::{ActionCache, ActionKey, Bundle, CachedAction, Digest, Record, Store};
use precast_testkit::compiler::{toolchain, variants};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Plans a few matrices and a graph: at least two units.
fn small() -> Plan {
    let mut declared = Declared::default();
    let text =
        "[[graph]]\nname = \"score\"\ninputs = [\"x: f64[?]\", \"y: f64[?]\"]\noutputs = [\"(x + y) * x\"]\n";
    let manifest = Manifest::parse(Path::new("precast.toml"), text.to_owned()).unwrap();
    manifest.declare(&mut declared).unwrap();
    for name in ["add", "mul"] {
        let place = SourceLocation::in_build("op", name);
        let lists = (["f32", "f64"].map(|dtype| (dtype, place.clone())), [(1, place.clone())]);
        declared.op(matrix(name, &lists.0, &lists.1, place).0);
    }
    plan(&declared).unwrap()
}

fn run(plan: &Plan, store: Option<&Store>, jobs: usize) -> Executed {
    let parallel = Parallel::Jobs(NonZeroUsize::new(jobs).unwrap());
    let (toolchain, variants) = (toolchain(), variants());
    let execution = Execution { store, parallel, ..Execution::new(&toolchain, &variants) };
    execute(plan, &execution).unwrap()
}

fn objects(store: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(store.join("objects")).sort_by_file_name().into_iter().flatten();
    files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn contents(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let relative = |path: &Path| path.strip_prefix(store).unwrap().to_owned();
    objects(store).iter().map(|path| (relative(path), fs_err::read(path).unwrap())).collect()
}

#[test]
fn bytes_ignore_store_directory_and_jobs() {
    let plan = small();
    let whole = tempfile::tempdir().unwrap();
    let first = run(&plan, Some(&Store::create(whole.path()).unwrap()), 1);
    assert_eq!((first.hits, first.compiled), (0, plan.units.len()));
    assert!(first.compiled >= 2 && first.is_hermetic);
    let bundle = first.bundle(&toolchain()).unwrap();

    // Use another directory and more jobs; half of the units exist already.
    let other = tempfile::tempdir().unwrap();
    let place = other.path().join("a longer name of a directory");
    let half = Plan { units: plan.units[..1].to_vec(), entries: Vec::new(), ..plan.clone() };
    run(&half, Some(&Store::create(&place).unwrap()), 1);
    let second = run(&plan, Some(&Store::create(&place).unwrap()), 2);
    assert_eq!((second.hits, second.compiled), (1, plan.units.len() - 1));
    assert_eq!(second.bundle(&toolchain()).unwrap(), bundle);
    assert_eq!(contents(&place), contents(whole.path()));

    // Run without a store.
    assert_eq!(run(&plan, None, 2).bundle(&toolchain()).unwrap(), bundle);

    // Run with all units in the store.
    let third = run(&plan, Some(&Store::create(&place).unwrap()), 2);
    assert_eq!((third.hits, third.compiled), (plan.units.len(), 0));
    assert_eq!(third.bundle(&toolchain()).unwrap(), bundle);
}

#[test]
fn level_modules_are_packed_to_a_limit() {
    let (plan, toolchain, variants) = (small(), toolchain(), variants());
    let mut executed = run(&plan, None, 2);
    let modules: usize = plan.units.iter().map(|unit| unit.members().len()).sum();
    let bundle = Bundle::from_bytes(executed.bundle(&toolchain).unwrap()).unwrap();
    let records: Vec<(String, usize)> =
        bundle.records().into_iter().map(|record| (record.isa, record.members.len())).collect();
    assert_eq!(records.len(), variants.len());
    for variant in &variants {
        assert!(records.contains(&(variant.isa.name().to_owned(), modules)), "{records:?}");
    }
    // A linker ignores bytes after the sections of an object.
    for artifact in &mut executed.artifacts {
        artifact.object.resize(pack::LIMIT / 2 + 1, 0);
    }
    assert_eq!(executed.packs(&toolchain).unwrap().len(), plan.units.len() * variants.len());
}

#[test]
fn damaged_object_is_recompiled() {
    let plan = small();
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let bundle = run(&plan, Some(&store), 2).bundle(&toolchain()).unwrap();
    let before = contents(directory.path());
    let [flipped, truncated, ..] = &objects(directory.path())[..] else { panic!("two objects") };
    let mut bytes = fs_err::read(flipped).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    for (path, bytes) in [(flipped, &bytes[..]), (truncated, &[])] {
        fs_err::remove_file(path).unwrap();
        fs_err::write(path, bytes).unwrap();
    }
    let again = run(&plan, Some(&store), 2);
    assert_eq!((again.compiled, again.bundle(&toolchain()).unwrap()), (2, bundle));
    let damage = again.warnings().into_iter().filter(|warning| warning.contains("is damaged"));
    assert_eq!(damage.count(), 2, "{:?}", again.events);
    assert_eq!(contents(directory.path()), before);
    assert_eq!(run(&plan, Some(&store), 2).compiled, 0);
}

#[test]
fn failed_unit_is_named() {
    let plan = small();
    let foreign = if cfg!(target_arch = "aarch64") { Isa::X86_64V2 } else { Isa::Aarch64 };
    let variants = [Variant { isa: foreign, ..variants()[0].clone() }];
    let toolchain = toolchain();
    let execution = Execution::new(&toolchain, &variants);
    let Err(ExecuteError::Compile { failures }) = execute(&plan, &execution) else { panic!("an error") };
    assert_eq!(failures.len(), plan.units.len());
    assert!(failures[0].to_string().contains("does not exist on"), "{}", failures[0]);
}

/// Returns the reasons for compiling the first unit of a plan after `change` was applied to the records of another
/// store.
fn why(change: impl Fn(&mut Record) -> Vec<Record>) -> Vec<Reason> {
    let plan = small();
    let plan = Plan { units: plan.units[..1].to_vec(), entries: Vec::new(), ..plan };
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (whole, changed) = (Store::create(from.path()).unwrap(), Store::create(to.path()).unwrap());
    run(&plan, Some(&whole), 1);
    for record in whole.records() {
        let mut record = record.unwrap();
        let archive = whole.load(&record).unwrap();
        for record in change(&mut record) {
            changed.publish(&archive, &record).unwrap();
        }
    }
    let executed = run(&plan, Some(&changed), 1);
    let [one] = &executed.compilations[..] else { panic!("{:?}", executed.compilations) };
    assert!(executed.compiled == 1 && one.millis < 600_000, "{one:?}");
    // The next build compiles nothing.
    assert_eq!(run(&plan, Some(&changed), 1).compilations, []);
    one.why.clone()
}

/// Splits the record of a unit: its first module, and the other modules.
fn halves(record: &Record) -> Vec<Record> {
    let half = |from: bool, byte| {
        let members = record.members.iter().enumerate().filter(|(at, _)| (*at == 0) == from);
        let members = members.map(|(_, member)| member.clone()).collect();
        Record { action: ActionKey::from_bytes([byte; 32]), members, ..record.clone() }
    };
    vec![half(true, 1), half(false, 2)]
}

#[test]
fn every_reason_for_compiling_is_reported() {
    let other = |record: &mut Record| record.action = ActionKey::from_bytes([9; 32]);
    let with = |change: &dyn Fn(&mut Record)| {
        why(|record| {
            other(record);
            change(record);
            vec![record.clone()]
        })
    };
    assert_eq!(with(&|record| record.toolchain = None), [Reason::Compiler]);
    assert_eq!(with(&|_| {}), [Reason::Flags]);
    let isa = Reason::Isa { found: vec!["x86-64-v9".into()] };
    assert_eq!(with(&|record| "x86-64-v9".clone_into(&mut record.isa)), std::slice::from_ref(&isa));
    let target = "riscv64gc-unknown-linux-gnu";
    assert_eq!(
        with(&|record| target.clone_into(&mut record.target)),
        [Reason::Target { found: vec![target.into()] }]
    );
    let split = |change: &dyn Fn(&mut Record)| {
        why(|record| {
            change(record);
            halves(record)
        })
    };
    assert_eq!(split(&|_| {}), [Reason::Neighbours]);
    // All of the differences are reported, in the order of the key table.
    let isa_and_compiler = |record: &mut Record| {
        "x86-64-v9".clone_into(&mut record.isa);
        record.toolchain = None;
    };
    assert_eq!(with(&isa_and_compiler), [isa.clone(), Reason::Compiler]);
    assert_eq!(split(&isa_and_compiler), [Reason::Neighbours, isa, Reason::Compiler]);
    let one = with(&|record| record.members.retain(|member| member.signature.contains("(f64")));
    assert!(
        matches!(&one[..], [Reason::Nearest { summary, .. }] if summary.contains("differs in")),
        "{one:?}"
    );
    assert!(matches!(why(|_| Vec::new())[..], [Reason::New { .. }]));
    let plan = small();
    assert!(run(&plan, None, 2).compilations.iter().all(|one| one.why == [Reason::NoLayer]));
    // The archive is lost.
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    run(&plan, Some(&store), 2);
    objects(directory.path()).iter().for_each(|object| fs_err::remove_file(object).unwrap());
    let lost = run(&plan, Some(&store), 2).compilations;
    assert!(
        lost.len() == plan.units.len()
            && lost.iter().all(|one| matches!(one.why[..], [Reason::Unusable { .. }])),
        "{lost:?}"
    );
}

#[test]
fn history_keeps_only_the_last_builds() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    assert_eq!(history::last(directory.path()), None);
    let executed = run(&small(), None, 2);
    for number in 0..25 {
        history::remember(&store, Path::new(&format!("{number}.toml")), &executed);
        // File names contain seconds and the process id, so the files of this process are backdated.
        let from = directory.path().join("builds");
        for entry in from
            .read_dir()
            .unwrap()
            .flatten()
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with("00000000000"))
        {
            fs_err::rename(entry.path(), from.join(format!("00000000000{:02}.json", number))).unwrap();
        }
    }
    history::remember(&store, Path::new("last.toml"), &executed);
    let last = history::last(directory.path()).unwrap();
    assert_eq!((last.what.as_str(), &last.compilations), ("last.toml", &executed.compilations));
    assert_eq!(directory.path().join("builds").read_dir().unwrap().count(), 20);
    let none = Executed { compilations: Vec::new(), ..executed };
    history::remember(&store, Path::new("none.toml"), &none);
    assert_eq!(history::last(directory.path()).unwrap().what, "last.toml");
    store.check_trust().unwrap();
    assert!(store.verify().unwrap().is_intact());
}

#[test]
fn rejected_pins_are_not_published() {
    let (plan, directory) = (small(), tempfile::tempdir().unwrap());
    let store = |name: &str| Store::create(directory.path().join(name)).unwrap();
    let first = store("first");
    let executed = run(&plan, Some(&first), 1);
    let lock = Lock::of(&plan).pinning(executed.records());
    let held = |lock: &Lock, store: &Store, compiles: bool| {
        let toolchain = toolchain();
        let variants = &variants();
        let locked = Some(Locked { lock, path: Path::new("precast.lock") });
        let mode = if compiles { Mode::Compile } else { Mode::Reuse };
        let execution = Execution::new(&toolchain, variants);
        execute(&plan, &Execution { store: Some(store), mode, locked, ..execution })
    };
    let second = store("second");
    assert_eq!(held(&lock, &second, true).unwrap().artifacts, executed.artifacts);
    assert_eq!(held(&lock, &second, false).unwrap().compiled, 0);
    // If one of several archives differs, none is published, and no named graph.
    for pin in &lock.pins {
        let mut wrong = lock.clone();
        wrong.pins.remove(pin);
        wrong.pins.insert(Pin { digest: Digest::from_bytes([0; 32]), ..pin.clone() });
        let refused = held(&wrong, &store("third"), true).unwrap_err();
        let ExecuteError::Lock(LockError::Pinned { lines, .. }) = &refused else { panic!("{refused}") };
        assert!(lines.len() == 1 && lines[0].contains("pinned archive `0000"), "{lines:?}");
        let third = store("third");
        assert!(third.records().next().is_none() && third.entries().unwrap().is_empty());
        assert_eq!(objects(third.path()), Vec::<PathBuf>::new());
        // A deleted line is an error too.
        wrong.pins = lock.pins.iter().filter(|other| *other != pin).cloned().collect();
        held(&wrong, &store("third"), true).unwrap_err();
        assert!(third.records().next().is_none());
    }
}

/// A cache with the contents of a store.
struct Filled(Vec<CachedAction>);

impl Filled {
    fn of(store: &Store) -> Self {
        let result = |record: Record| {
            let archive = store.load_whole(&record).unwrap().unwrap();
            CachedAction { record, archive, signatures: String::new() }
        };
        Self(store.records().map(|record| result(record.unwrap())).collect())
    }
}

impl ActionCache for Filled {
    fn find(&self, actions: &[ActionKey]) -> Vec<Option<CachedAction>> {
        let of = |action: &ActionKey| self.0.iter().find(|known| known.record.action == *action).cloned();
        actions.iter().map(of).collect()
    }

    fn put(&self, _: &[CachedAction]) {}
}

#[test]
fn partly_pinned_builds_publish_nothing() {
    let (plan, directory) = (small(), tempfile::tempdir().unwrap());
    let store = |name: &str| Store::create(directory.path().join(name)).unwrap();
    let first = store("first");
    let executed = run(&plan, Some(&first), 1);
    let (lock, cache) = (Lock::of(&plan).pinning(executed.records()), Filled::of(&first));
    let path = Path::new("precast.lock");
    let (toolchain, variants) = (toolchain(), variants());
    let taken = |lock: &Lock, cache: &Filled| {
        let (filled, locked) = (store("filled"), Some(Locked { lock, path }));
        let (store, cache) = (Some(&filled), Some(cache as &dyn ActionCache));
        let execution =
            Execution { store, cache, mode: Mode::Reuse, locked, ..Execution::new(&toolchain, &variants) };
        execute(&plan, &Execution { toolchain: None, ..execution })
    };
    // The same with a toolchain, with and without compiling allowed.
    let held = |lock: &Lock, cache: &Filled, compiles: bool| {
        let filled = store("filled");
        let (store, cache) = (Some(&filled), Some(cache as &dyn ActionCache));
        let mode = if compiles { Mode::Compile } else { Mode::Reuse };
        let execution = Execution { store, cache, mode, ..Execution::new(&toolchain, &variants) };
        execute(&plan, &Execution { locked: Some(Locked { lock, path }), ..execution })
    };
    for pin in &lock.pins {
        // A line is deleted.
        let mut other = lock.clone();
        other.pins.remove(pin);
        let refused = taken(&other, &cache).unwrap_err();
        assert!(matches!(refused, ExecuteError::Lock(LockError::Pinned { .. })), "{refused}");
        // The digest differs.
        other.pins.insert(Pin { digest: Digest::from_bytes([0; 32]), ..pin.clone() });
        let refused = taken(&other, &cache).unwrap_err().to_string();
        assert!(refused.contains(&format!("the cache has `{}`", pin.digest.short())), "{refused}");
        assert!(refused.contains("the lock file pins `0000"), "{refused}");
        let refused = [false, true].map(|compiles| held(&other, &cache, compiles).unwrap_err());
        assert!(
            matches!(
                refused,
                [ExecuteError::MissingModules { .. }, ExecuteError::Lock(LockError::Pinned { .. })]
            ),
            "{refused:?}"
        );
        // The cache lacks the archive.
        let others = cache.0.iter().filter(|known| known.record.action != pin.action);
        let others = Filled(others.cloned().collect());
        for refused in [taken(&lock, &others), held(&lock, &others, false)] {
            assert!(matches!(refused, Err(ExecuteError::MissingModules { .. })), "{refused:?}");
        }
        let filled = store("filled");
        assert!(filled.records().next().is_none() && filled.entries().unwrap().is_empty());
        assert_eq!(objects(filled.path()), Vec::<PathBuf>::new());
    }
    let filled = taken(&lock, &cache).unwrap();
    assert_eq!((filled.fetched, &filled.artifacts), (plan.units.len(), &executed.artifacts));
    assert_eq!(taken(&lock, &Filled(Vec::new())).unwrap().hits, plan.units.len());
    assert_eq!(held(&lock, &Filled(Vec::new()), false).unwrap().artifacts, executed.artifacts);
}

#[test]
fn builds_at_once_compile_each_unit_once() {
    let (plan, directory) = (small(), tempfile::tempdir().unwrap());
    let alone = run(&plan, None, 1);
    let start = std::sync::Barrier::new(6);
    let built: Vec<Executed> = std::thread::scope(|scope| {
        let build = || {
            let store = Store::create(directory.path()).unwrap();
            start.wait();
            run(&plan, Some(&store), 1)
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(build)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(built.iter().map(|one| one.compiled).sum::<usize>(), alone.compiled);
    for one in &built {
        assert_eq!((&one.artifacts, one.compiled + one.hits), (&alone.artifacts, alone.compiled));
        assert_eq!((one.compilations.len(), one.fresh.len()), (one.compiled, one.compiled));
    }
}
