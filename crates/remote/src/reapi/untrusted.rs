//! Describes problems with certificates.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};
use tonic::Status;

/// Returns the reason for a failed TLS connection, if that is why a call failed. These errors are all permanent.
pub(super) fn why(status: &Status) -> Option<String> {
    let mut next = status.source();
    while let Some(error) = next {
        if let Some(why) = found(error).and_then(explain) {
            return Some(why);
        }
        next = error.source();
    }
    None
}

/// Returns the TLS error behind an error. An I/O error holds it as content rather than as a source.
fn found<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    match inner {
        Some(inner) => inner.downcast_ref(),
        None => error.downcast_ref(),
    }
}

fn explain(error: &rustls::Error) -> Option<String> {
    Some(match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // An authority with the same name and another key is a different one.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "the server's certificate has an unknown issuer\nhint: pass the certificates of your own authorities \
                 with `--remote-ca FILE`"
                    .to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet\nhint: check the clock of this machine".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate does not match the host of the URL".to_owned()
            }
            other => format!("the server's certificate was rejected: {other}"),
        },
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure,
        ) => "the server requires a client certificate\nhint: pass `--remote-certificate FILE --remote-key FILE`"
            .to_owned(),
        rustls::Error::AlertReceived(alert) => format!("the server closed the connection: {alert:?}"),
        rustls::Error::InvalidMessage(_) => {
            "the server does not support TLS\nhint: use `grpc://` for an unencrypted connection".to_owned()
        }
        _ => return None,
    })
}
