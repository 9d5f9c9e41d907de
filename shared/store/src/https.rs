//! The HTTPS client of the AWS clients, and the certificates that it trusts.

use aws_sdk_dynamodb::config::SharedHttpClient;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};

use crate::is_plain_http;

/// The roots of Amazon Trust Services, which certify the endpoints of AWS outside China.
const AMAZON_ROOTS: &str = include_str!("amazon_roots.pem");
/// The variables of OpenSSL that name the certificates to trust.
pub(crate) const TRUST_VARIABLES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// The certificates that a client trusts.
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
    /// The roots for a function in this region whose environment may name another endpoint, or
    /// certificates to trust, which decide. An emulator is spoken to without TLS.
    pub(crate) fn new(endpoint: Option<&str>, region: Option<&str>, has_chosen: bool) -> Self {
        let is_in_china = region.is_some_and(|region| region.starts_with("cn-"));
        match endpoint {
            Some(endpoint) if is_plain_http(endpoint) => Self::Amazon,
            None if !has_chosen && !is_in_china => Self::Amazon,
            _ => Self::System,
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
    fn the_roots_of_the_system_count_where_those_of_amazon_need_not() {
        let (aws, ohio) = (None, Some("us-east-2"));
        assert_eq!(TrustedRoots::new(aws, ohio, false), TrustedRoots::Amazon);
        assert_eq!(TrustedRoots::new(aws, ohio, true), TrustedRoots::System);
        assert_eq!(TrustedRoots::new(aws, Some("cn-north-1"), false), TrustedRoots::System);
        let foreign = Some("https://dynamodb.example.com");
        assert_eq!(TrustedRoots::new(foreign, ohio, false), TrustedRoots::System);
        let emulator = Some("http://127.0.0.1:8000");
        assert_eq!(TrustedRoots::new(emulator, ohio, true), TrustedRoots::Amazon);
    }
}
