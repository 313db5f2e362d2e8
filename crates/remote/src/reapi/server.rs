//! The address of the services.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use precast_core::redact::redacted_url;

/// A server and the name of one of its instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    is_encrypted: bool,
    authority: String,
    instance: String,
}

/// The error for a text that is not the address of a server.
#[derive(Debug, thiserror::Error)]
#[error(
    "invalid server `{text}` of the Remote Execution API: {why}\nhint: use `grpc://HOST:PORT/INSTANCE`, or \
     `grpcs://HOST/INSTANCE` for TLS; the instance is optional"
)]
pub struct ParseServerError {
    text: String,
    why: &'static str,
}

impl Server {
    /// Returns the URI to connect to.
    pub(super) fn uri(&self) -> String {
        format!("{}://{}", if self.is_encrypted { "https" } else { "http" }, self.authority)
    }

    /// Returns whether the connection is encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Returns whether traffic to the server is hidden from other machines.
    pub(super) fn is_private(&self) -> bool {
        let host = self.authority.rsplit_once(':').map_or(&*self.authority, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.is_encrypted || is_loopback || host == "localhost"
    }

    /// Returns the name of the instance, which may be empty.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// Returns the name of a resource of the instance.
    pub(super) fn resource(&self, name: &str) -> String {
        if self.instance.is_empty() { name.to_owned() } else { format!("{}/{name}", self.instance) }
    }
}

/// Renders `grpc://host:port/instance`, or `grpcs://host/instance`.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_encrypted { "grpcs" } else { "grpc" }, self.authority)?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "/{}", self.instance) }
    }
}

impl FromStr for Server {
    type Err = ParseServerError;

    fn from_str(text: &str) -> Result<Self, ParseServerError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let shown = redacted_url(text);
        let wrong = |why| ParseServerError { text: shown.chars().take(200).collect(), why };
        let is_encrypted = match scheme {
            "grpc" => false,
            "grpcs" => true,
            _ => return Err(wrong("expected `grpc://` or `grpcs://`")),
        };
        if rest.contains('@') {
            return Err(wrong("unexpected `@`; credentials are not allowed in the URL"));
        }
        let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
        // The colons of `[::1]` do not precede a port.
        let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
        match port {
            // An encrypted address has a default port.
            None if is_encrypted && !authority.is_empty() => {}
            Some(port) if port.parse::<u16>().is_ok() => {}
            _ => return Err(wrong("missing port")),
        }
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if authority.starts_with(':') || !authority.chars().all(is_host) {
            return Err(wrong("invalid host"));
        }
        let instance = instance.strip_suffix('/').unwrap_or(instance);
        let is_plain = |c: char| c.is_ascii_graphic() && !"?#%".contains(c);
        if !instance.chars().all(is_plain) || instance.split('/').skip(1).any(str::is_empty) {
            return Err(wrong("invalid instance name"));
        }
        Ok(Self { is_encrypted, authority: authority.to_owned(), instance: instance.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_rendered() {
        for (text, uri, is_private) in [
            ("grpc://localhost:8980", "http://localhost:8980", true),
            ("grpc://10.0.0.1:1/main", "http://10.0.0.1:1", false),
            ("grpc://[::1]:8980/a/b", "http://[::1]:8980", true),
            ("grpc://127.0.0.1.example.org:1", "http://127.0.0.1.example.org:1", false),
            ("grpcs://cache.example.org", "https://cache.example.org", true),
            ("grpcs://[fd00::1]/a", "https://[fd00::1]", true),
            ("grpcs://cache.example.org:8443/main", "https://cache.example.org:8443", true),
        ] {
            let server: Server = text.parse().unwrap();
            assert_eq!((&*server.to_string(), &*server.uri(), server.is_private()), (text, uri, is_private));
        }
        let place: Server = "grpc://h:1/a/".parse().unwrap();
        assert_eq!((place.to_string().as_str(), &*place.resource("blobs/x")), ("grpc://h:1/a", "a/blobs/x"));
        assert_eq!("grpc://h:1".parse::<Server>().unwrap().resource("blobs/x"), "blobs/x");
    }

    #[test]
    fn invalid_server_is_rejected_with_hint() {
        for text in [
            "",
            "http://h:1",
            "grpc://h",
            "grpc://:1",
            "grpc://u:secret@h:1",
            "grpc://h:99999",
            "grpc://h:1/a b",
            "grpc://h:1/a//b",
            "grpcs://",
            "grpcs://:443",
            "grpcs://h:",
            "grpcs://u:secret@h",
            "grpcs://u:a/secret@h",
            "grpcs://u:1/secret@h:1/a",
            "grpcs://h/secret@b",
            "u:secret://secret@h",
            "secret@h",
            "grpc://[::1]",
            "grpc://h:1/a?b",
        ] {
            let error = text.parse::<Server>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
            assert!(error.contains("\nhint: "), "{error}");
        }
    }
}
