//! `/undo` and `/rewind`: files as they were before a turn.

use super::super::earlier::REWOUND;
use super::super::{ChatReply, Conversation, Reaction};
use crate::error::AppError;
use crate::runs::tree;
use crate::slash::{SlashLine, SlashResult};
use crate::undo::{self, RunChanges, UNDOS_READ, UndoReport, UndoRequest, standing_undos};
use everloop_engine::fresh_id;
use everloop_types::{RunId, UtcMs};

/// Turns among which the one with changes is looked for.
const TURNS_READ: usize = 100;

/// Turns that `/rewind` offers.
const TURNS_OFFERED: usize = 20;

/// A turn that a conversation can go back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindTurn {
    /// Its number: 1 is the newest.
    pub number: usize,
    /// Its run.
    pub run: RunId,
    /// What the person wanted.
    pub goal: String,
    /// When it began.
    pub at: UtcMs,
    /// How many files it changed.
    pub files: usize,
}

/// What a conversation was set back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindReport {
    /// The turn before which everything is again.
    pub turn: RewindTurn,
    /// What became of the files, run by run, the newest first.
    pub undone: Vec<UndoReport>,
    /// Whether the model no longer sees the turn and what came after it.
    pub forgets: bool,
}

/// What `/undo` is to do.
#[derive(Debug, Default, PartialEq, Eq)]
struct UndoWords<'a> {
    list: bool,
    redo: bool,
    /// The first change that is undone.
    to: Option<usize>,
    run: Option<&'a str>,
}

impl<'a> UndoWords<'a> {
    /// Reads `[ID] [list|redo|to N]`, with or without the dashes of the command line; nothing if a
    /// word is not understood.
    fn read(words: &'a str) -> Option<Self> {
        let mut read = Self::default();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            match word.trim_start_matches("--") {
                "list" => read.list = true,
                "redo" => read.redo = true,
                "to" => read.to = Some(words.next()?.parse().ok()?),
                id if read.run.is_none() && !word.starts_with('-') => read.run = Some(id),
                _ => return None,
            }
        }
        Some(read)
    }
}

/// `/undo [ID] [list|to N|redo]`.
pub(super) async fn undo(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let Some(words) = UndoWords::read(&line.rest) else {
        return Ok(ChatReply::Usage(line.command).into());
    };
    if words.redo {
        let undone = undo::undo_of_conversation(chat.store(), &chat.place.id).await?;
        let Some(undone) = undone else { return Ok(ChatReply::NothingToRedo.into()) };
        let report = undo::redo(&chat.app, chat.store(), &undone, "user").await?;
        return Ok(ChatReply::Undone(vec![report]).into());
    }
    let run = match words.run {
        None => newest_with_changes(chat).await?,
        Some(id) => Some(chat.app.find_run(chat.store(), id).await?),
    };
    let Some(run) = run else { return Ok(ChatReply::NothingToUndo.into()) };
    if words.list || words.to.is_some() {
        let changes = RunChanges::read(chat.store(), &run).await?;
        let is_there = words.to.is_none_or(|to| (1..=changes.steps.len()).contains(&to));
        // A number that is none of theirs is answered with those there are.
        if words.list || !is_there {
            return Ok(ChatReply::Changes(Box::new(changes)).into());
        }
    }
    let request = UndoRequest { run, to: words.to, by: "user".to_owned() };
    let report = undo::undo(&chat.app, chat.store(), &request).await?;
    Ok(ChatReply::Undone(vec![report]).into())
}

