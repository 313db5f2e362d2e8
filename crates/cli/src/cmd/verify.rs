//! `precast verify`: checks that all files are intact, and that builds reproduce them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use precast_build::{Artifact, Execution, execute};
use precast_compile::{Isa, Toolchain, Variant};
use precast_ops::Ops;
use precast_store::archive::{OBJECT, SHARED_OBJECT};
use precast_store::key::Profile;
use precast_store::keyring::signatures_of;
use precast_store::{ActionKey, BuildKey, Record, Store};
use serde_json::{Value, json};

use super::{again, build};
use crate::args::VerifyArgs;
use crate::compared::Compared;
use crate::difference::{self, Files};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::searched::Searched;
use crate::{attested, health, held, layers, signed, term};

/// Runs the command.
pub(super) fn run(mut args: VerifyArgs) -> Result<Exit, Failure> {
    check_lists(&args)?;
    let Named { exports, keyrings, others } = sort_out(&mut args)?;
    let args = &args;
    check_alone(args, exports.iter().chain(&keyrings).chain(&others))?;
    check_layers(args)?;
    let has_layers = exports.is_empty() && keyrings.is_empty() && others.is_empty();
    let is_alone = args.layers.is_empty() && !has_layers;
    let mut health = if is_alone { Vec::new() } else { health::of_layers(&args.layers, true)? };
    health.extend(health::of_exports(&exports, &args.layers)?);
    health.extend(signed::of_keyrings(&keyrings, &args.layers)?);
    health.extend(signed::of_files(&others, &args.layers)?);
    if let Some(name) = &args.name {
        let files = [&args.layers.bundle[..], &exports, &others].concat();
        health.extend(signed::named(&files, name, &args.layers)?);
    }
    if args.provenance {
        health.extend(attested::of_bundles(&args.layers, args.builder.as_deref())?);
    }
    if health.is_empty() {
        return Err(layers::none());
    }
    let whole = health::exit(&health);
    let compared = compare(args, whole)?;
    let exit = compared.iter().filter_map(Compared::exit).fold(whole, Exit::graver);
    let is_void = compared.iter().any(|compared| compared.exit().is_none());
    if args.json {
        let layers: Vec<Value> = health.iter().map(health::Health::json).collect();
        let mut value = json!({
            "whole": matches!(exit, Exit::Ok | Exit::Unsigned), "signed": whole != Exit::Unsigned, "layers": layers,
        });
        for (name, compared) in compared.iter().map(Compared::json) {
            value[name] = compared;
        }
        term::print_json(&value)?;
    } else {
        let parts = health.iter().map(health::Health::text);
        let mut text: String =
            parts.chain(compared.iter().map(|part| format!("\n{}", part.text()))).collect();
        text = text.trim_start().to_owned();
        let said = match exit {
            _ if is_void => None,
            Exit::Ok => Some("everything is intact"),
            Exit::Unsigned => Some("everything is intact, but not everything is signed as required"),
            Exit::Different => Some("some artifacts differ"),
            Exit::Error => Some("some files cannot be read"),
            _ => Some("some files are damaged or missing"),
        };
        said.iter().for_each(|said| text += &format!("\n{said}\n"));
        term::print(&text)?;
    }
    if is_void && matches!(exit, Exit::Ok | Exit::Unsigned) {
        return Err(Failure::new("nothing was compared")
            .hint("name a store and its manifests; a rebuild needs the compiler of the artifacts"));
    }
    Ok(exit)
}

/// Files that are no layers.
#[derive(Default)]
struct Named {
    exports: Vec<PathBuf>,
    keyrings: Vec<PathBuf>,
    /// Files of other kinds, of which only the signatures can be verified.
    others: Vec<PathBuf>,
}

/// Sorts the named files into stores, bundles and lock files, and returns the others.
fn sort_out(args: &mut VerifyArgs) -> Result<Named, Failure> {
    let mut files = Named::default();
    for path in std::mem::take(&mut args.named) {
        if path.is_dir() {
            args.layers.store.push(path);
            continue;
        }
        let is_lock = path.extension().is_some_and(|ending| ending == "lock");
        // An unreadable file is reported later, with its name.
        match Kind::at(&path).unwrap_or(Kind::Other) {
            Kind::Export => files.exports.push(path),
            Kind::Keyring => files.keyrings.push(path),
            kind if is_signed_alone(&path, kind) => files.others.push(path),
            _ if is_lock => args.lock.push(path),
            Kind::Lock => args.lock.push(path),
            kind @ (Kind::Signatures
            | Kind::SecretKey
            | Kind::PublicKey
            | Kind::Npy
            | Kind::Npz
            | Kind::Manifest) => {
                let failure = Failure::new(format!("cannot verify `{}`: it is {kind}", path.display()));
                return Err(failure.hint(match kind {
                    Kind::Manifest => "use `--rebuild` or `--regen` to compare stores with a manifest",
                    _ => "name a store, a bundle, an export or a lock file",
                }));
            }
            _ => args.layers.bundle.push(path),
        }
    }
    Ok(files)
}

