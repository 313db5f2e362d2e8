//! A private gcc: a copy of this machine's driver with links to its parts, in a directory where tests can add files.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use precast_compile::{Family, Toolchain};
use precast_store::ToolchainId;
use precast_store::key::Language;

use crate::modules::toolchain;

/// The message of all `expect` calls in this file.
const IT: &str = "a compiler, and a directory to copy it to";

pub(crate) struct Farm {
    _root: tempfile::TempDir,
    /// The directory of the driver.
    pub(crate) bin: PathBuf,
    /// The directory of its parts.
    pub(crate) parts: PathBuf,
}

impl Farm {
    /// Returns `None` and prints a notice if this machine's compiler is not gcc or cannot be relocated.
    #[expect(clippy::print_stderr, reason = "a skip says so aloud")]
    pub(crate) fn new() -> Option<Self> {
        let driver = fs_err::canonicalize(toolchain().driver()).expect(IT);
        if toolchain().family() != Family::Gcc {
            eprintln!("skipped: {} is not gcc", driver.display());
            return None;
        }
        let real = PathBuf::from(ask(&driver, &["-print-file-name=include"])).parent().expect(IT).to_owned();
        let root = tempfile::tempdir().expect(IT);
        let last: PathBuf = real.components().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect();
        let (bin, parts) = (root.path().join("bin"), root.path().join("lib/gcc").join(last));
        fs_err::create_dir_all(&bin).expect(IT);
        fs_err::create_dir_all(&parts).expect(IT);
        fs_err::copy(&driver, bin.join("gcc")).expect(IT);
        for entry in fs_err::read_dir(&real).expect(IT) {
            let entry = entry.expect(IT);
            symlink(entry.path(), parts.join(entry.file_name())).expect(IT);
        }
        let farm = Self { _root: root, bin, parts };
        if ask(&farm.driver(), &["-print-prog-name=cc1"]).contains("/bin/../lib/gcc/") {
            return Some(farm);
        }
        eprintln!("skipped: {} finds its parts by their absolute path", driver.display());
        None
    }

    pub(crate) fn driver(&self) -> PathBuf {
        self.bin.join("gcc")
    }

    pub(crate) fn find(&self) -> Toolchain {
        Toolchain::at(&self.driver(), None).expect(IT)
    }

    pub(crate) fn id(&self) -> ToolchainId {
        self.find().id(Language::C).expect(IT)
    }
}

/// Returns a driver's answer without the line break.
pub(crate) fn ask(driver: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new(driver).args(arguments).output().expect(IT);
    String::from_utf8(output.stdout).expect(IT).trim_end().to_owned()
}

/// Writes an executable shell script.
pub(crate) fn script(path: &Path, text: &str) {
    fs_err::write(path, format!("#!/bin/sh\n{text}\n")).expect(IT);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect(IT);
}
