//! After a crash, a full disk or a lost directory, the next build repairs the store and reports it. A strict reader
//! then hits, without a call to `Store::verify` in between.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use precast_core::event::chain;
use precast_store::{Event, Store};

use crate::processes::again;
use crate::sample::{bare, entry, listening, unit};

/// The result of building a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Built {
    Found,
    Healed,
    Made,
}

/// Builds like `precast-build`: looks up the action, rebuilds missing artifacts, and always stores the entry.
pub(crate) fn build(path: &Path) -> Result<Built, Box<dyn std::error::Error>> {
    let (archive, record) = unit("a", "v3");
    let store = Store::create(path)?;
    let mut built = Built::Made;
    for mut found in store.find_action(&record.action)? {
        for (member, known) in found.members.iter_mut().zip(&record.members) {
            member.document.get_or_insert_with(|| known.document.clone().unwrap());
        }
        if let Some(reused) = store.reuse(&found)? {
            assert_eq!(reused.archive, archive);
            built = if reused.healed { Built::Healed } else { Built::Found };
            break;
        }
    }
    if built == Built::Made {
        store.publish(&archive, &record)?;
    }
    store.put_entry(&entry("score"))?;
    Ok(built)
}

/// Reads like a strict program; every name must lead to the code.
#[track_caller]
fn hits(path: &Path) {
    let (archive, record) = unit("a", "v3");
    let (store, events) = listening(Store::open(path).unwrap());
    for member in &record.members {
        assert_eq!(store.find(&member.key).unwrap(), [bare(&record)]);
        assert_eq!(store.find_fingerprint(&member.fingerprints[0]).unwrap(), [(bare(&record), member.key)]);
    }
    assert_eq!(store.load(&record).unwrap(), archive);
    assert_eq!(store.find_action(&record.action).unwrap(), [record]);
    assert_eq!(store.find_entry("score").unwrap(), Some(entry("score")));
    assert_eq!(*events.lock().unwrap(), Vec::<Event>::new());
}

/// Builds on a damaged store, reads, and builds again: the second build has nothing to repair.
#[track_caller]
fn heals(path: &Path, what: &str) -> Built {
    let built = build(path).unwrap_or_else(|error| panic!("{what}: {error}"));
    hits(path);
    assert_eq!(build(path).unwrap(), Built::Found, "{what}");
    built
}

/// Creates a directory, in memory if possible, because many builds sync many times.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn built() -> (tempfile::TempDir, PathBuf) {
    let directory = directory();
    let path = directory.path().join("store");
    assert_eq!(build(&path).unwrap(), Built::Made);
    (directory, path)
}

/// Lists all paths below a store, directories before their contents.
fn paths(store: &Path) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(store).min_depth(1).sort_by_file_name().into_iter();
    walk.map(|found| found.unwrap().into_path().strip_prefix(store).unwrap().to_path_buf()).collect()
}

fn remove(path: &Path) {
    if path.is_dir() { fs_err::remove_dir_all(path) } else { fs_err::remove_file(path) }.unwrap();
}

#[test]
fn next_build_restores_any_loss() {
    let (_directory, store) = built();
    let mut seen = Vec::new();
    for path in paths(&store) {
        remove(&store.join(&path));
        let built = heals(&store, &path.display().to_string());
        let top = path.components().next().unwrap().as_os_str().to_str().unwrap().to_owned();
        let documents = path.to_str().unwrap().ends_with(".documents");
        match (top.as_str(), documents) {
            ("keys", _) | ("records", true) => assert_eq!(built, Built::Healed, "{}", path.display()),
            ("objects" | "records", _) => assert_eq!(built, Built::Made, "{}", path.display()),
            _ => assert_eq!(built, Built::Found, "{}", path.display()),
        }
        seen.push(top);
    }
    seen.dedup();
    assert_eq!(seen.len(), 8, "{seen:?}");
}

