//! `precast doctor`: what this host can do, and whether what it has is whole.

use std::fmt::Write as _;
use std::path::Path;

use precast_compile::{Isa, Toolchain, host_target};
use precast_core::cpu;
use precast_ops::{CheckEntryError, GENERATOR, Ops, check_entry};
use precast_runtime::Policy;
use precast_store::event::chain;
use precast_store::key::{Language, ambiguous};
use precast_store::{Bundle, Entry, Event, OpenBundleError, Store};
use serde_json::{Value, json};

use crate::args::DoctorArgs;
use crate::error::{Exit, Failure};
use crate::{layers, print, term};

/// Runs the command.
pub(super) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let target = args.target.clone().unwrap_or_else(host_target);
    let limit = cpu::limit()?.map(|level| level.name);
    let compiler = compiler(&target);
    let bundles = args.layers.bundle.iter().map(|path| Health::of_bundle(path, args.verify));
    let mut health: Vec<Health> = bundles.collect();
    health.extend(layers::to_look(&args.layers).iter().map(|path| Health::of_store(path, args.verify)));
    let level = Isa::native().map_or("unknown", Isa::name);
    let policies: Vec<&str> = Policy::ALL
        .iter()
        .filter(|policy| !policy.compiles() || (compiler.is_ok() && target == host_target()))
        .map(|policy| policy.name())
        .collect();
    if args.json {
        let layers: Vec<Value> = health.iter().map(Health::json).collect();
        let compiler = match &compiler {
            Ok(found) => {
                json!({"found": true, "description": found.description, "path": found.path, "id": found.id})
            }
            Err(failure) => {
                json!({"found": false, "problem": failure.render().message, "hints": failure.render().hints})
            }
        };
        term::print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"), "generator": GENERATOR, "arch": std::env::consts::ARCH,
            "os": std::env::consts::OS, "isa": level, "isa_limit": limit, "target": target, "compiler": compiler,
            "policies": policies, "layers": layers,
        }))?;
    } else {
        let mut text = format!("precast    {}, generator {}\n", env!("CARGO_PKG_VERSION"), short(GENERATOR));
        let limited = limit.map_or_else(String::new, |limit| format!(", limited by {}={limit}", cpu::LIMIT));
        let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
        let _ = writeln!(text, "host       {arch} {os}, ISA level {level}{limited}");
        let _ = writeln!(text, "target     {target}");
        match &compiler {
            Ok(found) => {
                let _ = writeln!(text, "compiler   {} at {}", found.description, found.path);
                let _ = writeln!(text, "toolchain  {}", found.id);
            }
            Err(failure) => {
                let rendered = failure.render();
                let _ = writeln!(text, "compiler   none: {}", rendered.message);
                for hint in &rendered.hints {
                    let _ = writeln!(text, "           hint: {hint}");
                }
            }
        }
        let _ = writeln!(text, "policies   {}", policies.join(", "));
        health.iter().for_each(|health| text += &health.text());
        term::print(&text)?;
    }
    let any = |exit: Exit| health.iter().any(|health| health.exit == exit);
    Ok(if any(Exit::Damaged) {
        Exit::Damaged
    } else if health.iter().all(|health| health.exit == Exit::Ok) {
        Exit::Ok
    } else {
        Exit::Error
    })
}

fn short(id: &str) -> &str {
    id.get(..16).unwrap_or(id)
}

struct Compiler {
    description: String,
    path: String,
    id: String,
}

fn compiler(target: &str) -> Result<Compiler, Failure> {
    let toolchain = Toolchain::find(Some(target))?;
    Ok(Compiler {
        description: toolchain.description().to_owned(),
        path: toolchain.driver().display().to_string(),
        id: toolchain.id(Language::C)?.to_string(),
    })
}

/// What is known of a layer.
struct Health {
    name: String,
    /// (what, value) in the order of display.
    facts: Vec<(&'static str, Value)>,
    problems: Vec<String>,
    exit: Exit,
}

impl Health {
    fn new(name: String) -> Self {
        Self { name, facts: Vec::new(), problems: Vec::new(), exit: Exit::Ok }
    }

