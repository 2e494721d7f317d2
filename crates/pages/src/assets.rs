//! The files that pages load: one style sheet, small scripts, icons. They are part of the program,
//! and are sent without what only their authors read.
//!
//! Their address has a digest of all of them, so that a browser may keep them for ever and a new
//! program brings new ones.

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
static ALL: LazyLock<[PageAsset; 19]> = LazyLock::new(|| {
    [
        PageAsset { name: "app.css", kind: STYLE, text: minify::style(APP_CSS) },
        PageAsset { name: "chat.css", kind: STYLE, text: minify::style(&chat_css()) },
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

const APP_CSS: &str = concat!(
    include_str!("../assets/tokens.css"),
    include_str!("../assets/base.css"),
    include_str!("../assets/site.css")
);

/// The same without the parts that are marked: the page that is opened most has no use for the
/// drawings of the others.
fn chat_css() -> String {
    let mut parts = APP_CSS.split("/*[");
    let first = parts.next().unwrap_or_default().to_owned();
    let after = |part: &'static str| part.split_once("/*]*/").map_or("", |(_, after)| after);
    parts.map(after).fold(first, |all, part| all + part)
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

    #[test]
    fn the_style_of_a_chat_is_that_of_all_pages_without_the_marked_parts() {
        let (all, chat) = (find("app.css").unwrap(), find("chat.css").unwrap());
        assert_eq!(APP_CSS.matches("/*[").count(), APP_CSS.matches("/*]*/").count());
        for (rule, is_there) in
            [(".said{", true), (".ask{", true), (".ce{", false), (".wf{", false)]
        {
            assert!(all.text.contains(rule), "{rule}");
            assert_eq!(chat.text.contains(rule), is_there, "{rule}");
        }
    }
}
