//! The HTTPS client of the AWS clients, and the certificates that it trusts.

use std::env;

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};

use crate::is_emulator;

/// The roots of Amazon Trust Services, which certify every endpoint of AWS.
const AMAZON_ROOTS: &str = include_str!("amazon_roots.pem");
/// The variables of OpenSSL that name the certificates to trust.
const TRUST_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Whose certificates a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedRoots {
    /// The roots of Amazon Trust Services. Reading these five takes a twentieth of the time that
    /// reading all roots of the system does, which would be half the start of a function
    /// (docs/decisions/0012-start-of-a-function.md).
    Amazon,
    /// The roots of the system, for an endpoint that need not be one of AWS.
    System,
}

impl TrustedRoots {
    /// The roots for the endpoint that the environment names in place of that of AWS, if any. Whoever
    /// sets a variable of OpenSSL decides for themselves. An emulator is spoken to without TLS.
    pub(crate) fn for_endpoint(endpoint: Option<&str>) -> Self {
        match endpoint {
            Some(endpoint) if is_emulator(endpoint) => Self::Amazon,
            Some(_) => Self::System,
            None if TRUST_VARIABLES.iter().any(|name| env::var_os(name).is_some()) => Self::System,
            None => Self::Amazon,
        }
    }
}

/// A client that trusts `roots`, with TLS by `ring`.
pub fn https_client(roots: TrustedRoots) -> SharedHttpClient {
    let trust_store = match roots {
        TrustedRoots::Amazon => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        TrustedRoots::System => TrustStore::default(),
    };
    let context = TlsContext::builder().with_trust_store(trust_store).build();
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context.expect("the builder of a TLS context refuses nothing"))
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
    fn the_roots_of_amazon_are_five_certificates_that_tls_accepts() {
        let certificates = CertificateDer::pem_slice_iter(AMAZON_ROOTS.as_bytes());
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            roots.add(certificate.unwrap()).unwrap();
        }
        assert_eq!(roots.len(), 5);
    }

    #[test]
    fn only_an_endpoint_outside_aws_is_checked_against_the_roots_of_the_system() {
        for (endpoint, expected) in [
            ("https://dynamodb.example.com", TrustedRoots::System),
            ("http://127.0.0.1:8000", TrustedRoots::Amazon),
        ] {
            assert_eq!(TrustedRoots::for_endpoint(Some(endpoint)), expected, "{endpoint}");
        }
    }
}
