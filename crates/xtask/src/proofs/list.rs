//! The long proofs: the claim of each, its command, and its length.

use std::time::Duration;

pub(super) struct Proof {
    pub(super) name: &'static str,
    /// The property that a passing proof shows.
    pub(super) claim: &'static str,
    pub(super) length: Length,
    /// The arguments of `cargo xtask`, given the share of the time.
    pub(super) command: fn(Duration) -> Vec<String>,
}

/// The length of a proof.
pub(super) enum Length {
    /// The proof always does the same work.
    Fixed,
    /// The proof does as much as its share of the time allows. Shares are proportional to weights.
    Weighted(u64),
}

impl Proof {
    pub(super) fn weight(&self) -> u64 {
        match self.length {
            Length::Fixed => 0,
            Length::Weighted(weight) => weight,
        }
    }
}

/// The targets of `tests/parsers` that share the time of `fuzz-parsers`, two at once.
const PARSERS: u64 = 18;

/// The random graphs that `digest` computes in a minute on two cores, by every compiler and at every level.
const DIGESTS_A_MINUTE: u64 = 10;

/// The random graphs that `cross` compares in a minute under the emulator.
const CROSSED_A_MINUTE: u64 = 8;

/// The proofs in the order in which they run, with those of fixed length first.
pub(super) const PROOFS: [Proof; 20] = [
    Proof {
        name: "repro",
        claim: "every circumstance of a build gives the same bytes",
        length: Length::Fixed,
        command: |_| words(&["repro"]),
    },
    Proof {
        name: "features",
        claim: "every combination of features has no warning, and tables are right under every order of memory",
        length: Length::Fixed,
        command: |_| words(&["features"]),
    },
    Proof {
        name: "contracts",
        claim: "every built-in op keeps its contract in debug mode",
        length: Length::Fixed,
        command: |_| words(&["contracts"]),
    },
    Proof {
        name: "all-cases",
        claim: "the tests of which CI takes a share of the cases pass with all of them",
        length: Length::Fixed,
        command: |_| words(&["all-cases"]),
    },
    Proof {
        name: "threads",
        claim: "threads that share a call have no data race",
        length: Length::Fixed,
        command: |_| words(&["threads"]),
    },
    Proof {
        name: "remotes",
        claim: "remote stores work against real servers",
        length: Length::Fixed,
        command: |_| words(&["remotes"]),
    },
    // It installs the package, which proofs below use as a host.
    Proof {
        name: "python",
        claim: "the long tests of the Python package pass",
        length: Length::Fixed,
        command: |_| words(&["python", "--long"]),
    },
    Proof {
        name: "syscalls",
        claim: "programs survive each refused system call",
        length: Length::Fixed,
        command: |_| words(&["syscalls"]),
    },
    Proof {
        name: "limits",
        claim: "programs survive resource limits",
        length: Length::Fixed,
        command: |_| words(&["limits"]),
    },
    Proof {
        name: "cpus",
        claim: "emulated CPUs give the same results",
        length: Length::Fixed,
        command: |_| words(&["cpus"]),
    },
    Proof {
        name: "book",
        claim: "the documentation site has no dead link, and fits on a phone in both colour schemes",
        length: Length::Fixed,
        command: |_| words(&["book", "--test"]),
    },
    Proof {
        name: "reload",
        claim: "services that reload bundles hold no more than before",
        length: Length::Fixed,
        command: |_| words(&["reload"]),
    },
    Proof {
        name: "bench",
        claim: "every case of the bench runs, and no result differs from a peer's",
        length: Length::Fixed,
        command: |_| words(&["bench"]),
    },
    Proof {
        name: "package",
        claim: "published crates compile from their packages alone",
        length: Length::Fixed,
        command: |_| words(&["package"]),
    },
    Proof {
        name: "pytensor",
        claim: "PyTensor's and PyMC's own tests pass, for each tested version",
        length: Length::Weighted(6),
        command: |_| words(&["python", "--pytensor"]),
    },
    Proof {
        name: "cross",
        claim: "artifacts for aarch64 compute the same bits under an emulator",
        length: Length::Weighted(3),
        command: |share| with("cross", "--count", minutes(share) * CROSSED_A_MINUTE),
    },
    Proof {
        name: "digest",
        claim: "compilers, ISA levels, cuts and threads give one digest",
        length: Length::Weighted(4),
        command: |share| with("digest", "--count", minutes(share) * DIGESTS_A_MINUTE),
    },
    Proof {
        name: "fuzz-graphs",
        claim: "random graphs have the bits of the reference implementation",
        length: Length::Weighted(5),
        command: |_| words(&["fuzz-graphs", "--seed", &today()]),
    },
    Proof {
        name: "fuzz-numpy",
        claim: "random expressions have NumPy's values",
        length: Length::Weighted(1),
        command: |_| words(&["fuzz-graphs", "--numpy", "--seed", &today()]),
    },
    Proof {
        name: "fuzz-parsers",
        claim: "no edited file crashes a parser",
        length: Length::Weighted(3),
        command: |share| with("fuzz-parsers", "--seconds", (share.as_secs() * 2 / PARSERS).max(1)),
    },
];

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn with(command: &str, option: &str, number: u64) -> Vec<String> {
    words(&[command, option, &number.to_string()])
}

fn minutes(share: Duration) -> u64 {
    share.as_secs().div_ceil(60)
}

/// Returns the first seed of today's random graphs; each day uses different ones.
fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (since.as_secs() / 86_400 * 1_000_000).to_string()
}
