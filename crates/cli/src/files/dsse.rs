//! Signed statements in [DSSE](https://github.com/secure-systems-lab/dsse) envelopes, as in-toto and SLSA tools read them.
//!
//! ```text
//! X.provenance.json ─▶ X.intoto.jsonl: {"payloadType", "payload": base64, "signatures": [{"keyid", "sig": base64}]}
//! ```
//! The keys are those of minisign. A signature is Ed25519 over the encoding below, so it cannot be mistaken for one of
//! minisign, which signs a hash or the bytes of a signature. The exception is minisign's legacy format (`minisign -S -l`):
//! it signs the bytes of a file. So a program that signs gets the encoding in a file, and returns such a signature.

use std::path::{Path, PathBuf};

use ct_codecs::{Base64, Decoder as _, Encoder as _};
use ed25519_compact::{PublicKey, SecretKey, Signature};
use precast_store::file;
use precast_store::keyring::{Key, Keyring};
use serde_json::{Value, json};

use crate::error::Failure;
use crate::kind::Kind;
use crate::provenance::hex;
use crate::turn::Turn;
use crate::whole;

/// The type of the statements.
const TYPE: &str = "application/vnd.in-toto+json";

/// The length limit of an envelope, in bytes.
pub(crate) const LIMIT: u64 = 64 << 20;

/// A statement, and the names of the keys that signed it.
pub(crate) struct Attested {
    pub(crate) statement: Value,
    pub(crate) names: Vec<String>,
}

/// Returns the file of the envelope for a bundle or for a statement about it.
pub(crate) fn path_of(file: &Path) -> PathBuf {
    let text = file.as_os_str().as_encoded_bytes();
    let mut name = match text.strip_suffix(b".provenance.json") {
        Some(_) => file.with_extension("").with_extension("").into_os_string(),
        None => file.as_os_str().to_owned(),
    };
    name.push(".intoto.jsonl");
    name.into()
}

/// Returns the target of a link, next to which its envelope is written as its signatures are; any other path as it is.
fn target(path: &Path) -> PathBuf {
    let target = path.is_symlink().then(|| fs_err::canonicalize(path)).and_then(Result::ok);
    target.unwrap_or_else(|| path.to_owned())
}

/// Returns whether a file is an envelope of a statement.
pub(crate) fn is_envelope(bytes: &[u8]) -> bool {
    unpack(bytes).is_ok()
}

/// Signs bytes with an Ed25519 key.
pub(crate) fn sign_bytes(bytes: &[u8], secret: &[u8]) -> Result<Signature, Failure> {
    Ok(SecretKey::from_slice(secret).map_err(refused)?.sign(bytes, None))
}

/// Returns the signature of the bytes of a file, from minisign's signature in its legacy format.
pub(crate) fn of_minisign(text: &str) -> Result<Signature, Failure> {
    let bytes = text.lines().nth(1).and_then(|line| Base64::decode_to_vec(line.trim(), None).ok());
    let bytes = bytes.filter(|bytes| bytes.len() == 74).unwrap_or_default();
    match bytes.get(..2) {
        Some(b"Ed") => Signature::from_slice(&bytes[10..]).map_err(refused),
        Some(b"ED") => Err(Failure::new("the signer signed the hash of the envelope, expected its bytes")
            .hint("for `--dsse`, let the program run `minisign -S -l`")),
        _ => Err(Failure::new("the signer printed no minisign signature")),
    }
}

fn refused(error: ed25519_compact::Error) -> Failure {
    Failure::new("cannot sign").because(error.to_string())
}

/// Signs a statement with `sign`, which gets the bytes to sign; keeps the signatures of other keys over the same
/// statement. Returns the path of the envelope.
pub(crate) fn sign(
    path: &Path,
    key: &Key,
    sign: impl FnOnce(&[u8]) -> Result<Signature, Failure>,
) -> Result<PathBuf, Failure> {
    let _turn = Turn::at(path)?;
    let payload = file::read(path, LIMIT)?;
    let statement: Value = serde_json::from_slice(&payload).unwrap_or_default();
    if statement["_type"] != "https://in-toto.io/Statement/v1" {
        return Err(Failure::new(format!("`{}` is not an in-toto statement", path.display())).hint(
            "name the statement that `precast build --builder URI --bundle FILE` writes next to the bundle",
        ));
    }
    let bytes = encoding(&payload);
    let signature = sign(&bytes)?;
    let (id, public) = raw(key)?;
    public
        .verify(&bytes, &signature)
        .map_err(|_| Failure::new(format!("the signature is not by `{}` for this statement", key.name)))?;
    let out = path_of(&target(path));
    let present = file::read(&out, LIMIT).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let present = present.filter(|envelope| envelope["payload"] == base64(&payload));
    let others = present.iter().flat_map(|envelope| envelope["signatures"].as_array()).flatten();
    let mut signatures: Vec<Value> = others.filter(|one| one["keyid"] != id).cloned().collect();
    signatures.push(json!({"keyid": id, "sig": base64(signature.as_ref())}));
    let envelope = json!({"payloadType": TYPE, "payload": base64(&payload), "signatures": signatures});
    whole::write(&out, Kind::Text, |file| file.write_all(format!("{envelope}\n").as_bytes()))?
        .commit_durably()?;
    Ok(out)
}

