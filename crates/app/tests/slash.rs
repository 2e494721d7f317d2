//! The table of slash commands: whole, and every row reached by a line.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_agenda::commands::CommandError;
use everloop_app::conversation::{
    ChatReply, Conversation, ConversationRequest, Reaction, SLASH_COMMANDS,
};
use everloop_app::frames::RunOptions;
use everloop_app::home::Home;
use everloop_app::settings::SettingSources;
use everloop_app::slash::{self, SlashKind};
use everloop_app::{App, Notices, OpenOptions};
use everloop_types::Lang;
use std::collections::BTreeSet;
use tempfile::TempDir;

async fn conversation(folder: &TempDir) -> Conversation {
    let home = Home::under(&folder.path().join("home"));
    let workspace = folder.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let sources = SettingSources {
        path: home.config_file(),
        text: None,
        trouble: None,
        environment: Vec::new(),
        set: Vec::new(),
        database: None,
        lang: Some(Lang::En),
    };
    let options =
        OpenOptions { sources, home, build: "test".to_owned(), notices: Notices::ignored() };
    let run = RunOptions { workspace: Some(workspace), ..RunOptions::default() };
    let request = ConversationRequest::default();
    Conversation::open(App::open(options).unwrap(), &run, &request).await.unwrap()
}

#[test]
fn every_row_has_a_unique_name_texts_in_both_languages_and_a_line_in_help() {
    let names: BTreeSet<&str> = SLASH_COMMANDS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), SLASH_COMMANDS.len(), "two rows have one name");
    for lang in [Lang::En, Lang::ZhCn] {
        let all = slash::help_text(None, lang);
        for row in SLASH_COMMANDS {
            let summary = row.summary(lang);
            assert!(!summary.is_empty(), "{}", row.name);
            let is_listed = |line: &str| {
                line.split_whitespace().next() == Some(&format!("/{}", row.name))
                    && line.ends_with(&summary)
            };
            assert!(all.lines().any(is_listed), "/{} is not in: {all}", row.name);
            let one = slash::help_text(Some(row), lang);
            assert!(!row.usages(lang).is_empty(), "{}", row.name);
            for usage in row.usages(lang) {
                assert!(usage.starts_with(&format!("/{}", row.name)), "{usage}");
                assert!(one.contains(&usage), "{one}");
            }
        }
    }
}

#[test]
fn every_other_name_means_a_row_and_hides_none() {
    for (alias, canonical) in everloop_text::command_names() {
        assert!(SLASH_COMMANDS.iter().all(|row| row.name != *alias), "{alias} hides a command");
        let found = slash::find(alias).map(|row| row.name);
        assert_eq!(found, Some(*canonical), "{alias}");
    }
}

#[test]
fn what_others_must_recognise_exists_once() {
    for kind in [SlashKind::Help, SlashKind::Cancel, SlashKind::Loop, SlashKind::Quit] {
        let rows = SLASH_COMMANDS.iter().filter(|row| row.kind == kind);
        assert_eq!(rows.count(), 1, "{kind:?}");
    }
    let agenda = SLASH_COMMANDS.iter().filter(|row| row.kind == SlashKind::Agenda);
    let names: Vec<&str> = agenda.map(|row| row.name).collect();
    assert_eq!(names, ["todo", "schedule", "view", "done", "snooze"]);
    for line in ["/cancel", "／取消", "/CANCEL now", "、取消。"] {
        assert!(slash::is_cancel(line), "{line}");
    }
    for line in ["cancel", "//cancel", "/clear", "取消", ""] {
        assert!(!slash::is_cancel(line), "{line}");
    }
}

