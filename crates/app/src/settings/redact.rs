//! Values as people may see them: without passwords, and without a key that went astray.

/// How the keys of well-known providers begin.
const PREFIXES: &[&str] = &["sk-", "sk_", "pk-", "gsk_", "xai-", "hf_", "ghp_", "AIza"];

/// A key without dots, slashes and colons is at least this long; a name is shorter.
const KEY_CHARS_MIN: usize = 32;

/// A value without anything that could be a secret.
#[must_use]
pub fn shown(value: &str) -> String {
    let value = without_secrets(value);
    if looks_like_a_key(&value) { "…".to_owned() } else { value }
}

/// Whether a text is likely to be a secret, and not a name, an address or a path.
#[must_use]
pub fn looks_like_a_key(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+".contains(c);
    let mixed = text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic());
    let long = text.len() >= KEY_CHARS_MIN && text.chars().all(plain) && mixed;
    long || PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// An address without the name and password in it, and without the values of its query.
fn without_secrets(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let (place, query) = rest.split_at(end);
    let place = match user_end(place) {
        Some(at) => format!("…@{}", &place[at + 1..]),
        None => place.to_owned(),
    };
    format!("{scheme}://{place}{}", without_values(query))
}

/// Where the name and password end: at the last `@` before the path, or within what looks like a
/// path if what comes before it is no host and port.
fn user_end(place: &str) -> Option<usize> {
    let host = place.split('/').next().unwrap_or_default();
    let is_port = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let is_host = host.rsplit_once(':').is_none_or(|(_, port)| is_port(port));
    host.rfind('@').or_else(|| place.rfind('@').filter(|_| !is_host))
}

/// A query with its names only; what comes after `#` is a value as well.
fn without_values(query: &str) -> String {
    let mut shown = String::new();
    let mut hides = false;
    for c in query.chars() {
        match c {
            '?' | '&' | ';' => hides = false,
            '#' | '=' if !hides || c == '#' => {
                shown.extend([c, '…']);
                hides = true;
            }
            _ => {}
        }
        if !hides {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::shown;
    use crate::settings::{DatabaseAddress, SettingValue};

    #[test]
    fn secrets_are_not_shown_and_names_are() {
        for (value, seen) in [
            ("http://me:pw@host/v1", "http://…@host/v1"),
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("http://me:p/w@host/v1", "http://…@host/v1"),
            ("http://h:8080/@me/v1", "http://h:8080/@me/v1"),
            ("http://h/v1?key=s&b=t&flag#f", "http://h/v1?key=…&b=…&flag#…"),
            ("http://me:p@h?api-key=a=b", "http://…@h?api-key=…"),
            ("sk-abcdef", "…"),
            ("OPENAI_API_KEY", "OPENAI_API_KEY"),
            ("0123456789abcdef0123456789abcdef", "…"),
            ("openai/gpt-4o-mini-2024-07-18-long-name", "openai/gpt-4o-mini-2024-07-18-long-name"),
        ] {
            assert_eq!(shown(value), seen);
        }
        let database = DatabaseAddress::from_text("postgres://u:pw@h/d");
        assert_eq!(database.map(|it| it.show()).as_deref(), Some("postgres://u@h/d"));
    }
}
