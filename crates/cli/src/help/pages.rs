//! The pages of the manual, built into the binary: `everloop help guide` works offline.
//!
//! The pages are the files below `docs/`. `docs/commands.md` is made from the command line's own
//! definition: a test fails when it is stale, and writes it anew with `EVERLOOP_WRITE_DOCS=1`.

use everloop_types::Lang;

/// A page of the manual in both languages.
pub(super) struct ManualPage {
    /// The topic of `everloop help TOPIC`.
    pub(super) name: &'static str,
    en: &'static str,
    zh: &'static str,
}

impl ManualPage {
    /// The page's Markdown in this language.
    pub(super) fn text(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::ZhCn => self.zh,
        }
    }
}

macro_rules! pages {
    ($($name:literal),*) => {
        &[$(ManualPage {
            name: $name,
            en: include_str!(concat!("../../../../docs/", $name, ".md")),
            zh: include_str!(concat!("../../../../docs/", $name, ".zh-CN.md")),
        }),*]
    };
}

/// Every page, in the order in which they are listed.
pub(super) const PAGES: &[ManualPage] = pages![
    "guide",
    "commands",
    "settings",
    "json",
    "events",
    "api",
    "permissions",
    "evidence",
    "logging"
];

/// The page with this name.
pub(super) fn find_page(name: &str) -> Option<&'static ManualPage> {
    PAGES.iter().find(|page| page.name == name)
}

/// The names of all pages, as a list for people.
pub(super) fn page_names() -> String {
    PAGES.iter().map(|page| page.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
