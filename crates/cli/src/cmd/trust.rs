//! `precast trust`: manages keyrings.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use precast_store::keyring::{Date, Key, Role, signatures_of};
use precast_store::{Keyring, KeyringError, file};
use serde_json::{Value, json};

use crate::args::{PublicArgs, TrustAction, TrustArgs};
use crate::error::{Exit, Failure};
use crate::kind::Kind;
use crate::{layers, secret, term, whole};

/// Runs the command.
pub(super) fn run(args: TrustArgs) -> Result<Exit, Failure> {
    let path = args.keyring;
    match args.action {
        TrustAction::New { keys, threshold, keyring_threshold, require_expiry, expires } => {
            if fs_err::symlink_metadata(&path).is_ok() {
                return Err(Failure::new(format!("`{}` already exists", path.display()))
                    .hint("change it with `precast trust add` and `precast trust revoke`"));
            }
            secret::check_day(expires, "to revoke single keys, use `precast trust revoke`")?;
            let (issued, keys) = (Some(Date::today()), publics(&keys)?);
            let keyring = Keyring {
                version: 1,
                issued,
                expires,
                threshold,
                keyring_threshold,
                requires_expiry: require_expiry,
                keys,
                revoked: Vec::new(),
            };
            write(&path, &keyring)
        }
        TrustAction::Show { json } => show(&path, json),
        TrustAction::Update { file } => update(&path, &file),
        TrustAction::Add { keys } => {
            let mut keyring = Keyring::read(&path)?;
            check_roles(&keyring, &keys)?;
            for key in publics(&keys)? {
                if keyring.revoked.iter().any(|revoked| revoked.is_same(&key)) {
                    return Err(Failure::new(format!("key `{}` is revoked", key.name)).hint(
                        "create a new key with `precast keygen`: a revoked key is never trusted again",
                    ));
                }
                keyring.keys.push(key);
            }
            change(&path, keyring)
        }
        TrustAction::Revoke { keys } => {
            let mut keyring = Keyring::read(&path)?;
            for key in keys {
                revoke(&mut keyring, &key)?;
            }
            change(&path, keyring)
        }
        TrustAction::Set { threshold, keyring_threshold, require_expiry, expires } => {
            let check = |day| secret::check_day(day, "to revoke single keys, use `precast trust revoke`");
            expires.map_or(Ok(()), check)?;
            let mut keyring = Keyring::read(&path)?;
            keyring.keyring_threshold = keyring_threshold.or(keyring.keyring_threshold);
            keyring.threshold = threshold.unwrap_or(keyring.threshold);
            keyring.requires_expiry = require_expiry.unwrap_or(keyring.requires_expiry);
            keyring.expires = expires.unwrap_or(keyring.expires);
            change(&path, keyring)
        }
    }
}

/// Reads public keys, with the files that each may sign.
fn publics(args: &PublicArgs) -> Result<Vec<Key>, Failure> {
    let of = |role: Role, paths: &[PathBuf]| -> Result<Vec<Key>, Failure> {
        paths.iter().map(|path| Ok(secret::public(path)?.with_role(role))).collect()
    };
    let (any, releases) = (of(Role::Any, &args.keys)?, of(Role::Releases, &args.release_key)?);
    Ok([any, releases, of(Role::Keyrings, &args.keyring_key)?].concat())
}

