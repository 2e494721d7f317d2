//! `everloop skills`: what skills runs in a workspace have, and which folders cannot be used.

use crate::args;
use everloop_agenda::show::padded;
use everloop_app::catalog::{SkillDetails, SkillInfo, SkillList, SkillOwner, find_skill};
use everloop_app::frames;
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use everloop_types::{one_line, spelled};

pub(crate) fn skills(app: &Console, args: &args::SkillsArgs) -> Result<Exit, Failure> {
    let workspace = app.checked(frames::workspace(args.workspace.as_deref()))?;
    match &args.name {
        Some(name) => {
            let skill = app.checked(find_skill(app, &workspace, name))?;
            if args.json {
                terminal::print_json(&skill);
            } else {
                print_skill(app, &skill);
            }
        }
        None => {
            let list = SkillList::read(app, &workspace);
            if args.json {
                terminal::print_json(&list);
            } else {
                print_list(app, &list);
            }
        }
    }
    Ok(Exit::Done)
}

fn print_skill(app: &Console, SkillDetails { skill, body }: &SkillDetails) {
    terminal::print_line(&line(app, skill, skill.name.chars().count()));
    terminal::print_line(&skill.folder);
    terminal::print_line(&format!("\n{}", spelled(body)));
    for file in &skill.files {
        terminal::print_line(&format!("  {}", one_line(file)));
    }
}

fn print_list(app: &Console, list: &SkillList) {
    if !app.settings.context.skills {
        return terminal::print_line(&app.text(text::skills::off()));
    }
    if list.skills.is_empty() {
        terminal::print_line(&app.text(text::skills::none()));
    }
    let widest = list.skills.iter().map(|skill| skill.name.chars().count()).max().unwrap_or(0);
    for skill in &list.skills {
        terminal::print_line(&line(app, skill, widest));
    }
    for bad in &list.bad {
        terminal::eprint_line(&app.text(text::skills::bad(&bad.folder, &bad.detail)));
    }
}

fn line(app: &Console, skill: &SkillInfo, width: usize) -> String {
    let owner = app.text(match skill.owner {
        SkillOwner::User => text::skills::of_user(),
        SkillOwner::Workspace => text::skills::of_workspace(),
    });
    let always = if skill.always { app.text(text::skills::always()) } else { String::new() };
    format!(
        "{}  {owner}{always}  {}",
        padded(&one_line(&skill.name), width),
        one_line(&skill.description)
    )
}
