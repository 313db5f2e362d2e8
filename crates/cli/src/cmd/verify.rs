//! `precast verify`: whether everything is whole, and whether it comes out the same again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use precast_build::{Artifact, Execution, execute};
use precast_compile::{Isa, Parallel, Toolchain, Variant};
use precast_ops::Ops;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::Profile;
use precast_store::{ActionKey, BuildKey, Record, Store};
use serde_json::{Value, json};

use super::again::{self, Again};
use super::build;
use crate::args::VerifyArgs;
use crate::difference::{self, Difference, Files};
use crate::error::{Exit, Failure};
use crate::held::{self, Held};
use crate::{health, layers, print, term};

/// Runs the command.
pub(super) fn run(args: &VerifyArgs) -> Result<Exit, Failure> {
    let mut again = Vec::new();
    let exit = verify(args, &mut again)?;
    let is_other = again.iter().any(|again: &Again| !again.alarms.is_empty());
    Ok(if is_other { Exit::Different } else { exit })
}

/// Verifies, and makes again what is asked for.
fn verify(args: &VerifyArgs, again: &mut Vec<Again>) -> Result<Exit, Failure> {
    let health = health::of_layers(&args.layers, true)?;
    if health.is_empty() {
        return Err(layers::none());
    }
    let whole = health::exit(&health);
    // What was damaged is in quarantine by now, and would only be missing.
    let rebuilt = match whole {
        Exit::Ok if !args.rebuild.is_empty() => Some(rebuild(&args.rebuild, &layers::to_look(&args.layers))?),
        _ => None,
    };
    if whole == Exit::Ok && args.recompile {
        again.push(again::from_archives(&layers::to_look(&args.layers))?);
    }
    if whole == Exit::Ok && !args.regen.is_empty() {
        again.push(again::from_manifests(&args.regen, &layers::to_look(&args.layers))?);
    }
    let locked = match whole {
        Exit::Error => None,
        _ => (!args.lock.is_empty())
            .then(|| held::locks(&args.lock, &layers::to_look(&args.layers)))
            .transpose()?,
    };
    let is_lacking = locked.as_ref().is_some_and(|held| !held.problems.is_empty())
        || again.iter().any(|again| !again.lacking.is_empty());
    let whole = if is_lacking { Exit::Damaged } else { whole };
    if args.json {
        let layers: Vec<Value> = health.iter().map(health::Health::json).collect();
        let mut value = json!({
            "whole": matches!(whole, Exit::Ok | Exit::Unsigned), "signed": whole != Exit::Unsigned, "layers": layers,
            "rebuilt": rebuilt.as_ref().map(Rebuilt::json), "locked": locked.as_ref().map(Held::json),
        });
        for (name, again) in again.iter().map(Again::json) {
            value[name] = again;
        }
        term::print_json(&value)?;
    } else {
        let mut text: String = health.iter().map(health::Health::text).collect();
        text = text.trim_start().to_owned();
        locked.iter().for_each(|held| text += &format!("\n{}", held.text()));
        again.iter().for_each(|again| text += &format!("\n{}", again.text()));
        let _ = match (&rebuilt, whole) {
            (Some(rebuilt), _) => write!(text, "\n{}", rebuilt.text()),
            (None, Exit::Ok) => writeln!(text, "\neverything is whole"),
            (None, Exit::Unsigned) => writeln!(text, "\neverything is whole, but not all of it is signed"),
            (None, _) => writeln!(text, "\nnot everything is whole"),
        };
        term::print(&text)?;
    }
    match &rebuilt {
        Some(rebuilt) if !rebuilt.different.is_empty() => Ok(Exit::Different),
        Some(rebuilt) if !rebuilt.lacking.is_empty() => Ok(Exit::Damaged),
        Some(rebuilt) if rebuilt.same == 0 => Err(Failure::new("nothing was compared")
            .hint("name the manifests that the store was built from, where the compiler is that made it")),
        _ if locked.as_ref().is_some_and(Held::is_empty) || again.iter().any(Again::is_empty) => {
            Err(Failure::new("nothing was compared").hint("name a store, and what declares something of it"))
        }
        _ => Ok(whole),
    }
}

/// What came of compiling again.
#[derive(Default)]
struct Rebuilt {
    /// How many artifacts came out the same.
    same: usize,
    /// Those that did not: signature, ISA level, and in what they differ.
    different: Vec<(String, String, Vec<Difference>)>,
    /// What manifests declare and no store has from any action.
    lacking: BTreeSet<String>,
    /// Why others were not compared, and how many they are.
    unchecked: BTreeMap<String, usize>,
}

