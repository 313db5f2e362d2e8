//! The facts and problems of a layer, for `verify` and `doctor`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use precast_graph::FunctionGraph;
use precast_ops::{CheckEntryError, Ops, OtherVersion, check_entry};
use precast_store::event::{self, chain, split_hints};
use precast_store::key::ambiguous;
use precast_store::keyring::check_file;
use precast_store::{
    Bundle, Entry, Event, Export, Keyring, MissingModule, OpenBundleError, OpenError, OpenExportError,
    OpenSignedError, Store, file, lacking,
};
use serde_json::{Value, json};

use crate::args::LayerArgs;
use crate::error::{Exit, Failure};
use crate::{exported, layers, print};

/// The largest number of problems that are listed for a layer.
const LISTED: usize = 12;

/// The facts and problems of a layer.
pub(crate) struct Health {
    name: String,
    /// (name, value) in the order of display.
    facts: Vec<(&'static str, Value)>,
    problems: Vec<String>,
    pub(crate) exit: Exit,
}

impl Health {
    pub(crate) fn new(name: String) -> Self {
        Self { name, facts: Vec::new(), problems: Vec::new(), exit: Exit::Ok }
    }

    /// Inspects a bundle; with `verify`, reads all of it. With a keyring, checks the signatures of the bytes that
    /// were read.
    fn of_bundle(path: &Path, verify: bool, keyring: Option<&Keyring>) -> Result<Self, Failure> {
        let mut health = Self::new(format!("bundle `{}`", path.display()));
        let opened = match (Bundle::open_unsigned(path), keyring) {
            // Signatures replace the permissions.
            (Err(OpenBundleError::Untrusted(untrusted)), Some(keyring)) => {
                match Bundle::open_signed(path, keyring) {
                    Err(OpenSignedError::Open(error)) => Err(error),
                    Err(_) => Err(untrusted.into()),
                    Ok(bundle) => Ok(bundle),
                }
            }
            (opened, _) => opened,
        };
        let bundle = match opened {
            Ok(bundle) => bundle,
            Err(error) => {
                let is_damage = matches!(error, OpenBundleError::Magic { .. }) || error.is_damage();
                let damaged = verify && is_damage;
                return Ok(health.broken(error.into(), damaged));
            }
        };
        let other = OtherVersion::of(bundle.generator());
        health.facts.push(("generator", json!(if other.is_none() { "this one" } else { "another" })));
        if let Some(version) = other {
            health.other_version("it", &version);
        }
        health.facts.push(("entries", json!(bundle.entries().len())));
        health.facts.push(("records", json!(bundle.len())));
        if verify {
            health.judge(&bundle.verify());
            let entries = bundle.entries();
            health.judge_entries(&entries);
            health.judge_lacking(&entries, &lacking(&entries, |key| !bundle.find(key).is_empty()));
            if health.exit == Exit::Damaged {
                health.problems.push(Bundle::HINT.to_owned());
            }
        }
        if let Some(keyring) = keyring {
            match check_file(path, bundle.bytes(), keyring) {
                Ok(names) => health.facts.push(("signed by", json!(names.join(", ")))),
                Err(error) if error.is_unsigned() => health.unsigned(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(health)
    }

    /// Verifies an export as an import does. With a keyring, checks its signatures before it is unpacked.
    fn of_export(path: &Path, keyring: Option<&Keyring>) -> Result<Self, Failure> {
        let mut health = Self::new(format!("export `{}`", path.display()));
        let bytes = file::read(path, u64::MAX)?;
        // First in little memory: only intact exports, signed if a keyring is given, are unpacked.
        let opened = Export::check(&bytes).and_then(|()| match keyring {
            None => Ok((Export::open(&bytes)?, Vec::new())),
            Some(keyring) => Export::open_signed(&bytes, keyring),
        });
        let (export, names) = match opened {
            Ok(opened) => opened,
            Err(OpenExportError::Unsigned(unsigned)) => {
                health.unsigned(&format!("not {unsigned}{}", unsigned.hint()));
                return Ok(health);
            }
            Err(error) => return Ok(health.broken(error.into(), true)),
        };
        match exported::verify(&export) {
            Err(error) => return Ok(health.broken(error.into(), true)),
            Ok(found) => {
                health.facts.extend([("entries", json!(found.entries)), ("records", json!(found.records))]);
            }
        }
        if keyring.is_some() {
            health.facts.push(("signed by", json!(names.join(", "))));
        }
        Ok(health)
    }

    /// Inspects a store; with `verify`, reads all of it. With a keyring, checks the signatures of its records and
    /// entries.
    fn of_store(path: &Path, verify: bool, keyring: Option<&Keyring>) -> Result<Self, Failure> {
        let mut health = Self::new(format!("store `{}`", path.display()));
        let opened = Store::open(path).and_then(|store| Ok(store.check_trust().map(|()| store)?));
        let opened = match (opened, keyring) {
            // Signatures replace the permissions. Links are still a fault.
            (Err(OpenError::Untrusted(_)), Some(_)) => {
                Store::inspect(path).and_then(|store| Ok(store.check_trust().map(|()| store)?))
            }
            (opened, _) => opened,
        };
        let looked =
            opened.map_err(Failure::from).and_then(|store| health.look(&store, verify).map(|()| store));
        match looked {
            Ok(store) => keyring.map_or(Ok(()), |keyring| health.check_signatures(&store, keyring))?,
            Err(failure) => {
                let is_damage = failure.exit() == Exit::Damaged;
                return Ok(health.broken(failure, verify && is_damage));
            }
        }
        Ok(health)
    }

    fn look(&mut self, store: &Store, verify: bool) -> Result<(), Failure> {
        let path = store.path();
        let stated = file::read_text(&path.join("STORE"))?;
        let format =
            stated.lines().find_map(|line| line.strip_prefix("format=")).unwrap_or("unknown").to_owned();
        self.facts.push(("format", json!(format)));
        // An unnamed temporary file leaves no trace.
        self.facts.push(("writable", json!(tempfile::tempfile_in(path).is_ok())));
        if verify {
            let verified = store.verify()?;
            self.facts.push(("entries", json!(verified.entries)));
            self.facts.push(("records", json!(verified.records)));
            self.facts.push(("archives", json!(verified.objects)));
            self.facts.push(("unreferenced", json!(verified.unreferenced.len())));
            self.judge(&verified.events);
            self.problems.extend(
                verified.missing.iter().map(|digest| format!("archive `{}` is missing", digest.short())),
            );
            self.judge_lacking(&store.entries()?, &verified.lacking);
            if verified.undocumented > 0 {
                let records = print::count(verified.undocumented, "record", "records");
                self.problems.push(format!("missing documents of {records}, which `explain` needs"));
            }
            if !verified.missing.is_empty() || verified.undocumented > 0 {
                self.exit = Exit::Damaged;
            }
            let entries = store.entries()?;
            self.judge_entries(&entries);
            self.judge_versions(&entries);
            return Ok(());
        }
        let (mut records, mut modules) = (0, 0);
        let mut documents = Vec::new();
        for record in store.records() {
            let members = record?.members;
            records += 1;
            modules += members.len();
            let versioned = members.into_iter().filter_map(|member| member.document);
            documents.extend(versioned.filter(|document| !document.versions.is_empty()));
        }
        let entries = store.entries()?;
        self.facts.push(("entries", json!(entries.len())));
        self.judge_versions(&entries);
        self.facts.push(("records", json!(records)));
        self.facts.push(("modules", json!(modules)));
        // The store itself is fine: keys distinguish both.
        self.problems.extend(ambiguous(&documents).iter().map(|stale| {
            let (op, version) = (&stale.op, stale.version());
            let changes = stale.changes(|file, one, other| format!("`{file}` is `{one}` and `{other}`"));
            format!("version `{version}` of `{op}` has more than one source: {changes}")
        }));
        Ok(())
    }

    /// Reports entries made by other versions. Programs can still load them by name, but graphs that this version
    /// declares may miss.
    fn judge_versions(&mut self, entries: &[Entry]) {
        let mut others: BTreeMap<OtherVersion, usize> = BTreeMap::new();
        for version in entries.iter().filter_map(|entry| OtherVersion::of(&entry.recipe)) {
            *others.entry(version).or_default() += 1;
        }
        for (version, count) in others {
            self.other_version(&print::count(count, "entry", "entries"), &version);
        }
    }

    fn other_version(&mut self, what: &str, version: &OtherVersion) {
        self.problems.push(format!(
            "{what} built by {version}: programs can still load them by name, but graphs declared with this version \
             may miss, also in `precast run --entry`"
        ));
        self.problems.push(OtherVersion::HINT.to_owned());
    }

    /// Adds a fact.
    pub(crate) fn fact(&mut self, name: &'static str, value: Value) {
        self.facts.push((name, value));
    }

    /// Adds a problem with its hints.
    pub(crate) fn fail(&mut self, why: &str, exit: Exit) {
        let (message, hints) = split_hints(why);
        self.problems.push(message);
        self.problems.extend(hints.into_iter().map(|hint| format!("hint: {hint}")));
        self.exit = exit;
    }

    fn judge(&mut self, events: &[Event]) {
        self.problems.extend(event::lines(events));
        if events.iter().any(|event| !event.is_repair()) {
            self.exit = Exit::Damaged;
        }
    }

    /// Reports modules that entries call and no variant serves: an intact layer serves each of its entries.
    fn judge_lacking(&mut self, entries: &[Entry], lacking: &[MissingModule]) {
        for lost in lost(entries, lacking) {
            self.problems.push(lost.to_string());
            self.exit = Exit::Damaged;
        }
    }

    /// Checks the program of each entry made by this generator against its declared graph.
    fn judge_entries(&mut self, entries: &[Entry]) {
        let ops = Ops::standard();
        for entry in entries {
            // Every key is that of a module generated here; the layer's own statements are not trusted.
            let Err(error) = check_entry(entry, &ops, |_, _| None) else { continue };
            self.problems.push(format!("entry `{}`: {}", entry.name, chain(&error)));
            if matches!(error, CheckEntryError::Other) {
                self.exit = Exit::Damaged;
            }
        }
    }

    fn broken(mut self, failure: Failure, damaged: bool) -> Self {
        let rendered = failure.render();
        self.problems
            .push(std::iter::once(rendered.message).chain(rendered.causes).collect::<Vec<_>>().join(": "));
        self.problems.extend(rendered.hints.iter().map(|hint| format!("hint: {hint}")));
        self.exit = if damaged { Exit::Damaged } else { Exit::Error };
        self
    }

    /// Renders the facts and problems as text.
    pub(crate) fn text(&self) -> String {
        let facts: Vec<String> = self
            .facts
            .iter()
            .map(|(what, value)| match value {
                Value::Bool(yes) => format!("{}{what}", if *yes { "" } else { "not " }),
                Value::String(text) => format!("{what} {text}"),
                other => format!("{what} {other}"),
            })
            .collect();
        let mut text = format!("\n{}\n", self.name);
        if !facts.is_empty() {
            let _ = writeln!(text, "  {}", facts.join(", "));
        }
        let (hints, told): (Vec<_>, Vec<_>) =
            self.problems.iter().partition(|problem| problem.starts_with("hint: "));
        for problem in told.iter().take(LISTED) {
            let _ = writeln!(text, "  {problem}");
        }
        if told.len() > LISTED {
            let _ = writeln!(text, "  and {} more; list all with `--json`", told.len() - LISTED);
        }
        for hint in hints {
            let _ = writeln!(text, "  {hint}");
        }
        text
    }

    /// Returns the facts and problems as JSON.
    pub(crate) fn json(&self) -> Value {
        let mut value = json!({"name": self.name, "problems": self.problems});
        for (what, fact) in &self.facts {
            value[*what] = fact.clone();
        }
        value
    }
}

/// Returns the missing modules without those that are never published: each process compiles modules with an op of
/// the empty version for itself.
pub(crate) fn lost<'l>(entries: &[Entry], lacking: &'l [MissingModule]) -> Vec<&'l MissingModule> {
    let made = RefCell::new(BTreeSet::new());
    for entry in entries.iter().filter(|entry| lacking.iter().any(|lost| lost.entry == entry.name)) {
        let note = |part: &FunctionGraph, ops: &Ops| {
            let module = precast_codegen::link(part, ops.c()).ok()?;
            if module.unpublished {
                made.borrow_mut().insert(module.key());
            }
            Some(module.key())
        };
        // If an entry cannot be derived here, all its missing modules count as lost.
        let _ = check_entry(entry, &Ops::standard(), note);
    }
    lacking.iter().filter(|lost| !made.borrow().contains(&lost.key)).collect()
}

/// Inspects all layers of a command line.
pub(crate) fn of_layers(args: &LayerArgs, verify: bool) -> Result<Vec<Health>, Failure> {
    if let Some(url) = args.remotes().first() {
        return Err(Failure::usage(format!("cannot inspect `{url}`")).hint(
            "inspect the local store or bundle that was pushed; fetched artifacts are always verified",
        ));
    }
    let keyring = layers::open_keyring(args)?;
    let bundles = args.bundle.iter().map(|path| Health::of_bundle(path, verify, keyring.as_deref()));
    let stores = layers::to_look(args).into_iter();
    bundles.chain(stores.map(|path| Health::of_store(&path, verify, keyring.as_deref()))).collect()
}

/// Verifies exports.
pub(crate) fn of_exports(paths: &[PathBuf], args: &LayerArgs) -> Result<Vec<Health>, Failure> {
    let keyring = layers::open_keyring(args)?;
    paths.iter().map(|path| Health::of_export(path, keyring.as_deref())).collect()
}

impl Health {
    /// Checks that enough keys have signed every record and entry of a store.
    fn check_signatures(&mut self, store: &Store, keyring: &Keyring) -> Result<(), Failure> {
        let mut count = 0;
        for signed in store.signed() {
            let signed = signed?;
            match keyring.check(&signed.bytes, &signed.signatures) {
                Ok(_) => count += 1,
                Err(unsigned) => {
                    self.unsigned(&format!("{} is not {unsigned}{}", signed.name, unsigned.hint()));
                }
            }
        }
        self.facts.push(("signed", json!(count)));
        Ok(())
    }

    fn unsigned(&mut self, problem: &str) {
        let (text, hints) = split_hints(problem);
        self.problems.push(text);
        // A hint has a line of its own and appears once.
        for hint in hints.iter().map(|hint| format!("hint: {hint}")) {
            if !self.problems.contains(&hint) {
                self.problems.push(hint);
            }
        }
        if self.exit == Exit::Ok {
            self.exit = Exit::Unsigned;
        }
    }
}

/// Returns the exit code for all layers.
pub(crate) fn exit(health: &[Health]) -> Exit {
    health.iter().map(|health| health.exit).fold(Exit::Ok, Exit::graver)
}
