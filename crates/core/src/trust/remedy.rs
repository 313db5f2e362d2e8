//! Shell commands that make a store or a bundle writable only by its user.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::way::walk;
use super::{Fault, fault, user};

/// The end of the hint for bundles and stores, where the permissions cannot be changed.
pub const SIGN: &str = "; or sign it and name a keyring, whose signatures replace this check";

/// Writes the hint for all faults of `place` and of the way to it. `otherwise` returns the advice for a
/// place that the user does not trust.
pub(super) fn remedy(place: &Path, otherwise: impl Fn(&str) -> String) -> String {
    let Ok(way) = walk(place) else { return format!("copy {} to a directory of your own", quoted(place)) };
    let real = &way.real;
    let foreign = way.faults.iter().find(|(_, fault)| matches!(fault, Fault::Owner { .. }));
    if let Some((directory, _)) = foreign.filter(|(path, _)| path != real) {
        let (directory, place) = (directory.display(), quoted(real));
        return format!(
            "copy it to a directory of your own once you trust its contents, because the owner of `{directory}` can \
             replace it: `cp -R {place} ~/`"
        );
    }
    if let Some((path, _)) =
        way.faults.iter().find(|(_, fault)| is_unmapped(fault)).or(unmapped_file(real).as_ref())
    {
        return format!(
            "copy it to a directory of your own once you trust its contents, because the owner of `{}` has no user in \
             this user namespace: `cp -R {} ~/`",
            path.display(),
            quoted(real)
        );
    }
    let above = way.faults.into_iter().map(|(path, _)| path).filter(|path| path != real).collect();
    let is_new = !real.exists();
    let commands = commands(real, above);
    if is_new {
        return format!("run `{commands}`, or name a path in a directory that only you can write to");
    }
    format!("run `{commands}` if you trust the current contents; otherwise {}", otherwise(&quoted(real)))
}

/// Returns the fault of a file whose owner is not mapped into this user namespace.
fn unmapped_file(path: &Path) -> Option<(PathBuf, Fault)> {
    let metadata = fs_err::metadata(path).ok()?;
    let fault = fault(path, &metadata).filter(is_unmapped)?;
    Some((path.to_owned(), fault))
}

/// Returns whether the owner is the one that the kernel shows for users without a user in this user namespace. Nobody in
/// the namespace can change the owner of such a file.
fn is_unmapped(fault: &Fault) -> bool {
    let Fault::Owner { uid } = fault else { return false };
    let read = |path| fs_err::read_to_string(path).unwrap_or_default();
    let overflow = read("/proc/sys/kernel/overflowuid");
    overflow.trim().parse() == Ok(*uid) && !maps_all(&read("/proc/self/uid_map"))
}

/// Returns whether a map of users covers all of them, as outside of user namespaces.
fn maps_all(map: &str) -> bool {
    map.split_whitespace()
        .nth(2)
        .and_then(|count| count.parse::<u32>().ok())
        .is_none_or(|count| count == u32::MAX)
}

/// Builds the shell commands that fix the tree at `place` and the directories above it.
fn commands(place: &Path, above: Vec<PathBuf>) -> String {
    let mut wrong = Wrong::default();
    let mut left = vec![place.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(metadata) = fs_err::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            let entries = fs_err::read_dir(&path).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| entry.path()));
        }
        wrong.links |= metadata.is_symlink();
        match fault(&path, &metadata) {
            Some(Fault::Owner { uid }) => {
                wrong.owners = true;
                wrong.modes |= !metadata.is_symlink() && metadata.mode() & 0o022 != 0;
                wrong.whose.insert(uid);
            }
            Some(_) => {
                wrong.modes = true;
                wrong.whose.insert(metadata.uid());
            }
            None => {}
        }
    }
    wrong.whose.extend(above.iter().filter_map(|path| Some(fs_err::metadata(path).ok()?.uid())));
    let user = user();
    let sudo = if user != 0 && wrong.whose.iter().any(|uid| *uid != user) { "sudo " } else { "" };
    let (recursive, quoted_place) = (if place.is_dir() { "R" } else { "" }, quoted(place));
    let mut commands = Vec::new();
    if wrong.owners {
        commands.push(format!("{sudo}chown -h{recursive} {user} {quoted_place}"));
    }
    if wrong.modes {
        let recursive = if recursive.is_empty() { "" } else { "-R " };
        commands.push(format!("{sudo}chmod {recursive}go-w {quoted_place}"));
    }
    if wrong.links {
        commands.push(format!("find {quoted_place} -type l -delete"));
    }
    if !above.is_empty() {
        let above: Vec<String> = above.iter().map(|path| quoted(path)).collect();
        commands.push(format!("{sudo}chmod +t {}", above.join(" ")));
    }
    if commands.is_empty() {
        // Another process fixed the faults meanwhile.
        commands.push(format!("ls -l{recursive} {quoted_place}"));
    }
    commands.join(" && ")
}

/// The faults found in a tree.
#[derive(Default)]
struct Wrong {
    owners: bool,
    modes: bool,
    links: bool,
    /// The owners of the files and directories with a fault.
    whose: BTreeSet<u32>,
}

/// Quotes a path for a shell.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => {
            let mut text = String::from("$'");
            for byte in bytes {
                match byte {
                    b'\'' | b'\\' => drop(write!(text, "\\{}", char::from(*byte))),
                    b' '..=b'~' => text.push(char::from(*byte)),
                    _ => drop(write!(text, "\\{byte:03o}")),
                }
            }
            text + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::{maps_all, quoted};

    #[test]
    fn maps_of_user_namespaces_are_partial() {
        assert!(maps_all("         0          0 4294967295\n"));
        assert!(maps_all(""));
        assert!(!maps_all("         0       1000          1\n"));
        assert!(!maps_all("         0       1000          1\n         1     100000      65536\n"));
    }

    #[test]
    fn quoted_path_is_one_shell_word() {
        let of = |bytes: &[u8]| quoted(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(of(b"/a b/$x"), "'/a b/$x'");
        assert_eq!(of(b"/it's"), r"'/it'\''s'");
        assert_eq!(of(b"/a\nb"), r"$'/a\012b'");
        assert_eq!(of(b"/\xff'\\"), r"$'/\377\'\\'");
    }
}
