//! What is known about one step besides its input and its output.

use super::frame::PageRequest;
use super::settings_parts::crash_words;
use super::steps::RunStep;
use everloop_app::App;
use everloop_engine::History;
use everloop_pages::parts::{duration, grouped, say};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::journal::{EffectPlanned, Entry, EntryKind};

type StepFact = (Text, String);

/// When it was, how long it took; for a call of a tool what a crash means and who allowed it, for
/// a call of the model what it used and what that cost.
pub(super) fn facts(
    request: &PageRequest,
    app: &App,
    history: &History,
    step: &RunStep,
) -> Vec<(String, String)> {
    let lang = request.lang();
    let mut facts = vec![
        (words::run::began(), request.clock(step.from)),
        (words::run::took(), duration(lang, step.to - step.from)),
    ];
    facts.extend(of_tool(request, history, step));
    facts.extend(of_model(request, app, history, step));
    facts.into_iter().map(|(name, value)| (say(lang, name), value)).collect()
}

fn of_tool(request: &PageRequest, history: &History, step: &RunStep) -> Vec<StepFact> {
    let lang = request.lang();
    let planned = history.entries.iter().find(|entry| entry.seq == step.seq);
    let Some(Entry { kind, effect, .. }) = planned else { return Vec::new() };
    let EntryKind::EffectPlanned(EffectPlanned::CallTool(call)) = kind else { return Vec::new() };
    let mut approval = words::run::approval_none();
    for entry in history.entries.iter().filter(|entry| entry.effect == *effect) {
        match &entry.kind {
            EntryKind::ApprovalAsked(_) => approval = words::run::approval_open(),
            EntryKind::ApprovalGiven(given) => approval = words::run::approval_by(&given.by),
            _ => {}
        }
    }
    vec![
        (words::run::crash(), say(lang, crash_words(call.class))),
        (words::run::approval(), say(lang, approval)),
    ]
}

fn of_model(request: &PageRequest, app: &App, history: &History, step: &RunStep) -> Vec<StepFact> {
    let Some(reply) = history.model_reply(step.seq) else { return Vec::new() };
    let usage = reply.usage;
    let counts =
        words::chat::token_counts(&grouped(usage.input_tokens), &grouped(usage.output_tokens));
    let mut facts = vec![(words::chat::tokens(), say(request.lang(), counts))];
    let attempts = u32::try_from(step.tries.len()).unwrap_or(u32::MAX);
    let model = history.frame().model.after(attempts).name;
    if let Some(price) = app.prices().of_model(&model) {
        facts.push((words::run::cost(), price.cost(usage).words()));
    }
    facts
}
