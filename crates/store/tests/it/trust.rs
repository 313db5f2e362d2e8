//! Files that other users can change are rejected with a command that repairs them, and the command works.

use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use precast_core::event::chain;
use precast_store::{Bundle, Fault, FindError, Store, Untrusted, write_bundle};

use crate::sample::{bare, entry, unit};

/// A user and group id that belong neither to root nor to us.
const STRANGER: u32 = 65534;

/// A store with one unit and one entry, in a temporary directory.
struct StoreDir {
    directory: tempfile::TempDir,
}

impl StoreDir {
    fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        let store = Store::create(place.root()).unwrap();
        let (archive, record) = unit("a", "v3");
        store.publish(&archive, &record).unwrap();
        store.put_entry(&entry("score")).unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        // Shell metacharacters, which the hint must quote.
        self.directory.path().join("it's $HOME")
    }

    /// Returns the path of the first file of a kind in the store, or of a directory `above` levels higher.
    fn path(&self, kind: &str, above: usize) -> PathBuf {
        let files = walkdir::WalkDir::new(self.root().join(kind)).sort_by_file_name().into_iter();
        let mut files = files.map(Result::unwrap).filter(|found| found.file_type().is_file());
        files.next().unwrap().path().ancestors().nth(above).unwrap().to_path_buf()
    }

    /// Reads like a strict program.
    fn read(&self) -> Result<(), Untrusted> {
        let (archive, record) = unit("a", "v3");
        let store = Store::open(self.root()).map_err(untrusted)?;
        for member in &record.members {
            assert_eq!(store.find(&member.key).map_err(untrusted)?, [bare(&record)]);
            let found = store.find_fingerprint(&member.fingerprints[0]).map_err(untrusted)?;
            assert_eq!(found, [(bare(&record), member.key)]);
        }
        assert_eq!(store.find_action(&record.action).map_err(untrusted)?, std::slice::from_ref(&record));
        assert_eq!(store.load(&record).map_err(untrusted)?, archive);
        assert_eq!(store.find_entry("score").map_err(untrusted)?, Some(entry("score")));
        Ok(())
    }

    /// Rebuilds the files that the repair deleted.
    fn build(&self) {
        let (archive, record) = unit("a", "v3");
        let store = Store::create(self.root()).unwrap();
        store.publish(&archive, &record).unwrap();
        store.put_entry(&entry("score")).unwrap();
    }
}

/// Finds the `Untrusted` error in an error and its causes.
fn untrusted(error: impl std::error::Error + 'static) -> Untrusted {
    let text = format!("{error:?}");
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<Untrusted>() {
            return found.clone();
        }
        // A transparent variant is not its own cause.
        if let Some(precast_store::OpenError::Untrusted(found)) = error.downcast_ref() {
            return (**found).clone();
        }
        if let Some(FindError::Untrusted(found)) = error.downcast_ref() {
            return (**found).clone();
        }
        if let Some(precast_store::LoadError::Find(FindError::Untrusted(found))) = error.downcast_ref() {
            return (**found).clone();
        }
        if let Some(precast_store::OpenBundleError::Untrusted(found)) = error.downcast_ref() {
            return (**found).clone();
        }
        cause = error.source();
    }
    panic!("another refusal: {text}");
}

/// Runs the command between back-ticks in a hint.
fn mend(refusal: &Untrusted) {
    let (_, command) = refusal.remedy.split_once('`').unwrap();
    let (command, _) = command.rsplit_once('`').unwrap();
    let done = Command::new("bash").args(["-c", command]).status().unwrap();
    assert!(done.success(), "{command}");
}

fn set_mode(path: &Path, mode: u32) {
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns whether the owner of files can be changed; prints a message if not.
fn is_root() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let root = fs_err::metadata(directory.path()).unwrap().uid() == 0;
    if !root {
        eprintln!("skipped: only root can give a file to another user");
    }
    root
}

#[track_caller]
fn refused_and_mended(place: &StoreDir, path: &Path, fault: Fault) {
    let refusal = place.read().unwrap_err();
    assert_eq!((refusal.path.as_path(), refusal.fault), (path, fault), "{refusal}");
    assert!(refusal.to_string().contains("\nhint: "), "{refusal}");
    mend(&refusal);
    place.build();
    place.read().unwrap();
}

/// Every kind of file that is read, and the number of directories above it to test, up to the root.
const READ: [(&str, usize); 6] =
    [("objects", 4), ("records", 4), ("keys", 5), ("entries", 4), ("roots", 4), ("STORE", 3)];