#[tokio::test]
async fn every_row_is_reached_by_its_name() {
    let folder = TempDir::new().unwrap();
    let mut conversation = conversation(&folder).await;
    for row in SLASH_COMMANDS {
        let line = format!("/{}", row.name);
        assert_eq!(slash::read(&line).unwrap().command, row);
        let Ok(reaction) = conversation.send(&line).await else { panic!("{line} failed") };
        let is_itself = match row.name {
            "help" => matches!(reaction, Reaction::Reply(ChatReply::Help(None))),
            "todo" | "schedule" => {
                matches!(reaction, Reaction::Reply(ChatReply::Agenda(_)))
            }
            "view" => matches!(reaction, Reaction::Reply(ChatReply::Wrong(CommandError::Usage(_)))),
            "inbox" => matches!(reaction, Reaction::Reply(ChatReply::Inbox(..))),
            "cancel" => matches!(reaction, Reaction::Reply(ChatReply::NothingToCancel)),
            "plan" | "runs" | "resume" | "fork" => {
                matches!(reaction, Reaction::Reply(ChatReply::NoRun))
            }
            "settle" => matches!(reaction, Reaction::Reply(ChatReply::NothingToSettle)),
            "bg" => matches!(reaction, Reaction::Background),
            "history" | "export" => {
                matches!(reaction, Reaction::Reply(ChatReply::History(_)))
            }
            "loop" => matches!(reaction, Reaction::Reply(ChatReply::Loops)),
            "model" => matches!(reaction, Reaction::Reply(ChatReply::NoModel)),
            "persona" => matches!(reaction, Reaction::Reply(ChatReply::Personas)),
            "new" => matches!(reaction, Reaction::Reply(ChatReply::BeganAnew)),
            "image" | "import" | "lang" => {
                matches!(reaction, Reaction::Reply(ChatReply::Usage(usage)) if usage == row)
            }
            "tour" => matches!(reaction, Reaction::Tour),
            "clear" => matches!(reaction, Reaction::Clear),
            "quit" => matches!(reaction, Reaction::Quit),
            // A new row: it is enough that its handler answers.
            _ => !matches!(reaction, Reaction::Reply(ChatReply::Wrong(_)) | Reaction::Follow(..)),
        };
        assert!(is_itself, "{line} did something else");
    }
    let help = conversation.send("/help /loop").await.unwrap();
    assert!(matches!(help, Reaction::Reply(ChatReply::Help(Some(row))) if row.name == "loop"));
    let added = conversation.send("／待办　add　\"buy milk\"").await.unwrap();
    let Reaction::Reply(ChatReply::Agenda(added)) = added else { panic!("nothing was added") };
    let answer = everloop_agenda::show::answer(&conversation.app().reader_at(None), &added.result);
    assert!(answer.contains("buy milk") && !answer.contains('"'), "{answer}");
    conversation.leave().await;
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_of_all() {
    for (line, nearest) in [
        ("/tood add x", Some("todo")),
        ("/sched", Some("schedule")),
        ("/hepl", Some("help")),
        ("/resum", Some("resume")),
        ("/zzzzzzzz", None),
    ] {
        let name = line.split(' ').next().unwrap().to_owned();
        assert_eq!(slash::read(line), Err(CommandError::NoSuchCommand(name, nearest)), "{line}");
    }
}

#[test]
fn input_methods_and_two_slashes() {
    for line in ["/help", "／help", "、help", "　/ｈｅｌｐ。", "/帮助", "/nonsense"] {
        assert!(slash::is_command(line), "{line}");
    }
    for line in ["//help", "、nonsense", "help", "a /help", ""] {
        assert!(!slash::is_command(line), "{line}");
    }
    let line = slash::read("/export todos \"my file.txt\"").unwrap();
    assert_eq!((line.command.name, line.rest.as_str()), ("export", "todos my file.txt"));
}

#[test]
fn completions_are_names_then_parts_then_options() {
    assert_eq!(slash::completions("/").len(), SLASH_COMMANDS.len());
    for (line, words) in [
        ("/he", &["/help"][..]),
        ("/re", &["/resume", "/rename", "/rewind"]),
        ("/待", &["/待办"]),
        ("/todo a", &["add"]),
        ("/待办 s", &["search", "snooze"]),
        ("/lang ", &["zh-CN", "en"]),
        ("/todo add milk --d", &["--due"]),
        ("/todo done 1 --", &["--tag", "--view", "--open"]),
        ("/view today --o", &["--open"]),
        ("/schedule add x --r", &["--remind", "--remind-start", "--repeat", "--run"]),
        ("/todo add m", &[]),
        ("/nonsense a", &[]),
        ("he", &[]),
    ] {
        assert_eq!(slash::completions(line), words, "{line}");
    }
}
