//! `runs …` on a server elsewhere.

use super::RemoteConsole;
use crate::args::{OutputFormat, RunsVerb};
use everloop_console::show::settling::settled_there;
use everloop_console::show::{PrintMode, Printer};
use everloop_console::terminal;
use everloop_console::{Exit, Failure};
use everloop_engine::RunView;
use everloop_text as text;
use everloop_types::{RunId, SettledOutcome, Status, short_id};
use serde_json::{Value, json};

/// Events of one request.
const EVENTS_AT_ONCE: usize = 1_000;

impl RemoteConsole<'_> {
    pub(super) async fn runs(&self, verb: RunsVerb) -> Result<Exit, Failure> {
        match verb {
            RunsVerb::List { json, status, limit, cursor } => {
                let is_narrowed = !status.is_empty() || cursor.is_some();
                let mut query = vec![("limit", limit.to_string())];
                query.extend((!status.is_empty()).then(|| ("status", status.join(","))));
                query.extend(cursor.map(|cursor| ("cursor", cursor)));
                let page = self.server.get_with("v1/records/runs", &query).await;
                self.print_list(&self.checked(page)?, json, is_narrowed);
                Ok(Exit::Done)
            }
            RunsVerb::Show { diff: true, json: false, .. } => {
                Err(self.refuse("everloop runs show --diff"))
            }
            RunsVerb::Show { id, json, .. } => {
                let record = self.record(&id).await?;
                match json {
                    true => terminal::print_line(&record.to_string()),
                    false => self.print_record(&record),
                }
                Ok(Exit::Done)
            }
            RunsVerb::Tree { id, json } => {
                let run = self.find(&id).await?;
                let tree = self.server.get(&format!("v1/runs/{run}/tree")).await;
                let tree = self.checked(tree)?;
                match json {
                    true => terminal::print_json(&tree),
                    false => self.print_tree(&tree, 0),
                }
                Ok(Exit::Done)
            }
            RunsVerb::Events { id, after } => self.events(&id, after).await,
            RunsVerb::Cancel { id, json } => self.cancel(&id, json).await,
            RunsVerb::Resume { id, answer, to, output_format, json } => {
                let answer = answer.map(|answer| (answer, to));
                self.resume(&id, answer, output_format.or_json(json)).await
            }
            RunsVerb::Retry { id, background, model, yes, key, output_format, json } => {
                let asked = (json!({"model": model, "yes": yes}), key);
                self.retry(&id, asked, background, output_format.or_json(json)).await
            }
            RunsVerb::Delete(_) => Err(self.refuse("everloop runs delete")),
            RunsVerb::Switch { id, loop_name, yes, output_format, json } => {
                let asked = json!({"loop": loop_name, "yes": yes});
                self.switch(&id, &asked, output_format.or_json(json)).await
            }
            RunsVerb::Undo(_) => Err(self.refuse("everloop runs undo")),
            RunsVerb::Settle { id, word, effect, json } => {
                self.settle(&id, &json!({"verdict": word, "effect": effect}), json).await
            }
        }
    }

    /// A run with its numbers. An id may be the end of one.
    async fn record(&self, id: &str) -> Result<Value, Failure> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if id.is_empty() || !id.chars().all(is_plain) {
            return Err(self.app.failure(Exit::Usage, text::run::not_found(&id)));
        }
        let record = self.server.get(&format!("v1/records/runs/{id}")).await;
        record.map_err(|error| match &error {
            everloop_remote::RemoteError::Refused(problem) if problem.code == "not_found" => {
                self.app.failure(Exit::Usage, text::run::not_found(&id))
            }
            _ => super::failure::of(self.app, self.server.shown(), &error),
        })
    }

    async fn find(&self, id: &str) -> Result<RunId, Failure> {
        let record = self.record(id).await?;
        Ok(RunId::new(record["run_id"].as_str().unwrap_or_default()))
    }

    /// Several events may share one number, so a page that is full is begun again at its last one.
    async fn events(&self, id: &str, after: i64) -> Result<Exit, Failure> {
        let run = self.find(id).await?;
        let (mut after, mut seen) = (after, 0);
        loop {
            let from = if seen > 0 { after - 1 } else { after };
            let query = [("after", from.to_string()), ("limit", EVENTS_AT_ONCE.to_string())];
            let page = self.server.get_with(&format!("v1/runs/{run}/events"), &query).await;
            let page = self.checked(page)?;
            let events = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
            for event in events.iter().skip(seen) {
                terminal::print_line(&event.to_string());
            }
            if page["next_cursor"].is_null() {
                return Ok(Exit::Done);
            }
            after = events.last().and_then(|event| event["seq"].as_i64()).unwrap_or(after);
            seen = events.iter().filter(|event| event["seq"] == after).count();
        }
    }

    async fn cancel(&self, id: &str, json: bool) -> Result<Exit, Failure> {
        let run = self.find(id).await?;
        let path = format!("v1/records/runs/{run}/cancel");
        let done = self.checked(self.server.post(&path, &json!({}), None).await)?;
        if json {
            terminal::print_json(&done);
            return Ok(Exit::Done);
        }
        let status = done["status"].as_str().and_then(Status::parse).unwrap_or(Status::Canceled);
        self.app.note(match done["result"].as_str() {
            Some("already_over") => text::run::already_finished(&run.short(), &status),
            Some("canceled") => text::run::is_canceled(&run.short()),
            _ => text::run::cancel_waits(&run.short()),
        });
        Ok(Exit::Done)
    }

    /// Answers the question of a run, if there is an answer, and follows the run.
    pub(super) async fn resume(
        &self,
        id: &str,
        answer: Option<(String, Option<String>)>,
        format: OutputFormat,
    ) -> Result<Exit, Failure> {
        let record = self.record(id).await?;
        let run = RunId::new(record["run_id"].as_str().unwrap_or_default());
        let after = record["events"].as_i64().unwrap_or(0);
        if let Some((said, to)) = answer {
            let asked = record["waiting_for"]["question"]["id"].as_str();
            let Some(question) = to.as_deref().or(asked) else {
                let words = text::run::asks_nothing(&short_id(run.as_str()));
                return Err(self.app.failure(Exit::Usage, words));
            };
            let path = format!("v1/interrupts/{run}.{question}/answer");
            let given = json!({"action": "respond", "text": said});
            self.checked(self.server.post(&path, &given, None).await)?;
        }
        let status = record["status"].as_str().and_then(Status::parse);
        if status.is_some_and(Status::is_final) {
            let printer = Printer::new(self.app, PrintMode::Silent, RunView::new(run.clone()));
            return self.finish(&run, format, &printer).await;
        }
        let path = format!("v1/runs/{run}/resume");
        self.checked(self.server.post(&path, &json!({}), None).await)?;
        self.follow(&run, after, format).await
    }

    async fn retry(
        &self,
        id: &str,
        (asked, key): (Value, Option<String>),
        background: bool,
        format: OutputFormat,
    ) -> Result<Exit, Failure> {
        let first = self.find(id).await?;
        let path = format!("v1/runs/{first}/retry");
        let made = self.checked(self.server.post(&path, &asked, key.as_deref()).await)?;
        let run = RunId::new(made["id"].as_str().unwrap_or_default());
        if background {
            self.queued(&run, format);
            return Ok(Exit::Done);
        }
        self.app.note(text::run::begun(&run.short()));
        self.follow(&run, 0, format).await
    }

    async fn switch(&self, id: &str, asked: &Value, format: OutputFormat) -> Result<Exit, Failure> {
        let record = self.record(id).await?;
        let run = RunId::new(record["run_id"].as_str().unwrap_or_default());
        let path = format!("v1/runs/{run}/switch");
        let done = self.checked(self.server.post(&path, asked, None).await)?;
        let name = done["loop"].as_str().unwrap_or_default();
        self.app.note(text::switch::wanted(&name, &run.short()));
        self.follow(&run, record["events"].as_i64().unwrap_or(0), format).await
    }

    async fn settle(&self, id: &str, asked: &Value, json: bool) -> Result<Exit, Failure> {
        let path = format!("v1/runs/{}/settle", self.find(id).await?);
        let done = self.checked(self.server.post(&path, asked, None).await)?;
        let settled = done["settled"].as_str().and_then(SettledOutcome::parse);
        match settled {
            _ if json => terminal::print_json(&done),
            Some(settled) => terminal::print_line(&settled_there(self.app, &done["tool"], settled)),
            None => {}
        }
        Ok(if settled.is_some() { Exit::Done } else { Exit::Unsettled })
    }
}
