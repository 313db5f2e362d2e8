//! `precast keygen` and `precast sign`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use precast_store::keyring::{signature_file, signatures_of, with_signature};
use precast_store::{Bundle, Event, Export, Keyring, Store, file};

use super::carry;
use crate::args::{KeygenArgs, SignArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::secret::{self, Secret};
use crate::turn::Turn;
use crate::{events, print, secrets, term, whole};

/// Creates a key pair.
pub(super) fn keygen(args: &KeygenArgs) -> Result<Exit, Failure> {
    let (public, key) = secret::make(&args.file, &args.password)?;
    term::print(&format!(
        "secret key  {}: keep it safe; it cannot be recreated\npublic key  {}: give it to verifiers\n            {}\n",
        args.file.display(),
        public.display(),
        key.text
    ))?;
    Ok(Exit::Ok)
}

/// Signs files and stores.
pub(super) fn run(args: &SignArgs) -> Result<Exit, Failure> {
    args.name.iter().try_for_each(|name| secrets::check("name", name))?;
    let missing = || Failure::usage("missing `--key` or `--signer`");
    let secret = Secret::open(&args.signer)?.ok_or_else(missing)?.naming(args.name.as_deref());
    if args.name.is_some() && args.files.len() > 1 {
        return Err(Failure::usage("`--name` names one file").hint("sign each file by itself"));
    }
    for path in &args.files {
        let signed = match args.dsse {
            true => secret.attest(path)?,
            false => sign_file(path, args.name.as_deref(), &secret)?,
        };
        term::print(&format!("signed  {} by `{}`\n", signed.display(), secret.public.name))?;
    }
    for path in &args.store {
        sign_store(path, &secret)?;
    }
    Ok(Exit::Ok)
}

/// Adds a signature to the signature file, or to an export itself; returns the path of the signed or written file.
fn sign_file(path: &Path, name: Option<&str>, secret: &Secret) -> Result<PathBuf, Failure> {
    let _turn = Turn::at(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(format!("file `{}` not found", path.display()))
            .hint("write a bundle with `precast build --bundle FILE`, or sign a store with `--store DIR`"),
        _ => error.into(),
    })?;
    let bytes = file::read(path, u64::MAX)?;
    let name = name.map_or_else(|| carry::name(path), str::to_owned);
    // An export contains its signatures.
    if let Some(mut export) = check(path, &bytes)? {
        drop(bytes);
        carry::sign(&mut export, secret, &name)?;
        let bytes = export.pack()?;
        whole::write(path, Kind::Export, |out| out.write_all(&bytes))?.commit_durably()?;
        return Ok(path.to_owned());
    }
    let signature = secret.sign(&bytes, &name)?;
    let text = with_signature(&bytes, &secret.public, &signatures_of(path)?, &signature)?;
    let beside = signature_file(path);
    whole::write(&beside, Kind::Signatures, |out| out.write_all(text.as_bytes()))?.commit_durably()?;
    Ok(beside)
}

/// Rejects damaged files, and kinds of files that are not signed. Returns the export, if the file is one.
fn check(path: &Path, bytes: &[u8]) -> Result<Option<Export>, Failure> {
    let shown = path.display();
    let damaged = |failure: Failure| failure.within(format!("`{shown}` is damaged")).exiting(Exit::Damaged);
    match Kind::of(bytes) {
        Kind::Bundle => {
            let bundle =
                Bundle::from_file_bytes(bytes.to_vec(), path).map_err(|error| match error.is_damage() {
                    true => damaged(error.into()),
                    false => Failure::from(error).within(format!("cannot sign `{shown}`")),
                })?;
            if let Some(event) = bundle.verify().first() {
                return Err(damaged(Failure::new(format!("{event}\n{}", Bundle::HINT))));
            }
        }
        Kind::Export | Kind::Compressed => {
            // First in little memory: only an intact export is unpacked.
            Export::check(bytes).map_err(|error| damaged(error.into()))?;
            let export = Export::open(bytes).map_err(|error| damaged(error.into()))?;
            export.verify().map_err(|error| damaged(error.into()))?;
            return Ok(Some(export));
        }
        Kind::Keyring => {
            let text = String::from_utf8_lossy(bytes);
            Keyring::parse(&text)
                .map_err(|error| Failure::from(error).within(format!("cannot sign `{shown}`")))?;
        }
        kind @ (Kind::Empty | Kind::SecretKey | Kind::Signatures) => {
            return Err(Failure::new(format!("cannot sign `{shown}`: it is {kind}"))
                .hint("sign a bundle, an export or a keyring, or a store with `--store DIR`"));
        }
        _ => {}
    }
    Ok(None)
}

/// Signs the intact records and entries of a store.
fn sign_store(path: &Path, secret: &Secret) -> Result<(), Failure> {
    let (store, heard) = Store::open(path)?.on_event(events::hear).listening();
    let shown = path.display();
    let mut count = 0;
    for signed in store.signed() {
        let signed = signed?;
        let signature = secret.sign(&signed.bytes, &signed.name)?;
        store.put_signature(&signed, &secret.public, &signature)?;
        count += 1;
    }
    if count == 0 {
        return Err(Failure::new(format!("store `{shown}` has nothing to sign"))
            .hint("add artifacts with `precast build` or `precast import`"));
    }
    let things = print::count(count, "record or entry", "records and entries");
    term::print(&format!("signed  {things} of store `{shown}` by `{}`\n", secret.public.name))?;
    if heard.take().iter().any(|event| matches!(event, Event::Damaged { .. })) {
        return Err(Failure::new(format!("store `{shown}` is damaged, so not everything is signed"))
            .hint("build or import the damaged and lost items again, then sign again")
            .exiting(Exit::Damaged));
    }
    Ok(())
}
