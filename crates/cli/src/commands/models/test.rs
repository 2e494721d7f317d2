//! `everloop models test`: what the trial of a model came to, in lines or as JSON.

use everloop_app::models::trial::{ModelTrial, TrialFault, TrialVerdict};
use everloop_app::trouble::AdviceFor;
use everloop_console::{Console, Exit, Failure, terminal, trouble};
use everloop_models::CallWay;
use everloop_text as text;
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
        terminal::print_line(&value.to_string());
    } else {
        print(app, &trial);
    }
    let Some(trouble) = &trial.trouble else {
        return Ok(if trial.works() { Exit::Done } else { Exit::Failed });
    };
    terminal::eprint_line(&trouble::words(app, trouble, AdviceFor::Shell));
    Ok(if trouble.error.is_about_the_key() { Exit::Configuration } else { Exit::Failed })
}

fn print(app: &Console, trial: &ModelTrial) {
    let marks = terminal::marks();
    terminal::print_line(&trial.model);
    let titles: Vec<String> =
        trial.findings.iter().map(|finding| finding.check.words(app.lang)).collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0);
    for (finding, title) in trial.findings.iter().zip(&titles) {
        let room = " ".repeat(widest - title.width());
        let seconds = format!("{:.1}", finding.took_ms as f64 / 1000.0);
        let time = app.text(text::models::seconds(&seconds));
        let (mark, fault) = match &finding.fault {
            None => (marks.done, String::new()),
            Some(fault) => (marks.failed, format!("  {}", words(app, fault))),
        };
        terminal::print_line(&format!("{mark} {title}{room}  {time}{fault}"));
    }
    if trial.trouble.is_none() {
        let way = trial.way.map_or("", CallWay::as_str);
        terminal::print_line(&app.text(match trial.verdict() {
            TrialVerdict::Works => text::models::verdict::works(&marks.done, &way),
            TrialVerdict::Partly => text::models::verdict::partly(&marks.failed, &way),
            TrialVerdict::NoCalls => text::models::verdict::no_calls(&marks.failed),
            TrialVerdict::Silent => text::models::verdict::silent(&marks.failed),
        }));
    }
}

fn words(app: &Console, fault: &TrialFault) -> String {
    fault.words(app.lang)
}
