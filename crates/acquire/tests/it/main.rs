//! Compiles modules while another process holds their turn.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use precast_acquire::{Engine, Made, MakeError, Observer, Request};
use precast_codegen::{Host, Module};
use precast_compile::{Isa, Toolchain, host_target};
use precast_store::key::{Language, Profile};
use precast_store::{Layer, Store};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// The time that a thread gets to ask for the turn after it announced that.
const PAUSE: Duration = Duration::from_millis(500);

const BODY: &str = r##"
static void @M@_cleanup(void *self, pc_context *ctx) { (void)self; (void)ctx; }
static int @M@_init(void *self, pc_context *ctx, pc_object *const *slots) {
  (void)self; (void)ctx; (void)slots;
  return 0;
}
static int @M@_run(void *self, pc_context *ctx, pc_object **args) {
  (void)self; (void)ctx; (void)args;
  return 0;
}
static const pc_task @M@_tasks[] = {{PC_TASK_NONE, -1, -1}};
PC_EXTERN_C const pc_entry @M@_entry;
const pc_entry @M@_entry = {{@KEY@}, "nothing", "#d)#d", 0, 1, 1, 0, 1, 0, @M@_tasks, NULL,
                           @M@_init, @M@_run, @M@_cleanup};
"##;

/// Creates a module that computes nothing.
fn module() -> Arc<Module> {
    let sources = precast_abi::HEADERS.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text)));
    Arc::new(Module {
        signature: "nothing(f64[..]) -> f64[..]".to_owned(),
        ops: vec!["nothing(f64[..]) -> f64[..]".to_owned()],
        includes: vec!["precast/module.h".to_owned()],
        body: BODY.to_owned(),
        language: Language::C,
        host: Host::Native,
        sources: sources.collect(),
        flags: Vec::new(),
        removed_flags: Vec::new(),
        header_dirs: Vec::new(),
        libraries: Vec::new(),
        lib_dirs: Vec::new(),
        profile: Profile::Release,
        unpublished: false,
        is_alone: false,
        versions: Vec::new(),
        native: Err(precast_core::NoNative::State),
    })
}

/// Makes a module in several threads of this process while another holder of its turn, as in another process, lets
/// them wait.
fn make_second<T: Debug + Send>(
    threads: usize,
    store: &Store,
    levels: &[Isa],
    find: impl Fn() -> Option<T> + Sync,
) -> Vec<Result<Made<T>, Arc<MakeError>>> {
    let (module, layers) = (module(), [Layer::Store { store: store.clone(), writable: true }]);
    let observer: Observer = Arc::new(|_| {});
    let request =
        Request { module: &module, levels, fingerprint: None, layers: &layers, observer: &observer };
    let (engine, toolchain) = (Engine::default(), Toolchain::find(None).unwrap());
    let turn = Store::open(store.path()).unwrap().turn(&module.key(), PAUSE);
    let barrier = Barrier::new(threads + 1);
    let make = || {
        barrier.wait();
        engine.make(&request, &toolchain, &find)
    };
    thread::scope(|scope| {
        let second: Vec<_> = (0..threads).map(|_| scope.spawn(make)).collect();
        barrier.wait();
        thread::sleep(PAUSE);
        drop(turn);
        second.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    (directory, store)
}

#[test]
fn waiting_engine_uses_the_module_of_another_process() {
    let (_directory, store) = store();
    let made = make_second(1, &store, &[], || Some("found"));
    assert!(matches!(made[..], [Ok(Made::Elsewhere("found"))]), "{made:?}");
    assert_eq!(store.records().count(), 0);
}

#[test]
fn waiting_engine_compiles_every_named_level() {
    let (_directory, store) = store();
    let levels = if cfg!(target_arch = "x86_64") {
        vec![Isa::X86_64V2, Isa::X86_64V3]
    } else {
        Isa::defaults(&host_target())
    };
    let made = make_second(1, &store, &levels, || Some("found"));
    let [Ok(Made::Here(made))] = &made[..] else { panic!("{made:?}") };
    assert_eq!(made.len(), levels.len());
    let published: BTreeSet<String> = store.records().map(|record| record.unwrap().isa).collect();
    assert_eq!(published, levels.iter().map(|level| level.name().to_owned()).collect());
}

#[test]
fn removed_module_is_an_error_after_another_compile() {
    let (_directory, store) = store();
    let lookups = AtomicUsize::new(0);
    // Only the first lookup finds the module; the other thread looks it up again.
    let find = || (lookups.fetch_add(1, Ordering::SeqCst) == 0).then_some(());
    let made = make_second(2, &store, &[], find);
    let removed = made.iter().filter_map(|made| made.as_ref().err());
    let removed: Vec<String> = removed.map(ToString::to_string).collect();
    assert_eq!(removed, ["another process compiled it, and it was removed since\nhint: try again"]);
    assert!(made.iter().any(|made| matches!(made, Ok(Made::Elsewhere(())))), "{made:?}");
}
