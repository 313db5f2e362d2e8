//! `precast export` and `precast import`.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use precast_core::event::split_hints;
use precast_store::keyring::with_signature;
use precast_store::{
    Export, ExportError, ImportError, Imported, Keyring, LoadError, OpenError, OpenExportError, Release,
    Store, file,
};
use serde_json::json;

use crate::args::{ExportArgs, ImportArgs, LayerArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::secret::Secret;
use crate::{events, exported, layers, print, secrets, term, whole};

/// Exports a store.
pub(super) fn export(args: ExportArgs) -> Result<Exit, Failure> {
    whole::check(&args.out, Kind::Export)?;
    args.release.iter().try_for_each(|release| secrets::check("name of the release", &release.name))?;
    let secret = Secret::open(&args.signer)?;
    let store = Store::open(layers::to_build(args.store.clone()))?.on_event(events::hear);
    let names = chosen(&args, &store)?;
    let mut export = store.export(names.as_ref()).map_err(not_exported)?;
    let left = store.records().count().saturating_sub(export.records());
    if args.release.is_some() && args.entry.is_empty() && left > 0 {
        let records = print::count(left, "record", "records");
        term::note(&format!(
            "{records} that no entry calls or that are superseded stay in the store; see `--all`"
        ));
    }
    args.release.iter().for_each(|release| export.set_release(release));
    if let Some(secret) = &secret {
        sign(&mut export, secret, &name(&args.out))?;
    }
    let bytes = export.pack()?;
    whole::write(&args.out, Kind::Export, |out| out.write_all(&bytes))?.commit_durably()?;
    let (records, entries) = (export.records(), export.entries());
    if args.json {
        term::print_json(&json!({
            "out": args.out.to_string_lossy(), "bytes": bytes.len(), "records": records, "entries": entries,
            "signed_by": secret.map(|secret| secret.public.name),
        }))?;
        return Ok(Exit::Ok);
    }
    let by = secret
        .map_or_else(|| "not signed".to_owned(), |secret| format!("signed by `{}`", secret.public.name));
    term::print(&format!(
        "{}: {}, {}, {}, {by}\n",
        args.out.display(),
        print::count(entries, "entry", "entries"),
        print::count(records, "record", "records"),
        print::size(bytes.len() as u64)
    ))?;
    Ok(Exit::Ok)
}

/// Returns the entries to export with the modules that they call; `None` for the whole store. A release is a set of
/// entries, so it leaves other modules out, unless it has no entries.
fn chosen(args: &ExportArgs, store: &Store) -> Result<Option<BTreeSet<String>>, Failure> {
    if !args.entry.is_empty() {
        return Ok(Some(args.entry.iter().cloned().collect()));
    }
    if args.release.is_none() || args.all {
        return Ok(None);
    }
    let entries = store.intact_entries().map_err(not_exported)?;
    let names: BTreeSet<String> = entries.into_iter().map(|entry| entry.name).collect();
    Ok((!names.is_empty()).then_some(names))
}

/// Returns the failure for a store that cannot be exported.
fn not_exported(error: ExportError) -> Failure {
    let exit = match &error {
        ExportError::Damaged { .. }
        | ExportError::MissingModule { .. }
        | ExportError::Undocumented { .. }
        | ExportError::Load { source: LoadError::Damaged { .. } | LoadError::Missing { .. }, .. } => {
            Exit::Damaged
        }
        _ => return error.into(),
    };
    Failure::from(error).exiting(exit)
}

/// Warns about an unsigned import that programs under the keyring of this environment will not use.
fn warn_unserved(export: &Export, store: Option<&Store>) -> Result<(), Failure> {
    let Some(keyring) = layers::open_keyring(&LayerArgs::default())? else { return Ok(()) };
    if let Err(error) = export.check_served(&keyring, store) {
        let (message, _) = split_hints(&error.to_string());
        term::warning(&message);
    }
    Ok(())
}

/// Returns the name of a file for its signatures.
pub(super) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Signs an export: its statement, and each record and entry, so that the target can serve them under a keyring.
pub(super) fn sign(export: &mut Export, secret: &Secret, name: &str) -> Result<(), Failure> {
    export.sign_items(&secret.public, |bytes, name| secret.sign(bytes, name))?;
    let signature = secret.sign(export.statement(), name)?;
    let all = with_signature(export.statement(), &secret.public, &export.signatures(), &signature)?;
    export.set_signatures(all);
    Ok(())
}

/// Opens an export, which enough keys of the keyring must have signed. Returns it with the names of the keys.
fn open(path: &Path, keyring: Option<&Keyring>) -> Result<(Export, Vec<String>), Failure> {
    let damaged = |error| {
        Failure::from(error).within(format!("cannot import `{}`", path.display())).exiting(Exit::Damaged)
    };
    let bytes = file::read(path, u64::MAX).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("export `{}` not found", path.display()))
            .hint("write one with `precast export --out FILE`"),
        _ => error.into(),
    })?;
    if Kind::of(&bytes) == Kind::Bundle {
        return Err(Failure::new(format!("`{}` is a bundle, expected an export", path.display()))
            .hint("use the bundle directly with `--bundle`, or create an export with `precast export`"));
    }
    let Some(keyring) = keyring else { return Ok((Export::open(&bytes).map_err(damaged)?, Vec::new())) };
    match Export::open_signed(&bytes, keyring) {
        Ok((export, names)) => Ok((export, names.into_iter().map(str::to_owned).collect())),
        Err(OpenExportError::Unsigned(unsigned)) => {
            let hint = unsigned.hint();
            Err(Failure::new(format!("`{}` is not {unsigned}{hint}", path.display())).exiting(Exit::Unsigned))
        }
        Err(error) => Err(damaged(error)),
    }
}

