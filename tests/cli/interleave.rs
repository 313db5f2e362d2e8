//! Two commands at once, in every order of their calls. One command is stopped at each call that changes the store;
//! meanwhile another one runs to its end. Readers see only intact data, and both commands succeed.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use precast_store::Store;
use rustix::process::{Pid, Signal, kill_process};

use crate::crash::{calls, check, copy, may_trace};
use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{ISA, Sandbox};

/// A command that `strace` stops at a call.
struct Stopped {
    tracer: Child,
    command: Pid,
}

impl Stopped {
    fn at(place: &Sandbox, arguments: &[&str], (name, count): &(String, usize)) -> Self {
        let inner = place.command(arguments);
        let mut strace = Command::new("strace");
        strace.args(["-qq", "-o", "stop.log", "-e", &format!("inject={name}:signal=STOP:when={count}")]);
        strace.arg(inner.get_program()).args(inner.get_args()).current_dir(place.path("")).env_clear();
        fs_err::write(place.path("stop.log"), "").unwrap();
        let mut tracer = strace.stdout(std::process::Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while !fs_err::read_to_string(place.path("stop.log")).unwrap().contains("--- stopped by SIGSTOP ---")
        {
            assert!(tracer.try_wait().unwrap().is_none(), "it was not stopped at {name} {count}");
            assert!(start.elapsed() < Duration::from_secs(60), "it is not stopped at {name} {count}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let id = tracer.id();
        let children = fs_err::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let command = children.split_whitespace().next().unwrap().parse().unwrap();
        Self { tracer, command: Pid::from_raw(command).unwrap() }
    }

    /// Continues the command to its end.
    #[track_caller]
    fn end(mut self, what: &str) {
        kill_process(self.command, Signal::CONT).unwrap();
        assert!(self.tracer.wait().unwrap().success(), "{what}");
    }
}

/// Checks that all records that can be found can also be loaded, and that the expected entries exist.
#[track_caller]
fn read(place: &Sandbox, keys: &[precast_store::BuildKey], stay: &[&str], what: &str) {
    let store = Store::open(place.path("work")).unwrap();
    for name in stay {
        assert!(store.find_entry(name).unwrap().is_some(), "{what}: `{name}`");
    }
    for key in keys {
        for record in store.find(key).unwrap() {
            assert!(store.load(&record).is_ok(), "{what}: found, and not loaded");
        }
    }
}

#[test]
fn publishers_and_readers_interleave_at_every_call() {
    let place = built(&[SUM, DOUBLE]);
    if !may_trace(&place) {
        return;
    }
    place.write("keep.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    let one = DOUBLE.replace("double", "one").replace("x * 2.5", "x - 2.5");
    place.write("one.toml", format!("isa = [\"{ISA}\"]\n{one}"));
    place.run(&["build", "one.toml", "--store", "one"]).ok();
    place.run_bare(&["export", "--store", "one", "--out", "one.export"]).ok();
    let keys = ["artifacts", "one"].map(|store| {
        let store = Store::open(place.path(store)).unwrap();
        let records: Vec<_> = store.records().map(Result::unwrap).collect();
        records.iter().flat_map(|record| record.members.iter().map(|member| member.key)).collect::<Vec<_>>()
    });
    let keys = keys.concat();
    let work = place.path("work");
    let reset = || {
        let _ = fs_err::remove_dir_all(&work);
        copy(&place.path("artifacts"), &work);
    };
    let import: &[&str] = &["import", "one.export", "--unsigned", "--store", "work"];
    let gc: &[&str] = &["gc", "--grace", "0", "--store", "work", "keep.toml"];
    // A second import that publishes the same modules; and only readers during a collection, as a publisher would
    // wait for the collector.
    for (arguments, meanwhile, stay, after) in [
        (import, Some(import), &["sum", "double"][..], &["sum", "double", "one"][..]),
        (gc, None, &["sum"], &["sum"]),
    ] {
        reset();
        let calls = calls(&place, arguments);
        assert!(calls.len() >= 8, "{calls:?}");
        for call in &calls {
            let what = format!("{} stopped at {} {}", arguments[0], call.0, call.1);
            reset();
            let stopped = Stopped::at(&place, arguments, call);
            read(&place, &keys, stay, &what);
            if let Some(other) = meanwhile {
                place.run_bare(other).ok();
                read(&place, &keys, after, &what);
            }
            stopped.end(&what);
            check(&work, after, &what);
        }
    }
}
