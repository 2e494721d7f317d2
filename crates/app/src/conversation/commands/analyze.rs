//! `/analyze [--loop NAME] [--out DIR] FILE… QUESTION`: a question about data files, as a run of
//! this conversation.

use super::super::{ChatReply, Conversation, EarlierTurns, Reaction};
use crate::analysis::{self, AnalysisRequest, DataPreview, Preload};
use crate::error::{AppError, RunTypeError};
use crate::frames::{self, RunOptions};
use crate::slash::{SlashLine, SlashResult};
use everloop_analysis::AnalysisError;
use everloop_types::Policy;
use std::path::PathBuf;

/// Bytes of files that are loaded before the run begins.
const PREVIEW_BYTES_MAX: u64 = 128 << 20;

/// What follows the command.
#[derive(Debug, Default, PartialEq)]
struct AnalyzeWords {
    loop_name: Option<String>,
    out: Option<PathBuf>,
    files: Vec<PathBuf>,
    question: String,
}

/// Options and the words that are files come first; what follows is the question.
fn read(line: &str, is_file: impl Fn(&str) -> bool) -> AnalyzeWords {
    let mut words = AnalyzeWords::default();
    let mut rest = line.trim();
    while let Some((word, after)) = first_word(rest) {
        match word {
            "--loop" | "--out" => {
                let Some((value, after)) = first_word(after) else { break };
                match word {
                    "--loop" => words.loop_name = Some(value.to_owned()),
                    _ => words.out = Some(PathBuf::from(value)),
                }
                rest = after;
            }
            word if is_file(word.trim_start_matches('@')) => {
                words.files.push(PathBuf::from(word.trim_start_matches('@')));
                rest = after;
            }
            _ => break,
        }
    }
    words.question = rest.trim_matches(['"', '\'']).to_owned();
    words
}

/// A word, which may have blanks between quotes, and what follows it.
fn first_word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let quote = line.chars().next()?;
    if ['"', '\''].contains(&quote)
        && let Some((word, rest)) = line[1..].split_once(quote)
    {
        return Some((word, rest.trim_start()));
    }
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    Some((&line[..end], line[end..].trim_start()))
}

/// Loads what is read at once, so that the person sees what it is before a model does. A larger
/// file is loaded by the run, which can be stopped.
async fn preview(chat: &Conversation, request: &AnalysisRequest) -> PreviewResult {
    let mut files = Vec::new();
    let mut bytes = 0;
    for file in &request.files {
        let path = chat.choice.workspace.join(file);
        let path = path.canonicalize().unwrap_or(path);
        bytes += path.metadata().map_or(0, |found| found.len());
        files.push(path);
    }
    let Some(session) = request.session.as_ref().filter(|_| bytes <= PREVIEW_BYTES_MAX) else {
        return Ok(None);
    };
    let (limits, share) = (analysis::read_limits(&chat.app), chat.app.settings.analysis.share);
    let target = analysis::data_folder(&chat.app, session);
    let before = analysis::preload(&chat.app, &files);
    let work = move || {
        let data = before.as_ref().map_or_else(|| target.clone(), Preload::data);
        let mut tables = Vec::new();
        for file in &files {
            tables.extend(data.load(file, &limits, &|_| {})?);
        }
        if let Some(before) = before {
            // If they stay where they are, the run loads them again.
            let _ = before.give_to(&target);
        }
        Ok(DataPreview { tables, share })
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(preview)) => Ok(Some(Box::new(preview))),
        Ok(Err(error)) => {
            let error: AnalysisError = error;
            let detail = error.text().in_lang(chat.app.lang);
            Err(RunTypeError::BadInput { run_type: "analyze", detail }.into())
        }
        Err(_) => Ok(None),
    }
}

type PreviewResult = Result<Option<Box<DataPreview>>, AppError>;

pub(super) async fn analyze(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if chat.choice.model.is_empty() {
        return Ok(ChatReply::NoModel.into());
    }
    let workspace = chat.choice.workspace.clone();
    let words = read(&line.rest, |name| workspace.join(name).is_file());
    if words.files.is_empty() {
        let detail = format!("files: {}", words.question);
        return Err(RunTypeError::BadInput { run_type: "analyze", detail }.into());
    }
    let loop_name = words.loop_name.as_deref().map(frames::loop_name).transpose()?;
    let options = RunOptions {
        loop_name,
        model: Some(chat.choice.model.clone()),
        workspace: Some(workspace),
        persona: Some(chat.choice.persona.clone()),
        ..RunOptions::default()
    };
    let session = Some(analysis::new_session());
    let AnalyzeWords { files, question, out, .. } = words;
    let request = AnalysisRequest { files, question, out, session, ..AnalysisRequest::default() };
    let mut made = analysis::submission(&chat.app, &options, &request)?;
    let shown = preview(chat, &request).await?;
    let earlier = EarlierTurns::of(&chat.app, chat.store(), &chat.place.id).await?;
    let mut inherited = earlier.held(chat.store()).await;
    inherited.join(&made.frame.policy.inherited);
    made.frame.policy = Policy { inherited, ..chat.choice.policy.clone() };
    made.profile.run_type = "analyze".to_owned();
    chat.place.record(&chat.app, chat.engine.store(), &chat.choice.workspace).await?;
    let run = chat.engine.submit_in(chat.place.id.clone(), made).await?;
    chat.questions.terminals.take(&run);
    Ok(Reaction::Follow(run, shown.map(ChatReply::DataPreview)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_files_come_first_and_the_rest_is_the_question() {
        let read = |line| read(line, |name| name.ends_with(".csv"));
        let words = read("--loop react a.csv @b.csv which region, \"East\" or West?");
        assert_eq!(words.loop_name.as_deref(), Some("react"));
        assert_eq!(words.files, [PathBuf::from("a.csv"), PathBuf::from("b.csv")]);
        assert_eq!(words.question, "which region, \"East\" or West?");
        let words = read("'my sales.csv' --out report \"which region?\"");
        assert_eq!(words.files, [PathBuf::from("my sales.csv")]);
        assert_eq!(words.out, Some(PathBuf::from("report")));
        assert_eq!(words.question, "which region?");
    }
}
