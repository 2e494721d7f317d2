//! Connections: accepting them, bounding them, ending them.

use crate::guard::ReachedAddress;
use crate::metrics::OpenCount;
use crate::state::ServerState;
use crate::{api, tls};
use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

/// The place of a connection among those that may be open. It is given back with the last clone:
/// whoever goes on with the connection as a WebSocket keeps one.
#[derive(Clone)]
pub(crate) struct ConnectionPlace {
    _held: Arc<PlaceHeld>,
}

/// What is given back when a connection ends.
struct PlaceHeld {
    _permit: OwnedSemaphorePermit,
    _count: OpenCount,
}

impl ConnectionPlace {
    fn new(permit: OwnedSemaphorePermit, state: &ServerState) -> Self {
        let count = state.metrics.open_connection();
        Self { _held: Arc::new(PlaceHeld { _permit: permit, _count: count }) }
    }
}

/// How long a client may take to agree on TLS.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// How long to wait where the system has no room for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Why a server cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is no address.
    #[error("{0} is not an address to listen on")]
    BadAddress(String),
    /// The address can be reached from elsewhere, and nothing would encrypt the connection.
    #[error("{0} can be reached from other machines without encryption")]
    NotLoopback(SocketAddr),
    /// The address cannot be used.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("the certificate or its key cannot be used: {0}")]
    Tls(String),
}

/// A server that listens.
pub struct HttpServer {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

/// The files of a certificate.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The chain.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl HttpServer {
    /// Binds an address, or takes over the socket of systemd. What other machines reach needs TLS,
    /// or `insecure`.
    ///
    /// # Errors
    /// [`ServerError`].
    pub async fn bind(
        address: &str,
        tls: Option<&TlsFiles>,
        insecure: bool,
    ) -> Result<Self, ServerError> {
        let tls = tls.map(|files| tls::acceptor(&files.cert, &files.key)).transpose();
        let tls = tls.map_err(ServerError::Tls)?;
        let wrap = |source| ServerError::Listen { address: address.to_owned(), source };
        let may_listen = |at: SocketAddr| match at.ip().is_loopback() || tls.is_some() || insecure {
            true => Ok(()),
            false => Err(ServerError::NotLoopback(at)),
        };
        let listener = match inherited() {
            Some(listener) => {
                let listener = listener.map_err(wrap)?;
                may_listen(listener.local_addr().map_err(wrap)?)?;
                listener
            }
            None => {
                let named: SocketAddr =
                    address.parse().map_err(|_| ServerError::BadAddress(address.to_owned()))?;
                may_listen(named)?;
                TcpListener::bind(named).await.map_err(wrap)?
            }
        };
        Ok(Self { listener, tls })
    }

    /// The address that it listens on, as a browser writes it.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match self.listener.local_addr() {
            Ok(address) => format!("{scheme}://{address}"),
            Err(_) => format!("{scheme}://"),
        }
    }

    /// The host that it is addressed by, if it is not a loopback one.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let address = self.listener.local_addr().ok()?;
        (!address.ip().is_loopback()).then(|| address.ip().to_string())
    }

    /// Answers requests until `stop` is ready, then lets open ones end within the drain time and
    /// brings every run to a durable point.
    pub async fn serve(self, state: ServerState, stop: impl Future<Output = ()>) {
        let drain = Duration::from_millis(state.app.settings.server.drain.ms());
        let most = state.app.settings.server.connections;
        let room = Arc::new(Semaphore::new(most));
        let router = api::router(state.clone());
        tokio::spawn(state.clone().watch_files());
        tokio::spawn(crate::pages::keep_sending(state.clone()));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = accept(&self.listener, &room) => accepted,
            };
            let Some((stream, client, permit)) = accepted else { continue };
            let reached = stream.local_addr().ok().map(|address| address.ip());
            let place = ConnectionPlace::new(permit, &state);
            let (router, state) = (router.clone(), state.clone());
            let connection = HttpConnection { router, state, client, reached, place };
            let tls = self.tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => connection.serve(stream).await,
                    Some(tls) => {
                        let shaken = tokio::time::timeout(HANDSHAKE_MAX, tls.accept(stream)).await;
                        if let Ok(Ok(stream)) = shaken {
                            connection.serve(stream).await;
                        }
                    }
                }
            });
        }
        drop(self.listener);
        state.stopping.cancel();
        // Every connection gives its place back when it ends, WebSockets among them.
        let all = u32::try_from(most).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(drain, room.acquire_many(all)).await;
        state.session.end().await;
    }
}

type AcceptedStream = (TcpStream, SocketAddr, OwnedSemaphorePermit);

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> Option<AcceptedStream> {
    let permit = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, client)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, client, permit))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(ACCEPT_PAUSE).await;
            None
        }
    }
}

/// The listener that systemd opened for this process, if it did.
fn inherited() -> Option<std::io::Result<TcpListener>> {
    let mut handed_over = listenfd::ListenFd::from_env();
    let listener = match handed_over.take_tcp_listener(0) {
        Ok(listener) => listener?,
        Err(error) => return Some(Err(error)),
    };
    Some(listener.set_nonblocking(true).and_then(|()| TcpListener::from_std(listener)))
}

/// One connection and what answers it.
struct HttpConnection {
    router: Router,
    state: ServerState,
    client: SocketAddr,
    /// The address of this machine that the client has connected to.
    reached: Option<IpAddr>,
    place: ConnectionPlace,
}

impl HttpConnection {
    async fn serve<S>(self, stream: S)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Self { router, state, client, reached, place } = self;
        let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(client));
            request.extensions_mut().insert(place.clone());
            if let Some(reached) = reached {
                request.extensions_mut().insert(ReachedAddress(reached));
            }
            router.clone().oneshot(request)
        });
        let header_time = Duration::from_millis(state.app.settings.server.header_timeout.ms());
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(header_time);
        let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = state.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
    }
}
