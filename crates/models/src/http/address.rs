//! The address of requests.

use crate::ModelConnectError;
use reqwest::Url;

/// The base address without a final slash. `version` is added where there is no path at all; any
/// other path is what the user means. An address may be given whole, down to `call`.
pub(super) fn base(base_url: &str, version: &str, call: &str) -> Result<Url, ModelConnectError> {
    let bad = || ModelConnectError::BadBaseUrl { url: base_url.to_owned() };
    let mut url = Url::parse(base_url.trim()).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(bad());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ModelConnectError::KeyInUrl);
    }
    let path = url.path().trim_end_matches('/');
    let path = match path.strip_suffix(call).unwrap_or(path).trim_end_matches('/') {
        "" => format!("/{version}"),
        path => path.to_owned(),
    };
    url.set_path(&path);
    Ok(url)
}

/// The address of one call below the base.
pub(super) fn below(base: &Url, call: &str) -> Url {
    let mut url = base.clone();
    let (path, query) = call.split_once('?').map_or((call, None), |(path, q)| (path, Some(q)));
    url.set_path(&format!("{}/{path}", base.path().trim_end_matches('/')));
    if let Some((name, value)) = query.and_then(|query| query.split_once('=')) {
        url.query_pairs_mut().append_pair(name, value);
    }
    url
}

/// Whether the endpoint is on this machine; a proxy from the environment could not reach it.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or(host == "localhost" || host.ends_with(".localhost"), |ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(given: &str, version: &str, call: &str) -> String {
        below(&base(given, version, call).unwrap(), call).to_string()
    }

    #[test]
    fn a_base_url_may_end_as_it_likes() {
        for (given, sent) in [
            ("http://h:1", "http://h:1/v1/chat/completions"),
            ("http://h:1/", "http://h:1/v1/chat/completions"),
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h/api/paas/v4", "http://h/api/paas/v4/chat/completions"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
            ("https://h/x?api-version=1", "https://h/x/chat/completions?api-version=1"),
        ] {
            assert_eq!(address(given, "v1", "chat/completions"), sent);
        }
        assert_eq!(address("http://h", "v1", "messages"), "http://h/v1/messages");
        let asked = below(&base("http://h?k=1", "v1beta", "").unwrap(), "models/m:ask?alt=sse");
        assert_eq!(asked.as_str(), "http://h/v1beta/models/m:ask?k=1&alt=sse");
        assert!(base("h:1/v1", "v1", "").is_err());
        assert!(base("file:///etc", "v1", "").is_err());
        assert!(matches!(base("http://me:pw@h/v1", "v1", ""), Err(ModelConnectError::KeyInUrl)));
    }
    #[test]
    fn loopback_is_recognised_in_all_its_spellings() {
        for (url, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:8", true),
            ("http://10.0.0.1", false),
            ("http://example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
