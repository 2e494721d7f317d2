//! Whether a model works: tiny calls, a finding each.
//!
//! ```text
//!   text, stream, usage ─► a call natively, and a named one ─► else by schema ─► else with tags
//! ```
//!
//! The first way to call a tool that works is remembered.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crate::trouble::{self, Read};
use everloop_app::frames;
use everloop_app::learnt::Found;
use everloop_app::trouble::ModelTrouble;
use everloop_models::{CallWay, Known};
use everloop_ports::{Delta, Model, Request, WirePrompt};
use everloop_text::{self as text, Text};
use everloop_types::{
    Message, ModelChoice, ModelError, ModelErrorKind, Reply, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The tool that the model is asked to call. Nothing is performed.
const TOOL: &str = "take_note";

/// Rows about words, before those about tools.
const SPEECH_ROWS: usize = 3;

/// One thing that works or does not.
struct Finding {
    /// For scripts; never changes.
    name: &'static str,
    /// For people.
    title: Text,
    /// Why not.
    fault: Option<String>,
    took_ms: u128,
}

pub(super) async fn test(
    app: &Console,
    name: Option<String>,
    as_json: bool,
) -> Result<Exit, Failure> {
    let wanted = name.unwrap_or_else(|| frames::default_model(app));
    let full = app.checked(frames::model(app, wanted))?;
    let choice = ModelChoice { name: full.clone(), ..ModelChoice::default() };
    let found = app.environment(&app.settings).connected(&choice);
    let (model, name) = found
        .map_err(|error| app.failure(Exit::Configuration, text::error::system(&error.detail)))?;
    let tester = Tester { app, model, name, refused: OnceLock::new() };
    let mut findings = tester.words().await;
    // Whoever does not take the key, or has no such model, says the same to every call.
    let is_refused = tester.refused.get().is_some();
    if is_refused {
        findings.truncate(1);
    }
    let talks = findings.iter().all(|finding| finding.fault.is_none());
    let way = if is_refused { None } else { tester.ways(&full, &mut findings).await };
    if let Some(way) = way {
        remember(app, &full, way);
    }
    let works = talks && way.is_some();
    let trouble = tester.refused.get().map(|error| ModelTrouble::of(app, &full, error));
    match as_json {
        true => {
            let mut value = as_value(&full, works, &findings);
            value["verdict"] = json!(verdict(&findings, way));
            value["tool_calls"] = json!(way.map(CallWay::as_str));
            value["error"] =
                trouble.as_ref().map_or(Value::Null, |trouble| trouble::object(app, trouble));
            terminal::answer(&value.to_string());
        }
        false => {
            print(app, &full, &findings);
            if trouble.is_none() {
                print_verdict(app, verdict(&findings, way), way);
            }
        }
    }
    let Some(trouble) = trouble else {
        return Ok(if works { Exit::Done } else { Exit::Failed });
    };
    terminal::complain(&trouble::words(app, &trouble, Read::InShell));
    Ok(if trouble.error.is_about_the_key() { Exit::Configuration } else { Exit::Failed })
}

/// What it all comes to, in a word that programs read as well.
fn verdict(findings: &[Finding], way: Option<CallWay>) -> &'static str {
    let speaks = findings.iter().any(|finding| finding.name == "text" && finding.fault.is_none());
    let talks = findings.iter().take(SPEECH_ROWS).all(|finding| finding.fault.is_none());
    match way {
        Some(_) if talks => "works",
        Some(_) => "partly",
        None if speaks => "no_calls",
        None => "silent",
    }
}

fn print_verdict(app: &Console, verdict: &str, way: Option<CallWay>) {
    let marks = terminal::marks();
    let mark = if verdict == "works" { marks.done } else { marks.failed };
    let way = way.map_or("", CallWay::as_str);
    terminal::answer(&app.text(match verdict {
        "works" => text::models::verdict::works(&mark, &way),
        "partly" => text::models::verdict::partly(&mark, &way),
        "no_calls" => text::models::verdict::no_calls(&mark),
        _ => text::models::verdict::silent(&mark),
    }));
}

