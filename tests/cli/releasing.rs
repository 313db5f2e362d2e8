//! `RELEASING.md`: every command is executed, in order, in one directory. The commands of the machine that uses the
//! release are executed again as another user, in a user namespace, under an open umask, and on read-only file systems.

use std::os::unix::fs::{PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;

use precast_testkit::document::Example;
use precast_testkit::package::root;

use crate::document::{blocks, examples, path};

const PAGE: &str = "crates/cli/RELEASING.md";

/// An owner who is neither root nor the user.
const STRANGER: u32 = 12_345;

/// The files that reach the machine that uses a release.
const DEPLOYED: [&str; 8] = [
    "x.npy",
    "y.npy",
    "z.npy",
    "model.precast",
    "model.precast.minisig",
    "precast.keyring",
    "release.export",
    "next.export",
];

/// Executes the commands of the page whose section number is at most `last`.
fn follow(directory: &Path, last: u32) -> usize {
    let text = fs_err::read_to_string(root().join(PAGE)).unwrap();
    let end = text.find(&format!("\n## {}. ", last + 1)).unwrap_or(text.len());
    let (path, mut ran, mut failures) = (path(), 0, String::new());
    for block in blocks(PAGE).iter().filter(|block| text[..end].contains(&block.text)) {
        match block.language.as_str() {
            "toml" => fs_err::write(directory.join(block.file.as_ref().unwrap()), &block.text).unwrap(),
            "console" => {
                for example in examples(&block.text) {
                    failures.extend(example.run(directory, &path));
                    ran += 1;
                }
            }
            // A program that signs, which `attested` starts.
            "sh" => {}
            other => panic!("nothing executes a block of `{other}`"),
        }
    }
    assert!(failures.is_empty(), "{failures}");
    ran
}

#[test]
fn release_follows_the_page_end_to_end() {
    let directory = tempfile::tempdir().unwrap();
    let ran = follow(directory.path(), u32::MAX - 1);
    assert!(ran >= 25, "only {ran} commands were run");
}

/// A machine that uses the release.
struct Machine {
    directory: tempfile::TempDir,
    /// The directory of the command `precast`, which every user can reach.
    programs: PathBuf,
}

impl Machine {
    fn new(release: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let programs = directory.path().join("programs");
        let work = directory.path().join("work");
        [&programs, &work].iter().for_each(|path| fs_err::create_dir(path).unwrap());
        let built = Path::new(env!("CARGO_BIN_EXE_precast"));
        let program = programs.join("precast");
        fs_err::hard_link(built, &program).or_else(|_| fs_err::copy(built, &program).map(drop)).unwrap();
        for name in DEPLOYED {
            fs_err::copy(release.join(name), work.join(name)).unwrap();
        }
        let machine = Self { directory, programs };
        machine.mode("", 0o755);
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        match name {
            "" => self.directory.path().to_owned(),
            name => self.directory.path().join("work").join(name),
        }
    }

    fn mode(&self, name: &str, mode: u32) {
        fs_err::set_permissions(self.path(name), PermissionsExt::from_mode(mode)).unwrap();
    }

    fn give(&self, name: &str, to: u32) {
        lchown(self.path(name), Some(to), Some(to)).unwrap();
    }

    /// Executes the commands of the sections 6 and 7 that need no secret key, each below the words that `below` returns.
    fn use_release(&self, change: impl Fn(&str) -> String, below: impl Fn(&str) -> Vec<String>) {
        let text = fs_err::read_to_string(root().join(PAGE)).unwrap();
        let half = &text[text.find("\n## 6. ").unwrap()..text.find("\n## 8. ").unwrap()];
        let mut path = self.programs.clone().into_os_string();
        path.push(":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        let (mut ran, mut failures) = (0, String::new());
        for block in blocks(PAGE).iter().filter(|block| half.contains(&block.text)) {
            for example in examples(&block.text) {
                if example.command.contains("--key ") {
                    continue;
                }
                let command = change(example.command);
                let words = below(&command);
                let example = Example { command: &command, ..example };
                failures.extend(example.run_below(&words, &self.path("."), &path));
                ran += 1;
            }
        }
        assert!(failures.is_empty(), "{failures}");
        assert!(ran >= 10, "only {ran} commands were run");
    }
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// Returns whether a program starts another one here.
fn starts(line: &str) -> bool {
    let words = words(&format!("{line} true"));
    Command::new(&words[0]).args(&words[1..]).output().is_ok_and(|output| output.status.success())
}

/// Mounts in a namespace of their own, then the rest of the words.
fn mounted(script: &str) -> Vec<String> {
    let own = if is_root() { "unshare -m" } else { "unshare -Urm" };
    let mut all = words(own);
    all.extend(["sh".to_owned(), "-ec".to_owned(), format!("{script}\nexec \"$@\""), "sh".to_owned()]);
    all
}

fn is_root() -> bool {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::MetadataExt::uid(&fs_err::metadata(directory.path()).unwrap()) == 0
}

#[test]
fn release_is_used_by_other_users_and_read_only() {
    let release = tempfile::tempdir().unwrap();
    follow(release.path(), 7);
    let release = release.path();
    let same = str::to_owned;

    // Another user, who owns the directory; the files of the release belong to root.
    let by = format!("setpriv --reuid {STRANGER} --regid {STRANGER} --clear-groups");
    if is_root() && starts(&by) {
        let machine = Machine::new(release);
        machine.give(".", STRANGER);
        machine.use_release(same, |_| words(&by));
    } else {
        eprintln!("skipped in part: only root can start a program as another user");
    }

    // A user namespace in which the owner of the release has no user.
    let inside = "unshare -U --map-user=1000 --map-group=1000";
    if is_root() && starts(inside) {
        let machine = Machine::new(release);
        for name in ["model.precast", "model.precast.minisig", "release.export", "next.export"] {
            machine.give(name, STRANGER);
        }
        machine.use_release(same, |_| words(inside));
    } else {
        eprintln!("skipped in part: no user namespaces, or not root");
    }

    // Under an open umask, and all users can write to the release. The keyring is part of the image.
    let machine = Machine::new(release);
    let keyring = machine.path("").join("precast.keyring");
    fs_err::rename(machine.path("precast.keyring"), &keyring).unwrap();
    let keyring = format!("--keyring {}", keyring.display());
    for (name, mode) in [("model.precast", 0o666), ("model.precast.minisig", 0o666), (".", 0o1777)] {
        machine.mode(name, mode);
    }
    let open = ["sh", "-c", "umask 000; exec \"$@\"", "sh"].map(str::to_owned);
    machine.use_release(|command| command.replace("--keyring precast.keyring", &keyring), |_| open.to_vec());

    // A read-only root file system, with TMPDIR; only the directory is writable.
    let read_only = |path: &Path| {
        let path = path.display();
        format!("mount --bind '{path}' '{path}'; mount -o remount,bind,ro '{path}'")
    };
    let directory = tempfile::tempdir().unwrap();
    let trial = mounted(&read_only(directory.path())).join("\u{1}");
    let trial: Vec<&str> = trial.split('\u{1}').chain(["true"]).collect();
    if !Command::new(trial[0]).args(&trial[1..]).output().is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped in part: no mounts in namespaces");
    }
    let machine = Machine::new(release);
    let work = machine.path(".").display().to_string();
    let root = format!(
        "mount --bind '{work}' '{work}'; mount -o remount,bind,ro /; cd '{work}'\nif touch /tmp/x 2>/dev/null; then exit 9; fi"
    );
    machine.use_release(same, |_| mounted(&root));

    // Read-only files: the bundle, its signatures, and the store once it was imported.
    let machine = Machine::new(release);
    machine.use_release(same, |command| {
        let mut mounts = String::new();
        if command.starts_with("precast run") || command.starts_with("precast verify") {
            for name in ["model.precast", "model.precast.minisig", "precast.keyring", "offline"] {
                if machine.path(name).exists() {
                    mounts += &format!("{}\n", read_only(&machine.path(name)));
                }
            }
        }
        mounted(&mounts)
    });
}