    fn of_bundle(path: &Path, verify: bool) -> Self {
        let mut health = Self::new(format!("bundle `{}`", path.display()));
        let bundle = match Bundle::open(path) {
            Ok(bundle) => bundle,
            Err(error) => {
                let damaged = verify
                    && matches!(
                        error,
                        OpenBundleError::Magic { .. }
                            | OpenBundleError::Length { .. }
                            | OpenBundleError::Damaged { .. }
                    );
                return health.broken(error.into(), damaged);
            }
        };
        let same = bundle.generator() == GENERATOR;
        health.facts.push(("generator", json!(if same { "this one" } else { "another" })));
        health.facts.push(("entries", json!(bundle.entries().len())));
        health.facts.push(("records", json!(bundle.len())));
        if verify {
            health.judge(&bundle.verify());
            let entries = bundle.entries();
            health.judge_entries(&entries);
            let lacks = |entry: &&Entry| entry.program.steps.iter().any(|s| bundle.find(&s.key).is_empty());
            let lacking = entries.iter().filter(lacks);
            health.problems.extend(lacking.map(|entry| {
                format!(
                    "entry `{}` calls a module that is not here: it serves beside another layer only",
                    entry.name
                )
            }));
        }
        health
    }

    fn of_store(path: &Path, verify: bool) -> Self {
        let mut health = Self::new(format!("store `{}`", path.display()));
        if let Err(failure) = health.look(path, verify) {
            return health.broken(failure, false);
        }
        health
    }

    fn look(&mut self, path: &Path, verify: bool) -> Result<(), Failure> {
        let store = Store::open(path)?;
        store.check_trust()?;
        let stated = precast_store::file::read_text(&path.join("STORE"))?;
        let format =
            stated.lines().find_map(|line| line.strip_prefix("format=")).unwrap_or("unknown").to_owned();
        self.facts.push(("format", json!(format)));
        // Leaves nothing behind.
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
            if verified.undocumented > 0 {
                let records = print::count(verified.undocumented, "record has", "records have");
                self.problems.push(format!("{records} lost the documents that `explain` reads"));
            }
            if !self.problems.is_empty() {
                self.exit = Exit::Damaged;
            }
            self.judge_entries(&store.entries()?);
            return Ok(());
        }
        let (mut records, mut modules) = (0, 0);
        let mut documents = Vec::new();
        for record in store.records() {
            let members = record?.members;
            records += 1;
            modules += members.len();
            documents.extend(members.into_iter().filter_map(|member| member.document));
        }
        self.facts.push(("entries", json!(store.entries()?.len())));
        self.facts.push(("records", json!(records)));
        self.facts.push(("modules", json!(modules)));
        // Nothing is wrong with the store: keys tell both apart.
        self.problems.extend(ambiguous(&documents).iter().map(|stale| {
            let (op, version) = (&stale.op, stale.version());
            let changes = stale.changes(|file, one, other| format!("`{file}` is `{one}` and `{other}`"));
            format!("version `{version}` of `{op}` stands for more than one source: {changes}")
        }));
        Ok(())
    }

    fn judge(&mut self, events: &[Event]) {
        for event in events {
            self.problems.push(event.to_string());
            if !matches!(event, Event::PointerRestored { .. }) {
                self.exit = Exit::Damaged;
            }
        }
    }

    /// Holds the program of each entry that this generator made against its declared graph.
    fn judge_entries(&mut self, entries: &[Entry]) {
        let ops = Ops::standard();
        for entry in entries {
            // Every key is that of a module that is generated here: nothing that the layer says of itself is believed.
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

    fn text(&self) -> String {
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
        for problem in &self.problems {
            let _ = writeln!(text, "  {problem}");
        }
        text
    }

    fn json(&self) -> Value {
        let mut value = json!({"name": self.name, "problems": self.problems});
        for (what, fact) in &self.facts {
            value[*what] = fact.clone();
        }
        value
    }
}
