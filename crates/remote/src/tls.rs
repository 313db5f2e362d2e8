//! The provider of cryptography for all transports: ring, which needs no cmake.

use rustls::crypto::{CryptoProvider, ring};

/// Provides it, unless the program has chosen one.
pub(crate) fn provide() {
    if CryptoProvider::get_default().is_none() {
        // Another thread may have been first; then that one's stays.
        let _ = ring::default_provider().install_default();
    }
}
