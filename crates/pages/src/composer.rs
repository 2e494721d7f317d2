//! Where a message is written: its words, the loop and the model that work on it.

use crate::chat::ChatView;
use crate::layout::PageFrame;
use crate::parts::{icon, short_button, state_icon};
use everloop_text::Text;
use everloop_text::pages as words;
use maud::{Markup, html};

/// Pictures that models read, and texts; the server looks at what a file holds.
const ACCEPTED: &str = "image/png,image/jpeg,image/gif,image/webp,text/*,.md,.csv,.json,.log,\
    .toml,.yaml,.yml,.rs,.py,.js,.ts,.sql";

/// A message that waits.
#[derive(Debug, Clone)]
pub struct QueuedMessage {
    /// Its id.
    pub id: String,
    /// Its words.
    pub text: String,
    /// How many pictures go with it.
    pub pictures: usize,
    /// Why it was not sent when its turn came.
    pub problem: Option<String>,
}

/// Where a message is written.
#[derive(Debug, Clone, Default)]
pub struct ComposerView {
    /// The loops to choose from.
    pub loops: Vec<String>,
    /// The loop that was chosen last.
    pub chosen: Option<String>,
    /// The model that answers unless another one is chosen.
    pub model: Option<String>,
    /// The models to choose from.
    pub models: Vec<String>,
    /// Bytes of the largest picture.
    pub file_bytes: u64,
    /// The run that works, if one does.
    pub busy: Option<String>,
}

pub(crate) fn dock(frame: &PageFrame, chat: &ChatView) -> Markup {
    let to = match &chat.head {
        Some(head) => format!("/do/chat/{}/send", head.id),
        None => "/do/chat/new/send".to_owned(),
    };
    let keep = chat.head.as_ref().map_or("new", |head| head.id.as_str());
    let hint = frame.say(hint(chat));
    html! {
        div.dock {
            div {
                button.btn.sm.new-below type="button" id="new-below" hidden {
                    (icon("down")) span {}
                }
                div id="queue" data-live { (queue(frame, chat)) }
                form.composer id="composer" method="post" action=(to) data-keep={ "say:" (keep) }
                    enctype="multipart/form-data" data-busy=[chat.composer.busy.as_ref()]
                    data-drop=(frame.say(words::files::drop())) {
                    (frame.form(&to).hidden())
                    label.vh for="say" { (frame.say(words::chat::message())) }
                    div.slash id="slash" role="listbox" hidden
                        aria-label=(frame.say(words::palette::commands())) {}
                    textarea id="say" name="text" rows="1"
                        placeholder=(hint) autocomplete="off" aria-autocomplete="list" {}
                    (composer_foot(frame, chat))
                }
                p.under.hide-s {
                    span { (frame.say(words::chat::keys())) }
                    span id="sent-note" {}
                }
            }
        }
    }
}

fn composer_foot(frame: &PageFrame, chat: &ChatView) -> Markup {
    let composer = &chat.composer;
    html! {
        ul.files-chosen id="files-chosen" aria-label=(frame.say(words::files::chosen())) hidden {}
        footer {
            label.btn.ghost.sm.icon-only.attach {
                (icon("attach")) span.vh { (frame.say(words::files::attach())) }
                input.vh type="file" id="files" name="files" multiple
                    accept=(ACCEPTED);
            }
            label.vh for="loop" { (frame.say(words::chat::choose_loop())) }
            select.select.quiet id="loop" name="loop" {
                option value="" selected[composer.chosen.is_none()] {
                    (frame.say(words::chat::auto()))
                }
                @for name in &composer.loops {
                    option value=(name) selected[composer.chosen.as_ref() == Some(name)] { (name) }
                }
            }
            @if let Some(model) = &composer.model { (model_choice(frame, composer, model)) }
            span.grow {}
            span.st.sm data-s="waiting" id="unsent" hidden {
                (state_icon("waiting")) span { (frame.say(words::live::not_sent())) }
            }
            span.row id="composer-acts" data-live data-hint=(frame.say(hint(chat))) {
                (composer_acts(frame, chat))
            }
        }
        template id="file-words" data-remove=(frame.say(words::files::remove(&"#")))
            data-large=(frame.say(words::files::too_large(&"#")))
            data-most=(composer.file_bytes) {}
    }
}

