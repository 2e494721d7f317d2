//! The files that a run wrote, and one of them without any script.

use crate::layout::{PageFrame, page};
use crate::parts::icon;
use everloop_text::pages as words;
use maud::{Markup, html};

/// The files of a run.
#[derive(Debug, Clone)]
pub struct RunFilesView {
    /// The run.
    pub run: String,
    /// What it is called.
    pub title: String,
    /// The files, by name.
    pub files: Vec<RunFileView>,
    /// The file that is shown.
    pub shown: Option<FilePreview>,
}

/// A file of a run.
#[derive(Debug, Clone)]
pub struct RunFileView {
    /// Its name.
    pub name: String,
    /// What became of it, in words.
    pub state: String,
    /// Its addresses, to look at it and to download it; none if it is not as it was written.
    pub places: Option<(String, String)>,
    /// When it was written.
    pub when: String,
    /// Whether it is the one that is shown.
    pub is_shown: bool,
}

/// The content of a file.
#[derive(Debug, Clone)]
pub struct FilePreview {
    /// Its name.
    pub name: String,
    /// How it is shown.
    pub content: FileContent,
}

/// How a file is shown.
#[derive(Debug, Clone)]
pub enum FileContent {
    /// As text; how many characters, if it was cut.
    Text(String, Option<usize>),
    /// As a picture of this address.
    Picture(String),
    /// As a page in a sandbox, of this address.
    Page(String),
    /// Not at all, and why.
    Nothing(String),
    /// Not at all: there is no preview of its kind.
    Unknown,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, view: &RunFilesView) -> Markup {
    let main = html! {
        main.main id="main" {
            header.bar {
                (frame.menu_button()) h1 { (frame.say(words::files::of_run())) } span.grow {}
                a.sm.clip href={ "/runs/" (view.run) } { (view.title) } }
            div.banner-place id="banner" {}
            div.scroll {
                div id="files" data-live {
                    @if view.files.is_empty() { p.page.hint { (frame.say(words::files::none())) } }
                    @for file in &view.files { (row(frame, file)) }
                }
                @if let Some(shown) = &view.shown { (preview(frame, shown)) }
            }
        }
    };
    page(frame, &main, None)
}

fn row(frame: &PageFrame, file: &RunFileView) -> Markup {
    html! {
        article.item.read.file-row {
            (icon("file"))
            h2 {
                @match &file.places {
                    Some((look, _)) => a.mono href=(look)
                        aria-current=[file.is_shown.then_some("true")] { (file.name) },
                    None => span.mono { (file.name) },
                }
            }
            span.when { (file.when) }
            p { span { (file.state) }
                @if let Some((_, download)) = &file.places {
                    " · " a.over href=(download) download { (frame.say(words::files::download())) }
                }
            }
        }
    }
}

fn preview(frame: &PageFrame, shown: &FilePreview) -> Markup {
    let name = frame.say(words::files::preview(&shown.name));
    html! {
        section.page.file-shown aria-label=(name) {
            h2.mono { (shown.name) }
            @match &shown.content {
                FileContent::Text(text, cut) => {
                    pre.shown tabindex="0" { (text) }
                    @if let Some(cut) = cut { p.hint { (frame.say(words::files::cut(cut))) } }
                }
                FileContent::Picture(at) => img src=(at) alt=(name);
                FileContent::Page(at) => {
                    p.hint { (frame.say(words::files::sandboxed())) }
                    iframe src=(at) title=(name) sandbox="" referrerpolicy="no-referrer" {}
                }
                FileContent::Nothing(why) => p.note { (icon("warn")) span { (why) } },
                FileContent::Unknown => p.hint { (frame.say(words::files::no_preview())) },
            }
        }
    }
}
