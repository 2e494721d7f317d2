//! A user of the agenda, in Shanghai, on a Sunday morning.
#![allow(clippy::unwrap_used, dead_code, reason = "tests fail by panicking, and share this file")]

use everloop_agenda::commands::{self, AgendaCommand};
use everloop_agenda::desk::{Agenda, CommandOutcome};
use everloop_agenda::kept::AgendaConfig;
use everloop_agenda::show::{self, DisplayContext};
use everloop_store::Store;
use everloop_types::Lang;
use jiff::Zoned;

pub(crate) struct Person {
    pub(crate) store: Store,
    pub(crate) desk: Agenda,
    pub(crate) reader: DisplayContext,
}

pub(crate) fn person() -> Person {
    person_in("2026-11-15T09:00[Asia/Shanghai]")
}

pub(crate) fn person_in(now: &str) -> Person {
    let store = Store::memory();
    let desk = Agenda::new(store.clone(), AgendaConfig::default());
    let now: Zoned = now.parse().unwrap();
    Person { store, desk, reader: DisplayContext { lang: Lang::ZhCn, now, width: None } }
}

impl Person {
    pub(crate) async fn say(&self, line: &str) -> String {
        self.perform(line, None).await
    }

    pub(crate) async fn say_keyed(&self, line: &str, key: &str) -> String {
        self.perform(line, Some(key)).await
    }

    async fn perform(&self, line: &str, key: Option<&str>) -> String {
        match commands::parse(line, &self.reader.now) {
            Ok(command) => {
                let answer = self.desk.perform(&command, &self.reader.now, key).await.unwrap();
                show::answer(&self.reader, &answer)
            }
            Err(wrong) => show::wrong(&self.reader, &wrong),
        }
    }

    /// The command as it was understood.
    pub(crate) fn echo(&self, line: &str) -> String {
        commands::canonical(&self.parsed(line), &self.reader.now)
    }

    pub(crate) fn parsed(&self, line: &str) -> AgendaCommand {
        commands::parse(line, &self.reader.now).unwrap_or_else(|wrong| panic!("{line}: {wrong:?}"))
    }

    /// The numbers of the todos that a command lists.
    pub(crate) async fn ids(&self, line: &str) -> Vec<i64> {
        let answer = self.desk.perform(&self.parsed(line), &self.reader.now, None).await.unwrap();
        match answer {
            Ok(CommandOutcome::Todos(list)) => list.todos.iter().map(|todo| todo.id).collect(),
            other => panic!("{line}: {other:?}"),
        }
    }
}
