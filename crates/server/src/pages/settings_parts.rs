//! What belongs to sections of settings: models, tools, skills, personas, MCP servers, approvals.

use super::forms::FormFields;
use super::frame::{PageRequest, missing};
use super::respond::see_other;
use crate::json::PathOf;
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::State;
use axum::response::Response;
use everloop_app::approvals::{self, ApprovalCoverage, ApprovalInfo};
use everloop_app::catalog::{self, SkillList};
use everloop_app::doctor;
use everloop_app::error::chain;
use everloop_app::frames;
use everloop_app::mcp_servers::{McpOffer, McpServerInfo, McpServerState, McpToolInfo};
use everloop_app::models::survey::survey;
use everloop_app::models::trial::ModelTrial;
use everloop_app::tool_overview::{ToolOverview, ToolState};
use everloop_app::trouble::AdviceFor;
use everloop_pages::parts::say;
use everloop_pages::settings::{
    ApprovalItem, ApprovalsView, CatalogItem, CatalogView, ModelItem, ModelsView, ProviderItem,
    ServerItem, ServerToolItem,
};
use everloop_text::Text;
use everloop_text::pages as words;
use everloop_types::{Approval, EffectClass, Lang};
use std::sync::PoisonError;

pub(super) fn models(request: &PageRequest, state: &ServerState) -> ModelsView {
    let (lang, app) = (request.lang(), &state.app);
    let named = [
        (frames::default_model(app), words::settings_page::role_default()),
        (app.settings.model.fallback.clone(), words::settings_page::role_fallback()),
        (app.settings.agent.decision_model.clone(), words::settings_page::role_decision()),
    ];
    let models = named.into_iter().filter(|(name, _)| !name.is_empty()).map(|(name, role)| {
        let said = state.flashes.get(request.session_name(), &format!("model {name}"));
        let (test, trouble) = said.map(|said| read_test(&said)).unwrap_or_default();
        ModelItem { name, role: say(lang, role), test, trouble }
    });
    let providers = survey(app).into_iter().map(|one| ProviderItem {
        is_ready: one.key_from.is_some() || !one.needs_key,
        wants_key: one.needs_key,
        name: one.name,
        address: one.address,
        key: one.key_from,
    });
    ModelsView { models: models.collect(), providers: providers.collect() }
}

