//! A unit: the modules of one translation unit, compiled together.
//!
//! A function's machine code may depend on its neighbors, so a unit has its own identity. Its modules have one language
//! and one set of flags, and are sorted by `BuildKey`. Whole graphs, C++ modules and modules with author-written text
//! at file scope are compiled alone; see [`Unit::batches`] for the rule.

use crate::extension::Host;
use crate::module::{Module, SourceSet, include_line};
use crate::template::{Origin, finish, render};
use precast_store::key::{BuildKey, Language, Profile};
use std::sync::Arc;

/// Modules compiled together, sorted by their keys. The position is the slot in the table.
#[derive(Debug, Clone)]
pub struct Unit {
    members: Vec<(BuildKey, Arc<Module>)>,
}

/// The average number of modules in a batch.
const BATCH: usize = 16;

impl Unit {
    /// Creates a unit of one module.
    #[must_use]
    pub fn single(module: Arc<Module>) -> Self {
        Self { members: vec![(module.key(), module)] }
    }

    /// Groups modules into units by a rule that depends only on the declared set. Modules are first grouped by
    /// language, flags and libraries. Each group is then split by the leading bits of the key into batches of about 16.
    /// Duplicates are removed.
    #[must_use]
    pub fn batches(modules: Vec<Arc<Module>>) -> Vec<Self> {
        let mut keyed: Vec<(BuildKey, Arc<Module>)> = modules.into_iter().map(|m| (m.key(), m)).collect();
        keyed.sort_by(|(ka, a), (kb, b)| group(a).cmp(&group(b)).then(ka.cmp(kb)));
        keyed.dedup_by(|(a, _), (b, _)| a == b);
        let mut units = Vec::new();
        for members in keyed.chunk_by(|(_, a), (_, b)| group(a) == group(b)) {
            if members[0].1.is_alone {
                units.extend(members.iter().map(|member| Self { members: vec![member.clone()] }));
                continue;
            }
            let bits = members.len().div_ceil(BATCH).next_power_of_two().trailing_zeros();
            let bucket = |key: &BuildKey| {
                let head = u32::from_be_bytes([key.as_bytes()[0], key.as_bytes()[1], key.as_bytes()[2], 0]);
                u64::from(head) >> (32 - bits)
            };
            units.extend(
                members
                    .chunk_by(|(a, _), (b, _)| bucket(a) == bucket(b))
                    .map(|members| Self { members: members.to_vec() }),
            );
        }
        units
    }

    /// Returns the members in the order of their slots.
    #[must_use]
    pub fn members(&self) -> &[(BuildKey, Arc<Module>)] {
        &self.members
    }

    /// Returns the language: C or C++.
    #[must_use]
    pub fn language(&self) -> Language {
        self.first().language
    }

    /// Returns the first module, for the properties that all members share: language, flags, libraries.
    #[must_use]
    pub fn first(&self) -> &Module {
        &self.members[0].1
    }

    /// Returns the source files of all members.
    #[must_use]
    pub fn sources(&self) -> SourceSet {
        self.members.iter().flat_map(|(_, m)| m.sources.clone()).collect()
    }

    /// Returns the file name under which the text is compiled, for messages and `#line` directives.
    #[must_use]
    pub fn file_name(&self) -> &'static str {
        match self.language() {
            Language::C => "unit.c",
            Language::Cxx => "unit.cc",
        }
    }

    /// Returns the C name of the member's entry: `m<first 16 digits of its key>_entry`.
    #[must_use]
    pub fn entry_symbol(key: &BuildKey) -> String {
        format!("m{}_entry", key.short())
    }

    /// Returns the name of the function that CPython calls when it loads an extension module.
    #[must_use]
    pub fn init_symbol(key: &BuildKey) -> String {
        format!("PyInit_m{}", key.short())
    }

    /// Returns the C text of the translation unit: includes, each module under its own name, and the exported table. An
    /// extension module of CPython has no table.
    #[must_use]
    pub fn text(&self) -> String {
        self.text_and_origins().0
    }

    /// Returns the text, and the mapping from its lines to modules and Applies.
    #[must_use]
    pub fn text_and_origins(&self) -> (String, Origins) {
        let mut includes: Vec<&str> = Vec::new();
        for include in self.members.iter().flat_map(|(_, m)| &m.includes) {
            if !includes.contains(&include.as_str()) {
                includes.push(include);
            }
        }
        let mut text: String = includes.into_iter().map(include_line).collect();
        let mut origins = Vec::new();
        for (key, module) in &self.members {
            let bytes: Vec<String> = key.as_bytes().iter().map(|b| format!("0x{b:02x}")).collect();
            text.push('\n');
            let (name, bytes) = (format!("m{}", key.short()), bytes.join(","));
            origins.push(finish(&mut text, &module.body, &name, &bytes, self.file_name()));
        }
        if self.first().host != Host::Native {
            return (text, Origins(origins));
        }
        let entries: String =
            self.members.iter().map(|(key, _)| format!("  &{},\n", Self::entry_symbol(key))).collect();
        text += &render(include_str!("../c/table.c.in"), &[("ENTRIES", &entries)]);
        (text, Origins(origins))
    }
}

/// The mapping from lines of a unit's text to members and Applies.
#[derive(Debug, Clone)]
pub struct Origins(Vec<Vec<Origin>>);

impl Origins {
    /// Returns the position of the member that contains a line, counted from 1, and the position of the Apply that
    /// emitted it.
    #[must_use]
    pub fn find(&self, line: usize) -> Option<(usize, Option<usize>)> {
        let begun = |origin: &&Origin| origin.line <= line;
        let member = self.0.iter().rposition(|origins| origins.first().as_ref().is_some_and(begun))?;
        Some((member, self.0[member].iter().rev().find(begun)?.apply))
    }
}

/// Returns the properties that the modules of a unit must share.
fn group(module: &Module) -> (Language, Profile, bool, [&[String]; 5]) {
    let lists =
        [&module.flags[..], &module.removed_flags, &module.libraries, &module.header_dirs, &module.lib_dirs];
    (module.language, module.profile, module.is_alone, lists)
}
