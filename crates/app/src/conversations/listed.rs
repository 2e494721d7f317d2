//! One conversation as people see it: its title, its folder, what goes on in it.

use crate::home::Home;
use crate::show::timestamp;
use everloop_store::{ConversationRow, TASK_CHANNEL};
use everloop_types::one_line;
use serde_json::{Value, json};
use std::path::Path;

/// Characters of a title that is made of a goal.
const TITLE_CHARS: usize = 48;

/// Characters of an id that are shown.
const SHORT_CHARS: usize = 6;

/// Where the messages of a conversation come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConversationChannel {
    /// A person at a terminal.
    #[default]
    Terminal,
    /// A chat whose lines come through a pipe.
    Pipe,
    /// One question of a script: `everloop -p`.
    Print,
    /// One goal: `everloop run`.
    Run,
    /// A program that speaks HTTP, or a page.
    Api,
    /// What tells of the end of a run that belongs to no conversation.
    Task,
}

impl ConversationChannel {
    /// As it is stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Pipe => "pipe",
            Self::Print => "print",
            Self::Run => "run",
            Self::Api => "api",
            Self::Task => TASK_CHANNEL,
        }
    }

    /// The other way in which lines come to a chat.
    #[must_use]
    pub(crate) fn other_chat(self) -> Self {
        match self {
            Self::Terminal => Self::Pipe,
            Self::Pipe | Self::Print | Self::Run | Self::Api | Self::Task => Self::Terminal,
        }
    }

    /// Whether a conversation of this channel is one question of a script, which lists leave out.
    #[must_use]
    pub fn is_one_off(name: &str) -> bool {
        name == Self::Print.name() || name == Self::Run.name()
    }

    /// Whether a chat can go on with a conversation of this channel.
    #[must_use]
    pub fn is_chat(name: &str) -> bool {
        name == Self::Terminal.name() || name == Self::Pipe.name()
    }
}

/// What goes on in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationState {
    /// A run works.
    Working,
    /// A run waits for an answer or for its model.
    Waiting,
    /// Something was said that nobody has read.
    Unread,
    /// Nothing.
    Idle,
}

impl ConversationState {
    /// For programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Waiting => "waiting",
            Self::Unread => "unread",
            Self::Idle => "idle",
        }
    }
}

/// One conversation of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedConversation {
    /// Its row in the store.
    pub row: ConversationRow,
    /// Whether a terminal of this home has it open.
    pub is_in_use: bool,
    /// Where the words of a search were found in its messages.
    pub excerpt: Option<String>,
}

/// The end of an id: enough to tell it from others, and accepted everywhere.
#[must_use]
pub fn short_id(id: &str) -> &str {
    let own = id.split_once('_').map_or(id, |(_, own)| own);
    if own.chars().count() <= SHORT_CHARS + 2 {
        return own;
    }
    let from = own.char_indices().rev().nth(SHORT_CHARS - 1).map_or(0, |(at, _)| at);
    &own[from..]
}

/// A folder as people write it: `~` for their own.
#[must_use]
pub fn short_folder(folder: &str) -> String {
    let Some(user) = Home::of_user() else { return folder.to_owned() };
    match Path::new(folder).strip_prefix(&user) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => folder.to_owned(),
    }
}

/// A text on one line, with its words and nothing that a person does not see.
pub(super) fn on_one_line(text: &str) -> String {
    one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// One line of at most so many characters.
pub(super) fn clip(text: &str, most: usize) -> String {
    let line = on_one_line(text);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most - 1).collect();
    format!("{}…", cut.trim_end())
}

impl ListedConversation {
    /// A row, seen from this home.
    #[must_use]
    pub fn new(row: ConversationRow) -> Self {
        Self { row, is_in_use: false, excerpt: None }
    }

    /// The title that it was given or that was made for it, or its first goal.
    #[must_use]
    pub fn title(&self) -> String {
        match (&self.row.title, &self.row.first_goal) {
            (Some(title), _) => on_one_line(title),
            (None, Some(goal)) => clip(goal, TITLE_CHARS),
            (None, None) => self.short_id().to_owned(),
        }
    }

    /// Where the title comes from: `given` by a person, `made` by the model, or the first `goal`.
    #[must_use]
    pub fn title_source(&self) -> &'static str {
        match (&self.row.title, self.row.title_is_made) {
            (None, _) => "goal",
            (Some(_), true) => "made",
            (Some(_), false) => "given",
        }
    }

    /// Whether words occur in its title or its first goal as a whole.
    pub(super) fn has_in_title(&self, words: &str) -> bool {
        let shown = self.row.title.as_ref().or(self.row.first_goal.as_ref());
        shown.is_some_and(|shown| shown.to_lowercase().contains(&words.to_lowercase()))
    }

    /// The end of its id.
    #[must_use]
    pub fn short_id(&self) -> &str {
        short_id(self.row.id.as_str())
    }

    /// Its folder as people write it; empty if it is unknown.
    #[must_use]
    pub fn folder(&self) -> String {
        self.row
            .workspace
            .as_deref()
            .map(|folder| one_line(&short_folder(folder)))
            .unwrap_or_default()
    }

    /// What goes on in it.
    #[must_use]
    pub fn state(&self) -> ConversationState {
        let counts = &self.row.counts;
        if counts.working > 0 {
            ConversationState::Working
        } else if counts.waiting > 0 {
            ConversationState::Waiting
        } else if self.has_unread() {
            ConversationState::Unread
        } else {
            ConversationState::Idle
        }
    }

    /// Whether something was said in it that nobody has seen. What is on a screen is seen.
    #[must_use]
    pub fn has_unread(&self) -> bool {
        self.row.has_unread() && !self.is_in_use
    }

    /// Whether a chat can go on with it.
    #[must_use]
    pub fn is_chat(&self) -> bool {
        ConversationChannel::is_chat(&self.row.channel)
    }

    /// For programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let row = &self.row;
        let mut object = json!({
            "conversation_id": row.id, "title": self.title(),
            "given_title": row.title.as_ref().filter(|_| !row.title_is_made),
            "title_source": self.title_source(),
            "channel_type": row.channel, "channel_thread_id": row.thread,
            "workspace": row.workspace, "created_at": timestamp(row.created_at),
            "updated_at": timestamp(row.updated_at),
            "last_read_at": row.last_read_at.map(timestamp),
            "archived_at": row.archived_at.map(timestamp), "out_of_memory": row.out_of_memory,
            "has_unread": self.has_unread(), "state": self.state().name(),
            "in_use": self.is_in_use, "messages": row.counts.last_pos,
            "unread": row.counts.unread,
        });
        if let Some(excerpt) = &self.excerpt {
            object["excerpt"] = json!(excerpt);
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_id_is_the_end_of_a_long_one_and_the_whole_of_a_short_one() {
        assert_eq!(short_id("conv_01jczxyz0123456789abcdef"), "abcdef");
        assert_eq!(short_id("conv_terminal"), "terminal");
        assert_eq!(short_id("x"), "x");
    }

    #[test]
    fn a_title_is_one_line_of_a_bound() {
        assert_eq!(clip("  mend\nthe fence ", 48), "mend the fence");
        assert_eq!(clip(&"字".repeat(60), 48).chars().count(), 48);
    }
}
