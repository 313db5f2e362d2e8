//! Where the services are.

use std::fmt;
use std::str::FromStr;

/// A server and the name of one of its instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    authority: String,
    instance: String,
}

/// Says that a text names no server.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{text}` names no server of the Remote Execution API: {why}\nhint: `grpc://HOST:PORT/INSTANCE`; the instance may be left out"
)]
pub struct ParseServerError {
    text: String,
    why: &'static str,
}

impl Server {
    /// The URI that is connected to.
    pub(super) fn uri(&self) -> String {
        format!("http://{}", self.authority)
    }

    /// The name of the instance; may be empty.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// The name of a resource of the instance.
    pub(super) fn resource(&self, name: &str) -> String {
        if self.instance.is_empty() { name.to_owned() } else { format!("{}/{name}", self.instance) }
    }
}

/// Renders `grpc://host:port/instance`.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "grpc://{}", self.authority)?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "/{}", self.instance) }
    }
}

impl FromStr for Server {
    type Err = ParseServerError;

    fn from_str(text: &str) -> Result<Self, ParseServerError> {
        // Before the last `@` of the authority there may be secrets.
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (authority, path) =
            rest.split_once('/').map_or((rest, String::new()), |(a, path)| (a, format!("/{path}")));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let shown =
            if scheme.is_empty() { format!("{host}{path}") } else { format!("{scheme}://{host}{path}") };
        let wrong = |why| ParseServerError { text: shown.chars().take(200).collect(), why };
        if text.starts_with("grpcs://") {
            return Err(wrong("encrypted connections are not supported; a local proxy can encrypt them"));
        }
        let rest = text.strip_prefix("grpc://").ok_or_else(|| wrong("it does not begin with `grpc://`"))?;
        let (authority, instance) = rest.split_once('/').unwrap_or((rest, ""));
        let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if port.is_none() {
            return Err(wrong("it has no port"));
        }
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if authority.starts_with(':') || !authority.chars().all(is_host) {
            return Err(wrong("its host is no name and no address"));
        }
        let instance = instance.strip_suffix('/').unwrap_or(instance);
        let is_plain = |c: char| c.is_ascii_graphic() && !"?#%".contains(c);
        if !instance.chars().all(is_plain) || instance.split('/').skip(1).any(str::is_empty) {
            return Err(wrong("its instance has a character or an empty part that no name has"));
        }
        Ok(Self { authority: authority.to_owned(), instance: instance.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_rendered() {
        for text in ["grpc://localhost:8980", "grpc://10.0.0.1:1/main", "grpc://[::1]:8980/a/b"] {
            assert_eq!(text.parse::<Server>().unwrap().to_string(), text);
        }
        let place: Server = "grpc://h:1/a/".parse().unwrap();
        assert_eq!((place.to_string().as_str(), &*place.resource("blobs/x")), ("grpc://h:1/a", "a/blobs/x"));
        assert_eq!("grpc://h:1".parse::<Server>().unwrap().resource("blobs/x"), "blobs/x");
    }

    #[test]
    fn what_is_no_place_is_refused_with_a_hint() {
        for text in [
            "",
            "http://h:1",
            "grpc://h",
            "grpc://:1",
            "grpc://u:secret@h:1",
            "grpc://h:99999",
            "grpc://h:1/a b",
            "grpc://h:1/a//b",
            "grpcs://h:1",
            "grpc://h:1/a?b",
        ] {
            let error = text.parse::<Server>().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
            assert!(error.contains("\nhint: "), "{error}");
        }
    }
}
