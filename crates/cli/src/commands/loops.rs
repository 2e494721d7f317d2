//! `everloop loops`: what each loop is, how it goes round, and what bounds it.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::frames;
use everloop_loops::LoopSpec;
use everloop_text as text;
use serde_json::{Map, Value, json};

/// Settings that bound every run, whatever loop decides it.
const OF_ALL: [&str; 11] = [
    "loop.calls_per_reply",
    "loop.repetitions",
    "loop.evidence",
    "budget.model_calls",
    "budget.tool_calls",
    "budget.tokens",
    "budget.work_time",
    "budget.money",
    "delegate.max_depth",
    "delegate.max_children",
    "context.tokens",
];

pub(crate) fn loops(app: &Console, args: &args::Loops) -> Result<Exit, Failure> {
    let chosen: Vec<&LoopSpec> = match &args.name {
        Some(name) => {
            let name = app.checked(frames::loop_name(name))?;
            LoopSpec::all().filter(|spec| spec.name == name).collect()
        }
        None => LoopSpec::all().collect(),
    };
    if args.json {
        let all: Vec<Value> = chosen.iter().map(|spec| as_json(app, spec)).collect();
        terminal::answer(&json!({ "loops": all }).to_string());
        return Ok(Exit::Done);
    }
    if args.name.is_none() {
        let count = LoopSpec::all().count().to_string();
        terminal::answer(&app.text(text::loops::head(&count)));
    }
    for spec in chosen {
        terminal::answer(&format!("\n{}", explained(app, spec)));
        if args.name.is_some() {
            terminal::answer(&bounds(app, spec));
        }
    }
    if args.name.is_none() {
        terminal::answer(&format!("\n{}", app.text(text::loops::more())));
    }
    Ok(Exit::Done)
}

/// One line for each loop, with a mark before the one that is chosen.
pub(crate) fn short_list(app: &Console, chosen: &str) -> String {
    let line = |spec: &LoopSpec| {
        let mark = if spec.name == chosen { "*" } else { " " };
        format!("{mark} {}  {}", padded(spec.name, 18), about(app, spec).does)
    };
    let mut lines: Vec<String> = LoopSpec::all().map(line).collect();
    lines.push(app.text(text::loops::now(&chosen)));
    lines.join("\n")
}

/// What is said about a loop.
#[derive(Default)]
struct AboutLoop {
    does: String,
    picture: String,
    good: String,
}

fn about(app: &Console, spec: &LoopSpec) -> AboutLoop {
    let Some(texts) = spec.texts() else { return AboutLoop::default() };
    AboutLoop {
        does: app.text(texts.does),
        picture: app.text(texts.picture),
        good: app.text(texts.good),
    }
}

fn is_default(app: &Console, spec: &LoopSpec) -> bool {
    app.settings.loops.default.as_str() == spec.name
}

fn explained(app: &Console, spec: &LoopSpec) -> String {
    let title = if is_default(app, spec) {
        app.text(text::loops::default(&spec.name))
    } else {
        spec.name.to_owned()
    };
    let about = about(app, spec);
    let good = app.text(text::loops::good(&about.good));
    let body = [about.does, about.picture, good].join("\n");
    let body: Vec<String> = body.lines().map(|line| format!("  {line}")).collect();
    format!("{title}\n{}", body.join("\n"))
}

/// The step limit and every setting that has a say.
fn bounds(app: &Console, spec: &LoopSpec) -> String {
    let limit = step_limit(app, spec).to_string();
    let unit = app.text(spec.step_unit.text());
    let mut lines = vec![
        app.text(
            text::loops::Steps { limit: &limit, unit: &unit, key: &spec.setting_keys()[0] }.text(),
        ),
        app.text(text::loops::settings()),
    ];
    for (key, value) in values(app, spec) {
        let means = text::loops::setting::named(key).map(|it| app.text(it)).unwrap_or_default();
        lines.push(format!("  {}  {}  {means}", padded(key, 24), padded(&value, 12)));
    }
    lines.into_iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn step_limit(app: &Console, spec: &LoopSpec) -> u32 {
    spec.step_limit(&frames::limits(app, spec.name).steps)
}

/// Each setting that has a say, as it is in force.
fn values(app: &Console, spec: &LoopSpec) -> Vec<(&'static str, String)> {
    let keys = [spec.setting_keys(), OF_ALL.to_vec()].concat();
    let all = app.sources.effective(&app.settings);
    let found = |key: &'static str| {
        let setting = all.iter().find(|setting| setting.key.as_str() == key)?;
        Some((key, setting.value.clone()))
    };
    keys.into_iter().filter_map(found).collect()
}

fn as_json(app: &Console, spec: &LoopSpec) -> Value {
    let settings: Map<String, Value> =
        values(app, spec).into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
    let about = about(app, spec);
    json!({
        "name": spec.name,
        "default": is_default(app, spec),
        "version": spec.version,
        "does": about.does,
        "picture": about.picture,
        "good_for": about.good,
        "step_limit": step_limit(app, spec),
        "settings": settings,
    })
}

#[cfg(test)]
mod tests {
    use everloop_app::settings::SETTINGS;
    use everloop_loops::LoopSpec;
    use everloop_types::Lang;

    /// A loop that is registered without them would be shown as keys, or without its settings.
    #[test]
    fn every_loop_has_its_texts_and_its_settings_exist() {
        for spec in LoopSpec::all() {
            assert!(spec.texts().is_some(), "{} lacks a text", spec.name);
            for key in spec.setting_keys() {
                let means = everloop_text::loops::setting::named(key);
                assert!(means.is_some(), "{}: no text on {key}", spec.name);
            }
            for key in spec.setting_keys() {
                assert!(
                    SETTINGS.iter().any(|setting| setting.key.as_str() == key),
                    "{}: no setting {key}",
                    spec.name
                );
            }
        }
    }

    #[test]
    fn the_help_on_choosing_a_loop_names_each_of_them() {
        for key in ["chat.loop_name", "run.loop_name"] {
            for lang in [Lang::ZhCn, Lang::En] {
                let help =
                    everloop_text::help::named(key).expect("there is such a text").in_lang(lang);
                for spec in LoopSpec::all() {
                    assert!(help.contains(spec.name), "{key} does not name {}", spec.name);
                }
            }
        }
    }
}
