//! A proxy to the server that can be cut at the worst time.

use super::{PgServer, PgTestDb};
use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
};

/// Where the way is cut, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyCut {
    /// When a commit is asked for: the server never receives it.
    BeforeCommit,
    /// When the server has committed: its answer is lost.
    AfterCommit,
}

/// A proxy on the loopback. Ends with the runtime that it was started on.
pub struct PgProxy {
    address: SocketAddr,
    state: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    cut: Mutex<Option<ProxyCut>>,
    turns: AtomicU64,
}

impl PgProxy {
    /// Listens on a free port.
    ///
    /// # Panics
    /// If there is none.
    pub async fn start(server: &PgServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<ProxyState>::default());
        let (socket, shared) = (server.socket(), Arc::clone(&state));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (socket, state) = (socket.clone(), Arc::clone(&shared));
                tokio::spawn(async move {
                    // A broken connection is what this is for.
                    if let Ok(server) = UnixStream::connect(socket).await {
                        let _ = carry(client, server, &state).await;
                    }
                });
            }
        });
        Self { address, state }
    }

    /// The address of a database by this way.
    #[must_use]
    pub fn url(&self, database: &PgTestDb) -> String {
        format!("postgres://postgres@{}/{}?sslmode=disable", self.address, database.name)
    }

    /// Cuts the next commit.
    pub fn cut(&self, cut: ProxyCut) {
        *self.state.cut.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
    }

    /// How often a client has sent something after it received something: the round trips.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.state.turns.load(Ordering::Relaxed)
    }
}

async fn carry(
    mut client: TcpStream,
    mut server: UnixStream,
    state: &ProxyState,
) -> io::Result<()> {
    let mut heard = true;
    let mut asked = Vec::new();
    let (mut from_client, mut from_server) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            // What the client says first, so that one question is not counted as two.
            biased;
            read = client.read(&mut from_client) => {
                let sent = &from_client[..read?];
                if sent.is_empty() {
                    return Ok(());
                }
                state.turns.fetch_add(u64::from(heard), Ordering::Relaxed);
                heard = false;
                asked.extend_from_slice(sent);
                if let Some(cut) = commit_to_cut(&asked, state) {
                    if cut == ProxyCut::AfterCommit {
                        server.write_all(sent).await?;
                        // Whatever it says, it says it when it has committed.
                        let _answer = server.read(&mut from_server).await?;
                    }
                    return Ok(());
                }
                server.write_all(sent).await?;
            }
            read = server.read(&mut from_server) => {
                let said = &from_server[..read?];
                if said.is_empty() {
                    return Ok(());
                }
                heard = true;
                asked.clear();
                client.write_all(said).await?;
            }
        }
    }
}

/// A commit is the last thing that is asked, in one short message of its own.
fn commit_to_cut(asked: &[u8], state: &ProxyState) -> Option<ProxyCut> {
    if !asked.ends_with(b"Q\0\0\0\x0bCOMMIT\0") {
        return None;
    }
    state.cut.lock().unwrap_or_else(PoisonError::into_inner).take()
}
