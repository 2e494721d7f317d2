//! TLS: the certificate and its key from two PEM files.

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Reads the files.
///
/// # Errors
/// What is wrong with them, in words.
pub(crate) fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let words = |path: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let chain = CertificateDer::pem_file_iter(cert).map_err(|error| words(cert, &error))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|error| words(cert, &error))?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| words(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)
        .map_err(|error| words(cert, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
