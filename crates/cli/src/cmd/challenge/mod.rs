//! `precast challenge`: compares the results of the same action in several stores, bundles and exports.
//!
//! A result is the digest of an archive. A bundle states the digest and has only the shared object, without the names of
//! functions. So where a bundle is compared and the digests are equal, the shared objects are compared too.

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use place::Place;
use precast_core::key::ContentId;
use precast_store::archive::SHARED_OBJECT;
use precast_store::{ActionKey, BuildKey, Digest, Record};
use serde_json::{Value, json};

use crate::args::ChallengeArgs;
use crate::difference::{self, Difference};
use crate::error::{Exit, Failure};
use crate::{print, term};

/// A record, and the position of its place.
type Held = (usize, Record);

/// A result: the digest of the archive, and the hash of the shared object where only that differs.
type Outcome = (Digest, Option<ContentId>);

/// The places of a command line and the records in them.
struct Challenge {
    names: Vec<PathBuf>,
    places: Vec<Place>,
    actions: BTreeMap<ActionKey, Vec<Held>>,
}

/// One action with different results.
struct Alarm {
    signature: String,
    isa: String,
    action: ActionKey,
    /// Each result, and the places that have it.
    results: BTreeMap<Outcome, BTreeSet<usize>>,
    /// The differences between the first two results, or the reason why they cannot be compared.
    differences: Result<Vec<Difference>, String>,
}

/// Runs the command.
pub(super) fn run(args: &ChallengeArgs) -> Result<Exit, Failure> {
    check_distinct(&args.places)?;
    let challenge = Challenge::read(&args.places)?;
    let shared = challenge.actions.values().filter(|held| places(held).len() > 1).count();
    let alarms: Vec<Alarm> = challenge.alarms();
    let others = challenge.others();
    let lost = challenge.lost();
    let exit = match (alarms.is_empty(), lost.is_empty()) {
        (false, _) => Exit::Different,
        (true, false) => Exit::Damaged,
        (true, true) => Exit::Ok,
    };
    let is_compared = match args.places.len() {
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
        return ended(exit, is_compared, challenge.is_mixed());
    }
    let actions = print::count(challenge.actions.len(), "action", "actions");
    let mut text = format!("{actions}, {shared} in more than one place\n");
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
        let _ = writeln!(text, "\nlost  `{}`: {what}", challenge.names[*store].display());
    }
    let _ = match alarms.len() {
        0 if !is_compared => Ok(()),
        0 if !lost.is_empty() => {
            writeln!(text, "\nno results differ, and some files are damaged or missing")
        }
        0 => writeln!(text, "\nall results are the same"),
        count => writeln!(text, "\n{} different results", print::count(count, "action has", "actions have")),
    };
    for (store, name) in challenge.names.iter().enumerate().filter(|_| args.places.len() > 1) {
        let alone = challenge.actions.values().filter(|held| places(held) == BTreeSet::from([store])).count();
        if alone > 0 {
            let actions = print::count(alone, "action is", "actions are");
            let _ = writeln!(text, "{actions} only in `{}`, and not compared", name.display());
        }
    }
    term::print(&text)?;
    ended(exit, is_compared, challenge.is_mixed())
}

/// Rejects a place that is named twice: a comparison with itself confirms nothing.
fn check_distinct(paths: &[PathBuf]) -> Result<(), Failure> {
    let mut known: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    for path in paths {
        // A missing place is reported when it is opened.
        let Ok(real) = fs_err::canonicalize(path) else { continue };
        if let Some(first) = known.insert(real, path) {
            let (first, path) = (first.display(), path.display());
            return Err(Failure::usage(format!("`{first}` and `{path}` are the same place"))
                .hint("name the results of another builder"));
        }
    }
    Ok(())
}

/// A challenge that compared nothing is not a success.
fn ended(exit: Exit, is_compared: bool, is_mixed: bool) -> Result<Exit, Failure> {
    if is_compared || exit != Exit::Ok {
        return Ok(exit);
    }
    let failure = Failure::new("nothing was compared: no two places have an action in common")
        .hint("build with the same manifest, target and compiler, and check with `precast ls`");
    Err(match is_mixed {
        true => failure.hint("a bundle of several modules joins them: compare it with another bundle"),
        false => failure,
    })
}

fn places(held: &[Held]) -> BTreeSet<usize> {
    held.iter().map(|(store, _)| *store).collect()
}

