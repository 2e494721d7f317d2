//! TLS to the server: rustls with ring and compiled-in roots; `SSL_CERT_FILE` adds others.

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::{
    Socket,
    tls::{ChannelBinding, MakeTlsConnect, TlsConnect},
};

static CONFIG: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        let found = CertificateDer::pem_file_iter(file).into_iter().flatten().flatten();
        roots.add_parsable_certificates(found);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider knows the default versions");
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
});

/// Makes TLS connections, each for the host that it is asked for.
#[derive(Clone, Copy)]
pub(super) struct PgTls;

impl MakeTlsConnect<Socket> for PgTls {
    type Stream = PgStream;
    type TlsConnect = PgTlsHost;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<PgTlsHost> {
        // A socket of this machine has no name, and is not asked for TLS.
        Ok(PgTlsHost(ServerName::try_from(host.to_owned()).ok()))
    }
}

/// A connection to one host.
pub(super) struct PgTlsHost(Option<ServerName<'static>>);

impl TlsConnect<Socket> for PgTlsHost {
    type Stream = PgStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<PgStream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = self.0.ok_or(io::ErrorKind::InvalidInput)?;
            let connector = tokio_rustls::TlsConnector::from(Arc::clone(&CONFIG));
            Ok(PgStream(connector.connect(name, socket).await?))
        })
    }
}

/// A stream that the client can use.
pub(super) struct PgStream(tokio_rustls::client::TlsStream<Socket>);

impl tokio_postgres::tls::TlsStream for PgStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for PgStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for PgStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
