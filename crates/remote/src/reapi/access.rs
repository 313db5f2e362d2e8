//! Access to a server: trusted certificate authorities, the client's certificate, and credentials.
//!
//! ```text
//! authorities   a file, else the system's        ─▶ the server's certificate is verified
//! identity      a certificate and its key, files ─▶ sent to a server that asks for one
//! credentials   a token, or a program            ─▶ headers of every call, hidden from intermediaries (`credentials.rs`)
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tonic::transport::{Certificate, ClientTlsConfig, Identity};

use super::credentials::Credentials;
use super::server::Server;
use crate::wait::NoRuntime;

/// The settings of a connection, other than the place.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// The trusted authorities for servers, a file in PEM; by default those of the system.
    pub authorities: Option<PathBuf>,
    /// The client certificate with its chain, and its private key: files in PEM.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The credentials of the caller.
    pub credentials: Option<Credentials>,
}

/// The reason why a connection cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A file of certificates or of a key cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// A file has the wrong content.
    #[error("no PEM {what} in `{}`", path.display())]
    Pem {
        /// The path of the file.
        path: PathBuf,
        /// The expected content.
        what: &'static str,
    },
    /// The certificates and the key do not make an encrypted connection.
    #[error("cannot prepare an encrypted connection to `{place}`: {why}")]
    Encryption {
        /// The address of the service.
        place: String,
        /// The reason.
        why: String,
    },
    /// The credentials would be sent unencrypted.
    #[error(
        "credentials for `{place}` would be sent unencrypted\nhint: use `grpcs://`, or unset `PRECAST_REMOTE_TOKEN` \
         and `PRECAST_REMOTE_CREDENTIALS`"
    )]
    Exposed {
        /// The address of the service.
        place: String,
    },
    /// Certificates are configured, but the connection would not be encrypted.
    #[error(
        "certificates are configured, but the connection to `{place}` would be unencrypted\nhint: use `grpcs://`, or \
         drop `--remote-ca` and `--remote-certificate` and unset `PRECAST_REMOTE_CA` and `PRECAST_REMOTE_CERTIFICATE`"
    )]
    Plain {
        /// The address of the service.
        place: String,
    },
    /// A token has characters that are invalid in a header.
    #[error(
        "invalid token in `PRECAST_REMOTE_TOKEN`: found a character that is not allowed in a header, such as a line \
         break"
    )]
    Token,
    /// No thread of this process can wait for responses.
    #[error("cannot query `{place}`: {why}")]
    NoThread {
        /// The address of the service.
        place: String,
        /// The reason.
        why: String,
    },
}

impl AccessError {
    pub(super) fn encryption(place: &Server, error: &(dyn std::error::Error + 'static)) -> Self {
        Self::Encryption { place: place.to_string(), why: crate::words(error) }
    }

    pub(super) fn no_thread(place: &Server, error: NoRuntime) -> Self {
        Self::NoThread { place: place.to_string(), why: error.to_string() }
    }
}

impl Access {
    /// Rejects a place where secrets would be sent unencrypted.
    pub(super) fn suits(&self, place: &Server) -> Result<(), AccessError> {
        let place = || place.to_string();
        if self.credentials.is_some() {
            return Err(AccessError::Exposed { place: place() });
        }
        if self.authorities.is_some() || self.identity.is_some() {
            return Err(AccessError::Plain { place: place() });
        }
        Ok(())
    }

    /// Reads the certificate files.
    pub(super) fn encryption(&self, limit: Duration) -> Result<ClientTlsConfig, AccessError> {
        let mut tls = ClientTlsConfig::new().timeout(limit);
        tls = match &self.authorities {
            Some(path) => tls.ca_certificate(Certificate::from_pem(certificates(path)?)),
            None => tls.with_native_roots(),
        };
        if let Some((certificate, key)) = &self.identity {
            let bytes = fs_err::read(key)?;
            PrivateKeyDer::from_pem_slice(&bytes).map_err(|_| no(key, "private key"))?;
            tls = tls.identity(Identity::from_pem(certificates(certificate)?, bytes));
        }
        Ok(tls)
    }
}

/// Reads certificates, at least one.
fn certificates(path: &Path) -> Result<Vec<u8>, AccessError> {
    let bytes = fs_err::read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    if found.is_ok_and(|found| !found.is_empty()) { Ok(bytes) } else { Err(no(path, "certificate")) }
}

fn no(path: &Path, what: &'static str) -> AccessError {
    AccessError::Pem { path: path.to_owned(), what }
}