fn everything(place: &StoreDir) -> Vec<PathBuf> {
    READ.iter().flat_map(|(kind, levels)| (0..levels - 1).map(|above| place.path(kind, above))).collect()
}

#[test]
fn world_writable_paths_are_rejected_everywhere() {
    let place = StoreDir::new();
    for path in everything(&place) {
        let mode = fs_err::metadata(&path).unwrap().mode();
        for wrong in [mode | 0o002, mode | 0o022, 0o777, 0o1777] {
            set_mode(&path, wrong);
            refused_and_mended(&place, &path, Fault::Everybody);
        }
    }
}

#[test]
fn foreign_paths_are_rejected_everywhere() {
    if !is_root() {
        return;
    }
    let place = StoreDir::new();
    for path in everything(&place) {
        lchown(&path, Some(STRANGER), None).unwrap();
        refused_and_mended(&place, &path, Fault::Owner { uid: STRANGER });
    }
}

#[test]
fn group_writable_paths_need_a_private_group() {
    if !is_root() {
        return;
    }
    let place = StoreDir::new();
    for path in everything(&place) {
        let mode = fs_err::metadata(&path).unwrap().mode();
        lchown(&path, None, Some(STRANGER)).unwrap();
        set_mode(&path, mode | 0o020);
        refused_and_mended(&place, &path, Fault::Group { gid: STRANGER });
    }
    if !root_is_alone_in_its_group() {
        eprintln!("skipped: this system has other users in root's group");
        return;
    }
    for path in everything(&place) {
        lchown(&path, None, Some(0)).unwrap();
        let mode = fs_err::metadata(&path).unwrap().mode();
        set_mode(&path, mode | 0o020);
    }
    place.read().unwrap();
}

fn root_is_alone_in_its_group() -> bool {
    let groups = fs_err::read_to_string("/etc/group").unwrap_or_default();
    let users = fs_err::read_to_string("/etc/passwd").unwrap_or_default();
    let of_root = |line: &str| line.split(':').nth(3) == Some("0");
    groups.lines().any(|line| line.starts_with("root:") && line.ends_with(":0:"))
        && users.lines().filter(|line| of_root(line)).all(|line| line.split(':').nth(2) == Some("0"))
}

#[test]
fn one_command_repairs_all_modes() {
    if !is_root() {
        return;
    }
    let place = StoreDir::new();
    set_mode(&place.path("objects", 1), 0o777);
    set_mode(&place.root(), 0o777);
    lchown(place.path("records", 0), Some(STRANGER), Some(STRANGER)).unwrap();
    lchown(place.path("entries", 1), Some(STRANGER), Some(STRANGER)).unwrap();
    let pointer = place.path("keys", 0);
    fs_err::remove_file(&pointer).unwrap();
    symlink("/dev/null", &pointer).unwrap();
    refused_and_mended(&place, &place.root(), Fault::Everybody);
}

#[test]
fn top_level_chmod_is_not_enough() {
    // `chmod o-w` of the named directory leaves the mode of its contents unchanged.
    let place = StoreDir::new();
    for path in walkdir::WalkDir::new(place.root()).into_iter().map(|found| found.unwrap().into_path()) {
        set_mode(&path, 0o777);
    }
    for name in ["", "objects", "records", "keys", "entries", "roots", "tmp", "quarantine", "STORE"] {
        set_mode(&place.root().join(name), 0o755);
    }
    let refusal = place.read().unwrap_err();
    assert_eq!(refusal.fault, Fault::Everybody);
    mend(&refusal);
    place.read().unwrap();
}

#[test]
fn links_are_rejected_everywhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    for at in 0..everything(&StoreDir::new()).len() {
        let place = StoreDir::new();
        let path = everything(&place).swap_remove(at);
        if path == place.root() {
            continue;
        }
        let target = elsewhere.path().join(at.to_string());
        fs_err::rename(&path, &target).unwrap();
        symlink(&target, &path).unwrap();
        refused_and_mended(&place, &path, Fault::Link);
        assert!(target.exists(), "what the link led to is left alone");
    }
}

#[test]
fn a_link_to_a_store_is_followed() {
    let place = StoreDir::new();
    let link = place.directory.path().join("link");
    symlink("it's $HOME", &link).unwrap();
    let (archive, record) = unit("a", "v3");
    let store = Store::open(&link).unwrap();
    assert_eq!(store.load(&record).unwrap(), archive);
    assert_eq!(store.path(), link);
    // A cycle of links.
    let (one, two) = (place.directory.path().join("one"), place.directory.path().join("two"));
    symlink(&two, &one).unwrap();
    symlink(&one, &two).unwrap();
    assert!(Store::open(&one).unwrap_err().to_string().contains("one"));
}

