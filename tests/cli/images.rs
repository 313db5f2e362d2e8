//! Contents of a disk after a crash at each call that changes a store, as far as a test can simulate it. The store is
//! on a file system in a file, and that file is copied while it is mounted. The copy has the data that was written to
//! the disk by then, without data that was only in memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::crash::{calls, check, copy, exported, may_trace, traced};
use crate::release::{DOUBLE, SUM, built};
use crate::sandbox::{ISA, Sandbox};

/// A mounted file system in a file.
struct Mounted(PathBuf);

impl Mounted {
    fn new(place: &Sandbox, image: &str, at: &str) -> Option<Self> {
        fs_err::create_dir_all(place.path(at)).unwrap();
        let (image, at) = (place.path(image), place.path(at));
        let mut command = Command::new("mount");
        is_done(command.args(["-o", "loop"]).args([&image, &at])).then_some(Self(at))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(is_done(Command::new("umount").arg(&self.0)), "{} stays mounted", self.0.display());
    }
}

fn is_done(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Copies an image in its current state.
fn copy_image(place: &Sandbox, from: &str, to: &str) {
    let mut command = Command::new("cp");
    command.arg("--sparse=always").args([place.path(from), place.path(to)]);
    assert!(is_done(&mut command));
}

/// Creates an image with the store `from` in it, if that is possible here.
fn image(place: &Sandbox, name: &str, from: Option<&str>) -> Option<()> {
    fs_err::File::create(place.path(name)).unwrap().set_len(24 << 20).unwrap();
    let mut command = Command::new("mkfs.ext4");
    is_done(command.args(["-q", "-F"]).arg(place.path(name))).then_some(())?;
    let mounted = Mounted::new(place, name, "disk")?;
    if let Some(from) = from {
        copy(&place.path(from), &mounted.0.join("work"));
    }
    Some(())
}

/// A command on the store `disk/work`.
struct Case<'a> {
    arguments: &'a [&'a str],
    from: Option<&'a str>,
    stay: &'a [&'a str],
    after: &'a [&'a str],
    /// The step width: only every n-th call is tested.
    step: usize,
}

/// Runs a case to the end, then with a crash at its calls; returns the number of crashes.
fn run(place: &Sandbox, case: &Case<'_>) -> Option<usize> {
    image(place, "base", case.from)?;
    let verb = case.arguments[0];
    let calls = {
        copy_image(place, "base", "work.image");
        let _disk = Mounted::new(place, "work.image", "disk")?;
        let calls = calls(place, case.arguments);
        copy_image(place, "work.image", "crash.image");
        calls
    };
    // A completed command is durable: only the command itself synced the disk.
    look(place, |work| check(work, case.after, &format!("{verb}, done")));
    let every = calls.iter().step_by(case.step);
    for (name, count) in every.clone() {
        let what = format!("{verb}, stopped at {name} {count}");
        copy_image(place, "base", "work.image");
        {
            let _disk = Mounted::new(place, "work.image", "disk")?;
            let inject = format!("inject={name}:signal=KILL:when={count}");
            traced(place, &["-o", "/dev/null", "-e", &inject], case.arguments).unwrap();
            copy_image(place, "work.image", "crash.image");
        }
        look(place, |work| {
            check(work, case.stay, &what);
            place.run_bare(case.arguments).ok();
            check(work, case.after, &what);
        });
    }
    Some(every.count())
}

/// Mounts the disk image, as the machine would after its next start.
fn look(place: &Sandbox, look: impl FnOnce(&Path)) {
    let disk = Mounted::new(place, "crash.image", "disk").unwrap();
    look(&disk.0.join("work"));
}

#[test]
fn disk_is_consistent_after_a_crash() {
    let place = built(&[SUM, DOUBLE]);
    if !may_trace(&place) {
        return;
    }
    if image(&place, "base", None).is_none() {
        eprintln!("skipped: only root can mount a file, and `mkfs.ext4` has to be there");
        return;
    }
    place.write("keep.toml", format!("isa = [\"{ISA}\"]\n{SUM}"));
    exported(&place);
    let both = &["sum", "double"];
    let import = |file: &'static str| ["import", file, "--unsigned", "--store", "disk/work"];
    let cases = [
        Case {
            arguments: &import("single.export"),
            from: Some("artifacts"),
            stay: both,
            after: &["sum", "double", "g1"],
            step: 1,
        },
        Case {
            arguments: &import("one.export"),
            from: None,
            stay: &[],
            after: &["double", "g0", "g1", "g2"],
            step: 3,
        },
        Case {
            arguments: &["gc", "--grace", "0", "--store", "disk/work", "keep.toml"],
            from: Some("artifacts"),
            stay: &["sum"],
            after: &["sum"],
            step: 2,
        },
    ];
    let counts: Vec<usize> = cases.iter().map(|case| run(&place, case).unwrap()).collect();
    assert!(counts.iter().sum::<usize>() >= 40, "{counts:?}");
}
