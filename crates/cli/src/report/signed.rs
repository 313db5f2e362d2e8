//! Verifies the signatures of files that are neither bundles, exports nor stores, such as bills of materials, and the
//! names that signatures state.

use std::path::{Path, PathBuf};

use precast_core::event::split_hints;
use precast_core::names::excerpt;
use precast_store::keyring::{check_file, names_of, of_name, signatures_of};
use precast_store::{Export, Keyring, KeyringError, file};
use serde_json::json;

use crate::args::LayerArgs;
use crate::error::{Exit, Failure};
use crate::health::Health;
use crate::kind::Kind;
use crate::{dsse, layers};

/// Verifies files that enough keys must have signed.
pub(crate) fn of_files(paths: &[PathBuf], args: &LayerArgs) -> Result<Vec<Health>, Failure> {
    each(paths, args, of_file)
}

/// Verifies keyrings as `trust update` does: enough keys of the named keyring that may sign keyrings must have signed them.
pub(crate) fn of_keyrings(paths: &[PathBuf], args: &LayerArgs) -> Result<Vec<Health>, Failure> {
    each(paths, args, of_keyring)
}

/// Verifies each file under the keyring of the command line.
fn each(
    paths: &[PathBuf],
    args: &LayerArgs,
    verify: impl Fn(&Path, &Keyring) -> Result<Health, Failure>,
) -> Result<Vec<Health>, Failure> {
    let Some(first) = paths.first() else { return Ok(Vec::new()) };
    let keyring = layers::open_keyring(args)?.ok_or_else(|| {
        let kind = Kind::at(first).unwrap_or(Kind::Other);
        Failure::usage(format!("cannot verify `{}`: it is {kind}, and no keyring is named", first.display()))
            .hint("check its signatures with `--keyring FILE`")
    })?;
    paths.iter().map(|path| verify(path, &keyring)).collect()
}

fn of_keyring(path: &Path, keyring: &Keyring) -> Result<Health, Failure> {
    let mut health = Health::new(format!("keyring `{}`", path.display()));
    let text = file::read_text(path)?;
    let found = Keyring::parse(&text)?;
    health.fact("version", json!(found.version));
    match keyring.check_keyring(&text, &signatures_of(path).map_err(layers::unsigned)?) {
        Ok(names) => health.fact("signed by", json!(names.join(", "))),
        Err(unsigned) => {
            health.fail(&format!("the keyring is not {unsigned}{}", unsigned.hint()), Exit::Unsigned);
        }
    }
    if found.version < keyring.version {
        let older = KeyringError::Rollback { found: found.version, current: keyring.version };
        health.fail(&older.to_string(), Exit::Unsigned);
    }
    Ok(health)
}

fn of_file(path: &Path, keyring: &Keyring) -> Result<Health, Failure> {
    let mut health = Health::new(format!("file `{}`", path.display()));
    let bytes = file::read(path, u64::MAX)?;
    match check_file(path, &bytes, keyring) {
        Ok(names) => health.fact("signed by", json!(names.join(", "))),
        Err(error) if error.is_unsigned() && dsse::is_envelope(&bytes) => {
            let (why, _) = split_hints(&error.to_string());
            let hint = "an envelope is verified with its bundle: `precast verify --provenance --bundle FILE`";
            health.fail(&format!("{why}\nhint: {hint}"), Exit::Unsigned);
        }
        Err(error) if error.is_unsigned() => health.fail(&error.to_string(), Exit::Unsigned),
        Err(error) => return Err(error.into()),
    }
    Ok(health)
}

/// Checks that enough keys have signed each file under a name: the field `file:NAME` of the trusted comments.
pub(crate) fn named(paths: &[PathBuf], name: &str, args: &LayerArgs) -> Result<Vec<Health>, Failure> {
    let keyring = layers::open_keyring(args)?.ok_or_else(|| {
        Failure::usage("`--name` needs a keyring").hint("name a keyring with `--keyring FILE`")
    })?;
    if paths.is_empty() {
        return Err(Failure::usage("`--name` needs a bundle, an export or another signed file")
            .hint("name the file; a store has no name"));
    }
    paths.iter().map(|path| of_name_of(path, name, &keyring)).collect()
}

fn of_name_of(path: &Path, name: &str, keyring: &Keyring) -> Result<Health, Failure> {
    let mut health = Health::new(format!("name of `{}`", path.display()));
    let bytes = file::read(path, u64::MAX)?;
    let (bytes, signatures) = match Kind::of(&bytes) {
        // An export contains its signatures.
        Kind::Export => match Export::open(&bytes) {
            Ok(export) => (export.statement().to_vec(), export.signatures()),
            // The damage was reported.
            Err(_) => return Ok(health),
        },
        _ => {
            let signatures = signatures_of(path).map_err(layers::unsigned)?;
            (bytes, signatures)
        }
    };
    match keyring.check(&bytes, &of_name(&signatures, name)) {
        Ok(names) => {
            health.fact("name", json!(name));
            health.fact("signed by", json!(names.join(", ")));
        }
        Err(unsigned) => {
            let stated: Vec<String> =
                names_of(&signatures).iter().map(|name| format!("`{}`", excerpt(name))).collect();
            let stated = match &stated[..] {
                [] => String::new(),
                names => format!("; its signatures state {}", names.join(", ")),
            };
            health.fail(
                &format!(
                    "under the name `{name}`, it is not {unsigned}{stated}\nhint: check that this is the expected file; \
                     signatures state the name of `precast sign --name`, by default the name of the file"
                ),
                Exit::Unsigned,
            );
        }
    }
    Ok(health)
}
