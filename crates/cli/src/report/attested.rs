//! Verifies signed provenance of bundles.

use std::path::Path;

use precast_store::{Keyring, file};
use serde_json::json;

use crate::args::LayerArgs;
use crate::dsse::{self, Attested};
use crate::error::{Exit, Failure};
use crate::health::Health;
use crate::layers;
use crate::provenance::{PREDICATE, sha256};

/// Verifies the provenance of all bundles: enough keys signed a statement about these bytes, and it names the builder, if
/// one is expected.
pub(crate) fn of_bundles(args: &LayerArgs, builder: Option<&str>) -> Result<Vec<Health>, Failure> {
    let keyring = layers::open_keyring(args)?.ok_or_else(|| {
        Failure::usage("`--provenance` needs a keyring").hint("name a keyring with `--keyring FILE`")
    })?;
    if args.bundle.is_empty() {
        return Err(
            Failure::usage("`--provenance` needs a bundle").hint("name a bundle with `--bundle FILE`")
        );
    }
    args.bundle.iter().map(|path| of_bundle(path, builder, &keyring)).collect()
}

fn of_bundle(path: &Path, builder: Option<&str>, keyring: &Keyring) -> Result<Health, Failure> {
    let mut health = Health::new(format!("provenance of bundle `{}`", path.display()));
    let bytes = file::read(path, u64::MAX)?;
    // As signatures, a statement may lie beside the target of a link.
    let beside = dsse::path_of(path);
    let is_of_target = path.is_symlink() && !beside.exists();
    let beside = if is_of_target { dsse::path_of(&fs_err::canonicalize(path)?) } else { beside };
    match dsse::open(&beside, keyring).and_then(|found| check(&found, &bytes, builder).map(|()| found)) {
        Ok(Attested { statement, names }) => {
            let run = &statement["predicate"]["runDetails"];
            health.fact("builder", run["builder"]["id"].clone());
            health.fact("signed by", json!(names.join(", ")));
        }
        Err(why) => health.fail(&why, Exit::Unsigned),
    }
    Ok(health)
}

/// Checks the content of a signed statement; the error is a message.
fn check(Attested { statement, .. }: &Attested, bytes: &[u8], builder: Option<&str>) -> Result<(), String> {
    if statement["predicateType"] != PREDICATE {
        return Err(format!(
            "the statement is not about provenance: it has type {}",
            statement["predicateType"]
        ));
    }
    let digest = sha256(bytes);
    let mut subjects = statement["subject"].as_array().into_iter().flatten();
    if !subjects.any(|subject| subject["digest"]["sha256"] == digest["sha256"]) {
        return Err("the statement is about another file".to_owned());
    }
    let found = &statement["predicate"]["runDetails"]["builder"]["id"];
    match builder.filter(|builder| found.as_str() != Some(builder)) {
        Some(builder) => Err(format!("the builder is {found}, expected \"{builder}\"")),
        None => Ok(()),
    }
}
