//! `everloop loops`: what each loop is, how it goes round, and what bounds it.

use crate::args;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_agenda::show::padded;
use everloop_app::catalog::{LoopInfo, loop_infos};
use everloop_loops::LoopSpec;
use everloop_text as text;
use serde_json::json;

pub(crate) fn loops(app: &Console, args: &args::LoopsArgs) -> Result<Exit, Failure> {
    let chosen = app.checked(loop_infos(app, args.name.as_deref()))?;
    if args.json {
        terminal::answer_json(&json!({ "loops": chosen }));
        return Ok(Exit::Done);
    }
    if args.name.is_none() {
        terminal::answer(&app.text(text::loops::head(&chosen.len())));
    }
    for info in &chosen {
        terminal::answer(&format!("\n{}", explained(app, info)));
        if args.name.is_some() {
            terminal::answer(&bounds(app, info));
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
        let does = spec.texts().map(|texts| app.text(texts.does)).unwrap_or_default();
        format!("{mark} {}  {does}", padded(spec.name, 18))
    };
    let mut lines: Vec<String> = LoopSpec::all().map(line).collect();
    lines.push(app.text(text::loops::now(&chosen)));
    lines.join("\n")
}

fn explained(app: &Console, info: &LoopInfo) -> String {
    let title = if info.default {
        app.text(text::loops::default(&info.name))
    } else {
        info.name.to_owned()
    };
    let good = app.text(text::loops::good(&info.good_for));
    let body = [info.does.as_str(), &info.picture, &good].join("\n");
    let body: Vec<String> = body.lines().map(|line| format!("  {line}")).collect();
    format!("{title}\n{}", body.join("\n"))
}

/// The step limit and every setting that has a say.
fn bounds(app: &Console, info: &LoopInfo) -> String {
    let unit = app.text(info.spec.step_unit.text());
    let key = info.spec.setting_keys()[0];
    let mut lines = vec![
        app.text(text::loops::Steps { limit: &info.step_limit, unit: &unit, key: &key }.text()),
        app.text(text::loops::settings()),
    ];
    for (key, value) in &info.settings {
        let means = text::loops::setting::named(key).map(|it| app.text(it)).unwrap_or_default();
        lines.push(format!("  {}  {}  {means}", padded(key, 24), padded(value, 12)));
    }
    lines.into_iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use everloop_loops::LoopSpec;
    use everloop_types::Lang;

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
