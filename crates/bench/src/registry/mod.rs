//! Simulates a registry of ten million artifacts and ten thousand clients a minute, to find its bottlenecks and
//! compare remedies.
//!
//! ```text
//! World (sizes, rates, limits) ─▶ Way (how names are listed, how requests are sent) ─▶ run: events in time ─▶ Outcome ─▶ page
//! ```
//! The simulated registry is a web server with a store, since it is the plainest kind and each response is a file.
//! File sizes are measured (`World::default`); capacities are those of one ordinary machine. All results follow from
//! one seed. `REGISTRY.md` is the page.

mod page;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use page::page;
pub(crate) use run::{Outcome, run};

/// The parameters of the simulation; sizes in bytes, times in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct World {
    pub(crate) artifacts: u64,
    pub(crate) clients_a_minute: u64,
    /// The percentage of clients that have everything cached and only resolve names.
    pub(crate) warm_percent: u64,
    /// The number of modules that each cold client lacks: those of one entry, out of several that it uses.
    pub(crate) modules: u64,
    /// The number of entries that a client requests.
    pub(crate) entries: u64,
    /// The sizes of a record, its signatures and its documents.
    pub(crate) record: u64,
    pub(crate) signatures: u64,
    pub(crate) documents: u64,
    /// The sizes of an archive in a store and of its shared object in a bundle.
    pub(crate) object: u64,
    pub(crate) code: u64,
    /// The size of a named graph with its signatures.
    pub(crate) entry: u64,
    /// The number of keys and fingerprints that lead to a record.
    pub(crate) pointers: u64,
    /// The number of records of one module, one per ISA level.
    pub(crate) variants: u64,
    /// The size of a line of a list.
    pub(crate) line: u64,
    pub(crate) round_trip: f64,
    /// The send rate of the server and the receive rate of a client, in bytes a second.
    pub(crate) server_rate: f64,
    pub(crate) client_rate: f64,
    /// The number of responses that a server prepares at once, and the time that each takes.
    pub(crate) workers: usize,
    pub(crate) service: f64,
    pub(crate) minutes: u64,
    pub(crate) seed: u64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            artifacts: 10_000_000,
            clients_a_minute: 10_000,
            warm_percent: 90,
            modules: 8,
            entries: 4,
            // Means of quickstart's store and bundle; the page explains how they were measured.
            record: 495,
            signatures: 335,
            documents: 1_605,
            object: 40_881,
            code: 14_977,
            entry: 2_770,
            pointers: 2,
            variants: 3,
            line: 195,
            round_trip: 0.02,
            server_rate: 1.25e9,
            client_rate: 0.125e9,
            workers: 4,
            service: 50e-6,
            minutes: 2,
            seed: 20_261_123,
        }
    }
}

/// A way for a client to find and fetch artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) lists: Lists,
    /// The number of concurrent requests.
    pub(crate) at_once: u64,
    /// Whether a client skips reading an entry that it already has.
    pub(crate) knows: bool,
}

/// A way to list names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    /// One list for each prefix of two digits.
    Shards,
    /// Pages of at most this many bytes.
    Pages(u64),
    /// No lists: the client fetches one release, in layers of 128 KiB.
    Release,
}

/// The ways that are compared.
pub(crate) const WAYS: [Way; 7] = [
    Way::new("one list per shard, sequential requests", Lists::Shards, 1),
    Way::new("the same, 16 requests at once", Lists::Shards, 16),
    Way::new("pages of 64 KiB, sequential requests", Lists::Pages(64 << 10), 1),
    Way::new("pages of 64 KiB, 16 requests at once", Lists::Pages(64 << 10), 16),
    Way {
        knows: true,
        ..Way::new("the same, known entries are not read again (as in precast)", Lists::Pages(64 << 10), 16)
    },
    Way { knows: true, ..Way::new("the same, pages of 4 KiB", Lists::Pages(4 << 10), 16) },
    Way { knows: true, ..Way::new("a release in a registry, 8 layers at once", Lists::Release, 8) },
];

impl Way {
    const fn new(name: &'static str, lists: Lists, at_once: u64) -> Self {
        Self { name, lists, at_once, knows: false }
    }
}

impl World {
    /// Returns the length of the list that a request reads.
    pub(crate) fn list(&self, lists: Lists) -> u64 {
        let shard = self.artifacts * self.pointers * self.line / 256;
        match lists {
            Lists::Shards => shard,
            Lists::Pages(longest) => {
                let mut page = shard;
                while page > longest {
                    page /= 16;
                }
                page
            }
            Lists::Release => 0,
        }
    }

    /// Returns the number of files that hold the lists of keys.
    pub(crate) fn lists(&self, lists: Lists) -> u64 {
        match lists {
            Lists::Shards => 256,
            Lists::Pages(_) => 256 + 256 * (self.list(Lists::Shards) / self.list(lists).max(1)),
            Lists::Release => 0,
        }
    }

    /// Returns the sizes of the responses that a client waits for, in steps. The requests of a step are sent
    /// together, up to the limit.
    pub(crate) fn steps(&self, way: Way, is_warm: bool) -> Vec<Vec<u64>> {
        const ROOT: u64 = 65;
        const STORE: u64 = 40;
        const STUB: u64 = 8;
        if way.lists == Lists::Release {
            let bundle = self.modules * (self.code + self.record);
            let layers = bundle.div_ceil(128 << 10);
            let manifest = 800 + 300 * layers;
            // The tag, then the layers, the list of signatures, their manifest, and the signatures.
            return match is_warm {
                true => vec![vec![manifest]],
                false => vec![
                    vec![manifest],
                    vec![manifest],
                    vec![bundle / layers; usize::try_from(layers).unwrap_or(1)],
                    vec![600],
                    vec![600],
                    vec![900],
                    vec![self.signatures],
                ],
            };
        }
        let mut steps = vec![vec![STORE]];
        steps.extend((0..self.entries).map(|_| vec![ROOT]));
        if !(is_warm && way.knows) {
            steps.extend((0..self.entries).map(|_| vec![self.entry, self.signatures]));
        }
        if is_warm {
            return steps;
        }
        let list = self.list(way.lists);
        let lists: &[u64] = if matches!(way.lists, Lists::Pages(_)) { &[STUB, list] } else { &[list] };
        let parts = [self.record, self.signatures, self.documents];
        let many = |count: u64, bytes: &[u64]| (0..count).flat_map(|_| bytes.to_vec()).collect::<Vec<u64>>();
        match way.at_once {
            1 => {
                for _ in 0..self.modules {
                    steps.extend(lists.iter().map(|list| vec![*list]));
                    steps.extend((0..self.variants).map(|_| parts.to_vec()));
                    steps.push(vec![self.object]);
                }
            }
            _ => {
                steps.extend(lists.iter().map(|list| many(self.modules, &[*list])));
                steps
                    .extend([many(self.modules * self.variants, &parts), many(self.modules, &[self.object])]);
            }
        }
        steps
    }
}
