//! The labelled phrases of `testdata/phrases.tsv` and lines of `testdata/lines.tsv`, each through
//! every kind of input: an option, a todo, an entry, a sentence. The score is printed.

use everloop_agenda::commands::{
    self, AgendaCommand, CommandError, NewEntry, ScheduleCommand, TodoCommand,
};
use everloop_agenda::rules;
use jiff::Zoned;
use std::collections::BTreeMap;

/// The result of a phrase for one kind of input.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Got {
    Right,
    Refused(String),
    Wrong(String),
}

/// The labelled meaning of a phrase.
#[derive(Debug, Default)]
struct Label {
    day: String,
    time: Option<String>,
    minutes: Option<i64>,
    repeat: Option<String>,
    times: Option<i64>,
    is_deadline: bool,
    /// A part of today that has begun: an entry then needs a time.
    is_part: bool,
}

impl Label {
    fn of(text: &str) -> Option<Self> {
        let mut label = Self::default();
        for word in text.split(' ') {
            match word {
                "refuse" => return None,
                "by" => label.is_deadline = true,
                "part" => label.is_part = true,
                _ if label.day.is_empty() => label.day = word.to_owned(),
                _ if word.starts_with('+') => label.minutes = word[1..].parse().ok(),
                _ if word.starts_with('x') => label.times = word[1..].parse().ok(),
                _ if word.len() == 5 && word.as_bytes()[2] == b':' => {
                    label.time = Some(word.to_owned());
                }
                _ => label.repeat = Some(word.to_owned()),
            }
        }
        Some(label)
    }

    /// The due date, the last minute of a day.
    fn due(&self) -> String {
        format!("{} {}", self.day, self.time.as_deref().unwrap_or("23:59"))
    }
}

struct Phrase<'a> {
    lang: &'a str,
    text: &'a str,
    only_option: bool,
    label: Option<Label>,
    now: Zoned,
}

impl Phrase<'_> {
    fn title(&self) -> &'static str {
        if self.lang == "zh" { "交周报" } else { "send it" }
    }

    fn ways(&self) -> Vec<(&'static str, Got)> {
        let (title, text) = (self.title(), self.text);
        let mut ways = vec![("--due", self.todo(&format!("/todo add {title} --due {text}")))];
        if self.only_option {
            return ways;
        }
        ways.push(("/todo add X t", self.todo(&format!("/todo add {text} {title}"))));
        ways.push(("/todo add t X", self.todo(&format!("/todo add {title} {text}"))));
        ways.push(("/schedule add X t", self.entry(&format!("/schedule add {text} {title}"))));
        ways.push(("/schedule add t X", self.entry(&format!("/schedule add {title} {text}"))));
        ways.push(("sentence", self.sentence()));
        ways
    }

    fn todo(&self, line: &str) -> Got {
        let parsed = commands::parse(line, &self.now);
        let Some(label) = self.label.as_ref().filter(|label| label.repeat.is_none()) else {
            return match parsed {
                Err(_) => Got::Right,
                Ok(AgendaCommand::Todo(TodoCommand::Add(todo))) => {
                    let whole = line.trim_start_matches("/todo add ");
                    let is_whole = todo.text.as_deref() == Some(whole) && todo.due.is_none();
                    match (is_whole, &self.label) {
                        (true, None) => Got::Right,
                        (true, Some(_)) => Got::Refused("undated".to_owned()),
                        (false, _) => wrong(&todo),
                    }
                }
                Ok(other) => wrong(&other),
            };
        };
        match parsed {
            Err(refused) => Got::Refused(format!("{refused:?}")),
            Ok(AgendaCommand::Todo(TodoCommand::Add(todo))) => {
                let due = todo.due.flatten().map(|at| commands::written(at, &self.now));
                let is_right = due.as_deref() == Some(&label.due())
                    && todo.text.as_deref() == Some(self.title());
                let is_undated = todo.due.is_none();
                match (is_right, is_undated) {
                    (true, _) => Got::Right,
                    (false, true) => Got::Refused("undated".to_owned()),
                    (false, false) => wrong(&(due, todo.text)),
                }
            }
            Ok(other) => wrong(&other),
        }
    }

    fn entry(&self, line: &str) -> Got {
        let parsed = commands::parse(line, &self.now);
        match (&self.label, parsed) {
            (None, Err(_)) => Got::Right,
            (Some(label), Err(CommandError::NoTime(_)))
                if label.time.is_none() || label.is_part =>
            {
                Got::Right
            }
            (Some(label), Err(CommandError::Deadline(_))) if label.is_deadline => Got::Right,
            (Some(_), Err(refused)) => Got::Refused(format!("{refused:?}")),
            (Some(label), Ok(AgendaCommand::Schedule(ScheduleCommand::Add(entry)))) => {
                self.compare(label, &entry)
            }
            (_, Ok(other)) => Got::Wrong(commands::canonical(&other, &self.now)),
        }
    }

    fn compare(&self, label: &Label, entry: &NewEntry) -> Got {
        let start = entry.start.map(|start| commands::written(start.at, &self.now));
        let first = entry.start.map(|start| start.wall.date());
        let repeat = entry.repeat.iter().flatten().next().map(|every| every.to_option(first));
        let is_right = start.as_deref() == Some(&label.due())
            && label.time.is_some()
            && !label.is_deadline
            && !label.is_part
            && entry.title.as_deref() == Some(self.title())
            && repeat == label.repeat
            && entry.minutes == label.minutes
            && entry.times.flatten() == label.times;
        if is_right {
            Got::Right
        } else {
            wrong(&(start, &entry.title, repeat, entry.minutes, entry.times))
        }
    }

    fn sentence(&self) -> Got {
        let title = self.title();
        let sentence = match self.lang {
            "zh" => format!("{}提醒我{title}", self.text),
            _ => format!("remind me to {title} {}", self.text),
        };
        let understood = rules::understand(&sentence, &self.now);
        let line = match (&self.label, understood) {
            (None, None | Some(Err(_))) => return Got::Right,
            (Some(_), None) => return Got::Refused("chat".to_owned()),
            (Some(_), Some(Err(refused))) => return Got::Refused(format!("{refused:?}")),
            (None, Some(Ok(line))) => {
                let is_whole =
                    line.contains(&format!("{title} {}", self.text)) && !line.contains("--due \"");
                return if is_whole { Got::Right } else { Got::Wrong(line) };
            }
            (Some(_), Some(Ok(line))) => line,
        };
        let Some(label) = &self.label else { return Got::Wrong(line) };
        match commands::parse(&line, &self.now) {
            Ok(AgendaCommand::Todo(TodoCommand::Add(todo))) => {
                let due = todo.due.flatten().map(|at| commands::written(at, &self.now));
                let is_right = due.as_deref() == Some(&label.due())
                    && label.repeat.is_none()
                    && todo.text.as_deref() == Some(title)
                    && todo.remind.is_some();
                if is_right { Got::Right } else { Got::Wrong(line) }
            }
            Ok(AgendaCommand::Schedule(ScheduleCommand::Add(entry))) => {
                let start = entry.start.map(|start| commands::written(start.at, &self.now));
                let first = entry.start.map(|start| start.wall.date());
                let repeat =
                    entry.repeat.iter().flatten().next().map(|every| every.to_option(first));
                let due = format!("{} {}", label.day, label.time.as_deref().unwrap_or("09:00"));
                let is_right = start == Some(due)
                    && repeat == label.repeat
                    && entry.title.as_deref() == Some(title)
                    && entry.times.flatten() == label.times
                    && entry.remind.is_some();
                if is_right { Got::Right } else { Got::Wrong(line) }
            }
            other => Got::Wrong(format!("{line}: {other:?}")),
        }
    }
}

