//! TLS without a C library: rustls with ring, and roots that are compiled in.

use crate::ModelConnectError;
use reqwest::Url;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// Certificates are only looked at where they are needed: plain HTTP, which follows no redirect to
/// elsewhere, gets an empty store. Compiled-in roots start faster than the system's files;
/// `SSL_CERT_FILE` adds those of a company's own authority.
pub(super) fn config(url: &Url) -> Result<ClientConfig, ModelConnectError> {
    let mut roots = RootCertStore::empty();
    if url.scheme() == "https" {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
            let found = CertificateDer::pem_file_iter(file).into_iter().flatten().flatten();
            roots.add_parsable_certificates(found);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(ModelConnectError::Tls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