/// What is to be written now.
fn hint(chat: &ChatView) -> Text {
    match (&chat.composer.busy, chat.asks.is_empty()) {
        (_, false) => words::chat::hint_answer(),
        (Some(_), true) => words::chat::hint_busy(),
        (None, true) => words::chat::hint(),
    }
}

/// Send; while a run works: stop it, tell it something, or queue the message.
fn composer_acts(frame: &PageFrame, chat: &ChatView) -> Markup {
    let busy = chat.composer.busy.as_ref();
    let send = match busy.filter(|_| chat.asks.is_empty()) {
        Some(_) => words::chat::queue(),
        None => words::chat::send(),
    };
    // A message answers the questions that the page shows with it, and no other one.
    let shown: Vec<&str> = chat.asks.iter().map(|ask| ask.id.as_str()).collect();
    html! {
        input type="hidden" name="answers" value=(shown.join(" "));
        @if let Some(run) = busy {
            @let stop = format!("/do/runs/{run}/cancel");
            (short_button(&stop, "btn sm", &html! {
                (icon("stop")) span.hide-s { (frame.say(words::chat::stop())) } }))
            button.btn.sm type="submit" formenctype="application/x-www-form-urlencoded"
                formaction={ "/do/runs/" (run) "/steer" }
                data-steer { (frame.say(words::chat::steer())) }
        }
        button.btn.ink.sm type="submit" id="send" {
            (icon("send")) span { (frame.say(send)) }
        }
    }
}

/// What waits for the end of a run, each with what can be done about it.
fn queue(frame: &PageFrame, chat: &ChatView) -> Markup {
    let id = chat.head.as_ref().map(|head| head.id.as_str()).unwrap_or_default();
    let to = |line: &str, verb: &str| format!("/do/chat/{id}/queue/{line}/{verb}");
    html! {
        @for line in &chat.queue {
            @let (edit, now) = (to(&line.id, "edit"), to(&line.id, "now"));
            div.queue id={ "queue-" (line.id) } {
                (icon("clock"))
                span.vh { (frame.say(words::live::queued())) }
                span.grow.clip title=(line.text) { (line.text) }
                @if line.pictures > 0 {
                    span.faint { (frame.say(words::chat::pictures(&line.pictures))) }
                }
                details.edit-line id={ "edit-" (line.id) } {
                    summary.btn.ghost.sm { (frame.say(words::chat::edit_queued())) }
                    form method="post" action=(edit) data-do {
                        (frame.form(&edit).hidden())
                        label.vh for={ "text-" (line.id) } { (frame.say(words::chat::message())) }
                        textarea.area id={ "text-" (line.id) } name="text" rows="2" { (line.text) }
                        button.btn.sm { (frame.say(words::chat::save_queued())) }
                    }
                }
                @let at_once = match &chat.composer.busy {
                    Some(_) => words::chat::steer(),
                    None => words::chat::send_now(),
                };
                (frame.form(&now).button("btn ghost sm", &[], html! { (frame.say(at_once)) }))
                @let remove = to(&line.id, "remove");
                (frame.form(&remove).button("btn ghost sm", &[],
                    html! { (frame.say(words::live::remove())) }))
                @if let Some(problem) = &line.problem {
                    p.why.st.sm data-s="waiting" role="status" { (problem) }
                }
            }
        }
    }
}

/// Beside the loop: another model for the messages from here on.
fn model_choice(frame: &PageFrame, composer: &ComposerView, model: &str) -> Markup {
    html! {
        label.vh for="model" { (frame.say(words::chat::choose_model())) }
        select.select.quiet.model id="model" name="model" {
            option value="" { (model) }
            @for name in composer.models.iter().filter(|name| *name != model) {
                option value=(name) { (name) }
            }
        }
    }
}