fn wrong(got: &impl std::fmt::Debug) -> Got {
    Got::Wrong(format!("{got:?}"))
}

fn phrases(data: &str) -> Vec<Phrase<'_>> {
    let (mut all, mut lang, mut now) = (Vec::new(), "zh", None);
    for line in data.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["@", said, at] => (lang, now) = (said, Some(at.parse::<Zoned>().expect("a moment"))),
            [text, label] => all.push(Phrase {
                lang,
                text: text.trim_start_matches('='),
                only_option: text.starts_with('='),
                label: Label::of(label),
                now: now.clone().expect("a moment before the phrases"),
            }),
            _ => panic!("{line}"),
        }
    }
    all
}

#[derive(Debug, Default)]
struct Score {
    right: usize,
    refused: usize,
    wrong: usize,
}

impl Score {
    fn count(&mut self, got: &[Got]) {
        if got.iter().any(|got| matches!(got, Got::Wrong(_))) {
            self.wrong += 1;
        } else if got.iter().any(|got| matches!(got, Got::Refused(_))) {
            self.refused += 1;
        } else {
            self.right += 1;
        }
    }

    fn check(&self, what: &str) {
        let all = self.right + self.refused + self.wrong;
        println!(
            "{what}: {all} in all, {} right, {} refused, {} wrong",
            self.right, self.refused, self.wrong
        );
        assert_eq!(self.wrong, 0, "{what}");
        assert!(self.right * 100 >= all * 98, "{what}: {self:?}");
    }
}

#[test]
fn phrases_mean_what_people_mean() {
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for phrase in phrases(include_str!("../testdata/phrases.tsv")) {
        let ways = phrase.ways();
        for (way, got) in ways.iter().filter(|(_, got)| *got != Got::Right) {
            println!("{} [{way}] {got:?}", phrase.text);
        }
        let got: Vec<Got> = ways.into_iter().map(|(_, got)| got).collect();
        scores.entry(phrase.lang).or_default().count(&got);
    }
    let all: usize = scores.values().map(|score| score.right + score.refused + score.wrong).sum();
    println!("{all} phrases");
    for (lang, score) in &scores {
        score.check(lang);
    }
}

/// Whole lines: commands and sentences, each with the command that it means, `chat` or `refuse`.
#[test]
fn lines_mean_what_people_mean() {
    let mut now = None;
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    let mut lang = "zh";
    let data = include_str!("../testdata/lines.tsv");
    for line in data.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let (said, expected) = match fields[..] {
            ["@", said, at] => {
                (lang, now) = (said, Some(at.parse::<Zoned>().expect("a moment")));
                continue;
            }
            [said, expected] => (said, expected),
            _ => panic!("{line}"),
        };
        let now = now.as_ref().unwrap();
        let understood = match commands::normal(said).starts_with('/') {
            true => Some(commands::parse(said, now)),
            false => rules::understand(said, now)
                .map(|line| line.and_then(|line| commands::parse(&line, now))),
        };
        let got = match understood {
            None => "chat".to_owned(),
            Some(Ok(command)) => commands::canonical(&command, now).replace('\n', "; "),
            Some(Err(_)) => "refuse".to_owned(),
        };
        let got = match got.as_str() {
            got if got == expected => Got::Right,
            "refuse" | "chat" => Got::Refused(got),
            _ => Got::Wrong(got),
        };
        if got != Got::Right {
            println!("{said}: {got:?}, not {expected}");
        }
        scores.entry(lang).or_default().count(&[got]);
    }
    for (lang, score) in &scores {
        score.check(lang);
    }
}
