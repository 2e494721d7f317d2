//! `everloop skills`: what skills runs in a workspace have, and which folders cannot be used.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::context::skills::{Found, Owner, Skill};
use everloop_app::error::chain;
use everloop_app::{briefing, frames};
use everloop_text as text;
use everloop_types::{one_line, spelled};
use serde_json::{Value, json};

pub(crate) fn skills(app: &Console, args: &args::Skills) -> Result<Exit, Failure> {
    let workspace = app.checked(frames::workspace(args.workspace.as_deref()))?;
    let found = briefing::skills(app, &workspace);
    match (&args.name, args.json) {
        (Some(name), _) => one(app, &found, name, args.json),
        (None, true) => {
            terminal::answer(&as_json(&found).to_string());
            Ok(Exit::Done)
        }
        (None, false) => {
            list(app, &found);
            Ok(Exit::Done)
        }
    }
}

fn one(app: &Console, found: &Found, name: &str, json: bool) -> Result<Exit, Failure> {
    let Some(skill) = found.get(name) else {
        let all: Vec<&str> = found.skills.iter().map(|skill| skill.name.as_str()).collect();
        let words = app.text(text::skills::unknown(&name, &all.join(", ")));
        return Err(Failure { exit: Exit::Usage, words });
    };
    if json {
        terminal::answer(&with_body(skill).to_string());
        return Ok(Exit::Done);
    }
    terminal::answer(&line(app, skill, skill.name.chars().count()));
    terminal::answer(&skill.folder().display().to_string());
    terminal::answer(&format!("\n{}", spelled(&skill.body)));
    for file in skill.files() {
        terminal::answer(&format!("  {}", one_line(&file.to_string())));
    }
    Ok(Exit::Done)
}

fn list(app: &Console, found: &Found) {
    if !app.settings.context.skills {
        return terminal::answer(&app.text(text::skills::off()));
    }
    if found.skills.is_empty() {
        terminal::answer(&app.text(text::skills::none()));
    }
    let widest = found.skills.iter().map(|skill| skill.name.chars().count()).max().unwrap_or(0);
    for skill in &found.skills {
        terminal::answer(&line(app, skill, widest));
    }
    for (folder, why) in &found.bad {
        let (folder, detail) = (folder.display().to_string(), chain(why));
        terminal::complain(&app.text(text::skills::bad(&folder, &detail)));
    }
}

fn line(app: &Console, skill: &Skill, width: usize) -> String {
    let owner = app.text(match skill.owner {
        Owner::User => text::skills::of_user(),
        Owner::Workspace => text::skills::of_workspace(),
    });
    let always = if skill.always { app.text(text::skills::always()) } else { String::new() };
    format!(
        "{}  {owner}{always}  {}",
        padded(&one_line(&skill.name), width),
        one_line(&skill.description)
    )
}

fn as_json(found: &Found) -> Value {
    let skills: Vec<Value> = found.skills.iter().map(told).collect();
    let bad = found
        .bad
        .iter()
        .map(|(folder, why)| json!({"folder": folder.display().to_string(), "detail": chain(why)}));
    json!({"skills": skills, "bad": bad.collect::<Vec<_>>()})
}

fn told(skill: &Skill) -> Value {
    json!({
        "name": skill.name,
        "description": skill.description,
        "always": skill.always,
        "of": skill.owner.as_str(),
        "folder": skill.folder().display().to_string(),
        "files": skill.files(),
    })
}

fn with_body(skill: &Skill) -> Value {
    let mut value = told(skill);
    value["body"] = skill.body.clone().into();
    value
}
