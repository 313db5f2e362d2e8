//! A key pair that signs stores.

use std::sync::Arc;

use minisign::KeyPair;
use precast_store::keyring::Key;
use precast_store::{Keyring, Store};

pub(crate) struct Signer {
    pair: KeyPair,
    key: Key,
}

impl Signer {
    pub(crate) fn new(name: &str) -> Self {
        let pair = KeyPair::generate_unencrypted_keypair().unwrap();
        let key = Key::parse(name, &pair.pk.to_base64()).unwrap();
        Self { pair, key }
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        minisign::sign(None, &self.pair.sk, bytes, Some("test"), None).unwrap().into_string()
    }

    pub(crate) fn sign_all(&self, store: &Store) {
        for signed in store.signed() {
            let signed = signed.unwrap();
            store.put_signature(&signed, &self.key, &self.sign(&signed.bytes)).unwrap();
        }
    }

    pub(crate) fn keyring(&self) -> Arc<Keyring> {
        let (expires, keys) = ("2999-01-01".parse().unwrap(), vec![self.key.clone()]);
        Arc::new(Keyring {
            version: 1,
            issued: None,
            expires,
            threshold: 1,
            keyring_threshold: None,
            requires_expiry: false,
            keys,
            revoked: Vec::new(),
        })
    }
}
