//! The machine and the tools that the figures come from.

use crate::measure::output;
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::Command;

/// The machine, compilers, versions of peers, and the load.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) processors: usize,
    pub(crate) isa: String,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
    pub(crate) compiler: String,
    /// The versions of peers, by name.
    pub(crate) peers: BTreeMap<String, String>,
    pub(crate) load_before: String,
    pub(crate) load_after: String,
}

impl Machine {
    /// Queries the system.
    pub(crate) fn here(peers: BTreeMap<String, String>) -> Self {
        let unknown = || "unknown".to_owned();
        let cpuinfo = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
        let cpu = model.and_then(|line| line.split(": ").nth(1)).map_or_else(unknown, str::to_owned);
        let line =
            |command: &mut Command| output(command).map_or_else(|_| unknown(), |text| text.trim().to_owned());
        let toolchain = precast_compile::Toolchain::find(None);
        let mut peers = peers;
        peers.insert("ndarray".to_owned(), ndarray().to_owned());
        Self {
            cpu,
            processors: std::thread::available_parallelism().map_or(1, Into::into),
            isa: precast_compile::Isa::native().map_or_else(unknown, |isa| isa.to_string()),
            kernel: line(Command::new("uname").arg("-sr")),
            rustc: line(Command::new("rustc").arg("--version")),
            compiler: toolchain.map_or_else(|_| unknown(), |found| found.description().to_owned()),
            peers,
            load_before: load(),
            load_after: String::new(),
        }
    }

    /// Returns all facts in one sentence.
    pub(super) fn facts(&self) -> String {
        format!("{}, {}", self.cpu, self.surroundings())
    }

    /// Returns all facts but the CPU.
    pub(super) fn surroundings(&self) -> String {
        let peers: Vec<String> =
            self.peers.iter().map(|(name, version)| format!("{name} {version}")).collect();
        format!(
            "{} processors, level {}; {}; {}; {}; {}; load {} before, {} after",
            self.processors,
            self.isa,
            self.kernel,
            self.rustc,
            self.compiler,
            peers.join(", "),
            self.load_before,
            self.load_after
        )
    }
}

/// Returns the version of ndarray in the lock file that this program was built with; earlier matches there are older
/// versions.
fn ndarray() -> &'static str {
    let lock = include_str!("../../../../Cargo.lock");
    let after = lock.split("name = \"ndarray\"\nversion = \"").last();
    after.and_then(|text| text.split('"').next()).unwrap_or("unknown")
}

/// Returns the average number of running processes over the last minute.
pub(crate) fn load() -> String {
    let text = fs_err::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