/// Reports that another release of the name is still served.
fn tell_served(store: &Store, release: Option<&Release>) -> Result<(), Failure> {
    let Some(release) = release else { return Ok(()) };
    let served = store.deployed()?.into_iter().find(|deployed| deployed.name == release.name);
    if let Some(current) =
        served.and_then(|served| served.current).filter(|current| *current != release.number)
    {
        term::note(&format!(
            "release `{}={current}` is still served; serve this one with `precast release switch {release}`",
            release.name
        ));
    }
    Ok(())
}

/// Returns the failure for an export that cannot be imported.
fn not_imported(path: &Path, error: ImportError) -> Failure {
    let exit = match &error {
        ImportError::Publish(_) | ImportError::Entry(_) | ImportError::Find(_) | ImportError::Deploy(_) => {
            None
        }
        ImportError::Release(error) if !error.is_damage() => None,
        ImportError::Rollback { .. } | ImportError::Unserved { .. } => Some(Exit::Unsigned),
        _ => Some(Exit::Damaged),
    };
    let failure = Failure::from(error).within(format!("cannot import `{}`", path.display()));
    exit.into_iter().fold(failure, Failure::exiting)
}

/// Imports an export into a store.
pub(super) fn import(args: ImportArgs) -> Result<Exit, Failure> {
    let named = LayerArgs { keyring: args.keyring, ..LayerArgs::default() };
    let keyring = if args.unsigned { None } else { layers::open_keyring(&named)? };
    if keyring.is_none() && !args.unsigned {
        return Err(Failure::usage("missing `--keyring` or `--unsigned`")
            .hint("name a keyring with `--keyring FILE`, or skip the check with `--unsigned`"));
    }
    let path = args.file;
    let (export, names) = open(&path, keyring.as_deref())?;
    let switch = args.switch.then(|| export.release()).transpose()?.flatten();
    if args.switch && switch.is_none() {
        return Err(Failure::usage(format!("`{}` states no release to switch to", path.display()))
            .hint("number it with `precast export --release NAME=NUMBER`"));
    }
    let refused = |error| not_imported(&path, error);
    let into = layers::to_build(args.store);
    // A rejected import must not create a store.
    let verified = exported::verify(&export).map_err(refused)?;
    let known = match Store::open(&into) {
        Err(OpenError::Missing { .. }) => None,
        opened => Some(opened?.on_event(events::hear)),
    };
    if let Some(store) = known.as_ref().filter(|_| !args.older) {
        export.check_release(store).map_err(refused)?;
    }
    if let Some(release) = &switch {
        export.check_switch(release, known.as_ref()).map_err(refused)?;
    }
    match &keyring {
        Some(keyring) => export.check_served(keyring, known.as_ref()).map_err(refused)?,
        None => warn_unserved(&export, known.as_ref())?,
    }
    let imported = match args.dry_run {
        true => verified,
        false => {
            let store = Store::create(&into)?.on_event(events::hear);
            let imported = if args.older { export.import_older(&store) } else { export.import(&store) };
            let imported = imported.map_err(refused)?;
            match switch {
                Some(ref release) => {
                    let store =
                        keyring.iter().fold(store, |store, keyring| store.trusting(Arc::clone(keyring)));
                    store.switch(release).map_err(|error| {
                        let what = format!("imported `{release}`, and cannot serve it");
                        super::release::refused(error).within(what).hint(format!(
                            "the release is recorded; serve it with `precast release switch {release}`"
                        ))
                    })?;
                }
                None => tell_served(&store, export.release()?.as_ref())?,
            }
            imported
        }
    };
    let release = export.release()?;
    let number = release.as_ref().map(|Release { name, number }| json!({"name": name, "number": number}));
    if args.json {
        let Imported { records, fresh, entries } = imported;
        term::print_json(&json!({
            "store": into.to_string_lossy(), "records": records, "fresh": fresh, "entries": entries,
            "signed_by": names, "written": !args.dry_run, "release": number, "serving": switch.is_some(),
        }))?;
        return Ok(Exit::Ok);
    }
    let mut text = match args.dry_run {
        true => described(&path.display().to_string(), release.as_ref(), &imported, "intact", &names),
        false => {
            let (store, fresh) = (format!("store `{}`", into.display()), format!("{} new", imported.fresh));
            described(&store, release.as_ref(), &imported, &fresh, &names)
        }
    };
    text += &switch.map(|release| format!("serving `{release}`\n")).unwrap_or_default();
    term::print(&text)?;
    Ok(Exit::Ok)
}

/// Describes an import or an export that was verified.
fn described(
    place: &str,
    release: Option<&Release>,
    Imported { records, entries, .. }: &Imported,
    state: &str,
    names: &[String],
) -> String {
    let of = release.map(|release| format!("release `{release}`, ")).unwrap_or_default();
    let by = if names.is_empty() { String::new() } else { format!(", signed by {}", names.join(", ")) };
    let (entries, records) =
        (print::count(*entries, "entry", "entries"), print::count(*records, "record", "records"));
    format!("{place}: {of}{entries}, {records}, {state}{by}\n")
}
