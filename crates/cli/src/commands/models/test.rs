//! `everloop models test`: what the trial of a model came to, in lines or as JSON.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crate::trouble;
use everloop_app::models::trial::{ModelTrial, TrialCheck, TrialFault, TrialVerdict};
use everloop_app::trouble::AdviceFor;
use everloop_models::CallWay;
use everloop_text::{self as text, Text};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

pub(super) async fn test(
    app: &Console,
    name: Option<String>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let trial = app.checked(ModelTrial::run(app, name).await)?;
    if as_json {
        let mut value = trial.to_json(|fault| words(app, fault));
        let trouble = trial.trouble.as_ref();
        value["error"] = json!(trouble.map(|trouble| trouble.report(app.lang)));
        terminal::answer(&value.to_string());
    } else {
        print(app, &trial);
    }
    let Some(trouble) = &trial.trouble else {
        return Ok(if trial.works() { Exit::Done } else { Exit::Failed });
    };
    terminal::complain(&trouble::words(app, trouble, AdviceFor::Shell));
    Ok(if trouble.error.is_about_the_key() { Exit::Configuration } else { Exit::Failed })
}

fn print(app: &Console, trial: &ModelTrial) {
    let marks = terminal::marks();
    terminal::answer(&trial.model);
    let titles: Vec<String> =
        trial.findings.iter().map(|finding| app.text(title(finding.check))).collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0);
    for (finding, title) in trial.findings.iter().zip(&titles) {
        let room = " ".repeat(widest - title.width());
        let seconds = format!("{:.1}", finding.took_ms as f64 / 1000.0);
        let time = app.text(text::models::seconds(&seconds));
        let (mark, fault) = match &finding.fault {
            None => (marks.done, String::new()),
            Some(fault) => (marks.failed, format!("  {}", words(app, fault))),
        };
        terminal::answer(&format!("{mark} {title}{room}  {time}{fault}"));
    }
    if trial.trouble.is_none() {
        let way = trial.way.map_or("", CallWay::as_str);
        terminal::answer(&app.text(match trial.verdict() {
            TrialVerdict::Works => text::models::verdict::works(&marks.done, &way),
            TrialVerdict::Partly => text::models::verdict::partly(&marks.failed, &way),
            TrialVerdict::NoCalls => text::models::verdict::no_calls(&marks.failed),
            TrialVerdict::Silent => text::models::verdict::silent(&marks.failed),
        }));
    }
}

fn title(check: TrialCheck) -> Text {
    match check {
        TrialCheck::Text => text::models::text(),
        TrialCheck::Stream => text::models::stream(),
        TrialCheck::Usage => text::models::usage(),
        TrialCheck::ToolCall => text::models::tool_call(),
        TrialCheck::NamedTool => text::models::named_tool(),
        TrialCheck::SchemaCall => text::models::schema_call(),
        TrialCheck::TaggedCall => text::models::tagged_call(),
    }
}

fn words(app: &Console, fault: &TrialFault) -> String {
    app.text(match fault {
        TrialFault::Missing => text::models::missing(),
        TrialFault::WrittenCall => text::models::written_call(),
        TrialFault::NoCall => text::models::no_call(),
        TrialFault::TooSlow(seconds) => text::models::too_slow(seconds),
        TrialFault::Model(error) => return error.detail.clone(),
    })
}
