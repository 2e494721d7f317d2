//! Reading cookies.

use axum::http::{HeaderMap, header};

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = all.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().find(|(given, _)| *given == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, "xa=1; a=2".parse().unwrap());
        headers.append(header::COOKIE, "b=3".parse().unwrap());
        assert_eq!(cookie(&headers, "a"), Some("2"));
        assert_eq!(cookie(&headers, "b"), Some("3"));
        assert_eq!(cookie(&headers, "c"), None);
    }
}
