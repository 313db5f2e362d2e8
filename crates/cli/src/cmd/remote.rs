//! `precast push`, `pull` and `index`.

use std::path::{Path, PathBuf};

use precast_remote::oci::{Attached, Kind as Released, Registry, Release, Signed};
use precast_remote::{Files, Options, Patience, RemoteUrl};
use precast_store::{Bundle, Export, Keyring, OpenExportError, Store, Unsigned, file};
use serde_json::json;

use crate::args::{IndexArgs, LayerArgs, PullArgs, PushArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{dsse, events, layers, print, provenance, term, whole};

/// Pushes a store, a bundle or an export.
pub(super) fn push(args: PushArgs) -> Result<Exit, Failure> {
    let place: RemoteUrl = args.url.expose().parse().map_err(|error| {
        let failure = Failure::from(error);
        match !RemoteUrl::is_meant(args.url.expose()) || args.url.expose().starts_with("file:") {
            true => failure.hint(
                "export to a directory with `precast export --out FILE`, and import it with `precast \
                                  import`",
            ),
            false => failure,
        }
    })?;
    match (&place, args.file) {
        (RemoteUrl::Oci { .. }, Some(file)) => {
            push_release(&place, &file, args.sbom.as_deref(), args.provenance, args.json)
        }
        (RemoteUrl::Oci { .. }, None) => Err(Failure::usage("missing file to push to the registry")
            .hint("create one with `precast build --bundle FILE` or `precast export --out FILE`")),
        (RemoteUrl::Http { .. }, _) => Err(Failure::usage(format!(
            "cannot push to `{place}`: web servers are read-only"
        ))
        .hint(
            "copy the store to the server's directory, and write its lists with `precast index`",
        )),
        (_, Some(_)) => Err(Failure::usage(format!("cannot push a file to `{place}`: expected a store"))
            .hint("name the store with `--store DIR`, or push the file to a registry, `oci://host/repository:tag`")),
        (_, None) => push_store(&place, args.store, &args.entry, args.json),
    }
}

fn push_store(
    place: &RemoteUrl,
    store: Option<PathBuf>,
    names: &[String],
    json: bool,
) -> Result<Exit, Failure> {
    let store = Store::open(layers::to_build(store))?.on_event(events::hear);
    let names = (!names.is_empty()).then(|| names.iter().cloned().collect());
    let sink = Files::open(place, Patience::default())?;
    let pushed = store.push(&sink, names.as_ref())?;
    if json {
        term::print_json(&json!({
            "remote": place.to_string(), "records": pushed.records, "entries": pushed.entries,
            "sent": pushed.sent, "bytes": pushed.bytes,
        }))?;
        return Ok(Exit::Ok);
    }
    term::print(&format!(
        "{place}: {}, {}; {} sent, {}\n",
        print::count(pushed.entries, "entry", "entries"),
        print::count(pushed.records, "record", "records"),
        print::count(pushed.sent, "file", "files"),
        print::size(pushed.bytes)
    ))?;
    Ok(Exit::Ok)
}

fn push_release(
    place: &RemoteUrl,
    path: &Path,
    sbom: Option<&Path>,
    provenance: bool,
    json: bool,
) -> Result<Exit, Failure> {
    let bytes = file::read(path, u64::MAX)?;
    let damaged =
        |failure: Failure| failure.within(format!("cannot push `{}`", path.display())).exiting(Exit::Damaged);
    // A damaged file must not be released.
    let kind = match Kind::of(&bytes[..bytes.len().min(1 << 18)]) {
        Kind::Bundle => {
            let bundle = Bundle::from_bytes(bytes.clone()).map_err(|error| damaged(error.into()))?;
            if let Some(event) = bundle.verify().first() {
                return Err(damaged(Failure::new(event.to_string())));
            }
            Released::Bundle
        }
        Kind::Export => {
            Export::check(&bytes).map_err(|error| damaged(error.into()))?;
            Released::Export
        }
        found => {
            let failure =
                Failure::new(format!("`{}` is {found}, expected a bundle or an export", path.display()));
            return Err(
                failure.hint("create one with `precast build --bundle FILE` or `precast export --out FILE`")
            );
        }
    };
    let beside = PathBuf::from(format!("{}.minisig", path.display()));
    let mut attached = Vec::new();
    if beside.exists() {
        attached.push(Attached::Signatures(file::read_text(&beside)?));
    }
    if let Some(path) = sbom {
        attached.push(Attached::Sbom(file::read_text(path)?));
    }
    if provenance {
        attached.push(Attached::Provenance(envelope(path, &bytes)?));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let size = bytes.len() as u64;
    let pushed = Registry::open(place, Patience::default())?.push(kind, &name, bytes, attached)?;
    if json {
        term::print_json(&json!({
            "remote": place.to_string(), "digest": pushed.digest, "layers": pushed.layers,
            "sent": pushed.sent, "attached": pushed.attached, "bytes": size,
        }))?;
        return Ok(Exit::Ok);
    }
    term::print(&format!(
        "{place}: {}, {}, {} sent\n{}\n",
        print::size(size),
        print::count(pushed.layers, "layer", "layers"),
        print::count(pushed.sent, "blob", "blobs"),
        pushed.digest
    ))?;
    Ok(Exit::Ok)
}

/// Reads the envelope next to a file, which must be about its bytes.
fn envelope(path: &Path, bytes: &[u8]) -> Result<String, Failure> {
    let beside = dsse::path_of(path);
    let text = file::read_text(&beside).map_err(|error| {
        Failure::from(error).within(format!("cannot read the provenance of `{}`", path.display())).hint(
            "state it with `precast build --builder URI --bundle FILE`, and sign it with `precast sign --dsse`",
        )
    })?;
    let statement = dsse::payload(text.as_bytes())
        .map_err(|why| Failure::new(format!("`{}` {why}", beside.display())))?;
    if !provenance::is_about_bytes(&statement, bytes) {
        return Err(Failure::new(format!("`{}` is about another file", beside.display()))
            .hint("build and sign again: `precast build --builder URI`, `precast sign --dsse`"));
    }
    Ok(text)
}

/// Selects the envelope to keep among those that refer to a release: one that is about its bytes, if possible one that
/// enough keys signed.
fn select<'r>(release: &'r Release, keyring: Option<&Keyring>) -> Option<&'r String> {
    let is_about = |text: &&String| {
        dsse::payload(text.as_bytes()).is_ok_and(|said| provenance::is_about_bytes(&said, &release.bytes))
    };
    let about: Vec<&String> = release.envelopes.iter().filter(is_about).collect();
    let is_signed =
        |text: &&&String| keyring.is_some_and(|known| dsse::check(text.as_bytes(), known).is_ok());
    about.iter().find(is_signed).or(about.first()).copied()
}

