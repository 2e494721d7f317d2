//! The chat: messages, what a run does, questions, the composer.

pub use crate::activity::{ActivityRow, activity};
use crate::ask::AskCard;
use crate::composer::dock;
pub use crate::composer::{ComposerView, QueuedMessage};
use crate::layout::{PageFrame, page};
use crate::panel::panel;
pub use crate::panel::{BackgroundRow, PlanView, plan_list};
use crate::parts::{icon, state_icon};
use crate::thread::thread;
pub use crate::thread::{AnsweredLine, SentPicture};
use everloop_text::pages as words;
use everloop_types::visible;
use maud::{Markup, html};

/// The chat page.
#[derive(Debug, Clone, Default)]
pub struct ChatView {
    /// The conversation; none on the page where one begins.
    pub head: Option<ChatHead>,
    /// The address of the page with older messages.
    pub older: Option<String>,
    /// What was said, in order.
    pub blocks: Vec<ChatBlock>,
    /// The runs that have not ended.
    pub live: Vec<LiveRun>,
    /// Questions that wait for a person.
    pub asks: Vec<AskCard>,
    /// The plan of the newest run.
    pub plan: Option<PlanView>,
    /// Questions that runs of other conversations ask.
    pub asks_elsewhere: Vec<AskCard>,
    /// How many more there are of them.
    pub more_elsewhere: usize,
    /// Other work of this home that goes on.
    pub background: Vec<BackgroundRow>,
    /// What the newest run used.
    pub used: Vec<(String, String)>,
    /// Messages that wait for the end of a run.
    pub queue: Vec<QueuedMessage>,
    /// The composer.
    pub composer: ComposerView,
    /// The reply to a command that was typed last.
    pub reply: Option<String>,
}

/// The conversation that is open.
#[derive(Debug, Clone)]
pub struct ChatHead {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether it is archived.
    pub archived: bool,
    /// The state of its newest run, and the word for it.
    pub state: Option<(&'static str, String)>,
    /// Its newest run.
    pub run: Option<String>,
}

/// Something that was said.
#[derive(Debug, Clone)]
pub enum ChatBlock {
    /// By the person.
    Said(SaidBlock),
    /// By the program or its model.
    Answer(AnswerBlock),
    /// A question that was answered.
    Answered(AnsweredLine),
}

/// What the person said.
#[derive(Debug, Clone)]
pub struct SaidBlock {
    /// The id of the message.
    pub id: String,
    /// When.
    pub when: String,
    /// The words.
    pub text: String,
    /// The event that it became.
    pub event: Option<EventLink>,
    /// The run that it began, if it has ended and can be done again.
    pub again: Option<String>,
    /// The pictures that went with it.
    pub pictures: Vec<SentPicture>,
}

/// What was answered.
#[derive(Debug, Clone)]
pub struct AnswerBlock {
    /// The id of the message.
    pub id: String,
    /// When.
    pub when: String,
    /// The words as sanitised HTML.
    pub html: String,
    /// The event that it became.
    pub event: Option<EventLink>,
    /// The run that wrote it, where this is its last word.
    pub run: Option<RunSummary>,
    /// Whether it is a question of the run, which was answered by now or has a card.
    pub is_question: bool,
    /// Whether it is the first one that nobody has read.
    pub is_first_unread: bool,
    /// Whether it was stopped before it was whole.
    pub is_stopped: bool,
    /// The files that its run wrote: their names and addresses.
    pub files: Vec<(String, String)>,
}

/// A place in a journal.
#[derive(Debug, Clone)]
pub struct EventLink {
    /// The run.
    pub run: String,
    /// The number of the event.
    pub seq: i64,
}

/// One line about a run.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// Its id.
    pub run: String,
    /// The end of its id.
    pub short: String,
    /// Its status.
    pub status: &'static str,
    /// The word for it.
    pub status_words: String,
    /// What it did, in one line.
    pub line: String,
    /// Whether it can be done again.
    pub can_retry: bool,
}

/// A run that has not ended.
#[derive(Debug, Clone)]
pub struct LiveRun {
    /// Its id.
    pub run: String,
    /// The end of its id.
    pub short: String,
    /// The last event that this page shows.
    pub last: i64,
    /// Its state.
    pub state: &'static str,
    /// What it does or waits for.
    pub line: String,
    /// What it has done so far.
    pub rows: Vec<ActivityRow>,
}

/// The page.
#[must_use]
pub fn view(frame: &PageFrame, chat: &ChatView) -> Markup {
    let main = html! {
        main.main id="main" {
            (bar(frame, chat))
            div.banner-place id="banner" {}
            div.scroll id="thread-scroll" tabindex="0" {
                div.thread id="thread" data-live role="region"
                    aria-label=(frame.say(words::chat::conversation())) {
                    (thread(frame, chat))
                }
                (streaming(frame))
            }
            (dock(frame, chat))
        }
    };
    let panel = panel(frame, chat);
    page(frame, &main, Some(&panel))
}