/// Rejects a key without a role for a keyring that separates roles: by default, it would sign keyrings too.
fn check_roles(keyring: &Keyring, added: &PublicArgs) -> Result<(), Failure> {
    let is_separate = keyring.keys.iter().all(|key| key.role != Role::Any);
    match added.keys.first().filter(|_| is_separate) {
        None => Ok(()),
        Some(key) => Err(Failure::usage(format!(
            "missing role of key `{}`: the keys of this keyring sign either releases or keyrings",
            key.display()
        ))
        .hint("add it with `--release-key` or `--keyring-key`")),
    }
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

/// Writes a keyring with its next version and today as its day of issue.
fn change(path: &Path, mut keyring: Keyring) -> Result<Exit, Failure> {
    let today = Date::today();
    if let Some(issued) = keyring.issued.filter(|_| keyring.is_early()) {
        return Err(KeyringError::Clock { path: path.to_owned(), issued, today }.into());
    }
    keyring.issued = Some(today);
    let Some(version) = keyring.version.checked_add(1) else {
        return Err(Failure::new(format!("`{}` has the last possible version", path.display()))
            .hint("create a new keyring with `precast trust new`, and distribute it to verifiers"));
    };
    keyring.version = version;
    write(path, &keyring)
}

fn write(path: &Path, keyring: &Keyring) -> Result<Exit, Failure> {
    for (at, key) in keyring.keys.iter().enumerate() {
        if let Some(first) = keyring.keys[..at].iter().find(|first| first.is_same(key)) {
            return Err(Failure::new(format!("`{}` and `{}` are the same key", first.name, key.name))
                .hint("name each key once"));
        }
    }
    let text = keyring.to_string();
    // A keyring that could not be read is not written, e.g. with an unreachable threshold or a duplicate key.
    let read = Keyring::parse(&text)?;
    whole::write(path, Kind::Keyring, |out| out.write_all(text.as_bytes()))?.commit_durably()?;
    term::print(&described(path, &read))?;
    Ok(Exit::Ok)
}

fn show(path: &Path, is_json: bool) -> Result<Exit, Failure> {
    let keyring = Keyring::read(path)?;
    let (has_expired, is_early) = (keyring.has_expired(), keyring.is_early());
    if is_json {
        let signs = |key: &Key| (key.role != Role::Any).then(|| key.role.to_string());
        let key = |key: &Key| json!({"name": key.name, "key": key.text, "signs_only": signs(key)});
        let list = |keys: &[Key]| -> Vec<Value> { keys.iter().map(key).collect() };
        term::print_json(&json!({
            "version": keyring.version, "issued": keyring.issued.map(|day| day.to_string()),
            "early": is_early, "expires": keyring.expires.to_string(), "expired": has_expired,
            "threshold": keyring.threshold, "keyring_threshold": keyring.keyring_threshold,
            "requires_expiry": keyring.requires_expiry,
            "keys": list(&keyring.keys), "revoked": list(&keyring.revoked),
        }))?;
    } else {
        term::print(&described(path, &keyring))?;
    }
    Ok(if has_expired || is_early { Exit::Unsigned } else { Exit::Ok })
}

fn described(path: &Path, keyring: &Keyring) -> String {
    let Keyring { version, issued, expires, threshold, keyring_threshold, requires_expiry, keys, revoked } =
        keyring;
    let mut text = format!("keyring `{}`, version {version}\n", path.display());
    if let Some(issued) = issued {
        let early = if keyring.is_early() { " (the clock is behind)" } else { "" };
        let _ = writeln!(text, "  issued     {issued}{early}");
    }
    let over = if keyring.has_expired() { " (expired)" } else { "" };
    let usable = keyring.release_keys().count();
    let _ = writeln!(text, "  expires    {expires}{over}\n  threshold  {threshold} of {usable}");
    if let Some(needed) = keyring_threshold {
        let _ = writeln!(text, "  keyring    {needed} must sign the next one");
    }
    if *requires_expiry {
        text += "  signatures must expire\n";
    }
    for key in keys {
        let only = if key.role == Role::Any { String::new() } else { format!(" ({} only)", key.role) };
        let _ = writeln!(text, "  key        {} {}{only}", key.text, key.name);
    }
    for key in revoked {
        let _ = writeln!(text, "  revoked    {} {}", key.text, key.name);
    }
    text
}

/// Replaces the present keyring with a later one.
fn update(path: &Path, later: &Path) -> Result<Exit, Failure> {
    // An expired keyring may still name its successor; otherwise it could never be replaced.
    let present = Keyring::read(path)?;
    let text = file::read_text(later).map_err(|error| match error.kind() {
        ErrorKind::NotFound => KeyringError::Missing { path: later.to_owned() }.into(),
        _ => Failure::from(error),
    })?;
    if text == file::read_text(path)? {
        term::print(&format!("unchanged: version {} of `{}`\n", present.version, path.display()))?;
        return Ok(Exit::Ok);
    }
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