/// Pulls a bundle or an export.
pub(super) fn pull(args: PullArgs) -> Result<Exit, Failure> {
    let place: RemoteUrl = args.url.expose().parse()?;
    let keyring = layers::open_keyring(&LayerArgs { keyring: args.keyring, ..LayerArgs::default() })?;
    let mut fetched = Registry::open(&place, Patience::default())?.fetch()?;
    let unsigned = |unsigned: Box<Unsigned>| {
        Failure::new(format!("the release at `{place}` is not {unsigned}{}", unsigned.hint()))
            .exiting(Exit::Unsigned)
    };
    let mut names = Vec::new();
    // An unsigned bundle is not read into memory.
    if let (Released::Bundle, Some(keyring)) = (fetched.kind(), &keyring) {
        names = fetched.check(keyring)?.map_err(unsigned)?;
    }
    let release = fetched.read()?;
    let out = args.out.unwrap_or_else(|| PathBuf::from(&release.name));
    let kind = match release.kind {
        Released::Bundle => Kind::Bundle,
        Released::Export => Kind::Export,
    };
    let options = Options {
        require_history: args.require_history,
        observer: precast_core::event::Observer::new(events::hear),
        ..Options::default()
    };
    let mut compared = None;
    if let Some(keyring) = &keyring {
        let signed = if kind == Kind::Export {
            let opened = Export::open_signed(&release.bytes, keyring).map_err(|error| match error {
                OpenExportError::Unsigned(found) => unsigned(found),
                error => error.into(),
            });
            let (export, by) = opened?;
            names = by;
            Signed::export(export.statement(), export.release()?)
        } else {
            Signed::bundle(&release.bytes)
        };
        compared = Some(precast_remote::compare(&place, signed, &options)?);
    }
    if compared.as_ref().is_some_and(|compared| !args.older && compared.went_back()) {
        let went_back = format!("the release at `{place}` is older than the last one seen there");
        return Err(Failure::new(went_back)
            .hint("ask the publishers whether they withdrew the last release; accept this one with `--older`")
            .exiting(Exit::Unsigned));
    }
    // A release from a registry may contain anything.
    match kind {
        Kind::Export => Export::check(&release.bytes).map_err(Failure::from),
        _ => Bundle::from_bytes(release.bytes.clone()).map(drop).map_err(Failure::from),
    }
    .map_err(|failure| failure.exiting(Exit::Damaged))?;
    let envelope = select(&release, keyring.as_deref());
    write_release(&out, kind, &release, envelope)?;
    if let Some(compared) = compared
        && let Err(error) = compared.note()
    {
        compared.forgets(&options, &error.to_string())?;
    }
    if args.json {
        term::print_json(&json!({
            "remote": place.to_string(), "digest": release.digest, "out": out.to_string_lossy(),
            "bytes": release.bytes.len(), "signed_by": names, "provenance": envelope.is_some(),
        }))?;
        return Ok(Exit::Ok);
    }
    let by = if names.is_empty() { String::new() } else { format!(", signed by {}", names.join(", ")) };
    term::print(&format!(
        "{}: {}{by}\n{}\n",
        out.display(),
        print::size(release.bytes.len() as u64),
        release.digest
    ))?;
    Ok(Exit::Ok)
}

