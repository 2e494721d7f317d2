//! `everloop tools`: every built-in tool, what a crash means for it, who is asked, and whether a
//! new run in this folder has it.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::tool_overview::{ToolOverview, ToolReport, ToolState};
use everloop_text as text;
use everloop_types::{Approval, EffectClass};
use serde::Serialize;
use serde_json::json;

pub(crate) fn tools(app: &Console, args: &args::ToolsArgs) -> Result<Exit, Failure> {
    let shown = app.checked(ToolOverview::read(app, args.name.as_deref()))?;
    match (args.json, shown.as_slice()) {
        (true, all) => {
            let all: Vec<ToolReport> = all.iter().map(|one| one.report(app.lang)).collect();
            terminal::answer_json(&json!({ "tools": all }));
        }
        (false, [one]) if args.name.is_some() => terminal::answer(&explained(app, one)),
        (false, all) => {
            terminal::answer(&app.text(text::tools::head()));
            all.iter().for_each(|one| terminal::answer(&line(app, one)));
            terminal::answer(&format!("\n{}", app.text(text::tools::more())));
        }
    }
    Ok(Exit::Done)
}

fn state(app: &Console, tool: &ToolOverview) -> String {
    app.text(match tool.state() {
        ToolState::Offered => text::tools::offered(),
        ToolState::OfferedToSome => text::tools::offered_to(&tool.loops.join(", ")),
        ToolState::NotOfPersona(persona) => text::tools::not_of_persona(&persona),
        ToolState::NeedsRepository => text::tools::needs_repository(),
        ToolState::NeedsSkill => text::tools::needs_skill(),
        ToolState::NeedsSetting(key) => text::tools::needs_setting(&key),
        ToolState::Disabled => text::tools::disabled(),
    })
}

fn line(app: &Console, tool: &ToolOverview) -> String {
    let handling = &tool.handling;
    let approval = app.text(match handling.approval {
        Approval::Allow => text::tools::approval::allow(),
        Approval::Ask => text::tools::approval::ask(),
        Approval::Deny => text::tools::approval::deny(),
    });
    let time = match handling.timeout_ms {
        0 => app.text(text::tools::waits()),
        ms => format!("{}s", ms / 1_000),
    };
    let acts_on = handling.resource_arg.clone().unwrap_or_default();
    let parts = [
        padded(tool.tool.name, 16),
        padded(&word(&handling.class), 14),
        padded(&approval, 10),
        padded(&time, 6),
        padded(&acts_on, 7),
        state(app, tool),
    ];
    parts.join("  ")
}

fn explained(app: &Console, tool: &ToolOverview) -> String {
    let class = app.text(match tool.handling.class {
        EffectClass::Transactional => text::tools::class::transactional(),
        EffectClass::Pure => text::tools::class::pure(),
        EffectClass::Keyed => text::tools::class::keyed(),
        EffectClass::Probeable => text::tools::class::probeable(),
        EffectClass::Dangerous => text::tools::class::dangerous(),
    });
    let head = [app.text(text::tools::head()), line(app, tool), String::new()];
    let does = tool.report(app.lang).does;
    let mut lines = [head.to_vec(), vec![does, class]].concat();
    if let Some(spec) = &tool.spec {
        lines.push(app.text(text::tools::for_model(&spec.description)));
    }
    lines.join("\n")
}

/// The word of the journal, which is never translated.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}
