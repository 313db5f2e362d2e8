//! Finds the parts of a driver, and lists every place where a part could appear and take precedence.
//!
//! Drivers search their own directories for a plain name and a name with the machine as a prefix, and then search
//! `PATH`. They also read optional configuration files: `specs` (gcc) next to the compiler, `clang.cfg` next to the
//! driver.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The search directories, and the places checked so far.
pub(super) struct Search {
    machine: String,
    programs: Vec<PathBuf>,
    libraries: Vec<PathBuf>,
    /// The driver's own directory, followed by the directories of `PATH`.
    path: Vec<PathBuf>,
    candidates: Vec<PathBuf>,
}

impl Search {
    /// Parses the output of `-print-search-dirs`.
    pub(super) fn new(said: &str, machine: String, path: Vec<PathBuf>) -> Self {
        let list = |mark: &str| {
            let list = said.lines().find_map(|line| line.strip_prefix(mark)).unwrap_or_default();
            let mut directories: Vec<PathBuf> = Vec::new();
            for directory in std::env::split_paths(list).filter(|directory| directory.is_absolute()) {
                if !directories.contains(&directory) {
                    directories.push(directory);
                }
            }
            directories
        };
        let (programs, libraries) = (list("programs: ="), list("libraries: ="));
        Self { machine, programs, libraries, path, candidates: Vec::new() }
    }

    /// Finds a tool that the driver named, by path or as a word to look up on `PATH`.
    pub(super) fn locate(&mut self, tool: &str, named: &Path) -> Option<PathBuf> {
        self.candidates.extend(self.own_places(tool).collect::<Vec<_>>());
        if named.is_absolute() {
            return named.is_file().then(|| named.to_owned());
        }
        let places: Vec<PathBuf> = self.path.iter().map(|directory| directory.join(named)).collect();
        let found = places.iter().position(|file| is_executable(file));
        self.candidates.extend(places[..found.unwrap_or(places.len())].iter().cloned());
        Some(places[found?].clone())
    }

    /// Finds an optional part in the driver's own directories.
    pub(super) fn beside(&mut self, name: &str) -> Option<PathBuf> {
        let places: Vec<PathBuf> = self.own_places(name).collect();
        let found = places.iter().find(|file| file.is_file()).cloned();
        self.candidates.extend(places);
        found
    }

    fn own_places(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let names = [format!("{}-{name}", self.machine), name.to_owned()];
        self.programs.iter().flat_map(move |directory| names.clone().map(|name| directory.join(name)))
    }

    /// Finds the driver that a wrapper script starts, as reported in `COLLECT_GCC`.
    pub(super) fn behind(&mut self, driver: &Path, words: &str) -> Option<PathBuf> {
        let named = words.lines().find_map(|line| line.strip_prefix("COLLECT_GCC="))?;
        let others = self.path.iter().map(|directory| directory.join(named));
        let same = |file: &Path| fs_err::canonicalize(file).ok() == fs_err::canonicalize(driver).ok();
        others.into_iter().find(|file| file.is_file() && !same(file))
    }

    /// Lists the configuration files that the driver reports as read, and watches all places where it would read one.
    pub(super) fn configuration(&mut self, words: &str, own_headers: &Path) -> Vec<(String, PathBuf)> {
        let beside = own_headers.ancestors().skip(1).take(2);
        let searched = self.programs.iter().chain(&self.libraries).map(PathBuf::as_path);
        let specs: Vec<PathBuf> = beside.chain(searched).map(|directory| directory.join("specs")).collect();
        let names = ["clang.cfg".to_owned(), "clang++.cfg".to_owned(), format!("{}.cfg", self.machine)];
        let beside =
            self.path.iter().take(1).flat_map(|directory| names.clone().map(|name| directory.join(name)));
        self.candidates.extend(specs.into_iter().chain(beside).collect::<Vec<_>>());
        let marks = ["Reading specs from ", "Configuration file: "];
        let read = words.lines().filter_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark)));
        (0..)
            .zip(read)
            .map(|(number, file)| (format!("configuration {number}"), PathBuf::from(file)))
            .collect()
    }

    /// Returns the `PATH` for all started programs: the directories of the tools in search order, so that each tool is
    /// found in the same place.
    pub(super) fn path(&self, tools: &[Option<&Path>]) -> OsString {
        let wanted: Vec<&Path> = tools.iter().flatten().filter_map(|tool| tool.parent()).collect();
        let mut list: Vec<&Path> = Vec::new();
        for directory in self.path.iter().map(PathBuf::as_path).chain(wanted.iter().copied()) {
            if wanted.contains(&directory) && !list.contains(&directory) {
                list.push(directory);
            }
        }
        // Directories of `PATH` contain no separator in their names.
        std::env::join_paths(list).unwrap_or_default()
    }

    pub(super) fn into_candidates(self) -> Vec<PathBuf> {
        self.candidates
    }
}

#[cfg(unix)]
pub(super) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_executable(file: &Path) -> bool {
    file.is_file()
}