/// Compiles what manifests declare without any store, and compares that with what the stores have of the same actions.
fn rebuild(manifests: &[PathBuf], stores: &[PathBuf]) -> Result<Rebuilt, Failure> {
    let stores = stores.iter().map(Store::open).collect::<Result<Vec<_>, _>>()?;
    let mut held: BTreeMap<ActionKey, Vec<(&Store, Record)>> = BTreeMap::new();
    for store in &stores {
        for record in store.records() {
            let record = record?;
            held.entry(record.action).or_default().push((store, record));
        }
    }
    let mut rebuilt = Rebuilt::default();
    let mut checked = BTreeSet::new();
    let members = held.values().flatten().flat_map(|(_, record)| &record.members);
    let keys: BTreeSet<BuildKey> = members.map(|member| member.key).collect();
    let targets: BTreeSet<String> =
        held.values().flatten().map(|(_, record)| record.target.clone()).collect();
    let mut toolchains = BTreeMap::new();
    for target in targets {
        let Ok(toolchain) = Toolchain::find(Some(&target)) else { continue };
        for path in manifests {
            for artifact in compile(path, &toolchain, &target, &held)? {
                // What is compiled for a debugger may be of another manifest.
                let of_release = artifact.record.profile == Profile::Release;
                let gone = artifact.record.members.iter().filter(|m| of_release && !keys.contains(&m.key));
                rebuilt.lacking.extend(gone.map(|member| member.signature.clone()));
                for (store, record) in held.get(&artifact.record.action).into_iter().flatten() {
                    rebuilt.compare(store, record, &artifact);
                    checked.insert(record.action);
                }
            }
        }
        toolchains.insert(target, toolchain);
    }
    for (_, record) in held.iter().filter(|(action, _)| !checked.contains(action)).flat_map(|(_, held)| held)
    {
        *rebuilt.unchecked.entry(unchecked(record, &toolchains)).or_default() += 1;
    }
    Ok(rebuilt)
}

/// Compiles a manifest for one target, for the ISA levels and profiles that the stores have of it.
fn compile(
    manifest: &Path,
    toolchain: &Toolchain,
    target: &str,
    held: &BTreeMap<ActionKey, Vec<(&Store, Record)>>,
) -> Result<Vec<Artifact>, Failure> {
    let records = held.values().flatten().map(|(_, record)| record).filter(|record| record.target == target);
    let wanted: BTreeSet<_> = records.map(|record| (record.profile, record.isa.clone())).collect();
    let mut artifacts = Vec::new();
    for (profile, isa) in wanted {
        let Ok(isa) = isa.parse::<Isa>() else { continue };
        let (_, plan) = build::read(manifest, Ops::standard().with_profile(profile))?;
        let variants = [Variant { target: target.to_owned(), isa, profile }];
        let (parallel, progress) = (Parallel::Auto, &|_| {});
        let execution = Execution { store: None, toolchain, variants: &variants, parallel, progress };
        artifacts.extend(execute(&plan, &execution)?.artifacts);
    }
    Ok(artifacts)
}

/// Why a record was not compared.
fn unchecked(record: &Record, toolchains: &BTreeMap<String, Toolchain>) -> String {
    let Some(toolchain) = toolchains.get(&record.target) else {
        return format!("there is no compiler for `{}` here", record.target);
    };
    match toolchain.id(record.language) {
        Ok(id) if Some(id) != record.toolchain => "another compiler made it than is here".to_owned(),
        Err(_) => format!("there is no compiler for {} here", record.language.name()),
        Ok(_) => "no manifest that was named declares it".to_owned(),
    }
}

impl Rebuilt {
    fn compare(&mut self, store: &Store, record: &Record, artifact: &Artifact) {
        if record.digest == artifact.record.digest {
            self.same += 1;
            return;
        }
        let again = [(OBJECT, &artifact.object), (SHARED_OBJECT, &artifact.shared_object)];
        let again: Files = again.map(|(name, bytes)| (name.to_owned(), bytes.clone())).into();
        let before = store.load(record).map(|archive| archive.members).unwrap_or_default();
        let before = before.into_iter().filter(|(name, _)| again.contains_key(name)).collect();
        let signature = record.members.first().map(|member| member.signature.clone()).unwrap_or_default();
        self.different.push((signature, record.isa.clone(), difference::between(&before, &again)));
    }

    fn text(&self) -> String {
        let mut text =
            format!("compiled again: {} the same", print::count(self.same, "artifact is", "artifacts are"));
        text.push('\n');
        for (signature, isa, differences) in &self.different {
            let _ = writeln!(text, "  alarm  {signature} for {isa} comes out otherwise");
            if differences.is_empty() {
                let _ = writeln!(text, "    differs in a file beside the code");
            }
            for difference in differences {
                let _ = writeln!(text, "    differs {difference}");
            }
        }
        for signature in &self.lacking {
            let _ = writeln!(text, "  lacking  {signature}, which a manifest declares");
        }
        for (why, count) in &self.unchecked {
            let _ = writeln!(text, "  not compared: {count}, as {why}");
        }
        text
    }

    fn json(&self) -> Value {
        let different = self.different.iter().map(|(signature, isa, differences)| {
            json!({"signature": signature, "isa": isa, "differences": differences})
        });
        json!({
            "same": self.same, "different": different.collect::<Vec<_>>(), "lacking": self.lacking,
            "unchecked": self.unchecked,
        })
    }
}
