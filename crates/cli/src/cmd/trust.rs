//! `precast trust`: manages keyrings.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use precast_store::keyring::{Date, Key, signatures_of};
use precast_store::{Keyring, KeyringError, file};
use serde_json::{Value, json};

use crate::args::{TrustAction, TrustArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{layers, secret, term, whole};

/// Runs the command.
pub(super) fn run(args: TrustArgs) -> Result<Exit, Failure> {
    let path = args.keyring;
    match args.action {
        TrustAction::New { keys, threshold, expires } => {
            if fs_err::symlink_metadata(&path).is_ok() {
                return Err(Failure::new(format!("`{}` already exists", path.display()))
                    .hint("change it with `precast trust add` and `precast trust revoke`"));
            }
            check_day(expires)?;
            let keyring =
                Keyring { version: 1, expires, threshold, keys: publics(&keys)?, revoked: Vec::new() };
            write(&path, &keyring)
        }
        TrustAction::Show { json } => show(&path, json),
        TrustAction::Update { file } => update(&path, &file),
        TrustAction::Add { keys } => {
            let mut keyring = Keyring::read(&path)?;
            keyring.keys.extend(publics(&keys)?);
            change(&path, keyring)
        }
        TrustAction::Revoke { keys } => {
            let mut keyring = Keyring::read(&path)?;
            for key in keys {
                revoke(&mut keyring, &key)?;
            }
            change(&path, keyring)
        }
        TrustAction::Set { threshold, expires } => {
            expires.map_or(Ok(()), check_day)?;
            let mut keyring = Keyring::read(&path)?;
            keyring.threshold = threshold.unwrap_or(keyring.threshold);
            keyring.expires = expires.unwrap_or(keyring.expires);
            change(&path, keyring)
        }
    }
}

/// Rejects an expiry date on which the keyring would be invalid already.
fn check_day(expires: Date) -> Result<(), Failure> {
    let today = Date::today();
    if expires > today {
        return Ok(());
    }
    Err(Failure::new(format!("invalid expiry date {expires}: today is {today}"))
        .hint("use a later date; to revoke single keys, use `precast trust revoke`"))
}

fn publics(paths: &[PathBuf]) -> Result<Vec<Key>, Failure> {
    paths.iter().map(|path| secret::public(path)).collect()
}

/// Moves a key, given by its name in the keyring or by its file, from the trusted keys to the revoked ones.
fn revoke(keyring: &mut Keyring, named: &str) -> Result<(), Failure> {
    let key = match keyring.keys.iter().find(|key| key.name == named) {
        Some(key) => key.clone(),
        None => secret::public(Path::new(named)).map_err(|failure| {
            failure.within(format!("`{named}` is neither a key of the keyring nor a public key file"))
        })?,
    };
    keyring.keys.retain(|known| !known.is_same(&key));
    if keyring.revoked.iter().all(|known| !known.is_same(&key)) {
        keyring.revoked.push(key);
    }
    Ok(())
}

/// Writes a keyring with its next version.
fn change(path: &Path, mut keyring: Keyring) -> Result<Exit, Failure> {
    let Some(version) = keyring.version.checked_add(1) else {
        return Err(Failure::new(format!("`{}` has the last possible version", path.display()))
            .hint("create a new keyring with `precast trust new`, and distribute it to verifiers"));
    };
    keyring.version = version;
    write(path, &keyring)
}

fn write(path: &Path, keyring: &Keyring) -> Result<Exit, Failure> {
    let text = keyring.to_string();
    // A keyring that could not be read is not written, e.g. with an unreachable threshold or a duplicate key.
    let read = Keyring::parse(&text)?;
    whole::write(path, Kind::Keyring, |out| out.write_all(text.as_bytes()))?.commit_durably()?;
    term::print(&described(path, &read))?;
    Ok(Exit::Ok)
}

fn show(path: &Path, is_json: bool) -> Result<Exit, Failure> {
    let keyring = Keyring::read(path)?;
    let has_expired = keyring.has_expired();
    if is_json {
        let list = |keys: &[Key]| -> Vec<Value> {
            keys.iter().map(|key| json!({"name": key.name, "key": key.text})).collect()
        };
        term::print_json(&json!({
            "version": keyring.version, "expires": keyring.expires.to_string(), "expired": has_expired,
            "threshold": keyring.threshold, "keys": list(&keyring.keys), "revoked": list(&keyring.revoked),
        }))?;
    } else {
        term::print(&described(path, &keyring))?;
    }
    Ok(if has_expired { Exit::Unsigned } else { Exit::Ok })
}

fn described(path: &Path, keyring: &Keyring) -> String {
    let Keyring { version, expires, threshold, keys, revoked } = keyring;
    let over = if keyring.has_expired() { " (expired)" } else { "" };
    let mut text = format!(
        "keyring `{}`, version {version}\n  expires    {expires}{over}\n  threshold  {threshold} of {}\n",
        path.display(),
        keys.len()
    );
    for (what, list) in [("key", keys), ("revoked", revoked)] {
        for key in list {
            let _ = writeln!(text, "  {what:9}  {} {}", key.text, key.name);
        }
    }
    text
}

/// Replaces the present keyring with a later one.
fn update(path: &Path, later: &Path) -> Result<Exit, Failure> {
    // An expired keyring may still name its successor; otherwise it could never be replaced.
    let present = Keyring::read(path)?;
    let text = file::read_text(later)?;
    let signatures = signatures_of(later).map_err(layers::unsigned)?;
    let next = present.check_successor(&text, &signatures).map_err(|error| {
        let is_malformed = matches!(
            error,
            KeyringError::Malformed { .. } | KeyringError::Format { .. } | KeyringError::Threshold { .. }
        );
        let failure = Failure::from(error).within(format!("cannot use `{}`", later.display()));
        if is_malformed { failure } else { failure.exiting(Exit::Unsigned) }
    })?;
    whole::write(path, Kind::Keyring, |out| out.write_all(text.as_bytes()))?.commit_durably()?;
    term::print(&described(path, &next))?;
    Ok(Exit::Ok)
}
