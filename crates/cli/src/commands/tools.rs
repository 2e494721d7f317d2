//! `everloop tools`: every built-in tool, what a crash means for it, who is asked, and whether a
//! new run in this folder has it.

use crate::args;
use everloop_agenda::show::TextTable;
use everloop_app::tool_overview::{ToolOverview, ToolReport, ToolState};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::{Approval, EffectClass};
use serde_json::json;

pub(crate) fn tools(app: &Console, args: &args::ToolsArgs) -> Result<Exit, Failure> {
    let shown = app.checked(ToolOverview::read(app, args.name.as_deref()))?;
    match (args.json, shown.as_slice()) {
        (true, all) => {
            let all: Vec<ToolReport> = all.iter().map(|one| one.report(app.lang)).collect();
            terminal::print_json(&json!({ "tools": all }));
        }
        (false, [one]) if args.name.is_some() => terminal::print_line(&explained(app, one)),
        (false, all) => {
            terminal::print_line(&table(app, all));
            terminal::print_line(&format!("\n{}", app.text(text::tools::more())));
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

fn table(app: &Console, tools: &[ToolOverview]) -> String {
    let heads = [
        text::tools::head::name(),
        text::tools::head::crash(),
        text::tools::head::asks(),
        text::tools::head::limit(),
        text::tools::head::acts_on(),
        text::tools::head::here(),
    ];
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    table.may_drop(&[4, 3, 1]);
    tools.iter().for_each(|tool| table.row(cells(app, tool)));
    table.show(app.reader().width)
}

fn cells(app: &Console, tool: &ToolOverview) -> Vec<String> {
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
    let crash = app.text(match handling.class {
        EffectClass::Transactional => text::tools::crash::transactional(),
        EffectClass::Pure => text::tools::crash::pure(),
        EffectClass::Keyed => text::tools::crash::keyed(),
        EffectClass::Probeable => text::tools::crash::probeable(),
        EffectClass::Dangerous => text::tools::crash::dangerous(),
    });
    vec![tool.tool.name.to_owned(), crash, approval, time, acts_on, state(app, tool)]
}

fn explained(app: &Console, tool: &ToolOverview) -> String {
    let class = app.text(match tool.handling.class {
        EffectClass::Transactional => text::tools::class::transactional(),
        EffectClass::Pure => text::tools::class::pure(),
        EffectClass::Keyed => text::tools::class::keyed(),
        EffectClass::Probeable => text::tools::class::probeable(),
        EffectClass::Dangerous => text::tools::class::dangerous(),
    });
    let head = [table(app, std::slice::from_ref(tool)), String::new()];
    let does = tool.report(app.lang).does;
    let mut lines = [head.to_vec(), vec![does, class]].concat();
    if let Some(spec) = &tool.spec {
        lines.push(app.text(text::tools::for_model(&spec.description)));
    }
    lines.join("\n")
}