#[test]
fn parent_directories_of_a_store_are_checked() {
    let place = StoreDir::new();
    let above = place.directory.path();
    set_mode(above, 0o777);
    refused_and_mended(&place, above, Fault::Everybody);
    assert_eq!(fs_err::metadata(above).unwrap().mode() & 0o7777, 0o1777, "it is shared still");
    if !is_root() {
        return;
    }
    lchown(above, Some(STRANGER), None).unwrap();
    place.read().expect("what is in a directory of somebody else is judged by itself");
    lchown(above, Some(0), None).unwrap();
    // A link that belongs to another user, and that this user can point to another target.
    let link = above.join("link");
    symlink(place.root(), &link).unwrap();
    lchown(&link, Some(STRANGER), None).unwrap();
    assert_eq!(untrusted(Store::open(&link).unwrap_err()).path, link);
}

#[test]
fn writer_avoids_directories_of_other_users() {
    let place = StoreDir::new();
    let (archive, record) = unit("a", "v3");
    let writer = || {
        let store = Store::create(place.root()).map_err(|error| match error {
            precast_store::CreateError::Open(error) => untrusted(error),
            other => panic!("{other}"),
        })?;
        store.publish(&archive, &record).map_err(|error| untrusted_below(&error))?;
        store.put_entry(&entry("score")).map_err(|error| untrusted_below(&error))
    };
    for path in everything(&place).into_iter().chain([place.root().join("tmp")]) {
        let mode = fs_err::metadata(&path).unwrap().mode();
        set_mode(&path, 0o777);
        assert_eq!(writer().unwrap_err().path, path);
        set_mode(&path, mode & 0o777);
    }
    writer().unwrap();
}

/// Finds the refusal in the causes of a publish error by its text, because transparent errors hide their type.
fn untrusted_below(error: &dyn std::error::Error) -> Untrusted {
    let texts = std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string);
    let text = texts.filter(|text| text.contains("is writable by everybody")).last().unwrap();
    let path: PathBuf = text.split('`').nth(3).unwrap().into();
    Untrusted { place: path.clone(), path, fault: Fault::Everybody, remedy: text }
}

#[test]
fn bundle_file_is_checked_and_embedded_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("it's.bundle");
    let (archive, record) = unit("a", "v3");
    let bytes = write_bundle(&[(record, archive.get("unit.so").unwrap().to_vec())], &[], "test").unwrap();
    fs_err::write(&path, &bytes).unwrap();
    set_mode(&path, 0o644);
    let open = |path: &Path| Bundle::open(path).map_err(untrusted);
    let refused = |fault| {
        let refusal = open(&path).unwrap_err();
        assert_eq!((&refusal.path, refusal.fault), (&path, fault));
        mend(&refusal);
        open(&path).unwrap();
    };
    open(&path).unwrap();
    set_mode(&path, 0o666);
    refused(Fault::Everybody);
    set_mode(directory.path(), 0o777);
    assert_eq!(open(&path).unwrap_err().path, directory.path());
    mend(&open(&path).unwrap_err());
    open(&path).unwrap();
    // A link to a bundle opens the bundle.
    let link = directory.path().join("link");
    symlink(&path, &link).unwrap();
    open(&link).unwrap();
    Bundle::from_static(Box::leak(bytes.into_boxed_slice())).unwrap();
    let refusal = Bundle::open(directory.path()).unwrap_err();
    assert!(chain(&refusal).contains("is a directory, expected a regular file"), "{refusal}");
    if !is_root() {
        return;
    }
    lchown(&path, Some(STRANGER), Some(STRANGER)).unwrap();
    refused(Fault::Owner { uid: STRANGER });
    lchown(&path, Some(0), Some(STRANGER)).unwrap();
    set_mode(&path, 0o664);
    refused(Fault::Group { gid: STRANGER });
}

#[test]
fn whole_store_is_checked_without_reading() {
    let place = StoreDir::new();
    let store = Store::open(place.root()).unwrap();
    store.check_trust().unwrap();
    let path = place.path("records", 0);
    set_mode(&path, 0o646);
    let FindError::Untrusted(refusal) = store.check_trust().unwrap_err() else { panic!("another error") };
    assert_eq!((refusal.path, refusal.fault), (fs_err::canonicalize(path).unwrap(), Fault::Everybody));
}
