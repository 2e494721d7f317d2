//! Language and theme that a browser chose.

use super::cookies::cookie;
use super::forms::FormFields;
use super::respond::see_other;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use everloop_types::Lang;

const LANG: &str = "everloop_lang";
const THEME: &str = "everloop_theme";

/// The theme that the system has.
const AUTO: &str = "auto";

/// What the browser chose.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ViewChoice {
    /// `light` or `dark`.
    pub(crate) theme: Option<&'static str>,
}

impl ViewChoice {
    /// What a request says.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let theme = match cookie(headers, THEME) {
            Some("light") => Some("light"),
            Some("dark") => Some("dark"),
            _ => None,
        };
        Self { theme }
    }
}

/// The language that the browser chose.
pub(crate) fn chosen_language(headers: &HeaderMap) -> Option<Lang> {
    Lang::parse(cookie(headers, LANG)?)
}

pub(crate) async fn choose(fields: FormFields) -> Response {
    let mut response = see_other(fields.back());
    let chosen = [
        (LANG, ["en", "zh-CN"].as_slice(), fields.get("lang")),
        (THEME, ["light", "dark", AUTO].as_slice(), fields.get("theme")),
    ];
    for (name, known, value) in chosen {
        if known.contains(&value) {
            // What follows the system is not kept.
            let age = if value == AUTO { 0 } else { 31_536_000 };
            let cookie = format!("{name}={value}; Path=/; SameSite=Strict; Max-Age={age}");
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
        }
    }
    response
}