/// Opens the envelope of a bundle, which enough keys of `keyring` must have signed for a release. The error is a message.
pub(crate) fn open(path: &Path, keyring: &Keyring) -> Result<Attested, String> {
    let shown = path.display();
    let bytes = match file::read(path, LIMIT) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Err(format!(
                "cannot read `{shown}`: {error}\nhint: sign the statement with `precast sign --dsse`"
            ));
        }
    };
    check(&bytes, keyring).map_err(|why| format!("`{shown}` {why}"))
}

/// Checks that enough keys of `keyring` have signed an envelope for a release. The error follows the name of its file.
pub(crate) fn check(bytes: &[u8], keyring: &Keyring) -> Result<Attested, String> {
    let (envelope, payload) = unpack(bytes)?;
    let signatures: Vec<Signature> = envelope["signatures"]
        .as_array()
        .into_iter()
        .flatten()
        .take(64)
        .filter_map(|one| Signature::from_slice(&decoded(&one["sig"])?).ok())
        .collect();
    let mut counted: Vec<&Key> = Vec::new();
    for key in keyring.release_keys() {
        let Ok((_, public)) = raw(key) else { continue };
        let is_valid =
            signatures.iter().any(|signature| public.verify(encoding(&payload), signature).is_ok());
        if is_valid && counted.iter().all(|known| !known.is_same(key)) {
            counted.push(key);
        }
    }
    if counted.len() < keyring.threshold {
        let (found, needed) = (counted.len(), keyring.threshold);
        let is_by = |key: &Key| raw(key).is_ok_and(|(id, _)| ids(&envelope).any(|found| found == id));
        let others = keyring.keys.iter().filter(|key| keyring.release_keys().all(|one| !one.is_same(key)));
        let others: String = others
            .filter(|key| is_by(key))
            .map(|key| format!("; key `{}` may not sign releases", key.name))
            .collect();
        let damaged =
            keyring.release_keys().filter(|key| is_by(key) && counted.iter().all(|one| !one.is_same(key)));
        let damaged: String =
            damaged.map(|key| format!("; the signature by `{}` is for other bytes", key.name)).collect();
        let is_unlisted = |id: &&str| {
            let mut all = keyring.keys.iter().chain(&keyring.revoked);
            !all.any(|key| raw(key).is_ok_and(|(known, _)| known == *id))
        };
        let unlisted =
            if ids(&envelope).any(|id| is_unlisted(&id)) { "; one is by an unlisted key" } else { "" };
        return Err(format!(
            "is not signed by enough keys of the keyring: found {found}, expected {needed}{others}{damaged}{unlisted}"
        ));
    }
    let statement = parse(&payload)?;
    Ok(Attested { statement, names: counted.into_iter().map(|key| key.name.clone()).collect() })
}

/// Returns the names of the keys that an envelope states.
fn ids(envelope: &Value) -> impl Iterator<Item = &str> {
    envelope["signatures"].as_array().into_iter().flatten().filter_map(|one| one["keyid"].as_str())
}

/// Returns the statement of an envelope, whoever signed it. The error follows the name of its file.
#[cfg(feature = "remote")]
pub(crate) fn payload(bytes: &[u8]) -> Result<Value, String> {
    parse(&unpack(bytes)?.1)
}

/// Returns an envelope and the bytes of its payload.
fn unpack(bytes: &[u8]) -> Result<(Value, Vec<u8>), String> {
    let envelope: Value = serde_json::from_slice(bytes).map_err(|_| wrong("it is not one JSON object"))?;
    if envelope["payloadType"] != TYPE {
        return Err(wrong("unknown type of payload"));
    }
    let payload = decoded(&envelope["payload"]).ok_or_else(|| wrong("the payload is not base64"))?;
    Ok((envelope, payload))
}

fn parse(payload: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(payload).map_err(|_| wrong("the payload is not JSON"))
}

fn wrong(what: &str) -> String {
    format!("is not a DSSE envelope of a statement: {what}")
}

fn decoded(value: &Value) -> Option<Vec<u8>> {
    Base64::decode_to_vec(value.as_str().unwrap_or_default(), None).ok()
}

/// Encodes the bytes to sign: DSSE's pre-authentication encoding.
fn encoding(payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {TYPE} {} ", TYPE.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the id of a key, as minisign shows it, and the key itself.
pub(crate) fn raw(key: &Key) -> Result<(String, PublicKey), Failure> {
    let wrong = || Failure::new(format!("key `{}` is not an Ed25519 key", key.name));
    let bytes = Base64::decode_to_vec(&key.text, None).map_err(|_| wrong())?;
    let (Some(id), Some(public)) = (bytes.get(2..10), bytes.get(10..42)) else { return Err(wrong()) };
    let id: Vec<u8> = id.iter().rev().copied().collect();
    Ok((hex(&id).to_uppercase(), PublicKey::from_slice(public).map_err(|_| wrong())?))
}

fn base64(bytes: &[u8]) -> String {
    Base64::encode_to_string(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification, with the type of the statements instead of its own.
    #[test]
    fn encoding_follows_the_specification() {
        assert_eq!(encoding(b"hello world"), b"DSSEv1 28 application/vnd.in-toto+json 11 hello world");
    }

    #[test]
    fn envelope_lies_next_to_the_bundle() {
        for name in ["a/model.precast", "a/model.precast.provenance.json"] {
            assert_eq!(path_of(Path::new(name)), Path::new("a/model.precast.intoto.jsonl"));
        }
    }
}
