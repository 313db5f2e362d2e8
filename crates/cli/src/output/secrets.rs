//! Secrets of the command line and the environment, removed from texts before they are shown or written.

use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

use precast_core::redact::{is_secret, redacted};

use crate::error::Failure;

/// Replaces a secret.
const HIDDEN: &str = "…";

/// Ends a text that a message has cut.
const CUT: &str = "…";

/// The shortest value that is hidden, in bytes. Shorter values, such as `1`, also occur in other places.
const SHORTEST: usize = 8;

/// The ends of the names of environment variables whose values are secrets. The path of a file is not a secret.
const ENDS: [&str; 7] = ["_TOKEN", "_SECRET", "_PASSWORD", "_ACCESS_KEY_ID", "_KEY", "_PAT", "_CREDENTIALS"];

/// The beginnings of tokens of well-known services.
const TOKENS: [&str; 8] = ["ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "AKIA", "ASIA"];

/// The shortest rest of such a token, in bytes.
const TOKEN_REST: usize = 16;

/// The shortest base64 text that counts as the content of a key.
const KEY_LENGTH: usize = 100;

/// The secrets in the environment and on the command line, the longest first.
static KNOWN: LazyLock<Vec<String>> = LazyLock::new(|| {
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| is_secret_variable(name, value))
        .map(|(_, value)| value);
    let words = std::env::args_os().skip(1).filter_map(|word| word.into_string().ok());
    let values = words.flat_map(|word| {
        let value = word.split_once('=').filter(|(option, _)| option.starts_with("--"));
        let value = value.map(|(_, value)| value.to_owned());
        [Some(word), value].into_iter().flatten().filter(|value| is_content(value))
    });
    let mut all: Vec<String> = variables.chain(values).collect();
    // A message may escape line breaks, and clap ends the name of an option at `=`.
    let lines = all.iter().flat_map(|value| value.lines());
    let lines: Vec<String> = lines.map(|line| line.trim_end_matches('=').to_owned()).collect();
    all.extend(lines);
    all.retain(|value| value.len() >= SHORTEST);
    all.sort_by_key(|value| std::cmp::Reverse(value.len()));
    all.dedup();
    all
});

/// Returns whether an environment variable holds a secret.
fn is_secret_variable(name: &str, value: &str) -> bool {
    if is_content(value) {
        return name.starts_with("PRECAST_") || ENDS.iter().any(|end| name.ends_with(end));
    }
    // These two name files.
    let names_file = ["PRECAST_REMOTE_KEY", "PRECAST_REMOTE_CREDENTIALS"].contains(&name);
    !names_file && ENDS.iter().any(|end| name.ends_with(end)) && !Path::new(value).exists()
}

/// Returns whether a value is the content of a key: a file of minisign, a PEM file, or a long base64 text other than a
/// hash in hexadecimal digits.
pub(crate) fn is_content(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_hash = || value.bytes().all(|byte| byte.is_ascii_hexdigit());
    ["untrusted comment:", "-----BEGIN"].iter().any(|begin| value.contains(begin))
        || (value.len() >= KEY_LENGTH
            && value.bytes().all(is_base64)
            && !is_hash()
            && !Path::new(value).exists())
}

/// Removes the credentials of URLs, known forms of tokens, and the secrets of the environment and the command line from
/// a text.
pub(crate) fn hide(text: &str) -> Cow<'_, str> {
    hide_all(text, &KNOWN)
}

fn hide_all<'t>(text: &'t str, secrets: &[String]) -> Cow<'t, str> {
    let hidden = secrets
        .iter()
        .filter(|secret| text.contains(*secret))
        .fold(redacted(text), |text, secret| Cow::Owned(text.replace(secret, HIDDEN)));
    let hidden = match without_cut(&hidden, secrets) {
        Some(text) => Cow::Owned(text),
        None => hidden,
    };
    match without_tokens(&hidden) {
        Some(text) => Cow::Owned(text),
        None => hidden,
    }
}

/// Removes the beginnings of secrets that a message has cut: those before `…`; `None` if there are none.
fn without_cut(text: &str, secrets: &[String]) -> Option<String> {
    let mut parts: Vec<&str> = text.split(CUT).collect();
    let last = parts.pop()?;
    let mut found = false;
    let mut out = String::new();
    for part in parts {
        let begins = |secret: &String| {
            let ends = (SHORTEST..secret.len()).rev().filter(|end| secret.is_char_boundary(*end));
            ends.map(|end| &secret[..end]).find(|begin| part.ends_with(begin)).map(str::len)
        };
        let length = secrets.iter().filter_map(begins).max();
        found |= length.is_some();
        out.push_str(&part[..part.len() - length.unwrap_or(0)]);
        out.push_str(CUT);
    }
    found.then(|| out + last)
}

