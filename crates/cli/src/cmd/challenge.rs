//! `precast challenge`: compares the results of the same action in several stores.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use precast_store::{ActionKey, BuildKey, Digest, Record, Store, lacking};
use serde_json::{Value, json};

use crate::args::ChallengeArgs;
use crate::difference::{self, Difference};
use crate::error::{Exit, Failure};
use crate::{events, health, print, term};

/// A record, and the position of its store.
type Held = (usize, Record);

/// The stores of a command line and the records in them.
struct Challenge {
    names: Vec<PathBuf>,
    stores: Vec<Store>,
    actions: BTreeMap<ActionKey, Vec<Held>>,
}

/// One action with different results.
struct Alarm {
    signature: String,
    isa: String,
    action: ActionKey,
    /// Each result, and the stores that have it.
    results: BTreeMap<Digest, BTreeSet<usize>>,
    /// The differences between the first two results, or the reason why they cannot be compared.
    differences: Result<Vec<Difference>, String>,
}

/// Runs the command.
pub(super) fn run(args: &ChallengeArgs) -> Result<Exit, Failure> {
    let challenge = Challenge::read(&args.stores)?;
    let shared = challenge.actions.values().filter(|held| places(held).len() > 1).count();
    let alarms: Vec<Alarm> = challenge.alarms();
    let others = challenge.others();
    let lost = challenge.lost()?;
    let exit = match (alarms.is_empty(), lost.is_empty()) {
        (false, _) => Exit::Different,
        (true, false) => Exit::Damaged,
        (true, true) => Exit::Ok,
    };
    let is_compared = match args.stores.len() {
        1 => !challenge.actions.is_empty(),
        _ => shared > 0,
    };
    if args.json {
        let alarms: Vec<Value> = alarms.iter().map(|alarm| challenge.alarm_json(alarm)).collect();
        let others: Vec<Value> = others
            .iter()
            .map(|(key, signature, why)| json!({"key": key, "signature": signature, "differs_in": why}))
            .collect();
        let actions = challenge.actions.len();
        term::print_json(
            &json!({"actions": actions, "compared": shared, "alarms": alarms, "others": others, "lost": lost}),
        )?;
        return ended(exit, is_compared);
    }
    let actions = print::count(challenge.actions.len(), "action", "actions");
    let mut text = format!("{actions}, {shared} in more than one store\n");
    for alarm in &alarms {
        text += &challenge.alarm_text(alarm);
    }
    if !others.is_empty() {
        let modules = print::count(others.len(), "module has", "modules have");
        let _ = writeln!(text, "\n{modules} different actions, which is not an alarm");
        let mut why: BTreeMap<&str, usize> = BTreeMap::new();
        others.iter().for_each(|(_, _, reason)| *why.entry(reason).or_default() += 1);
        for (reason, count) in why {
            let _ = writeln!(text, "  {count:5}  {reason}");
        }
    }
    for (store, what) in &lost {
        let _ = writeln!(text, "\nmissing  store `{}`: {what}", challenge.names[*store].display());
    }
    let _ = match alarms.len() {
        0 => writeln!(text, "\nall results are the same"),
        count => writeln!(text, "\n{} different results", print::count(count, "action has", "actions have")),
    };
    for (store, name) in challenge.names.iter().enumerate().filter(|_| args.stores.len() > 1) {
        let alone = challenge.actions.values().filter(|held| places(held) == BTreeSet::from([store])).count();
        if alone > 0 {
            let actions = print::count(alone, "action is", "actions are");
            let _ = writeln!(text, "{actions} only in `{}`, and not compared", name.display());
        }
    }
    term::print(&text)?;
    ended(exit, is_compared)
}

/// A challenge that compared nothing is not a success.
fn ended(exit: Exit, is_compared: bool) -> Result<Exit, Failure> {
    if is_compared || exit != Exit::Ok {
        return Ok(exit);
    }
    Err(Failure::new("nothing was compared: the stores have no action in common")
        .hint("build with the same manifest, target and compiler, and check with `precast ls`"))
}

fn places(held: &[Held]) -> BTreeSet<usize> {
    held.iter().map(|(store, _)| *store).collect()
}