/// Where the text of a reply grows while it is written, and where messages stand that could not be
/// sent yet.
fn streaming(frame: &PageFrame) -> Markup {
    html! {
        div.thread.stream-place id="stream-place" hidden {
            div.ev.live {
                div.seq {}
                div.body { div.prose id="stream" aria-busy="true" {} }
            }
        }
        div.thread.stream-place id="unsent-turns" {}
        (announced(frame))
        template id="unsent-turn" {
            div.ev.turn { div.seq {} div.body { div.said.unsent {
                p.when.st data-s="waiting" {
                    (state_icon("waiting")) (frame.say(words::live::not_sent()))
                }
                div.pre {}
            } } }
        }
    }
}

/// What a script tells a screen reader about runs that work.
fn announced(frame: &PageFrame) -> Markup {
    html! {
        template id="chat-words" data-plan=(frame.say(words::announce::plan(&"#v", &"#")))
            data-plan-made=(frame.say(words::announce::plan_made()))
            data-tool-failed=(frame.say(words::announce::tool_failed(&"#")))
            data-model-failed=(frame.say(words::announce::model_failed()))
            data-asks=(frame.say(words::announce::asks(&"#")))
            data-elsewhere=(frame.say(words::announce::elsewhere()))
            data-recovered=(frame.say(words::announce::recovered()))
            data-failed=(frame.say(words::announce::failed(&"#")))
            data-unsettled=(frame.say(words::announce::unsettled(&"#")))
            data-canceled=(frame.say(words::announce::canceled(&"#")))
            data-quarantined=(frame.say(words::announce::quarantined(&"#"))) {}
    }
}

fn bar(frame: &PageFrame, chat: &ChatView) -> Markup {
    html! {
        header.bar id="bar" data-live {
            (frame.menu_button())
            @match &chat.head {
                None => h1.clip { (frame.say(words::nav::new_chat())) },
                Some(head) => {
                    h1.clip { (visible(&head.title)) }
                    @if let Some((state, state_words)) = &head.state {
                        @if let Some(run) = &head.run {
                            a.st.sm.hide-s data-s=(state) href={ "/runs/" (run) } {
                                (state_icon(state)) span { (state_words) }
                            }
                        }
                    }
                    span.grow {}
                    a.btn.ghost.sm.hide-s href={ "/chat/" (head.id) "/export?format=md" } download {
                        (icon("download")) span.hide-m { (frame.say(words::chat::export())) }
                    }
                    (head_actions(frame, head))
                }
            }
            button.btn.ghost.icon-only.only-m type="button" data-open="panel"
                aria-label=(frame.say(words::chat::show_panel())) aria-controls="panel"
                aria-expanded="false" { (icon("panel")) }
        }
    }
}

fn head_actions(frame: &PageFrame, head: &ChatHead) -> Markup {
    let rename = format!("/do/chat/{}/rename", head.id);
    let archive = format!("/do/chat/{}/archive", head.id);
    let unread = format!("/do/chat/{}/unread", head.id);
    let (archived, back, name, done) = match head.archived {
        true => ("no", "yes", words::chat::unarchive(), words::done::unarchived()),
        false => ("yes", "no", words::chat::archive(), words::done::archived()),
    };
    html! {
        details.pop {
            summary.btn.ghost.icon-only aria-label=(frame.say(words::chat::more())) {
                (icon("more"))
            }
            div.pop-body {
                form method="post" action=(rename) data-do {
                    (frame.form(&rename).hidden())
                    div.field {
                        label for="new-title" { (frame.say(words::chat::title())) }
                        input.input id="new-title" name="title" value=(head.title) maxlength="200"
                            required;
                    }
                    button.btn.sm { (frame.say(words::chat::rename())) }
                }
                form.one method="post" action=(archive) data-do data-done=(frame.say(done))
                    data-undo={ "archived=" (back) } {
                    (frame.form(&archive).hidden())
                    input type="hidden" name="archived" value=(archived);
                    button.btn.sm { (icon("archive")) (frame.say(name)) }
                }
                form.one method="post" action=(unread) data-do {
                    (frame.form(&unread).hidden())
                    button.btn.sm data-key="u" { (icon("s-unread"))
                        (frame.say(words::chat::mark_unread())) }
                }
                a.btn.sm href={ "/chat/" (head.id) "/export?format=md" } download {
                    (icon("download")) (frame.say(words::chat::export_markdown()))
                }
                a.btn.sm href={ "/chat/" (head.id) "/export?format=json" } download {
                    (icon("download")) (frame.say(words::chat::export_json()))
                }
            }
        }
    }
}
