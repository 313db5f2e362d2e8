//! The requirements of code, and the check against a host. The host is passed in; this module does not probe it.

use super::ParseRecordError;
use super::host::Host;
use super::wire::{Reader, Writer};

/// The requirements of an artifact, read from its ELF file and its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Requires {
    /// Architecture, such as `x86_64`.
    pub arch: String,
    /// Operating system, such as `linux`.
    pub os: String,
    /// C library, such as `gnu`. `None` for code that calls none.
    pub libc: Option<String>,
    /// Lowest version of the C library, such as `2.29`.
    pub libc_version: Option<String>,
    /// CPU features, such as `avx2`, sorted.
    pub cpu: Vec<String>,
    /// Sonames of shared libraries, sorted. The dynamic loader finds them or reports an error.
    pub needed: Vec<String>,
    /// Undefined symbols, sorted.
    pub undefined: Vec<String>,
    /// Lowest and highest version of the C ABI that the code supports.
    pub abi: (u32, u32),
}

/// A requirement that a host does not meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unmet {
    /// The architecture differs.
    #[error("needs architecture `{needed}`, found `{found}`")]
    Arch {
        /// The required architecture.
        needed: String,
        /// The architecture of the host.
        found: String,
    },
    /// The operating system differs.
    #[error("needs operating system `{needed}`, found `{found}`")]
    Os {
        /// The required operating system.
        needed: String,
        /// The operating system of the host.
        found: String,
    },
    /// The C library differs, or is too old.
    #[error("needs C library `{needed}`, found `{found}`")]
    Libc {
        /// The required C library, with its lowest version.
        needed: String,
        /// The C library of the host.
        found: String,
    },
    /// The CPU lacks features, or a limit forbids using them.
    #[error("needs CPU features `{}`: {}", missing.join("`, `"), lacks(limit.as_deref()))]
    Cpu {
        /// The missing features.
        missing: Vec<String>,
        /// The highest ISA level that may be used, if a limit is set.
        limit: Option<String>,
    },
    /// The C ABI versions do not overlap.
    #[error("needs C ABI {} to {}, found {} to {}", needed.0, needed.1, found.0, found.1)]
    Abi {
        /// The range that the code supports.
        needed: (u32, u32),
        /// The range that the host supports.
        found: (u32, u32),
    },
}

impl Requires {
    /// Checks whether a host meets the requirements, except for shared libraries, which the dynamic loader looks up.
    ///
    /// # Errors
    ///
    /// The first unmet requirement.
    pub fn check(&self, host: &Host) -> Result<(), Unmet> {
        if self.arch != host.arch {
            return Err(Unmet::Arch { needed: self.arch.clone(), found: host.arch.clone() });
        }
        if self.os != host.os {
            return Err(Unmet::Os { needed: self.os.clone(), found: host.os.clone() });
        }
        if !self.libc_is_met(host) {
            let show = |name: &Option<String>, version: &Option<String>| {
                let parts: Vec<&str> = [name, version].into_iter().flatten().map(String::as_str).collect();
                if parts.is_empty() { "none".to_owned() } else { parts.join(" ") }
            };
            let needed = show(&self.libc, &self.libc_version);
            return Err(Unmet::Libc { needed, found: show(&host.libc, &host.libc_version) });
        }
        // Both lists are sorted, so one pass usually suffices. Missing features are only collected if it fails.
        let mut has = host.cpu.iter();
        if !self.cpu.iter().all(|name| has.any(|feature| feature == name)) {
            let missing: Vec<String> =
                self.cpu.iter().filter(|name| !host.cpu.contains(*name)).cloned().collect();
            if !missing.is_empty() {
                return Err(Unmet::Cpu { missing, limit: host.limit.clone() });
            }
        }
        let (low, high) = (self.abi.0.max(host.abi.0), self.abi.1.min(host.abi.1));
        if low > high { Err(Unmet::Abi { needed: self.abi, found: host.abi }) } else { Ok(()) }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        let Self { arch, os, libc, libc_version, cpu, needed, undefined, abi } = self;
        [arch, os].into_iter().for_each(|text| writer.str(text));
        [libc, libc_version].into_iter().for_each(|text| {
            writer.option(text.as_deref(), Writer::str);
        });
        [cpu, needed, undefined].into_iter().for_each(|names| writer.strs(names));
        [abi.0, abi.1].into_iter().for_each(|version| writer.u32(version));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ParseRecordError> {
        Ok(Self {
            arch: reader.str()?,
            os: reader.str()?,
            libc: reader.option(Reader::str)?,
            libc_version: reader.option(Reader::str)?,
            cpu: reader.strs()?,
            needed: reader.strs()?,
            undefined: reader.strs()?,
            abi: (reader.u32()?, reader.u32()?),
        })
    }

    fn libc_is_met(&self, host: &Host) -> bool {
        if self.libc.is_some() && self.libc != host.libc {
            return false;
        }
        match (&self.libc_version, &host.libc_version) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(needed), Some(found)) => match (version(needed), version(found)) {
                (Some(needed), Some(found)) => needed <= found,
                _ => false,
            },
        }
    }
}

fn lacks(limit: Option<&str>) -> String {
    let limited =
        |limit| format!("not supported by this CPU, or excluded by `{}={limit}`", crate::cpu::LIMIT);
    limit.map_or_else(|| "not supported by this CPU".to_owned(), limited)
}

/// Parses `2.29` as numbers, so that `2.9` sorts before `2.29`.
fn version(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|part| part.parse().ok()).collect()
}
