//! Signing in, and the first visit without a model.

use crate::layout::bare_page;
use crate::parts::{icon, say};
use everloop_text::pages as words;
use everloop_types::Lang;
use maud::{Markup, html};

/// The page where one pastes the token.
#[must_use]
pub fn sign_in(lang: Lang, theme: Option<&str>, next: &str, was_wrong: bool) -> Markup {
    let title = say(lang, words::signin::title());
    let inside = html! {
        main.first id="main" {
            div.first-bar { span.brand { (icon("mark")) span { "everloop" } } }
            div.problem {
                h1 { (title) }
                p.dim { (say(lang, words::signin::about())) }
                form.signin method="post" action="/do/signin" {
                    input type="hidden" name="next" value=(next);
                    div.field {
                        label for="token" { (say(lang, words::signin::token())) }
                        input.input id="token" name="token" type="password" required
                            autocomplete="current-password" spellcheck="false"
                            aria-invalid=[was_wrong.then_some("true")]
                            aria-describedby=[was_wrong.then_some("wrong")];
                        @if was_wrong {
                            p.hint.bad id="wrong" {
                                (icon("warn")) span { (say(lang, words::signin::wrong())) }
                            }
                        }
                    }
                    button.btn.ink { (say(lang, words::signin::open())) }
                }
                p.hint { (say(lang, words::signin::how())) " " code { "everloop token show" } " · "
                    code { "everloop serve --open" } }
            }
        }
    };
    bare_page(lang, theme, &title, &inside)
}

/// What the one-time link shows: the page moves on by itself, as a navigation of this site, so that
/// the strict cookie is sent with it.
#[must_use]
pub fn opened(lang: Lang) -> Markup {
    let title = say(lang, words::signin::opened());
    html! {
        (maud::DOCTYPE)
        html lang=(if lang == Lang::En { "en" } else { "zh-CN" }) {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=/";
                title { (title) " · everloop" }
                link rel="icon" href=(crate::assets::url("favicon.svg")) type="image/svg+xml";
            }
            body { main { h1 { (title) } p { a href="/" { "everloop" } } } }
        }
    }
}
