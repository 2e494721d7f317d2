//! TLS without a C library: rustls with ring, and roots that are compiled in.

pub use rustls::Error as TlsError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// The TLS configuration for addresses with this scheme.
///
/// Plain HTTP follows no redirect to other schemes, so it needs no certificates. Compiled-in roots
/// load faster than the system's files; `SSL_CERT_FILE` adds those of a company's own authority.
///
/// # Errors
/// If the provider does not support the default protocol versions.
pub fn tls_config(scheme: &str) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore::empty();
    if scheme == "https" {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
            let found = CertificateDer::pem_file_iter(file).into_iter().flatten().flatten();
            roots.add_parsable_certificates(found);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
