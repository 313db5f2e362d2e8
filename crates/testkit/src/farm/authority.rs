//! Certificates for the servers and clients of a test.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

/// A certificate authority of a test.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The authority's certificate, in PEM.
    pub certificate: String,
}

/// A certificate and its private key, in PEM.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The certificate.
    pub certificate: String,
    /// The key.
    pub key: String,
}

impl Authority {
    /// Creates an authority that no program trusts by default.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each is another")]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    /// Issues a currently valid certificate for a name.
    #[must_use]
    pub fn certify(&self, name: &str) -> Certified {
        self.certified(CertificateParams::new([name.to_owned()]).unwrap())
    }

    /// Issues an expired certificate for a name.
    #[must_use]
    pub fn certify_in_the_past(&self, name: &str) -> Certified {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_after = date_time_ymd(2001, 1, 1);
        self.certified(params)
    }

    fn certified(&self, params: CertificateParams) -> Certified {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Certified { certificate, key: key.serialize_pem() }
    }
}
