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
                "no authority that is known here has certified the server\nhint: `--remote-ca FILE` names the authorities of a company's own servers"
                    .to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet\nhint: does the clock of this machine go right?".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate is of another name than its URL's".to_owned()
            }
            other => format!("the server's certificate is not accepted: {other}"),
        },
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure,
        ) => "the server wants to see a certificate of ours\nhint: `--remote-certificate FILE --remote-key FILE`"
            .to_owned(),
        rustls::Error::AlertReceived(alert) => format!("the server breaks it off: {alert:?}"),
        rustls::Error::InvalidMessage(_) => {
            "the server does not speak TLS\nhint: `grpc://` is not encrypted".to_owned()
        }
        _ => return None,
    })
}
