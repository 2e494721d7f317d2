//! Which addresses a token may be sent to.

use crate::RemoteError;
use reqwest::Url;
use std::net::IpAddr;

/// Reads the address of a server. One that is not encrypted may only be on this machine, unless the
/// person says that something else encrypts the connection.
pub(crate) fn read(given: &str, may_be_plain: bool) -> Result<Url, RemoteError> {
    let wrong = || RemoteError::BadAddress(without_login(given));
    let with_scheme = match given.contains("://") {
        true => given.to_owned(),
        false => format!("http://{given}"),
    };
    let mut url = Url::parse(with_scheme.trim()).map_err(|_| wrong())?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let has_login = !url.username().is_empty() || url.password().is_some();
    if !is_web || has_login || url.host_str().is_none() {
        return Err(wrong());
    }
    if url.scheme() == "http" && !is_loopback(&url) && !may_be_plain {
        return Err(RemoteError::NotEncrypted(url.to_string()));
    }
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Whether the address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_matches(['[', ']']).parse::<IpAddr>();
    ip.map_or(host == "localhost", |ip| ip.is_loopback())
}

/// An address may hold a password: nothing before its last `@` is shown.
fn without_login(given: &str) -> String {
    given.rsplit('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_unencrypted_to_this_machine_only() {
        for near in ["http://127.0.0.1:7717", "localhost:7717", "http://[::1]:7717/"] {
            assert!(read(near, false).is_ok(), "{near}");
        }
        for far in ["http://server.example", "10.0.0.7:7717", "http://127.0.0.1.example"] {
            let refused = read(far, false);
            assert!(matches!(refused, Err(RemoteError::NotEncrypted(_))), "{far}: {refused:?}");
            assert!(read(far, true).is_ok(), "{far}");
        }
        assert!(read("https://server.example/everloop", false).is_ok());
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        for given in ["http://u:secret@127.0.0.1", "ftp://127.0.0.1", "http://", "u:secret@:::"] {
            let refused = read(given, true).expect_err("refused");
            assert!(!format!("{refused} {refused:?}").contains("secret"), "{given}");
        }
    }
}
