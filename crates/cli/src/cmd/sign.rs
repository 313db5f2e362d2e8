//! `precast keygen` and `precast sign`.

use std::path::{Path, PathBuf};

use precast_store::keyring::{SUFFIX, with_signature};
use precast_store::layer::signatures_of;
use precast_store::{Export, Store, file};

use super::carry;
use crate::args::{KeygenArgs, SignArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::secret::{self, Secret};
use crate::{events, print, term, whole};

/// Makes a key.
pub(super) fn keygen(args: &KeygenArgs) -> Result<Exit, Failure> {
    let (public, key) = secret::make(&args.file, &args.password)?;
    term::print(&format!(
        "secret key  {}: keep it safe; it cannot be made again\npublic key  {}: give it to those who verify\n            {}\n",
        args.file.display(),
        public.display(),
        key.text
    ))?;
    Ok(Exit::Ok)
}

/// Signs files and stores.
pub(super) fn run(args: &SignArgs) -> Result<Exit, Failure> {
    let secret = Secret::open(&args.key, &args.password)?;
    for path in &args.files {
        let signed = sign_file(path, &secret)?;
        term::print(&format!("signed  {} by `{}`\n", signed.display(), secret.public.name))?;
    }
    for path in &args.store {
        let count = sign_store(path, &secret)?;
        let things = print::count(count, "record or entry", "records and entries");
        term::print(&format!(
            "signed  {things} of store `{}` by `{}`\n",
            path.display(),
            secret.public.name
        ))?;
    }
    Ok(Exit::Ok)
}

/// Adds a signature to those beside a file, or to those in an export; says where it is.
fn sign_file(path: &Path, secret: &Secret) -> Result<PathBuf, Failure> {
    let bytes = file::read(path, u64::MAX)?;
    // An export has its signatures in itself.
    if let Ok(mut export) = Export::open(&bytes) {
        carry::sign(&mut export, secret, path)?;
        let bytes = export.pack()?;
        whole::write(path, Kind::Export, |out| out.write_all(&bytes))?.commit_durably()?;
        return Ok(path.to_owned());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let signature = secret.sign(&bytes, &name)?;
    let text = with_signature(&bytes, &secret.public, &signatures_of(path)?, &signature)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(SUFFIX);
    whole::write(Path::new(&beside), Kind::Signatures, |out| out.write_all(text.as_bytes()))?
        .commit_durably()?;
    Ok(beside.into())
}

fn sign_store(path: &Path, secret: &Secret) -> Result<usize, Failure> {
    // What is damaged is not signed.
    let store = Store::create(path)?.on_event(events::hear);
    let mut count = 0;
    for signed in store.signed() {
        let signed = signed?;
        let signature = secret.sign(&signed.bytes, &signed.name)?;
        store.put_signature(&signed, &secret.public, &signature)?;
        count += 1;
    }
    Ok(count)
}
