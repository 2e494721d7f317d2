//! The files that pages load: style sheets, small scripts, icons. They are part of the program,
//! and are sent without what only their authors read.
//!
//! Their address has a digest of all of them, so that a browser may keep them for ever and a new
//! program brings new ones.

use crate::layout::NavPlace;
use crate::minify;
use everloop_types::digest_bytes;
use std::sync::LazyLock;

/// Where they are.
pub const PREFIX: &str = "/a/";

/// A file that pages load.
#[derive(Debug, Clone)]
pub struct PageAsset {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: &'static str,
    /// What it holds.
    pub text: String,
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

/// The icons have a short name: a page names them a hundred times.
pub(crate) const ICONS: &str = "i.svg";

/// All of them.
static ALL: LazyLock<[PageAsset; 29]> = LazyLock::new(|| {
    [
        style("base.css", BASE_CSS),
        style("agenda.css", include_str!("../assets/agenda.css")),
        style("cards.css", include_str!("../assets/cards.css")),
        style("chat.css", include_str!("../assets/chat.css")),
        style("compare.css", include_str!("../assets/compare.css")),
        style("figures.css", include_str!("../assets/figures.css")),
        style("first.css", include_str!("../assets/first.css")),
        style("list.css", include_str!("../assets/list.css")),
        style("prose.css", include_str!("../assets/prose.css")),
        style("report.css", include_str!("../assets/report.css")),
        style("run.css", include_str!("../assets/run.css")),
        style("settings.css", include_str!("../assets/settings.css")),
        picture(ICONS, include_str!("../assets/icons.svg")),
        picture("favicon.svg", include_str!("../assets/favicon.svg")),
        picture("badge.svg", include_str!("../assets/badge.svg")),
        script("core.js", include_str!("../assets/core.js")),
        script("palette.js", include_str!("../assets/palette.js")),
        script("chat.js", include_str!("../assets/chat.js")),
        script("stream.js", include_str!("../assets/stream.js")),
        script("slash.js", include_str!("../assets/slash.js")),
        script("files.js", include_str!("../assets/files.js")),
        script("keys.js", include_str!("../assets/keys.js")),
        script("run.js", include_str!("../assets/run.js")),
        script("compare.js", include_str!("../assets/compare.js")),
        script("report.js", include_str!("../assets/report.js")),
        script("busy.js", include_str!("../assets/busy.js")),
        script("first.js", include_str!("../assets/first.js")),
        script("tour.js", include_str!("../assets/tour.js")),
        script("agenda.js", include_str!("../assets/agenda.js")),
    ]
});

/// The sheet of every page.
const BASE_CSS: &str =
    concat!(include_str!("../assets/tokens.css"), include_str!("../assets/base.css"));

/// The sheets that a page links after the one of every page. `script` is the module of the page.
pub(crate) fn sheets(place: Option<NavPlace>, script: Option<&str>) -> &'static [&'static str] {
    let Some(place) = place else { return &["first.css"] };
    match (place, script) {
        (_, Some("first.js" | "tour.js")) => &["prose.css", "first.css"],
        (NavPlace::Chat, _) => &["cards.css", "prose.css", "chat.css"],
        (NavPlace::Inbox | NavPlace::Memory, _) => &["list.css", "cards.css"],
        (NavPlace::Runs, Some("run.js")) => &["cards.css", "run.css"],
        (NavPlace::Conversations | NavPlace::Search | NavPlace::Runs, _) => &["list.css"],
        (NavPlace::Agenda, _) => &["agenda.css"],
        (NavPlace::Compare, _) => &["list.css", "figures.css", "compare.css"],
        (NavPlace::Reports, _) => &["list.css", "prose.css", "figures.css", "report.css"],
        (NavPlace::Settings | NavPlace::Health, _) => &["figures.css", "settings.css"],
    }
}

fn style(name: &'static str, text: &str) -> PageAsset {
    PageAsset { name, kind: STYLE, text: minify::style(text) }
}

fn script(name: &'static str, text: &str) -> PageAsset {
    PageAsset { name, kind: SCRIPT, text: minify::script(text) }
}

fn picture(name: &'static str, text: &str) -> PageAsset {
    PageAsset { name, kind: PICTURE, text: minify::picture(text) }
}

static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let all: String = ALL.iter().map(|asset| asset.text.as_str()).collect();
    digest_bytes(all.as_bytes())[..8].to_owned()
});

/// The digest that the addresses have.
#[must_use]
pub fn digest() -> &'static str {
    &DIGEST
}

/// The address of a file.
#[must_use]
pub fn url(name: &str) -> String {
    format!("{PREFIX}{}/{name}", digest())
}

/// The file of a name.
#[must_use]
pub fn find(name: &str) -> Option<&'static PageAsset> {
    ALL.iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [NavPlace; 11] = [
        NavPlace::Chat,
        NavPlace::Conversations,
        NavPlace::Search,
        NavPlace::Inbox,
        NavPlace::Agenda,
        NavPlace::Runs,
        NavPlace::Compare,
        NavPlace::Reports,
        NavPlace::Memory,
        NavPlace::Settings,
        NavPlace::Health,
    ];

    #[test]
    fn a_page_links_the_sheets_of_its_own_and_no_other_ones() {
        let runs = sheets(Some(NavPlace::Runs), Some("run.js"));
        assert!(runs.contains(&"run.css") && !runs.contains(&"chat.css"), "{runs:?}");
        assert_eq!(sheets(Some(NavPlace::Chat), Some("tour.js")), ["prose.css", "first.css"]);
        for sheet in PLACES.into_iter().flat_map(|place| sheets(Some(place), None)) {
            assert!(find(sheet).is_some(), "{sheet} is not among the files");
        }
    }

    #[test]
    fn the_style_of_each_page_is_smaller_than_60_000_bytes() {
        for place in PLACES {
            for script in [None, Some("run.js")] {
                let own = sheets(Some(place), script).iter().chain(&["base.css"]);
                let bytes: usize = own.map(|name| find(name).unwrap().text.len()).sum();
                assert!(bytes < 60_000, "{place:?} has {bytes} bytes of style");
            }
        }
    }
}
