//! Reads credentials from the files of docker, podman and skopeo.

use std::fmt;

use base64::Engine as _;
use docker_credential::{DockerCredential, get_credential, get_podman_credential};
use http::HeaderValue;

/// The names under which docker stores credentials for its own registry.
const DOCKER_HUB: [&str; 2] = ["https://index.docker.io/v1/", "docker.io"];

/// A name and a password, or a token as the password.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) name: String,
    pub(super) password: String,
}

/// Omits the password.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Login {
    /// Returns the header of a request, marked as a secret.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let text =
            base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", self.name, self.password));
        let mut value = HeaderValue::from_str(&format!("Basic {text}")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// A token that docker stores, and that is unusable without an exchange with the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IdentityToken;

impl IdentityToken {
    pub(super) const WHY: &str = "docker stores an identity token for it, which precast does not support";
    pub(super) const REMEDY: &str = "run `docker login --username NAME` with a password or an access token, `podman \
                                     login` or `skopeo login`";
}

/// Finds the credentials of a registry: podman's (`REGISTRY_AUTH_FILE`, `containers/auth.json`), else docker's
/// (`DOCKER_CONFIG`, `~/.docker/config.json`), else `None`.
///
/// # Errors
///
/// Fails if the stored credential is an identity token.
pub(super) fn find(host: &str) -> Result<Option<Login>, IdentityToken> {
    let is_hub = host == "docker.io" || host.ends_with(".docker.io");
    let names: Vec<&str> = if is_hub { DOCKER_HUB.to_vec() } else { vec![host] };
    let find = |name: &&str| get_podman_credential(name).or_else(|_| get_credential(name)).ok();
    match names.iter().find_map(find) {
        Some(DockerCredential::UsernamePassword(name, password)) => Ok(Some(Login { name, password })),
        Some(DockerCredential::IdentityToken(_)) => Err(IdentityToken),
        None => Ok(None),
    }
}