/// Keeps the way that works for all runs to come.
fn remember(app: &Console, name: &str, way: CallWay) {
    let host = app.environment(&app.settings).host(name);
    if everloop_app::environment::is_scripted(name) {
        return;
    }
    let learnt = app.learnt();
    let known = learnt.of(name, &host).map(|entry| entry.known).unwrap_or_default();
    let known = Known { calls: Some(way), ..known };
    learnt.keep(name, &host, known, Found::Tested);
}

struct Tester<'a> {
    app: &'a Console,
    model: Arc<dyn Model>,
    name: String,
    /// An error that every further call would end in.
    refused: OnceLock<ModelError>,
}

impl Tester<'_> {
    /// A text, whether it came in pieces, and what it cost.
    async fn words(&self) -> Vec<Finding> {
        let begun = Instant::now();
        let mut first_ms = None;
        let mut pieces = 0;
        let mut on_delta = |delta: Delta<'_>| {
            if let Delta::Text(_) | Delta::Reasoning(_) = delta {
                first_ms.get_or_insert_with(|| begun.elapsed().as_millis());
                pieces += 1;
            }
        };
        let prompt = "Count from 1 to 10, in digits.";
        let reply = self.ask(prompt, &[], &ToolChoice::None, &mut on_delta).await;
        let took_ms = begun.elapsed().as_millis();
        let failed = reply.as_ref().err().map(|error| error.detail.clone());
        let missing = |is_there: bool| {
            failed.clone().or_else(|| (!is_there).then(|| self.app.text(text::models::missing())))
        };
        let is_text = |reply: &Reply| !reply.text.trim().is_empty();
        let text = missing(reply.as_ref().is_ok_and(is_text));
        let usage = missing(reply.as_ref().is_ok_and(|reply| reply.usage.total() > 0));
        let stream = missing(pieces > 1);
        let first_ms = first_ms.unwrap_or(took_ms);
        vec![
            Finding { name: "text", title: text::models::text(), fault: text, took_ms },
            Finding {
                name: "stream",
                title: text::models::stream(),
                fault: stream,
                took_ms: first_ms,
            },
            Finding { name: "usage", title: text::models::usage(), fault: usage, took_ms },
        ]
    }

    /// Tries the ways to call a tool, the provider's own first, and gives the first that works.
    async fn ways(&self, full: &str, findings: &mut Vec<Finding>) -> Option<CallWay> {
        let named = ToolChoice::Named(TOOL.to_owned());
        for (way, choice, name, title) in [
            (CallWay::Native, &ToolChoice::Auto, "tool_call", text::models::tool_call()),
            (CallWay::Native, &named, "named_tool", text::models::named_tool()),
            (CallWay::Schema, &ToolChoice::Auto, "schema_call", text::models::schema_call()),
            (CallWay::Tagged, &ToolChoice::Auto, "tagged_call", text::models::tagged_call()),
        ] {
            let works = |found: &[Finding], name: &str| {
                found.iter().any(|finding| finding.name == name && finding.fault.is_none())
            };
            if way != CallWay::Native && works(findings, "tool_call") {
                return Some(CallWay::Native);
            }
            let finding = match self.app.environment(&self.app.settings).connected_by(full, way) {
                Ok((model, _)) => {
                    let name_there = self.name.clone();
                    let refused = OnceLock::new();
                    let there = Tester { app: self.app, model, name: name_there, refused };
                    there.call(choice.clone(), name, title).await
                }
                Err(error) => Finding { name, title, fault: Some(error.detail), took_ms: 0 },
            };
            let found = finding.fault.is_none();
            findings.push(finding);
            if found && way != CallWay::Native {
                return Some(way);
            }
        }
        None
    }

    /// A call of the one tool on offer.
    async fn call(&self, choice: ToolChoice, name: &'static str, title: Text) -> Finding {
        let begun = Instant::now();
        let schema = json!({"type": "object", "required": ["text"],
            "properties": {"text": {"type": "string", "description": "What to note."}}});
        let (tool, description) = (TOOL.to_owned(), "Notes a text.".to_owned());
        let spec = ToolSpec { name: tool, description, schema, ..ToolSpec::default() };
        let prompt = format!("Call the tool {TOOL} with the text: ok");
        let mut reply = self.ask(&prompt, &[&spec], &choice, &mut |_| ()).await;
        let no_call = match &reply {
            Ok(reply) => reply.calls.is_empty(),
            Err(error) => error.kind == ModelErrorKind::Empty,
        };
        // As a run does: it is asked for again, and then in the portable way.
        if no_call && choice != ToolChoice::Auto {
            reply = self.ask(&prompt, &[&spec], &choice, &mut |_| ()).await;
        }
        let fault = match reply {
            // One that was written as text is read in runs, and is no proof of the provider's way.
            Ok(reply) if reply.salvaged => Some(self.app.text(text::models::written_call())),
            Ok(reply) if reply.calls.iter().any(|call| call.tool == TOOL) => None,
            Ok(_) => Some(self.app.text(text::models::no_call())),
            Err(error) => Some(error.detail),
        };
        Finding { name, title, fault, took_ms: begun.elapsed().as_millis() }
    }

    async fn ask(
        &self,
        prompt: &str,
        tools: &[&ToolSpec],
        choice: &ToolChoice,
        on_delta: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let request = Request {
            model: &self.name,
            messages: &[Message::user(prompt)],
            wire: &mut WirePrompt::default(),
            tools: tools.to_vec(),
            choice,
            output: None,
            temperature_milli: self.app.settings.model.temperature.count(),
            max_tokens: self.app.settings.model.max_tokens,
        };
        let limit_ms = self.app.settings.model.test_timeout.ms();
        let asked = self.model.ask(request, on_delta);
        let reply = match timeout(Duration::from_millis(limit_ms), asked).await {
            Ok(reply) => reply,
            Err(_) => {
                let seconds = (limit_ms / 1_000).to_string();
                let words = self.app.text(text::models::too_slow(&seconds));
                Err(ModelError::new(ModelErrorKind::TimedOut, words))
            }
        };
        if let Err(error) = &reply
            && (error.is_about_the_key() || error.kind == ModelErrorKind::NotFound)
        {
            // The first one says it.
            let _ = self.refused.set(error.clone());
        }
        reply
    }
}

fn as_value(model: &str, works: bool, findings: &[Finding]) -> Value {
    let checks = findings.iter().map(|finding| {
        json!({"check": finding.name, "ok": finding.fault.is_none(),
            "ms": u64::try_from(finding.took_ms).unwrap_or(u64::MAX), "detail": finding.fault})
    });
    json!({"model": model, "ok": works, "checks": checks.collect::<Vec<_>>()})
}

fn print(app: &Console, model: &str, findings: &[Finding]) {
    use unicode_width::UnicodeWidthStr;
    let marks = terminal::marks();
    terminal::answer(model);
    let titles: Vec<String> =
        findings.iter().map(|finding| finding.title.in_lang(app.lang)).collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0);
    for (finding, title) in findings.iter().zip(&titles) {
        let room = " ".repeat(widest - title.width());
        let seconds = format!("{:.1}", finding.took_ms as f64 / 1000.0);
        let time = app.text(text::models::seconds(&seconds));
        let (mark, fault) = match &finding.fault {
            None => (marks.done, String::new()),
            Some(fault) => (marks.failed, format!("  {fault}")),
        };
        terminal::answer(&format!("{mark} {title}{room}  {time}{fault}"));
    }
}