/// `/rewind [NUMBER [all]]`: without a number a surface lets the person pick.
pub(super) async fn rewind(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let turns = turns(chat).await?;
    if turns.is_empty() {
        return Ok(ChatReply::NoRun.into());
    }
    let (number, scope) = super::first_word(&line.rest);
    if number.is_empty() {
        return Ok(Reaction::Rewind(turns));
    }
    let forgets = match scope {
        "" | "files" => false,
        "all" => true,
        _ => return Ok(ChatReply::Usage(line.command).into()),
    };
    let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let Some(turn) = at.and_then(|at| turns.get(at)) else {
        return Ok(ChatReply::Usage(line.command).into());
    };
    let mut undone = Vec::new();
    for later in turns.iter().take(turn.number).filter(|turn| turn.files > 0) {
        undone.push(undo_run(chat, later.run.clone()).await?);
    }
    if forgets {
        let now = chat.engine.clock().now();
        let id = fresh_id("message_", now);
        let conversation = &chat.place.id;
        let body = turn.run.as_str();
        chat.store().conversations().say(conversation, &id, REWOUND, body, now).await?;
        chat.at_limit = None;
    }
    Ok(ChatReply::Rewound(RewindReport { turn: turn.clone(), undone, forgets }).into())
}

async fn undo_run(chat: &Conversation, run: RunId) -> Result<UndoReport, AppError> {
    let request = UndoRequest { run, to: None, by: "user".to_owned() };
    undo::undo(&chat.app, chat.store(), &request).await
}

/// The newest run of the conversation that changed files and was not undone.
async fn newest_with_changes(chat: &Conversation) -> Result<Option<RunId>, AppError> {
    let conversation = &chat.place.id;
    let undos = chat.store().undos().of_conversation(conversation, UNDOS_READ).await?;
    for run in chat.store().conversations().runs_of(conversation, TURNS_READ).await? {
        let is_undone = standing_undos(&undos).any(|undo| undo.run == run);
        if !is_undone && is_turn(chat, &run).await? && count_files(chat, &run).await? > 0 {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// The turns of the conversation, the newest first.
async fn turns(chat: &Conversation) -> Result<Vec<RewindTurn>, AppError> {
    let mut turns = Vec::new();
    for run in chat.store().conversations().runs_of(&chat.place.id, TURNS_READ).await? {
        if turns.len() == TURNS_OFFERED {
            break;
        }
        let Some(row) = chat.store().runs().get(&run).await? else { continue };
        if row.origin.parent.is_some() || row.origin.imported {
            continue;
        }
        let (number, files) = (turns.len() + 1, count_files(chat, &run).await?);
        let (goal, at) = (row.goal, row.times.created_at);
        turns.push(RewindTurn { number, run, goal, at, files });
    }
    Ok(turns)
}

/// Whether a person began the run here.
async fn is_turn(chat: &Conversation, run: &RunId) -> Result<bool, AppError> {
    let row = chat.store().runs().get(run).await?;
    Ok(row.is_some_and(|row| row.origin.parent.is_none() && !row.origin.imported))
}

/// How many files a run and those below it changed. Only runs with copies have changed any.
async fn count_files(chat: &Conversation, run: &RunId) -> Result<usize, AppError> {
    let checkpoints = chat.app.checkpoints();
    let family = tree(chat.store(), run).await?;
    if !family.iter().any(|(_, row)| checkpoints.has_run(&row.run)) {
        return Ok(0);
    }
    Ok(RunChanges::read(chat.store(), run).await?.files().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_undo_is_asked_for_in_the_words_of_the_chat_and_of_the_command_line() {
        let list = UndoWords { list: true, ..UndoWords::default() };
        assert_eq!(UndoWords::read("list"), Some(UndoWords { list: true, ..list }));
        assert_eq!(UndoWords::read("--list"), Some(UndoWords { list: true, ..list }));
        let to = UndoWords { to: Some(2), run: Some("abc"), ..UndoWords::default() };
        assert_eq!(UndoWords::read("abc --to 2"), Some(to));
        assert_eq!(UndoWords::read("--redo").map(|words| words.redo), Some(true));
        assert_eq!(UndoWords::read(""), Some(UndoWords::default()));
        for wrong in ["--nope", "a b", "--to", "--to x"] {
            assert_eq!(UndoWords::read(wrong), None, "{wrong}");
        }
    }
}