/// Returns whether only the signatures of a file can be verified: a text, or a file of another kind with signatures next
/// to it. A damaged bundle is not one.
fn is_signed_alone(path: &Path, kind: Kind) -> bool {
    let has_signatures = || signatures_of(path).is_ok_and(|signatures| !signatures.is_empty());
    let is_layer = path.extension().is_some_and(|ending| ending == "precast" || ending == "export");
    match kind {
        Kind::Text => !is_layer && path.extension().is_none_or(|ending| ending != "lock"),
        Kind::Manifest
        | Kind::Npy
        | Kind::Npz
        | Kind::Zip
        | Kind::Compressed
        | Kind::PublicKey
        | Kind::Other => !is_layer && has_signatures(),
        _ => false,
    }
}

/// Rejects files to verify that follow the list of an option, which takes them.
fn check_lists(args: &VerifyArgs) -> Result<(), Failure> {
    for (option, paths) in [("--lock", &args.lock), ("--rebuild", &args.rebuild), ("--regen", &args.regen)] {
        for path in paths {
            let shown = path.display();
            let found = match Kind::at(path) {
                _ if path.is_dir() => "a directory".to_owned(),
                Ok(kind @ (Kind::Bundle | Kind::Export)) => kind.to_string(),
                Ok(kind @ Kind::Manifest) if option == "--lock" => {
                    let what = format!("`--lock` takes `{shown}`, which is {kind}, expected a lock file");
                    return Err(Failure::usage(what)
                        .hint("name the lock file of the manifest, such as `precast.lock`"));
                }
                _ => continue,
            };
            let expected = if option == "--lock" { "a lock file" } else { "a manifest" };
            return Err(Failure::usage(format!(
                "`{option}` takes `{shown}`, which is {found}, expected {expected}"
            ))
            .hint(format!("name what to verify before `{option}`, which takes all files after it")));
        }
    }
    Ok(())
}

/// Rejects comparisons of files of which only the contents and the signatures can be verified.
fn check_alone<'p>(args: &VerifyArgs, mut files: impl Iterator<Item = &'p PathBuf>) -> Result<(), Failure> {
    let Some(path) = files.next() else { return Ok(()) };
    let options = [
        ("--rebuild", !args.rebuild.is_empty(), "a store"),
        ("--recompile", args.recompile, "a store"),
        ("--regen", !args.regen.is_empty(), "a store or a bundle"),
        ("--lock", !args.lock.is_empty(), "a store or a bundle"),
    ];
    let Some((option, _, needed)) = options.into_iter().find(|(_, is_given, _)| *is_given) else {
        return Ok(());
    };
    let (shown, kind) = (path.display(), Kind::at(path).unwrap_or(Kind::Other));
    let failure = Failure::usage(format!("`{option}` needs {needed}, and `{shown}` is {kind}"));
    Err(match kind {
        Kind::Export => failure.hint("import it into a store, and name the store with `--store DIR`"),
        _ => failure.hint("verify it in a command of its own"),
    })
}

/// Rejects comparisons for which no layer of the command line has the files.
fn check_layers(args: &VerifyArgs) -> Result<(), Failure> {
    if !layers::to_look(&args.layers).is_empty() {
        return Ok(());
    }
    let of_stores = [("--rebuild", !args.rebuild.is_empty()), ("--recompile", args.recompile)];
    if let Some((option, _)) = of_stores.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!("`{option}` needs a store: a bundle has no archives to compare"))
            .hint("name the store of the build with `--store DIR`"));
    }
    let of_layers = [("--lock", !args.lock.is_empty()), ("--regen", !args.regen.is_empty())];
    match of_layers.iter().find(|(_, is_given)| *is_given && args.layers.bundle.is_empty()) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!("`{option}` needs a store or a bundle"))
            .hint("name it with `--store DIR` or `--bundle FILE`")),
    }
}