impl Challenge {
    fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut actions: BTreeMap<ActionKey, Vec<Held>> = BTreeMap::new();
        let mut stores = Vec::new();
        for (position, path) in paths.iter().enumerate() {
            let store = Store::open(path)?.on_event(events::hear);
            for record in store.records() {
                let record = record?;
                actions.entry(record.action).or_default().push((position, record));
            }
            stores.push(store);
        }
        Ok(Self { names: paths.to_vec(), stores, actions })
    }

    /// Returns the missing parts of each store: archives of its records, and modules that its entries call.
    fn lost(&self) -> Result<Vec<(usize, String)>, Failure> {
        let mut lost = Vec::new();
        let mut served: Vec<BTreeSet<BuildKey>> = vec![BTreeSet::new(); self.stores.len()];
        for (store, record) in self.actions.values().flatten() {
            if self.stores[*store].holds(record)? {
                served[*store].extend(record.members.iter().map(|member| member.key));
            } else {
                lost.push((*store, format!("archive `{}` is missing", record.digest.short())));
            }
        }
        for (at, store) in self.stores.iter().enumerate() {
            let entries = store.entries()?;
            let lacking = lacking(&entries, |key| served[at].contains(key));
            lost.extend(health::lost(&entries, &lacking).into_iter().map(|lost| (at, lost.to_string())));
        }
        Ok(lost)
    }

    fn alarms(&self) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        for (action, held) in &self.actions {
            let mut results: BTreeMap<Digest, BTreeSet<usize>> = BTreeMap::new();
            for (store, record) in held {
                results.entry(record.digest).or_default().insert(*store);
            }
            if results.len() < 2 {
                continue;
            }
            let first = &held[0].1;
            let signature = first.members.first().map(|member| member.signature.clone()).unwrap_or_default();
            let (action, isa) = (*action, first.isa.clone());
            let other = held.iter().find(|(_, record)| record.digest != first.digest).unwrap_or(&held[0]);
            let differences = self.compare(&held[0], other);
            alarms.push(Alarm { signature, isa, action, results, differences });
        }
        alarms
    }

    fn compare(&self, one: &Held, other: &Held) -> Result<Vec<Difference>, String> {
        let load = |(store, record): &Held| {
            let loaded = self.stores[*store].load(record);
            loaded.map_err(|error| format!("`{}`: {error}", self.names[*store].display()))
        };
        Ok(difference::between(&load(one)?.members, &load(other)?.members))
    }

    /// Returns the modules that stores have from different actions, and how these actions differ.
    fn others(&self) -> Vec<(BuildKey, String, String)> {
        let mut modules: BTreeMap<BuildKey, Vec<(usize, &Record)>> = BTreeMap::new();
        for (store, record) in self.actions.values().flatten() {
            for member in &record.members {
                modules.entry(member.key).or_default().push((*store, record));
            }
        }
        let mut others = Vec::new();
        for (key, held) in modules {
            let of = |store: usize| -> BTreeSet<ActionKey> {
                held.iter().filter(|(at, _)| *at == store).map(|(_, record)| record.action).collect()
            };
            let all: BTreeSet<BTreeSet<ActionKey>> =
                (0..self.stores.len()).map(of).filter(|set| !set.is_empty()).collect();
            if all.len() < 2 {
                continue;
            }
            let signature = held[0].1.member(&key).map(|member| member.signature.clone()).unwrap_or_default();
            others.push((key, signature, why(&held)));
        }
        others
    }

    fn alarm_text(&self, alarm: &Alarm) -> String {
        let mut text =
            format!("\nalarm  {} for {}\n  action  {}\n", alarm.signature, alarm.isa, alarm.action);
        for (digest, stores) in &alarm.results {
            let _ = writeln!(text, "  result  {} in {}", digest.short(), self.listed(stores).join(", "));
        }
        match &alarm.differences {
            Ok(found) => found.iter().for_each(|difference| {
                let _ = writeln!(text, "  differs {difference}");
            }),
            Err(why) => {
                let _ = writeln!(text, "  differs  cannot compare: {why}");
            }
        }
        text
    }

    fn alarm_json(&self, alarm: &Alarm) -> Value {
        let results = alarm.results.iter();
        let results =
            results.map(|(digest, stores)| json!({"digest": digest, "stores": self.listed(stores)}));
        json!({
            "signature": alarm.signature, "isa": alarm.isa, "action": alarm.action,
            "results": results.collect::<Vec<_>>(),
            "differences": alarm.differences.as_ref().ok(), "problem": alarm.differences.as_ref().err(),
        })
    }

    fn listed(&self, stores: &BTreeSet<usize>) -> Vec<String> {
        stores.iter().map(|store| format!("`{}`", self.names[*store].display())).collect()
    }
}

/// Describes how the actions of a module differ.
fn why(held: &[(usize, &Record)]) -> String {
    let differs = |of: &dyn Fn(&Record) -> String| {
        held.iter().map(|(_, record)| of(record)).collect::<BTreeSet<_>>().len() > 1
    };
    let mut reasons = Vec::new();
    for (name, of) in [
        ("target", &(|record: &Record| record.target.clone()) as &dyn Fn(&Record) -> String),
        ("ISA level", &|record| record.isa.clone()),
        ("toolchain", &|record| record.toolchain.map(|id| id.to_string()).unwrap_or_default()),
        ("modules compiled together", &|record| {
            record.members.iter().map(|member| member.key.to_string()).collect()
        }),
    ] {
        if differs(of) {
            reasons.push(name);
        }
    }
    if reasons.is_empty() { "flags or libraries".to_owned() } else { reasons.join(", ") }
}