/// Rejects a text that a file would publish if it has a secret. The text is not shown.
pub(crate) fn check(what: &str, text: &str) -> Result<(), Failure> {
    match is_content(text) || hide(text) != text {
        false => Ok(()),
        true => Err(Failure::usage(format!("the {what} contains a secret, which would be published"))
            .hint("use another one; replace the secret if others may have seen it")),
    }
}

/// Replaces tokens of well-known services; `None` if there are none.
fn without_tokens(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_token = |word: &str| {
        TOKENS.iter().any(|begin| word.strip_prefix(begin).is_some_and(|rest| rest.len() >= TOKEN_REST))
    };
    let mut out = text.to_owned();
    let words = text.split(|c: char| !is_part(c)).filter(|word| is_token(word));
    words.for_each(|word| out = out.replace(word, HIDDEN));
    (out != text).then_some(out)
}

/// Returns one word of a command line without secrets: also without the value of `NAME=VALUE` if the name is that of a
/// secret.
pub(crate) fn hide_word(word: &str) -> String {
    let hidden = hide(word);
    let Some((before, _)) = hidden.rsplit_once('=') else { return hidden.into_owned() };
    let name = before.rsplit('=').next().unwrap_or_default();
    // `--password-file=FILE` names a file.
    if is_secret(name) && !name.starts_with('-') { format!("{before}={HIDDEN}") } else { hidden.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_names_of_secrets_only() {
        for (word, expected) in [
            ("--remote=https://u:secret@h/a", "--remote=https://h/a"),
            ("https://u:secret@h/a", "https://h/a"),
            ("--remote-property=api-token=secret", "--remote-property=api-token=…"),
            ("api-token=secret", "api-token=…"),
            ("image=docker://host/a", "image=docker://host/a"),
            ("--password-file=p", "--password-file=p"),
            ("--isa", "--isa"),
        ] {
            assert_eq!(hide_word(word), expected);
        }
    }

    #[test]
    fn secrets_of_the_environment_are_hidden() {
        let secrets = ["long-secret-value".to_owned(), "secret-value".to_owned()];
        assert_eq!(hide_all("a long-secret-value, secret-value", &secrets), "a …, …");
        assert_eq!(hide_all("nothing", &secrets), "nothing");
    }

    #[test]
    fn beginnings_of_secrets_are_hidden() {
        let secrets = ["0123456789abcdef".to_owned()];
        for (text, expected) in [
            ("`0123456789abc…`, `x…`", "`…`, `x…`"),
            ("a 01234567… b", "a … b"),
            ("a 0123456… b", "a 0123456… b"),
            ("a 0123456789abc b", "a 0123456789abc b"),
            ("a0123456789abcdef…", "a……"),
        ] {
            assert_eq!(hide_all(text, &secrets), expected);
        }
    }

    #[test]
    fn tokens_of_known_services_are_hidden() {
        for token in ["ghp_0123456789abcdef", "glpat-0123456789abcdef", "AKIA0123456789ABCDEF"] {
            assert_eq!(hide_all(&format!("run/{token}?a"), &[]), "run/…?a");
        }
        for plain in ["ghp_short", "a-ghp_0123456789abcdef", "AKIAS"] {
            assert_eq!(hide_all(plain, &[]), plain);
        }
    }

    #[test]
    fn variables_are_secret_by_name_or_content() {
        let key = "R".repeat(212);
        for (name, value, expected) in [
            ("DEPLOY_KEY", "a-secret", true),
            ("A_PAT", "a-secret", true),
            ("CLOUD_CREDENTIALS", "a-secret", true),
            ("SSH_KEY", "/dev/null", false),
            ("PRECAST_REMOTE_KEY", "client.pem", false),
            ("PRECAST_REMOTE_KEY", "-----BEGIN PRIVATE KEY-----", true),
            ("PRECAST_KEYRING", &key, true),
            ("PATTERN", "a-secret", false),
        ] {
            assert_eq!(is_secret_variable(name, value), expected, "{name}={value}");
        }
        let hash = "0a".repeat(64);
        for other in ["alice.key", "/run/secrets/key", "a\nb", "/dev/null", &hash] {
            assert!(!is_content(other), "{other}");
        }
    }
}