/// Runs the requested comparisons.
fn compare(args: &VerifyArgs, whole: Exit) -> Result<Vec<Compared>, Failure> {
    let stores = layers::to_look(&args.layers);
    let is_searched = whole != Exit::Error && !(args.lock.is_empty() && args.regen.is_empty());
    let places = if is_searched { Searched::open(&args.layers, &stores)? } else { Vec::new() };
    let mut compared = Vec::new();
    if whole != Exit::Error && !args.lock.is_empty() {
        compared.push(held::locks(&args.lock, &places)?);
    }
    // Damaged files are in quarantine now and would only be reported as missing.
    if !matches!(whole, Exit::Ok | Exit::Unsigned) {
        return Ok(compared);
    }
    if args.recompile {
        compared.push(again::from_archives(&stores)?);
    }
    if !args.regen.is_empty() {
        compared.push(again::from_manifests(&args.regen, &places)?);
    }
    if !args.rebuild.is_empty() {
        compared.push(rebuild(&args.rebuild, &stores)?);
    }
    Ok(compared)
}

/// Compiles the declarations of manifests without any store, and compares the results with those of the same actions
/// in the stores.
fn rebuild(manifests: &[PathBuf], stores: &[PathBuf]) -> Result<Compared, Failure> {
    let stores = stores.iter().map(Store::open).collect::<Result<Vec<_>, _>>()?;
    let mut held: BTreeMap<ActionKey, Vec<(&Store, Record)>> = BTreeMap::new();
    for store in &stores {
        for record in store.records() {
            let record = record?;
            held.entry(record.action).or_default().push((store, record));
        }
    }
    let mut rebuilt = Compared::new("rebuilt from manifests", "rebuilt");
    let mut checked = BTreeSet::new();
    let members = held.values().flatten().flat_map(|(_, record)| &record.members);
    let keys: BTreeSet<BuildKey> = members.map(|member| member.key).collect();
    let targets: BTreeSet<String> =
        held.values().flatten().map(|(_, record)| record.target.clone()).collect();
    let mut toolchains = BTreeMap::new();
    for target in targets {
        let Ok(toolchain) = Toolchain::find(Some(&target)) else { continue };
        for path in manifests {
            for artifact in rebuild_manifest(path, &toolchain, &target, &held)? {
                // A module compiled for a debugger may belong to another manifest.
                let of_release = artifact.record.profile == Profile::Release;
                let gone = artifact.record.members.iter().filter(|m| of_release && !keys.contains(&m.key));
                gone.for_each(|member| {
                    rebuilt.lack(format!("{} is declared but missing", member.signature));
                });
                for (store, record) in held.get(&artifact.record.action).into_iter().flatten() {
                    compare_artifact(&mut rebuilt, store, record, &artifact);
                    checked.insert(record.action);
                }
            }
        }
        toolchains.insert(target, toolchain);
    }
    for (_, record) in held.iter().filter(|(action, _)| !checked.contains(action)).flat_map(|(_, held)| held)
    {
        rebuilt.skip(unchecked(record, &toolchains));
    }
    Ok(rebuilt)
}

/// Compiles a manifest for one target, for the ISA levels and profiles that the stores have of it.
fn rebuild_manifest(
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
        let execution = Execution::new(toolchain, &variants);
        artifacts.extend(execute(&plan, &execution)?.artifacts);
    }
    Ok(artifacts)
}

/// Returns the reason why a record was not compared.
fn unchecked(record: &Record, toolchains: &BTreeMap<String, Toolchain>) -> String {
    let Some(toolchain) = toolchains.get(&record.target) else {
        return format!("no compiler for `{}` found", record.target);
    };
    match toolchain.id(record.language) {
        Ok(id) if Some(id) != record.toolchain => "built with another compiler".to_owned(),
        Err(_) => format!("no compiler for {} found", record.language.name()),
        Ok(_) => "not declared by the named manifests".to_owned(),
    }
}

fn compare_artifact(rebuilt: &mut Compared, store: &Store, record: &Record, artifact: &Artifact) {
    if record.digest == artifact.record.digest {
        rebuilt.same += 1;
        return;
    }
    let again = [(OBJECT, &artifact.object), (SHARED_OBJECT, &artifact.shared_object)];
    let again: Files = again.map(|(name, bytes)| (name.to_owned(), bytes.clone())).into();
    let before = store.load(record).map(|archive| archive.members).unwrap_or_default();
    let before = before.into_iter().filter(|(name, _)| again.contains_key(name)).collect();
    let signature = record.members.first().map_or("", |member| member.signature.as_str());
    let differences = difference::between(&before, &again);
    let place = if differences.is_empty() { " in a file other than the code" } else { "" };
    rebuilt.alarm(format!("{signature} for {} differs after the rebuild{place}", record.isa), differences);
}