#[test]
fn next_build_finishes_any_partial_publish() {
    let (_directory, whole) = built();
    let rank = |path: &Path| {
        let text = path.to_str().unwrap();
        let order = ["objects", ".documents", "records", "keys", "entries", "roots"];
        order.iter().position(|part| text.contains(part)).unwrap_or(0)
    };
    let mut files: Vec<PathBuf> =
        paths(&whole).into_iter().filter(|path| whole.join(path).is_file()).collect();
    files.retain(|path| path.to_str() != Some("STORE"));
    files.sort_by_key(|path| rank(path));
    for count in 0..=files.len() {
        let directory = directory();
        let store = directory.path().join("store");
        drop(Store::create(&store).unwrap());
        for path in &files[..count] {
            fs_err::create_dir_all(store.join(path).parent().unwrap()).unwrap();
            fs_err::copy(whole.join(path), store.join(path)).unwrap();
        }
        let expected = match count {
            0..3 => Built::Made,
            _ if count < files.len() - 2 => Built::Healed,
            _ => Built::Found,
        };
        assert_eq!(heals(&store, &format!("{count} files")), expected, "{count} files");
    }
}

#[test]
fn misplaced_objects_are_moved_away() {
    let file = |path: &Path| fs_err::write(path, b"in the way").unwrap();
    let folder = |path: &Path| fs_err::create_dir_all(path.join("in the way")).unwrap();
    let socket = |path: &Path| drop(UnixListener::bind(path).unwrap());
    let pipe = |path: &Path| drop(Command::new("mkfifo").arg(path).status());
    let (_directory, store) = built();
    for path in paths(&store).into_iter().filter(|path| path.to_str() != Some("STORE")) {
        let place = store.join(&path);
        let is_dir = place.is_dir();
        let other: &dyn Fn(&Path) = if is_dir { &file } else { &folder };
        for put in [other, &socket, &pipe] {
            remove(&place);
            // A socket path has a maximum length, so the socket is bound at a short path first.
            let short = store.parent().unwrap().join("x");
            put(&short);
            if !short.try_exists().unwrap() {
                eprintln!("skipped: no mkfifo here");
                build(&store).unwrap();
                continue;
            }
            fs_err::rename(&short, &place).unwrap();
            match build(&store) {
                Ok(_) => hits(&store),
                // Without a quarantine directory, the build fails, and the hint of the error is followed.
                Err(error) => {
                    let text = chain(&*error);
                    assert_eq!(path.to_str(), Some("quarantine"), "{text}");
                    assert!(
                        is_dir && text.contains("\nhint: run `rm -r '") && text.contains("quarantine"),
                        "{text}"
                    );
                    remove(&place);
                }
            }
            heals(&store, &path.display().to_string());
        }
    }
}

#[test]
fn store_with_irregular_head_has_a_hint() {
    let (_directory, store) = built();
    for lost in [true, false] {
        remove(&store.join("STORE"));
        if lost {
            heals(&store, "no STORE");
            continue;
        }
        fs_err::create_dir(store.join("STORE")).unwrap();
        let error = build(&store).unwrap_err().to_string();
        assert!(error.contains("STORE`") && error.contains("\nhint: "), "{error}");
    }
}

/// The system calls that can change a directory or a file. A process that dies before any other call leaves the same
/// state as one that dies before the next of these.
const CHANGES: [&str; 17] = [
    "mkdir",
    "mkdirat",
    "open",
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "syncfs",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "rmdir",
    "fchmod",
    "utimensat",
];

/// Runs a build in another process, under strace.
fn traced(store: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    let role = again("build", store);
    let mut command = Command::new("strace");
    command.args(["-f", "-qq"]).args(arguments).arg(role.get_program()).args(role.get_args());
    command.args(["--test-threads", "1"]);
    for (name, value) in role.get_envs() {
        value.map(|value| command.env(name, value));
    }
    command.output()
}

/// Runs a build with a fault injected into one call. Returns whether it completed.
fn inject(store: &Path, name: &str, what: &str) -> bool {
    let (trace, inject) = (format!("trace={name}"), format!("inject={name}:{what}"));
    let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
    traced(store, &options).unwrap().status.code().is_some()
}

