//! Whether a model works: three tiny calls, five findings.

use crate::app::App;
use crate::commands::run;
use crate::exit::{Exit, Failure};
use crate::terminal;
use crate::trouble::{Read, Trouble};
use everloop_models::{Delta, Model, Request, WirePrompt};
use everloop_types::{
    Message, ModelChoice, ModelError, ModelErrorKind, Reply, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The tool that the model is asked to call. Nothing is performed.
const TOOL: &str = "take_note";

/// One thing that works or does not.
struct Finding {
    /// For scripts; never changes.
    name: &'static str,
    /// For people.
    title: &'static str,
    /// Why not.
    fault: Option<String>,
    took_ms: u128,
}

pub(super) async fn test(app: &App, name: Option<String>, as_json: bool) -> Result<Exit, Failure> {
    let wanted = name.unwrap_or_else(|| run::default_model(app));
    let full = run::model(app, wanted)?;
    let choice = ModelChoice { name: full.clone(), ..ModelChoice::default() };
    let found = app.means(&app.settings).connected(&choice);
    let (model, name) =
        found.map_err(|error| app.failure(Exit::Configuration, "error.system", &error.detail))?;
    let tester = Tester { app, model, name, refused: OnceLock::new() };
    let mut findings = tester.words().await;
    // Whoever does not take the key, or has no such model, says the same to every call.
    if tester.refused.get().is_none() {
        findings.push(tester.call(ToolChoice::Auto, "tool_call", "models.tool_call").await);
        let named = ToolChoice::Named(TOOL.to_owned());
        findings.push(tester.call(named, "named_tool", "models.named_tool").await);
    } else {
        findings.truncate(1);
    }
    let works = findings.iter().all(|finding| finding.fault.is_none());
    let trouble = tester.refused.get().map(|error| Trouble::of(app, &full, error));
    match as_json {
        true => {
            let mut value = as_value(&full, works, &findings);
            value["error"] = trouble.as_ref().map_or(Value::Null, |trouble| trouble.object(app));
            terminal::answer(&value.to_string());
        }
        false => print(app, &full, &findings),
    }
    let Some(trouble) = trouble else {
        return Ok(if works { Exit::Done } else { Exit::Failed });
    };
    terminal::complain(&trouble.words(app, Read::InShell));
    Ok(if trouble.is_about_the_key() { Exit::Configuration } else { Exit::Failed })
}

struct Tester<'a> {
    app: &'a App,
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
            failed.clone().or_else(|| (!is_there).then(|| self.app.text("models.missing", &[])))
        };
        let is_text = |reply: &Reply| !reply.text.trim().is_empty();
        let text = missing(reply.as_ref().is_ok_and(is_text));
        let usage = missing(reply.as_ref().is_ok_and(|reply| reply.usage.total() > 0));
        let stream = missing(pieces > 1);
        let first_ms = first_ms.unwrap_or(took_ms);
        vec![
            Finding { name: "text", title: "models.text", fault: text, took_ms },
            Finding { name: "stream", title: "models.stream", fault: stream, took_ms: first_ms },
            Finding { name: "usage", title: "models.usage", fault: usage, took_ms },
        ]
    }

    /// A call of the one tool on offer.
    async fn call(&self, choice: ToolChoice, name: &'static str, title: &'static str) -> Finding {
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
            Ok(reply) if reply.calls.iter().any(|call| call.tool == TOOL) => None,
            Ok(_) => Some(self.app.text("models.no_call", &[])),
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
            temperature_milli: self.app.settings.small("model.temperature"),
            max_tokens: self.app.settings.small("model.max_tokens"),
        };
        let limit_ms = self.app.settings.number("model.test_timeout");
        let asked = self.model.ask(request, on_delta);
        let reply = match timeout(Duration::from_millis(limit_ms), asked).await {
            Ok(reply) => reply,
            Err(_) => {
                let seconds = (limit_ms / 1_000).to_string();
                let words = self.app.text("models.too_slow", &[("seconds", &seconds)]);
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

fn print(app: &App, model: &str, findings: &[Finding]) {
    use unicode_width::UnicodeWidthStr;
    let marks = terminal::marks();
    terminal::answer(model);
    let titles: Vec<String> = findings.iter().map(|finding| app.text(finding.title, &[])).collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0);
    for (finding, title) in findings.iter().zip(&titles) {
        let room = " ".repeat(widest - title.width());
        let seconds = format!("{:.1}", finding.took_ms as f64 / 1000.0);
        let time = app.text("models.seconds", &[("seconds", &seconds)]);
        let (mark, fault) = match &finding.fault {
            None => (marks.done, String::new()),
            Some(fault) => (marks.failed, format!("  {fault}")),
        };
        terminal::answer(&format!("{mark} {title}{room}  {time}{fault}"));
    }
}