/// What a trial found, as lines that [`read_test`] reads.
pub(super) fn tested(lang: Lang, trial: &ModelTrial) -> String {
    let lines = trial.findings.iter().map(|finding| {
        let name = finding.check.words(lang);
        let took = i64::try_from(finding.took_ms).unwrap_or(i64::MAX);
        let took = everloop_pages::parts::duration(lang, took);
        match &finding.fault {
            None => format!("+{name} {took}"),
            Some(fault) => {
                let why = one_line(&fault.words(lang));
                format!("-{}", say(lang, words::settings_page::works_not(&name, &why)))
            }
        }
    });
    let mut lines: Vec<String> = lines.collect();
    if let Some(trouble) = &trial.trouble {
        let advice = trouble.advice(lang, AdviceFor::Chat).unwrap_or_default();
        lines.push(format!("!{}", one_line(&format!("{} {advice}", trouble.message(lang)))));
    }
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_test(said: &str) -> (Vec<(bool, String)>, Option<String>) {
    let mut trouble = None;
    let mut parts = Vec::new();
    for line in said.lines() {
        match line.split_at_checked(1) {
            Some(("!", why)) => trouble = Some(why.to_owned()),
            Some((mark, what)) => parts.push((mark == "+", what.to_owned())),
            None => {}
        }
    }
    (parts, trouble)
}

pub(super) fn tools(request: &PageRequest, state: &ServerState) -> Result<CatalogView, Problem> {
    let (lang, app) = (request.lang(), &state.app);
    let sandbox = doctor::sandbox_words(&doctor::sandbox_here(app), lang).unwrap_or_default();
    let items = ToolOverview::read(app, None)?.into_iter().map(|tool| {
        let report = tool.report(lang);
        CatalogItem {
            cells: vec![
                tool_state(lang, &tool),
                say(lang, crash_words(report.class)),
                say(lang, asks(report.approval)),
            ],
            name: report.name.to_owned(),
            about: report.does,
        }
    });
    let columns = [
        words::settings_page::tool(),
        words::settings_page::state(),
        words::settings_page::crash(),
        words::settings_page::asking(),
    ];
    Ok(CatalogView {
        facts: vec![(say(lang, words::settings_page::sandbox()), sandbox)],
        columns: columns.map(|column| say(lang, column)).to_vec(),
        items: items.collect(),
        none: say(lang, words::settings_page::no_tools()),
    })
}

fn tool_state(lang: Lang, tool: &ToolOverview) -> String {
    let needs = |what: Text| say(lang, words::settings_page::tool_needs(&say(lang, what)));
    let text = match tool.state() {
        ToolState::Offered => words::settings_page::tool_on(),
        ToolState::OfferedToSome => words::settings_page::tool_some(&tool.loops.join(", ")),
        ToolState::NotOfPersona(name) => words::settings_page::tool_not_of(&name),
        ToolState::NeedsRepository => return needs(words::settings_page::needs_repository()),
        ToolState::NeedsSkill => return needs(words::settings_page::needs_skill()),
        ToolState::NeedsSetting(key) => words::settings_page::tool_needs(&key),
        ToolState::Disabled => words::settings_page::tool_off(),
    };
    say(lang, text)
}

/// What a crash means for a call.
pub(super) fn crash_words(class: EffectClass) -> Text {
    match class {
        EffectClass::Pure => words::settings_page::class_pure(),
        EffectClass::Keyed => words::settings_page::class_keyed(),
        EffectClass::Probeable => words::settings_page::class_probeable(),
        EffectClass::Transactional => words::settings_page::class_transactional(),
        EffectClass::Dangerous => words::settings_page::class_dangerous(),
    }
}

fn asks(approval: Approval) -> Text {
    match approval {
        Approval::Ask => words::settings_page::asks_yes(),
        Approval::Allow => words::settings_page::asks_no(),
        Approval::Deny => words::settings_page::asks_denied(),
    }
}

pub(super) fn skills(request: &PageRequest, state: &ServerState) -> Result<CatalogView, Problem> {
    let lang = request.lang();
    let workspace = frames::workspace(None)?;
    let skills = SkillList::read(&state.app, &workspace).skills.into_iter();
    let items = skills.map(|skill| CatalogItem {
        name: skill.name,
        about: skill.description,
        cells: vec![skill.folder],
    });
    let columns = [words::settings_page::skill(), words::settings_page::place()];
    Ok(CatalogView {
        facts: Vec::new(),
        columns: columns.map(|column| say(lang, column)).to_vec(),
        items: items.collect(),
        none: say(lang, words::settings_page::no_skills()),
    })
}

pub(super) fn personas(request: &PageRequest, state: &ServerState) -> CatalogView {
    let lang = request.lang();
    let all = catalog::persona_infos(&state.app).into_iter();
    let items = all.map(|persona| CatalogItem {
        cells: vec![match persona.default {
            true => say(lang, words::settings_page::role_default()),
            false => String::new(),
        }],
        name: persona.name,
        about: persona.description,
    });
    let columns = [words::section::named("persona").unwrap_or_else(words::settings_page::state)];
    let mut columns: Vec<String> = columns.map(|column| say(lang, column)).to_vec();
    columns.push(say(lang, words::settings_page::state()));
    CatalogView { facts: Vec::new(), columns, items: items.collect(), none: String::new() }
}

pub(super) fn servers(request: &PageRequest, state: &ServerState) -> Vec<ServerItem> {
    let lang = request.lang();
    let offers = state.behind.offers.lock().unwrap_or_else(PoisonError::into_inner);
    let tool = |tool: McpToolInfo| ServerToolItem {
        state: format!(
            "{} · {}: {}",
            say(lang, crash_words(tool.class)),
            say(lang, words::settings_page::asking()),
            say(lang, asks(tool.approval))
        ),
        name: tool.name,
        about: tool.description,
    };
    let all = McpServerInfo::all(&state.app).into_iter().map(|server| {
        let offer = offers.get(&server.name);
        let offered = offer.and_then(|offer| offer.tools(&state.app, &server.name).ok());
        let (state_name, state_words) = server_state(server.state);
        let problem = state.flashes.get(request.session_name(), &format!("mcp {}", server.name));
        ServerItem {
            waits: offered.is_some(),
            tools: offered.unwrap_or(server.tools).into_iter().map(tool).collect(),
            way: server.way,
            state: state_name,
            words: say(lang, state_words),
            knows_command: server.state.knows_command(),
            problem,
            name: server.name,
        }
    });
    all.collect()
}

fn server_state(state: McpServerState) -> (&'static str, Text) {
    match state {
        McpServerState::Off => ("off", words::settings_page::server_off()),
        McpServerState::New => ("new", words::settings_page::server_new()),
        McpServerState::OtherCommand => {
            ("other_command", words::settings_page::server_other_command())
        }
        McpServerState::OtherTools => ("other_tools", words::settings_page::server_other_tools()),
        McpServerState::Approved => ("approved", words::settings_page::server_approved()),
    }
}

/// What a person decides about an MCP server: look at its tools, approve them, or not.
pub(crate) async fn decide_server(
    State(state): State<ServerState>,
    PathOf((name, verb)): PathOf<(String, String)>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (lang, session) = (request.lang(), request.session_name());
    let place = format!("mcp {name}");
    state.flashes.clear(session, &place);
    let seen = |state: &ServerState| {
        state.behind.offers.lock().unwrap_or_else(PoisonError::into_inner).remove(&name)
    };
    match verb.as_str() {
        "look" => match McpOffer::look(&state.app, &name).await {
            Ok(offer) => {
                let mut offers = state.behind.offers.lock().unwrap_or_else(PoisonError::into_inner);
                offers.insert(name, offer);
            }
            Err(error) => state.flashes.put(session, &place, chain(&error)),
        },
        "approve" => {
            // Only what this person has seen is approved.
            let Some(offer) = seen(&state) else { return Ok(see_other(fields.back())) };
            match offer.approve(&state.app, &name) {
                Ok(()) => {
                    let said = say(lang, words::settings_page::server_approved_now(&name));
                    state.flashes.put(session, "settings", said);
                }
                Err(error) => state.flashes.put(session, &place, chain(&error)),
            }
        }
        "deny" => {
            seen(&state);
            let said = say(lang, words::settings_page::server_denied(&name));
            state.flashes.put(session, "settings", said);
        }
        _ => return Err(missing()),
    }
    Ok(see_other(fields.back()))
}

pub(super) async fn approvals(
    request: &PageRequest,
    state: &ServerState,
) -> Result<ApprovalsView, Problem> {
    let lang = request.lang();
    let standing = approvals::list_approvals(state.store()).await?;
    let rules = state.app.settings.approval_rules().iter().map(|rule| {
        let decision = match rule.decision {
            Approval::Allow => words::settings_page::rule_allow(),
            Approval::Ask => words::settings_page::rule_ask(),
            Approval::Deny => words::settings_page::rule_deny(),
        };
        let when = rule.when.as_ref().map(|when| format!("{} = {}", when.arg, when.matches));
        (rule.tool.clone(), say(lang, decision), when.unwrap_or_default())
    });
    Ok(ApprovalsView {
        standing: standing.iter().map(|approval| standing_item(lang, approval)).collect(),
        rules: rules.collect(),
    })
}

fn standing_item(lang: Lang, approval: &ApprovalInfo) -> ApprovalItem {
    let covers = match approval.coverage() {
        ApprovalCoverage::Command(what)
        | ApprovalCoverage::Arguments(what)
        | ApprovalCoverage::Pattern(what)
        | ApprovalCoverage::Path(what)
        | ApprovalCoverage::Host(what) => what,
        ApprovalCoverage::Conversation(_) => say(lang, words::ask::scope_here()),
    };
    ApprovalItem {
        id: approval.id.clone(),
        tool: approval.tool.clone(),
        covers,
        place: say(lang, words::settings_page::in_folder(&approval.workspace)),
        since: approval.at.split_whitespace().next().unwrap_or_default().to_owned(),
    }
}

/// Withdraws an approval that stands.
pub(crate) async fn withdraw(
    State(state): State<ServerState>,
    PathOf(id): PathOf<String>,
    request: PageRequest,
    fields: FormFields,
) -> Result<Response, Problem> {
    let gone = approvals::remove_approval(state.store(), &id).await?;
    let said = say(request.lang(), words::settings_page::withdrawn(&gone.tool));
    state.flashes.put(request.session_name(), "settings", said);
    Ok(see_other(fields.back()))
}
