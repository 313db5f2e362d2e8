//! Redaction: removes credentials from texts before they are shown or written.
//!
//! | function | input | use |
//! |---|---|---|
//! | [`redacted`] | any text | messages, recorded command lines |
//! | [`redacted_url`] | one URL, possibly invalid | errors about that URL |
//! | [`UrlText`] | a URL as the user wrote it | fields of options; its `Debug` and `Display` are redacted |
//!
//! A URL ends at whitespace, because a password may contain any other character. User names are removed too: registries
//! and code hosts accept a token in their place.

use std::borrow::Cow;
use std::fmt;

/// Replaces the values of secret parameters.
const HIDDEN: &str = "…";

/// The words that mark a parameter of a query as a secret.
const SECRET_WORDS: [&str; 8] = ["auth", "credential", "key", "passwd", "password", "secret", "sig", "token"];

/// Removes the credentials of all URLs in a text: `user:password@`, and the values of parameters such as `token`.
///
/// # Examples
/// ```
/// use precast_core::redact::redacted;
///
/// assert_eq!(redacted("get https://me:secret@host/a"), "get https://host/a");
/// assert_eq!(redacted("https://host/a?token=secret&n=1"), "https://host/a?token=…&n=1");
/// assert_eq!(redacted("oci://host/a@sha256:00"), "oci://host/a@sha256:00");
/// ```
#[must_use]
pub fn redacted(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        let end = url.find(|c: char| c.is_whitespace() || c.is_control()).unwrap_or(url.len());
        let shown = &url[credentials_end(&url[..end])..end];
        out.push_str(before);
        // The query of a URL may contain another URL.
        out.push_str(&without_secret_parameters(&redacted(shown)));
        rest = &url[end..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Removes the credentials of one URL that may be invalid: everything between the scheme and the last `@`, and the query.
#[must_use]
pub fn redacted_url(text: &str) -> String {
    let text = match text.split_once('?') {
        Some((before, _)) if text.contains("://") => Cow::Owned(format!("{before}?{HIDDEN}")),
        _ => Cow::Borrowed(text),
    };
    let Some((before, shown)) = text.rsplit_once('@') else { return text.into_owned() };
    let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
    if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        format!("{scheme}://{shown}")
    } else {
        shown.to_owned()
    }
}

/// Returns the length of the credentials at the start of a URL without its scheme.
fn credentials_end(url: &str) -> usize {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    if let Some(at) = authority.rfind('@') {
        return at + 1;
    }
    // A password with a `/` looks like a host, a port and a path.
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_password = port.is_some_and(|port| !is_port(port));
    if is_password && !authority.starts_with('[') { url.rfind('@').map_or(0, |at| at + 1) } else { 0 }
}

/// Hides the values of secret parameters in the query of a URL.
fn without_secret_parameters(url: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let shown = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, value)) if is_secret(name) => format!("{name}={HIDDEN}{}", closing(value)),
        _ => parameter.to_owned(),
    });
    format!("{path}?{}", shown.collect::<Vec<_>>().join("&"))
}

/// Returns the backtick that closes a quoted URL, with the punctuation after it.
fn closing(value: &str) -> &str {
    let end = value.trim_end_matches([':', ',', ';', '.', ')']);
    end.strip_suffix('`').map_or("", |inner| &value[inner.len()..])
}

/// Returns whether the value of a parameter with this name is a secret.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

/// A URL as the user wrote it. `Debug` and `Display` render it without credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlText(String);

impl UrlText {
    /// Returns the URL with its credentials, to connect to it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for UrlText {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for UrlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted_url(&self.0))
    }
}

impl fmt::Debug for UrlText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UrlText({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_all_but_credentials() {
        for (text, expected) in [
            ("", ""),
            ("a b@c", "a b@c"),
            ("https://host:80/a@v1", "https://host:80/a@v1"),
            ("git+https://host/a/b@refs/tags/v1", "git+https://host/a/b@refs/tags/v1"),
            ("oci://h:5000/r@sha256:00", "oci://h:5000/r@sha256:00"),
            ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
            ("--remote=https://u:secret@h/a --json", "--remote=https://h/a --json"),
            ("`https://u:secret@h/a`: no, ftp://secret@i", "`https://h/a`: no, ftp://i"),
            ("https://u:secret/secret@h/a", "https://h/a"),
            ("https://u:se://cret@h/a", "https://h/a"),
            ("https://u:se`'\"cret@h/a", "https://h/a"),
            ("https://h?to=https://u:secret@i/&x=1", "https://h?to=https://i/&x=1"),
            ("https://h?n=1&X-Amz-Signature=secret", "https://h?n=1&X-Amz-Signature=…"),
            (
                "`https://h/a?token=secret` has, `https://h/a?token=…`: no",
                "`https://h/a?token=…` has, `https://h/a?token=…`: no",
            ),
            ("https://h/a?token=sec`ret", "https://h/a?token=…"),
            ("://secret@", "://"),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
        }
    }

    #[test]
    fn invalid_urls_keep_no_credentials() {
        for (text, expected) in [
            ("https://u:secret@h/a", "https://h/a"),
            ("https://u:12/secret@h/a", "https://h/a"),
            ("u:secret@h", "h"),
            ("https://h/a?sas=secret", "https://h/a?…"),
            ("https://h/a", "https://h/a"),
        ] {
            let url = UrlText::from(text);
            assert_eq!(url.to_string(), expected);
            assert_eq!(format!("{url:?}"), format!("UrlText({expected})"));
            assert_eq!(url.expose(), text);
        }
    }
}
