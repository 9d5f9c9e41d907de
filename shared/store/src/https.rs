//! The AWS clients' HTTPS client, and the certificates it trusts.

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};

use crate::is_plain_http;

/// The Amazon Trust Services roots, which sign AWS endpoints outside China.
const AMAZON_ROOTS: &str = include_str!("amazon_roots.pem");
/// OpenSSL's environment variables for trusted certificates.
pub(crate) const TRUST_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The certificates that a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedRoots {
    /// The five Amazon Trust Services roots. Reading them is 20 times as fast as reading all system roots, which
    /// would take half of a function's startup (docs/decisions/0012-cold-starts.md).
    Amazon,
    /// The system's roots, for endpoints that may not belong to AWS.
    System,
}

impl TrustedRoots {
    /// Chooses the roots for a function: Amazon's, unless the endpoint, the region or certificates from the
    /// environment call for others. Emulators do not use TLS.
    pub(crate) fn new(endpoint: Option<&str>, region: Option<&str>, has_own_roots: bool) -> Self {
        let is_in_china = region.is_some_and(|region| region.starts_with("cn-"));
        match endpoint {
            Some(endpoint) if is_plain_http(endpoint) => Self::Amazon,
            None if !has_own_roots && !is_in_china => Self::Amazon,
            _ => Self::System,
        }
    }
}

/// Creates a client that trusts `roots` and uses `ring` for TLS.
pub fn https_client(roots: TrustedRoots) -> SharedHttpClient {
    let trust_store = match roots {
        TrustedRoots::Amazon => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        TrustedRoots::System => TrustStore::default(),
    };
    let context = TlsContext::builder().with_trust_store(trust_store).build();
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context.expect("the TLS context builder accepts any trust store"))
        .build_https()
}

#[cfg(test)]
mod tests {
    use rustls::{
        RootCertStore,
        pki_types::{CertificateDer, pem::PemObject},
    };

    use super::*;

    #[test]
    fn tls_accepts_the_five_amazon_roots() {
        let certificates = CertificateDer::pem_slice_iter(AMAZON_ROOTS.as_bytes());
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate.unwrap()).unwrap();
        }
        assert_eq!(roots.len(), 5);
    }

    #[test]
    fn system_roots_are_used_where_amazon_roots_may_not_apply() {
        let (emulator, other) =
            (Some("http://127.0.0.1:8000"), Some("https://dynamodb.example.com"));
        for (endpoint, region, has_own_roots, expected) in [
            (None, "us-east-2", false, TrustedRoots::Amazon),
            (None, "us-east-2", true, TrustedRoots::System),
            (None, "cn-north-1", false, TrustedRoots::System),
            (other, "us-east-2", false, TrustedRoots::System),
            (emulator, "us-east-2", true, TrustedRoots::Amazon),
        ] {
            let roots = TrustedRoots::new(endpoint, Some(region), has_own_roots);
            assert_eq!(roots, expected, "{endpoint:?} {region} {has_own_roots}");
        }
    }
}