impl Challenge {
    fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut actions: BTreeMap<ActionKey, Vec<Held>> = BTreeMap::new();
        let mut places = Vec::new();
        for (position, path) in paths.iter().enumerate() {
            let place = Place::open(path)?;
            for record in place.records()? {
                actions.entry(record.action).or_default().push((position, record));
            }
            places.push(place);
        }
        Ok(Self { names: paths.to_vec(), places, actions })
    }

    /// Returns the damaged and missing parts of each place.
    fn lost(&self) -> Vec<(usize, &str)> {
        let places = self.places.iter().enumerate();
        places.flat_map(|(at, place)| place.lost.iter().map(move |lost| (at, lost.as_str()))).collect()
    }

    /// Returns whether stores are compared with bundles, which may have joined modules.
    fn is_mixed(&self) -> bool {
        let has = |is_bundle: bool| self.places.iter().any(|place| place.is_bundle() == is_bundle);
        has(true) && has(false)
    }

    fn alarms(&self) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        for (action, held) in &self.actions {
            let outcomes = self.outcomes(held);
            let mut results: BTreeMap<Outcome, BTreeSet<usize>> = BTreeMap::new();
            for (outcome, (place, _)) in outcomes.iter().zip(held) {
                results.entry(*outcome).or_default().insert(*place);
            }
            if results.len() < 2 {
                continue;
            }
            let first = &held[0].1;
            let signature = first.members.first().map(|member| member.signature.clone()).unwrap_or_default();
            let (action, isa) = (*action, first.isa.clone());
            let other = outcomes.iter().find(|outcome| **outcome != outcomes[0]).unwrap_or(&outcomes[0]);
            // The files of a store name the functions, and those of a bundle do not.
            let with = |outcome: &Outcome| {
                let same = || held.iter().zip(&outcomes).filter(|(_, found)| *found == outcome);
                let in_store = same().find(|((place, _), _)| !self.places[*place].is_bundle());
                in_store.or(same().next()).map_or(&held[0], |(held, _)| held)
            };
            let differences = self.compare(with(&outcomes[0]), with(other));
            alarms.push(Alarm { signature, isa, action, results, differences });
        }
        alarms
    }

    /// Returns the result of each record of one action.
    fn outcomes(&self, held: &[Held]) -> Vec<Outcome> {
        let digests: BTreeSet<Digest> = held.iter().map(|(_, record)| record.digest).collect();
        let is_stated = digests.len() == 1 && held.iter().any(|(place, _)| self.places[*place].is_bundle());
        if held.len() < 2 || !is_stated {
            return held.iter().map(|(_, record)| (record.digest, None)).collect();
        }
        let codes: Vec<Option<ContentId>> =
            held.iter().map(|(place, record)| self.places[*place].code(record)).collect();
        // A place without the shared object has the result that its record states.
        let first = codes.iter().flatten().next().copied();
        held.iter().zip(codes).map(|((_, record), code)| (record.digest, code.or(first))).collect()
    }

    fn compare(&self, one: &Held, other: &Held) -> Result<Vec<Difference>, String> {
        let load = |(place, record): &Held| {
            let loaded = self.places[*place].files(record);
            loaded.map_err(|error| format!("`{}`: {error}", self.names[*place].display()))
        };
        let (mut a, mut b) = (load(one)?, load(other)?);
        if [one, other].iter().any(|(place, _)| self.places[*place].is_bundle()) {
            a.retain(|name, _| name == SHARED_OBJECT);
            b.retain(|name, _| name == SHARED_OBJECT);
            if a == b {
                return Err(
                    "the shared objects are the same; the archives differ in a file that a bundle lacks"
                        .to_owned(),
                );
            }
        }
        Ok(difference::between(&a, &b))
    }

    /// Returns the modules that places have from different actions, and how these actions differ.
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
                (0..self.places.len()).map(of).filter(|set| !set.is_empty()).collect();
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
        for ((digest, code), places) in &alarm.results {
            let code = code.map(|code| format!(", code {}", code.short())).unwrap_or_default();
            let places = self.listed(places).join(", ");
            let _ = writeln!(text, "  result  {}{code} in {places}", digest.short());
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
        let results = results.map(
            |((digest, code), places)| json!({"digest": digest, "code": code, "stores": self.listed(places)}),
        );
        json!({
            "signature": alarm.signature, "isa": alarm.isa, "action": alarm.action,
            "results": results.collect::<Vec<_>>(),
            "differences": alarm.differences.as_ref().ok(), "problem": alarm.differences.as_ref().err(),
        })
    }

    fn listed(&self, places: &BTreeSet<usize>) -> Vec<String> {
        places.iter().map(|place| format!("`{}`", self.names[*place].display())).collect()
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