/// Writes a release, its signatures and its envelope, all or none, and removes those of the previous file.
fn write_release(
    out: &Path,
    kind: Kind,
    release: &Release,
    envelope: Option<&String>,
) -> Result<(), Failure> {
    let beside = PathBuf::from(format!("{}.minisig", out.display()));
    whole::check(&beside, Kind::Signatures)?;
    let written = whole::write(out, kind, |file| file.write_all(&release.bytes))?;
    let signatures = match release.signatures.as_bytes() {
        [] => None,
        signatures => Some(whole::write(&beside, Kind::Signatures, |file| file.write_all(signatures))?),
    };
    if signatures.is_none() && beside.exists() {
        term::note(&format!("removed `{}`, which belonged to another release", beside.display()));
        fs_err::remove_file(&beside)?;
    }
    provenance::forget(out, &release.bytes)?;
    let place = dsse::path_of(out);
    let write = |text: &String| whole::write(&place, Kind::Text, |file| file.write_all(text.as_bytes()));
    let envelope = envelope.map(write).transpose()?;
    let stale = |bytes: Vec<u8>| {
        dsse::payload(&bytes).is_ok_and(|said| !provenance::is_about_bytes(&said, &release.bytes))
    };
    if envelope.is_none() && place.exists() && file::read(&place, dsse::LIMIT).is_ok_and(stale) {
        term::note(&format!("removed `{}`, which belonged to another release", place.display()));
        fs_err::remove_file(&place)?;
    }
    written.commit_durably()?;
    for beside in [signatures, envelope].into_iter().flatten() {
        beside.commit_durably()?;
    }
    Ok(())
}

/// Writes the index files of a store.
pub(super) fn index(args: IndexArgs) -> Result<Exit, Failure> {
    let path = layers::to_build(args.store);
    let lists = Store::open(&path)?.on_event(events::hear).write_index()?;
    term::print(&format!("{}: {}\n", path.display(), print::count(lists, "list", "lists")))?;
    Ok(Exit::Ok)
}
