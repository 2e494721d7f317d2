//! Where the server is. The only place that sees a password, and it never shows it.

use crate::sqlite::OpenError;
use std::{path::Path, sync::Arc, time::Duration};
use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// How to reach a database.
#[derive(Clone)]
pub(super) struct PgAddress {
    pub(super) config: Config,
    /// The address as people may see it.
    pub(super) shown: Arc<Path>,
}

impl PgAddress {
    /// Reads an address. Errors do not repeat it: a malformed one may hold a password anywhere.
    pub(super) fn parse(url: &str, connect_timeout: Duration) -> Result<Self, OpenError> {
        let wrong = |reason| OpenError::Address { reason };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(wrong("does not begin with postgres://"));
        }
        let mut config: Config = url.parse().map_err(|_| wrong("cannot be read"))?;
        if config.get_hosts().is_empty() {
            return Err(wrong("names no host"));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(wrong("names no database"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(connect_timeout);
        }
        // Over a network, TLS is required even if the server does not offer it.
        let stays_here = config.get_hosts().iter().all(is_here);
        if !stays_here && config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(SslMode::Require);
        }
        config.application_name("everloop");
        Ok(Self { config, shown: Path::new(&without_password(url)).into() })
    }
}

fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            let ip = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
            ip.map_or(name == "localhost", |ip| ip.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// An address without its password and its options, to be shown.
///
/// All between the scheme and the last `@` is hidden but for the name before the first `:`, so that
/// a password with characters that should have been escaped is hidden as well.
#[must_use]
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (user, place) = match rest.rsplit_once('@') {
        Some((user, place)) => (user.split(':').next().unwrap_or_default(), place),
        None => ("", rest),
    };
    let place = place.split('?').next().unwrap_or_default();
    let at = if user.is_empty() { "" } else { "@" };
    format!("{scheme}://{user}{at}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(1);

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://u:secret@h:5433/d?sslmode=require", "postgres://u@h:5433/d"),
            ("postgres://u:se@cr/et?x@h/d", "postgres://u@h/d"),
            ("postgresql://h/d?password=secret", "postgresql://h/d"),
            ("postgres://u@%2Ftmp%2Fs/d", "postgres://u@%2Ftmp%2Fs/d"),
        ] {
            assert_eq!(without_password(url), shown);
        }
        for url in [
            "postgres://u:secret@h:nonsense/d",
            "postgres://u:secret@h/d?secret=1",
            "mysql://u:secret@h/d",
            "postgres://u:secret@h",
        ] {
            let error = PgAddress::parse(url, WAIT).err().unwrap();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn over_a_network_the_connection_is_encrypted_unless_someone_says_no() {
        let mode = |url: &str| PgAddress::parse(url, WAIT).unwrap().config.get_ssl_mode();
        assert_eq!(mode("postgres://db.example/d"), SslMode::Require);
        assert_eq!(mode("postgres://db.example/d?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://localhost/d"), SslMode::Prefer);
        assert_eq!(mode("postgres://[::1]/d"), SslMode::Prefer);
        assert_eq!(mode("postgres://%2Ftmp/d"), SslMode::Prefer);
    }
}
