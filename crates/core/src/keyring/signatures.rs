//! The text of signature files: several signatures of minisign, one after another, each with an optional day of expiry.

use minisign_verify::Signature;

use super::{Date, Key, Keyring, KeyringError, ParseDateError, SIGNATURES};

/// The field of a trusted comment that names the first day on which its signature does not count. Tabs separate fields.
pub const EXPIRES: &str = "expires:";

/// Returns the first day on which a signature with this trusted comment does not count, if it states one.
///
/// # Errors
///
/// The day is invalid.
pub fn expiry(comment: &str) -> Result<Option<Date>, ParseDateError> {
    let days = comment.split('\t').filter_map(|field| field.strip_prefix(EXPIRES)).map(str::parse);
    Ok(days.collect::<Result<Vec<Date>, _>>()?.into_iter().min())
}

/// Returns the signatures that were made for a name: the field `file:NAME` of their trusted comments, which minisign and
/// precast set to the name of the signed file.
#[must_use]
pub fn of_name(signatures: &str, name: &str) -> String {
    let is_named = |block: &String| {
        let signature = Signature::decode(block);
        signature.is_ok_and(|signature| {
            let mut names =
                signature.trusted_comment().split('\t').filter_map(|field| field.strip_prefix("file:"));
            names.next() == Some(name)
        })
    };
    decodable(signatures).filter(is_named).collect()
}

/// Returns the names that signatures state, each once.
#[must_use]
pub fn names_of(signatures: &str) -> Vec<String> {
    let named = |block: String| {
        let signature = Signature::decode(&block).ok()?;
        let mut fields = signature.trusted_comment().split('\t');
        fields.find_map(|field| field.strip_prefix("file:")).map(str::to_owned)
    };
    let mut names: Vec<String> = decodable(signatures).filter_map(named).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the last day of expiry that signatures name. `None` if there is none, or if one does not expire or names an
/// invalid day.
#[must_use]
pub fn last_day(signatures: &str) -> Option<Date> {
    let days = decodable(signatures).map(|block| {
        let signature = Signature::decode(&block).ok()?;
        expiry(signature.trusted_comment()).ok().flatten()
    });
    days.collect::<Option<Vec<Date>>>()?.into_iter().max()
}

/// Adds a signature of four lines, or replaces the existing signature by the same key in its place. The first signer stays
/// the first, whose signature the program `minisign` reads.
///
/// # Errors
///
/// The signature is invalid, by another key, or over other bytes.
pub fn with_signature(
    content: &[u8],
    key: &Key,
    signatures: &str,
    new: &str,
) -> Result<String, KeyringError> {
    let is_by = |block: &str| Signature::decode(block).ok().and_then(|found| key.signed(content, &found));
    if is_by(new) != Some(true) {
        return Err(KeyringError::NotSigned { name: key.name.clone() });
    }
    let new = format!("{}\n", new.trim_end());
    let mut all: Vec<String> = decodable(signatures).collect();
    let Some(place) = all.iter().position(|block| is_by(block).is_some()) else {
        return Ok(fitted(all, vec![new]).concat());
    };
    all[place] = new;
    let mut at = 0;
    all.retain(|block| {
        at += 1;
        at <= place + 1 || is_by(block).is_none()
    });
    Ok(all.concat())
}

/// Merges signatures of `content`: the present ones, then those of `more` that are missing. Readers read only 64
/// signatures. If there are more, those that count for the `known` keyring come first. Each of the two texts keeps its
/// first 32 of the rest, so that signatures by unknown keys cannot displace them.
#[must_use]
pub fn merged(present: &str, more: &str, known: Option<(&Keyring, &[u8])>) -> String {
    let mut present: Vec<String> = decodable(present).collect();
    let mut more: Vec<String> = decodable(more).filter(|block| !present.contains(block)).collect();
    if present.len() + more.len() <= SIGNATURES {
        return [present, more].concat().concat();
    }
    let mut first = Vec::new();
    if let Some((keyring, content)) = known {
        let all = present.iter().chain(&more).map(String::as_str);
        first = keyring.signatures_that_count(content, all);
        present.retain(|block| !first.contains(block));
        more.retain(|block| !first.contains(block));
    }
    first.extend(fitted(present, more));
    first.truncate(SIGNATURES);
    first.concat()
}

/// Joins signatures up to the limit of readers. The later ones displace earlier ones from at most half of the places.
fn fitted(mut earlier: Vec<String>, later: Vec<String>) -> Vec<String> {
    let reserved = later.len().min(SIGNATURES / 2);
    earlier.truncate(SIGNATURES - reserved);
    earlier.extend(later);
    earlier.truncate(SIGNATURES);
    earlier
}

/// Returns the blocks of a text that are well-formed signatures.
fn decodable(text: &str) -> impl Iterator<Item = String> {
    blocks(text).filter(|block| Signature::decode(block).is_ok())
}

/// Splits a text into signatures of four lines each.
pub(super) fn blocks(text: &str) -> impl Iterator<Item = String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(4 * SIGNATURES).collect();
    let blocks: Vec<String> = lines.chunks(4).map(|block| block.join("\n") + "\n").collect();
    blocks.into_iter()
}
