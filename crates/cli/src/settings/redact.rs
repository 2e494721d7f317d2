//! Values as people may see them: without passwords, and without a key that went astray.

use everloop_store::without_password;

/// How the keys of well-known providers begin.
const PREFIXES: &[&str] = &["sk-", "sk_", "pk-", "gsk_", "xai-", "hf_", "ghp_", "AIza"];

/// A key without dots, slashes and colons is at least this long; a name is shorter.
const KEY_CHARS_MIN: usize = 32;

/// A value without what could be a secret.
pub(crate) fn shown(key: &str, value: &str) -> String {
    if key == "store.database" {
        return without_password(value);
    }
    let value = without_user(value);
    match looks_like_a_key(&value) {
        true => "…".to_owned(),
        false => value,
    }
}

/// Whether a text is likely to be a secret, and no name, address or path.
pub(crate) fn looks_like_a_key(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+".contains(c);
    let mixed = text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic());
    let long = text.len() >= KEY_CHARS_MIN && text.chars().all(plain) && mixed;
    long || PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// An address without the name and password in it.
fn without_user(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://…@{}", &rest[at + 1..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn secrets_are_not_shown_and_names_are() {
        for (key, value, seen) in [
            ("model.base_url", "http://me:pw@host/v1", "http://…@host/v1"),
            ("model.base_url", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("model.key_env", "sk-abcdef", "…"),
            ("model.key_env", "OPENAI_API_KEY", "OPENAI_API_KEY"),
            ("model.default", "0123456789abcdef0123456789abcdef", "…"),
            (
                "model.default",
                "openai/gpt-4o-mini-2024-07-18-long-name",
                "openai/gpt-4o-mini-2024-07-18-long-name",
            ),
            ("store.database", "postgres://u:pw@h/d", "postgres://u@h/d"),
        ] {
            assert_eq!(shown(key, value), seen);
        }
    }
}
