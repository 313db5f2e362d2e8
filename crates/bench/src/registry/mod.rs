//! A registry of ten million artifacts and ten thousand clients a minute, on paper: what breaks first, and what helps.
//!
//! ```text
//! World (sizes, rates, limits) ─▶ Way (how names are listed, how questions are asked) ─▶ run: events in time ─▶ Outcome ─▶ page
//! ```
//! Simulated is a web server with a store, since it is the plainest place and each answer is a file; sizes of files are measured
//! (`World::default`), capacities are those of one ordinary machine. Everything follows from one seed. `REGISTRY.md` is the page.

mod page;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use page::page;
pub(crate) use run::{Outcome, run};

/// What the world is like; sizes in bytes, times in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct World {
    pub(crate) artifacts: u64,
    pub(crate) clients_a_minute: u64,
    /// Of a hundred clients so many have everything, and ask what names mean.
    pub(crate) warm_percent: u64,
    /// Of those that have not everything, how many modules each lacks: an entry's, of several it uses.
    pub(crate) modules: u64,
    /// How many entries a client asks for.
    pub(crate) entries: u64,
    /// A record, its signatures, its documents.
    pub(crate) record: u64,
    pub(crate) signatures: u64,
    pub(crate) documents: u64,
    /// An archive, as it lies in a store; and its shared object, as a bundle has it.
    pub(crate) object: u64,
    pub(crate) code: u64,
    /// A named graph, with its signatures.
    pub(crate) entry: u64,
    /// Keys and fingerprints that lead to a record.
    pub(crate) pointers: u64,
    /// Records of one module: an ISA level each.
    pub(crate) variants: u64,
    /// A line of a list.
    pub(crate) line: u64,
    /// There and back.
    pub(crate) round_trip: f64,
    /// What the server sends, and what a client takes, in bytes a second.
    pub(crate) server_rate: f64,
    pub(crate) client_rate: f64,
    /// How many answers a server makes at once, and how long each takes it.
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
            // Means of quickstart's store and bundle; the page says how they were taken.
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

/// How a client finds and fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) lists: Lists,
    /// How many questions are asked at once.
    pub(crate) at_once: u64,
    /// Whether an entry that is here is not read again.
    pub(crate) knows: bool,
}

/// How names are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lists {
    /// One list for each two first digits.
    Shards,
    /// Pages of at most so many bytes.
    Pages(u64),
    /// None: one release is fetched, in layers of 128 KiB.
    Release,
}

/// The ways that are compared.
pub(crate) const WAYS: [Way; 7] = [
    Way::new("one list a shard, one question after another", Lists::Shards, 1),
    Way::new("the same, 16 questions at once", Lists::Shards, 16),
    Way::new("pages of 64 KiB, one after another", Lists::Pages(64 << 10), 1),
    Way::new("pages of 64 KiB, 16 at once", Lists::Pages(64 << 10), 16),
    Way {
        knows: true,
        ..Way::new(
            "the same, known entries are not read again (what precast does)",
            Lists::Pages(64 << 10),
            16,
        )
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
    /// The length of the list that a question reads.
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

    /// How many files the lists of keys are.
    pub(crate) fn lists(&self, lists: Lists) -> u64 {
        match lists {
            Lists::Shards => 256,
            Lists::Pages(_) => 256 + 256 * (self.list(Lists::Shards) / self.list(lists).max(1)),
            Lists::Release => 0,
        }
    }

    /// The answers that a client waits for, in steps; those of a step are asked at once, so many as may be.
    pub(crate) fn steps(&self, way: Way, is_warm: bool) -> Vec<Vec<u64>> {
        const ROOT: u64 = 65;
        const STORE: u64 = 40;
        const STUB: u64 = 8;
        if way.lists == Lists::Release {
            let bundle = self.modules * (self.code + self.record);
            let layers = bundle.div_ceil(128 << 10);
            let manifest = 800 + 300 * layers;
            // What the tag means; layers, the list of signatures, their manifest, they themselves.
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
