//! Secrets of the command line and the environment, removed from texts before they are shown or written.

use std::borrow::Cow;
use std::sync::LazyLock;

use precast_core::redact::{is_secret, redacted};

/// Replaces a secret.
const HIDDEN: &str = "…";

/// The shortest value that is hidden, in bytes. Shorter values, such as `1`, also occur in other places.
const SHORTEST: usize = 8;

/// The ends of the names of environment variables whose values are secrets.
const ENDS: [&str; 5] = ["_TOKEN", "_SECRET", "_PASSWORD", "_SECRET_ACCESS_KEY", "_ACCESS_KEY_ID"];

/// The secrets in the environment, the longest first.
static FROM_ENVIRONMENT: LazyLock<Vec<String>> = LazyLock::new(|| {
    let is_named = |name: &str| ENDS.iter().any(|end| name.ends_with(end));
    let all = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut values: Vec<String> = all
        .filter(|(name, value)| is_named(name) && value.len() >= SHORTEST)
        .map(|(_, value)| value)
        .collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
});

/// Removes the credentials of URLs and the secrets of the environment from a text.
pub(crate) fn hide(text: &str) -> Cow<'_, str> {
    hide_all(text, &FROM_ENVIRONMENT)
}

fn hide_all<'t>(text: &'t str, secrets: &[String]) -> Cow<'t, str> {
    secrets
        .iter()
        .filter(|secret| text.contains(*secret))
        .fold(redacted(text), |text, secret| Cow::Owned(text.replace(secret, HIDDEN)))
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
}
