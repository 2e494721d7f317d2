//! `everloop loops`: what each loop is, how it goes round, and what bounds it.

use crate::args;
use everloop_agenda::show::padded;
use everloop_app::catalog::{LoopInfo, loop_infos};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use serde_json::json;

pub(crate) fn loops(app: &Console, args: &args::LoopsArgs) -> Result<Exit, Failure> {
    let chosen = app.checked(loop_infos(app, args.name.as_deref()))?;
    if args.json {
        terminal::print_json(&json!({ "loops": chosen }));
        return Ok(Exit::Done);
    }
    if args.name.is_none() {
        terminal::print_line(&app.text(text::loops::head(&chosen.len())));
    }
    for info in &chosen {
        terminal::print_line(&format!("\n{}", explained(app, info)));
        if args.name.is_some() {
            terminal::print_line(&bounds(app, info));
        }
    }
    if args.name.is_none() {
        terminal::print_line(&format!("\n{}", app.text(text::loops::more())));
    }
    Ok(Exit::Done)
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
