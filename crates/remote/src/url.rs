//! Parsed URLs of remotes: the kind of remote, and the text that may appear in messages.

use std::fmt;
use std::str::FromStr;

use precast_core::redact::redacted_url;

/// A remote that a URL names.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemoteUrl {
    /// A store directory on a web server.
    Http {
        /// The URL, without credentials and without a `/` at its end.
        url: String,
        /// `user:password`, if the URL has them.
        credentials: Option<String>,
    },
    /// A store directory in a bucket.
    S3 {
        /// The bucket.
        bucket: String,
        /// The directory in it; may be empty.
        prefix: String,
    },
    /// A release in a registry.
    Oci {
        /// `host/repository:tag` or `host/repository@sha256:…`.
        reference: String,
    },
}

/// An error: a text does not name a remote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid remote `{shown}`: {why}\nhint: use `https://host/path`, `s3://bucket/prefix` or \
     `oci://host/repository:tag`"
)]
pub struct ParseRemoteUrlError {
    /// The text, without credentials.
    shown: String,
    /// The reason.
    why: &'static str,
}

impl RemoteUrl {
    /// Returns whether a text is meant as a URL and not as a path.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        text.contains("://")
    }

    /// Returns whether the URL names a release by its digest, whose content can never change.
    #[cfg(feature = "oci")]
    pub(crate) fn is_by_digest(&self) -> bool {
        matches!(self, Self::Oci { reference } if reference.contains("@sha256:"))
    }

    /// Returns whether traffic to the remote is encrypted or stays on this machine.
    #[cfg(feature = "files")]
    pub(crate) fn is_private(&self) -> bool {
        let Self::Http { url, .. } = self else { return true };
        let Some(rest) = url.strip_prefix("http://") else { return true };
        let authority = rest.split('/').next().unwrap_or_default();
        let port =
            authority.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        is_here(port.map_or(authority, |(host, _)| host))
    }
}

/// Renders the URL without credentials.
impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { url, .. } => f.write_str(url),
            Self::S3 { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::S3 { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
            Self::Oci { reference } => write!(f, "oci://{reference}"),
        }
    }
}

/// Renders the URL without credentials.
impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RemoteUrl({self})")
    }
}

impl FromStr for RemoteUrl {
    type Err = ParseRemoteUrlError;

    fn from_str(text: &str) -> Result<Self, ParseRemoteUrlError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, host) = match authority.rsplit_once('@') {
            Some((credentials, host)) => (Some(credentials), host),
            None => (None, authority),
        };
        let wrong = |why| ParseRemoteUrlError { shown: redacted_url(text), why };
        if host.is_empty() {
            return Err(wrong("missing host"));
        }
        if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err(wrong("it has whitespace or control characters"));
        }
        // Credentials that contain a `/` look like a host and a path. The `@` of a digest is
        // allowed in the URL of a release.
        let named = path.rsplit_once("@sha256:").filter(|_| scheme == "oci").map_or(path, |(name, _)| name);
        if named.contains('@') {
            return Err(wrong("unexpected `@` after a `/`; write `/` as `%2F` in credentials"));
        }
        let directory = path.trim_matches('/');
        match scheme {
            "http" | "https" => {
                if path.contains(['?', '#']) {
                    return Err(wrong("a query or fragment is not allowed"));
                }
                let url = format!("{scheme}://{host}/{directory}");
                Ok(Self::Http {
                    url: url.trim_end_matches('/').to_owned(),
                    credentials: credentials.map(str::to_owned),
                })
            }
            "s3" if credentials.is_some() => Err(wrong("S3 credentials come from the environment")),
            "s3" => Ok(Self::S3 { bucket: host.to_owned(), prefix: directory.to_owned() }),
            "oci" if credentials.is_some() => Err(wrong("registry credentials come from docker or podman")),
            "oci" if path.is_empty() => Err(wrong("missing repository")),
            "oci" => Ok(Self::Oci { reference: rest.to_owned() }),
            "" => Err(wrong("not a URL")),
            _ => Err(wrong("unknown scheme")),
        }
    }
}

/// Returns whether a host is this machine: such traffic does not leave it.
#[cfg(any(feature = "files", feature = "oci"))]
pub(crate) fn is_here(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(any(feature = "files", feature = "oci"))]
    #[test]
    fn only_loopback_addresses_are_local() {
        for here in ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1"] {
            assert!(is_here(here), "{here}");
        }
        for there in ["", "localhost.example", "127.0.0.1.example", "10.0.0.1", "[::2]", "0.0.0.0"] {
            assert!(!is_here(there), "{there}");
        }
    }

    #[test]
    fn urls_parse_and_never_show_credentials() {
        let shown = |text: &str| text.parse::<RemoteUrl>().map(|place| place.to_string());
        assert_eq!(shown("https://h/a/").unwrap(), "https://h/a");
        assert_eq!(shown("http://u:secret@h:80").unwrap(), "http://h:80");
        assert_eq!(shown("s3://b").unwrap(), "s3://b");
        assert_eq!(shown("s3://b/p/q/").unwrap(), "s3://b/p/q");
        assert_eq!(shown("oci://h:5000/r@sha256:00").unwrap(), "oci://h:5000/r@sha256:00");
        let place = "https://u:secret@h/a".parse::<RemoteUrl>().unwrap();
        assert!(!format!("{place:?} {place}").contains("secret"));
        for wrong in [
            "",
            "artifacts",
            "ftp://h/a",
            "https://",
            "oci://h",
            "https://u:secret@h/a?b",
            "s3://k:secret@b",
            "oci://u:secret@h/r:1",
            "https://u:a/secret@h/a",
            "s3://k:a/secret@b",
            "oci://u:a/secret@h/r@sha256:00",
            "ftp://u:secret/a@b@h",
            "https://h/a?token=secret",
        ] {
            let error = shown(wrong).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
