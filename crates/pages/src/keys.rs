//! The list of keys, and the switches of this browser: single letters, notifications.

use crate::layout::PageFrame;
use crate::parts::icon;
use everloop_text::Text;
use everloop_text::pages as words;
use maud::{Markup, html};

/// Keys and what they do.
fn all() -> [(&'static [&'static str], Text); 12] {
    [
        (&["Ctrl K"], words::keys::search()),
        (&["Ctrl ⇧ O"], words::keys::new_chat()),
        (&["Ctrl /"], words::keys::list()),
        (&["⇧ Esc"], words::keys::write()),
        (&["Esc"], words::keys::close()),
        (&["g i", "g t", "g s", "g r", "g c", "g p", "g m", "g ,"], words::keys::places()),
        (&["j", "k", "Enter", "u"], words::keys::r#move()),
        (&["y", "e", "r", "i"], words::keys::answer()),
        (&["1", "…", "9"], words::keys::choose()),
        (&["Enter", "⇧ Enter", "Ctrl Enter"], words::keys::send()),
        (&["←", "→", "⇧ ←", "⇧ →", "Home", "End"], words::keys::run()),
        (&["n", "p", "f", "Space"], words::keys::run_more()),
    ]
}

/// The list as a dialog.
pub(crate) fn dialog(frame: &PageFrame) -> Markup {
    let name = frame.say(words::keys::title());
    html! {
        div.veil data-close="keys" hidden {}
        div.palette.keys id="keys" role="dialog" aria-modal="true" aria-label=(name) hidden {
            header.row {
                h2.grow { (name) }
                button.btn.ghost.sm.icon-only type="button" data-close="keys"
                    aria-label=(frame.say(words::nav::close())) { (icon("x")) }
            }
            dl.key-list {
                @for (keys, text) in all() {
                    dt { @for key in keys { kbd { (key) } " " } }
                    dd { (frame.say(text)) }
                }
            }
            label.row.letters {
                input.box type="checkbox" id="letters" checked;
                span { (frame.say(words::keys::letters())) }
            }
            label.row.letters {
                input.box type="checkbox" id="announces" checked;
                span { (frame.say(words::keys::announces())) }
            }
        }
    }
}

/// Notifications of this browser, behind a bell: only shown where a script can ask for them.
pub(crate) fn notify_button(frame: &PageFrame) -> Markup {
    html! {
        details.pop id="notify" hidden {
            summary.btn.ghost.icon-only aria-label=(frame.say(words::notify::title())) {
                (icon("bell"))
            }
            div.pop-body { (notify_controls(frame)) }
        }
    }
}

/// The same as a part of the settings.
pub(crate) fn notify_section(frame: &PageFrame) -> Markup {
    html! {
        section.gap id="notify" hidden {
            h3.sub { (frame.say(words::notify::title())) }
            (notify_controls(frame))
        }
    }
}

fn notify_controls(frame: &PageFrame) -> Markup {
    html! {
        p.hint { (frame.say(words::notify::about())) }
        label.row {
            input.box type="checkbox" id="notify-on";
            span { (frame.say(words::notify::on())) }
        }
        button.btn.sm type="button" id="notify-test"
            data-text=(frame.say(words::notify::test_text())) {
            (frame.say(words::notify::test()))
        }
        p.hint id="notify-denied" role="status" hidden { (frame.say(words::notify::denied())) }
    }
}
