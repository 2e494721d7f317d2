//! `everloop tools`: every built-in tool, what a crash means for it, who is asked, and whether a
//! new run in this folder has it.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::context::personas::Persona;
use everloop_app::environment::{built_in, is_enabled};
use everloop_app::{briefing, toolset};
use everloop_loops::LOOPS;
use everloop_ports::Registry;
use everloop_text as text;
use everloop_tools::{BuiltIn, Needs};
use everloop_types::{Approval, EffectClass, Handling, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) fn tools(app: &Console, args: &args::Tools) -> Result<Exit, Failure> {
    let known = match &args.name {
        Some(name) => vec![found(app, name)?],
        None => built_in().collect(),
    };
    let (here, persona) = (here(app), app.checked(briefing::persona(app, None))?);
    let of = |tool| Shown::of(app, tool, &here, &persona);
    let shown: Vec<Shown> = known.into_iter().map(of).collect();
    match (args.json, shown.as_slice()) {
        (true, all) => {
            let all: Vec<Value> = all.iter().map(|one| one.as_json(app)).collect();
            terminal::answer(&json!({ "tools": all }).to_string());
        }
        (false, [one]) if args.name.is_some() => terminal::answer(&one.explained(app)),
        (false, all) => {
            terminal::answer(&app.text(text::tools::head()));
            all.iter().for_each(|one| terminal::answer(&one.line(app)));
            terminal::answer(&format!("\n{}", app.text(text::tools::more())));
        }
    }
    Ok(Exit::Done)
}

fn found(app: &Console, name: &str) -> Result<&'static BuiltIn, Failure> {
    let nearest = built_in().min_by_key(|tool| strsim::damerau_levenshtein(tool.name, name));
    match nearest {
        Some(tool) if tool.name == name => Ok(tool),
        nearest => {
            let nearest = nearest.map_or("", |tool| tool.name);
            let words = app.text(text::tools::no_such(&name, &nearest));
            Err(Failure { exit: Exit::Usage, words })
        }
    }
}

/// The tools that there are in this folder.
fn here(app: &Console) -> Registry {
    let here = std::env::current_dir().ok();
    let means = app.environment(&app.settings);
    let registry = here.and_then(|here| means.registry(here, &app.zone_name(), app.lang));
    registry.unwrap_or_default()
}

/// A tool, and what is with it here.
struct Shown {
    tool: &'static BuiltIn,
    /// As a run here would have it; what the settings say goes before the table.
    spec: Option<ToolSpec>,
    enabled: bool,
    /// The persona of new runs, if it does without the tool.
    not_of: Option<String>,
    /// The loops whose runs have it.
    loops: Vec<&'static str>,
}

impl Shown {
    fn of(app: &Console, tool: &'static BuiltIn, here: &Registry, persona: &Persona) -> Self {
        let spec = here.get(tool.name).map(|known| known.spec().clone());
        let not_of = (!briefing::works_with(persona, tool.name)).then(|| persona.name.clone());
        let enabled = is_enabled(&app.settings, tool.name);
        let offered = enabled && spec.is_some() && not_of.is_none();
        let loops = LOOPS.into_iter().filter(|name| offered && toolset::has(name, tool.name));
        Self { tool, spec, enabled, not_of, loops: loops.collect() }
    }

    fn handling(&self, app: &Console) -> Handling {
        let timeout_ms = everloop_app::environment::timeout_ms(&app.settings, self.tool.timeout);
        let table = || Handling {
            class: self.tool.class,
            approval: self.tool.approval,
            timeout_ms,
            resource_arg: self.tool.resource_arg.map(str::to_owned),
            ..Handling::default()
        };
        self.spec.as_ref().map_or_else(table, |spec| spec.handling.clone())
    }

    fn is_offered(&self) -> bool {
        !self.loops.is_empty()
    }

    fn state(&self, app: &Console) -> String {
        if self.loops.len() == LOOPS.len() {
            return app.text(text::tools::offered());
        }
        if self.is_offered() {
            return app.text(text::tools::offered_to(&self.loops.join(", ")));
        }
        match (self.tool.needs, &self.spec) {
            (_, Some(_)) if self.enabled => {
                let persona = self.not_of.as_deref().unwrap_or_default();
                app.text(text::tools::not_of_persona(&persona))
            }
            (Needs::Repository, None) => app.text(text::tools::needs_repository()),
            (Needs::Skill, None) if self.enabled => app.text(text::tools::needs_skill()),
            (Needs::Setting(key), None) => app.text(text::tools::needs_setting(&key)),
            _ => app.text(text::tools::disabled()),
        }
    }

    fn line(&self, app: &Console) -> String {
        let handling = self.handling(app);
        let approval = app.text(match handling.approval {
            Approval::Allow => text::tools::approval::allow(),
            Approval::Ask => text::tools::approval::ask(),
            Approval::Deny => text::tools::approval::deny(),
        });
        let time = match handling.timeout_ms {
            0 => app.text(text::tools::waits()),
            ms => format!("{}s", ms / 1_000),
        };
        let acts_on = handling.resource_arg.unwrap_or_default();
        let parts = [
            padded(self.tool.name, 16),
            padded(&word(&handling.class), 14),
            padded(&approval, 10),
            padded(&time, 6),
            padded(&acts_on, 7),
            self.state(app),
        ];
        parts.join("  ")
    }

    fn does(&self, app: &Console) -> String {
        text::tools::does::named(self.tool.name).map(|it| app.text(it)).unwrap_or_default()
    }

    fn explained(&self, app: &Console) -> String {
        let class = app.text(match self.handling(app).class {
            EffectClass::Transactional => text::tools::class::transactional(),
            EffectClass::Pure => text::tools::class::pure(),
            EffectClass::Keyed => text::tools::class::keyed(),
            EffectClass::Probeable => text::tools::class::probeable(),
            EffectClass::Dangerous => text::tools::class::dangerous(),
        });
        let head = [app.text(text::tools::head()), self.line(app), String::new()];
        let does = self.does(app);
        let mut lines = [head.to_vec(), vec![does, class]].concat();
        if let Some(spec) = &self.spec {
            lines.push(app.text(text::tools::for_model(&spec.description)));
        }
        lines.join("\n")
    }

    fn as_json(&self, app: &Console) -> Value {
        let handling = self.handling(app);
        json!({
            "name": self.tool.name,
            "does": self.does(app),
            "class": handling.class,
            "approval": handling.approval,
            "timeout_ms": handling.timeout_ms,
            "resource_arg": handling.resource_arg,
            "enabled": self.enabled,
            "available": self.spec.is_some(),
            "offered": self.is_offered(),
            "loops": self.loops,
        })
    }
}

/// The word of the journal, which is never translated.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|it| it.as_str().map(str::to_owned))
        .unwrap_or_default()
}