/// Lists the system calls of a build that change something, each with its name and its number among the calls of that
/// name in its thread. Returns `None` without a working strace.
fn calls(prepare: &Prepare) -> Option<Vec<(String, usize)>> {
    let (directory, store) = prepare();
    let log = directory.path().join("log");
    let output = traced(&store, &["-o", log.to_str()?]);
    if !output.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no strace here, or it may not trace");
        return None;
    }
    let log = fs_err::read_to_string(log).ok()?;
    let mut counts = std::collections::BTreeMap::new();
    let (mut calls, mut began) = (Vec::new(), false);
    for line in log.lines() {
        let Some((thread, (name, arguments))) = line
            .split_once(' ')
            .and_then(|(thread, call)| Some((thread, call.trim_start().split_once('(')?)))
        else {
            continue;
        };
        let count: &mut usize = counts.entry((thread.to_owned(), name.to_owned())).or_default();
        *count += 1;
        began |= arguments.contains(store.to_str()?);
        let reads =
            name.starts_with("open") && !arguments.contains("O_CREAT") && !arguments.contains("O_TMPFILE");
        let prints = name == "write" && (arguments.starts_with("1,") || arguments.starts_with("2,"));
        if began && CHANGES.contains(&name) && !reads && !prints {
            calls.push((name.to_owned(), *count));
        }
    }
    Some(calls)
}

/// Prepares the initial state of a build.
type Prepare = dyn Fn() -> (tempfile::TempDir, PathBuf);

/// The initial states: no store, a store without pointers and documents, and a store with a damaged object.
fn beginnings() -> [(&'static str, &'static Prepare); 3] {
    [
        ("nothing", &|| {
            let directory = directory();
            let path = directory.path().join("store");
            (directory, path)
        }),
        ("lost pointers", &|| {
            let (directory, store) = built();
            remove(&store.join("keys"));
            let documents =
                paths(&store).into_iter().find(|path| path.to_str().unwrap().ends_with(".documents"));
            remove(&store.join(documents.unwrap()));
            (directory, store)
        }),
        ("a damaged object", &|| {
            let (directory, store) = built();
            let object = paths(&store).into_iter().find(|path| path.to_str().unwrap().ends_with(".zst"));
            crate::sample::overwrite(&store.join(object.unwrap()), b"damage");
            (directory, store)
        }),
    ]
}

#[test]
fn next_build_finishes_after_any_kill() {
    for (what, prepare) in beginnings() {
        let Some(calls) = calls(prepare) else { return };
        assert!(calls.len() > 5, "{what}: {calls:?}");
        for (name, count) in &calls {
            let (_directory, store) = prepare();
            let ended = inject(&store, name, &format!("signal=KILL:when={count}"));
            assert!(!ended, "{what}: nothing died at {name} {count}");
            heals(&store, &format!("{what}, killed at {name} {count}"));
        }
        println!("{what}: killed at {} calls", calls.len());
    }
}

#[test]
fn next_build_finishes_after_any_failed_call() {
    for (what, prepare) in beginnings() {
        let Some(calls) = calls(prepare) else { return };
        for (name, count) in &calls {
            let error = if what == "nothing" { "ENOSPC" } else { "EIO" };
            let (_directory, store) = prepare();
            inject(&store, name, &format!("error={error}:when={count}"));
            heals(&store, &format!("{what}, {error} at {name} {count}"));
        }
    }
}

#[test]
fn file_size_limit_is_an_error_then_recovers() {
    for blocks in 0..4 {
        let directory = directory();
        let store = directory.path().join("store");
        let role = again("build", &store);
        let script = format!("trap '' XFSZ; ulimit -f {blocks} && exec \"$0\" \"$@\" >/dev/null 2>&1");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(role.get_program()).args(role.get_args());
        for (name, value) in role.get_envs() {
            value.map(|value| command.env(name, value));
        }
        let status = command.status().unwrap();
        // The largest file of the sample takes between one and two blocks.
        assert_eq!(status.success(), blocks > 1, "{blocks} blocks");
        heals(&store, &format!("{blocks} blocks"));
    }
}

#[test]
fn full_disk_is_an_error_then_recovers() {
    let directory = directory();
    let mount = |options: &str| {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "none"]).arg(directory.path());
        command.output().is_ok_and(|output| output.status.success())
    };
    let mut failed = 0;
    for inodes in 9..48 {
        if !mount(&format!("mode=755,nr_inodes={inodes}")) {
            eprintln!("skipped: no tmpfs can be mounted here");
            return;
        }
        let _mounted = Mounted(directory.path());
        let store = directory.path().join("store");
        failed += usize::from(build(&store).is_err());
        assert!(mount("remount,nr_inodes=1000"));
        heals(&store, &format!("{inodes} files"));
    }
    assert!((10..38).contains(&failed), "{failed}");
}

/// Unmounts a file system when dropped.
struct Mounted<'p>(&'p Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}
