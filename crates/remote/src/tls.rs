//! The cryptography provider of all transports: ring, which builds without cmake.

use rustls::crypto::{CryptoProvider, ring};

/// Installs the provider, unless the program has chosen one.
pub(crate) fn provide() {
    if CryptoProvider::get_default().is_none() {
        // If another thread installed one meanwhile, that one stays.
        let _ = ring::default_provider().install_default();
    }
}
