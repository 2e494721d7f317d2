//! Layers, unknown keys, and what the declaration promises.

use super::{
    LoadedSettings, SETTINGS, SettingError, SettingKind, SettingOrigin, SettingProblem,
    SettingValue, Settings, ToolName, find, keys, mode_name,
};
use everloop_types::Lang;
use std::collections::BTreeSet;
use std::path::Path;

fn load(
    file: Option<(&Path, &str)>,
    environment: &[(String, String)],
    flags: &[String],
) -> Result<LoadedSettings, SettingError> {
    let loaded = Settings::read(file, environment, flags);
    match loaded.errors.first() {
        Some(error) => Err(error.clone()),
        None => Ok(loaded),
    }
}

fn from_file(text: &str) -> LoadedSettings {
    load(Some((Path::new("config.toml"), text)), &[], &[]).unwrap()
}

#[test]
fn the_last_layer_wins() {
    let file = (Path::new("config.toml"), "[loop]\nmax_steps = 3\n[model]\npatience = \"2s\"");
    let environment = [("EVERLOOP_LOOP__MAX_STEPS".to_owned(), "4".to_owned())];
    let flags = ["loop.max_steps=5".to_owned()];
    let layers = [(&environment[..0], &flags[..0]), (&environment[..], &flags[..0])];
    let steps =
        |environment, flags| load(Some(file), environment, flags).unwrap().settings.loops.max_steps;
    assert_eq!(layers.map(|(e, f)| steps(e, f)), [3, 4]);
    assert_eq!(steps(&environment, &flags), 5);
}

#[test]
fn a_value_knows_the_layer_that_it_came_from() {
    let file = (Path::new("config.toml"), "[model]\nattempts = 3\npatience = \"2s\"\nkey = \"\"");
    let environment = [("EVERLOOP_MODEL__PATIENCE".to_owned(), "3s".to_owned())];
    let flags = ["model.fallback=openai/x".to_owned()];
    let settings = load(Some(file), &environment, &flags).unwrap().settings;
    let file = SettingOrigin::File("config.toml".to_owned());
    let variable = SettingOrigin::Environment("EVERLOOP_MODEL__PATIENCE".to_owned());
    for (key, origin) in [
        (keys::model::default(), &SettingOrigin::Default),
        (keys::model::attempts(), &file),
        // Also where it was set to its default.
        (keys::model::key(), &file),
        (keys::model::patience(), &variable),
        (keys::model::fallback(), &SettingOrigin::Flag),
    ] {
        assert_eq!(settings.origin(key), origin, "{key}");
        let shown = settings.all().find(|(known, ..)| *known == key);
        assert_eq!(shown.map(|(_, _, origin)| origin), Some(origin), "{key}");
    }
    assert_eq!((settings.model.attempts, settings.model.patience.ms()), (3, 3_000));
}

#[test]
fn a_list_is_an_array_in_the_file_and_has_commas_elsewhere_and_shows_no_secret() {
    let file = "[tools]\nhttp_allow = [\"a.example\", \"localhost:80\"]";
    let hosts = from_file(file).settings.tools.http_allow.clone();
    let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["a.example", "localhost:80"]);
    let flag = "tools.channels=ops=https://h.example/secret, log=file:/x";
    let settings = load(None, &[], &[flag.to_owned()]).unwrap().settings;
    assert_eq!(settings.tools.channels.len(), 2);
    let key = keys::tools::channels();
    let shown = settings.all().find(|(known, ..)| *known == key).unwrap().1;
    assert_eq!(shown, "ops=https://h.example/…, log=file:/x");
    assert!(!format!("{settings:?}").contains("h.example/secret"), "nor where it is debugged");
    assert_eq!(settings.addresses(), ["ops=https://h.example/secret"], "the redactor learns it");
    for flag in ["tools.http_allow=a, *", "tools.channels=ops", "tools.channels=o=ftp://secret"] {
        let error = load(None, &[], &[flag.to_owned()]).err().unwrap();
        let is_hidden =
            matches!(&error.problem, SettingProblem::Mismatch(wrong) if wrong.text == "…");
        assert!(is_hidden, "{flag}");
    }
}

#[test]
fn an_unknown_key_is_a_warning_in_a_file_and_an_error_in_a_flag() {
    let nearest = SettingProblem::Unknown(Some(keys::loops::max_steps()));
    let loaded = from_file("[loop]\nmax_stepz = 3");
    assert_eq!(loaded.warnings[0].problem, nearest);
    let variable = [("EVERLOOP_LOOP__MAX_STEPZ".to_owned(), "3".to_owned())];
    let loaded = load(None, &variable, &[]).unwrap();
    assert_eq!(loaded.warnings[0].problem, nearest);
    let flag = load(None, &[], &["loop.max_stepz=3".to_owned()]).err().unwrap();
    assert_eq!(flag.origin, SettingOrigin::Flag);
    assert_eq!(flag.problem, nearest);
    let far = load(None, &[], &["quite.another_thing=3".to_owned()]).err().unwrap();
    assert_eq!(far.problem, SettingProblem::Unknown(None));
}

#[test]
fn wrong_types_units_and_ranges_are_errors_everywhere() {
    for flag in [
        "loop.max_steps=many",
        "loop.max_steps=1000001",
        "model.attempts=0",
        "model.temperature=2.1",
        "model.patience=8",
        "model.patience=8 parsecs",
        "model.reply_max=8s",
        "context.memory=true",
        "ui.time_zone=Mars/Base",
    ] {
        let error = load(None, &[], &[flag.to_owned()]).err().unwrap();
        assert!(matches!(error.problem, SettingProblem::Mismatch(_)), "{flag}");
    }
}

#[test]
fn agent_mode_names_the_loop_with_underscores_and_the_setting_goes_before_it() {
    let named = |variables: &[(&str, &str)]| {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let variables: Vec<(String, String)> = variables.iter().map(own).collect();
        let loaded = load(None, &variables, &[]).map_err(|error| error.key);
        loaded.map(|loaded| loaded.settings.loops.default.as_str().to_owned())
    };
    for name in everloop_loops::LOOPS {
        let mode = name.replace('-', "_");
        for mode in [mode.to_uppercase(), mode, name.to_uppercase()] {
            assert_eq!(named(&[("AGENT_MODE", &mode)]), Ok(name.to_owned()), "{mode}");
        }
    }
    assert_eq!(mode_name("Day_Dreaming"), "Day_Dreaming", "as it was written");
    let both = [("EVERLOOP_LOOP__DEFAULT", "react"), ("AGENT_MODE", "staged")];
    assert_eq!(named(&both), Ok("react".to_owned()));
    assert_eq!(named(&[("AGENT_MODE", "")]), Ok("plan-replan".to_owned()));
    assert_eq!(named(&[("AGENT_MODE", "dreaming")]), Err("loop.default".to_owned()));
}

#[test]
fn every_default_fits_its_setting_and_is_in_force() {
    let settings = Settings::defaults();
    for spec in SETTINGS {
        assert_eq!(spec.check(spec.default), Ok(()), "{}", spec.key);
    }
    assert_eq!(settings.changed().count(), 0);
    assert_eq!(settings.model.attempts, 12);
    assert_eq!(settings.tools.enabled.first().map(ToolName::as_str), Some("read_file"));
}

#[test]
fn every_value_that_is_shown_as_typed_can_be_read_again() {
    let settings = Settings::defaults();
    for spec in SETTINGS {
        let typed = (spec.write)(&settings.values);
        assert_eq!(spec.check(&typed), Ok(()), "{} = {typed:?}", spec.key);
    }
}

#[test]
fn every_setting_is_declared_once_has_both_texts_and_a_variable_of_its_own() {
    let keys: BTreeSet<_> = SETTINGS.iter().map(|spec| spec.key).collect();
    assert_eq!(keys.len(), SETTINGS.len());
    for spec in SETTINGS {
        for lang in [Lang::En, Lang::ZhCn] {
            let text = spec.description(lang);
            assert!(!text.is_empty() && !text.starts_with("settings.about."), "{}", spec.key);
        }
        let variable = [(spec.key.variable(), spec.default.to_owned())];
        let settings = load(None, &variable, &[]).unwrap().settings;
        assert_eq!(settings.origin(spec.key).rank(), 2, "{}", spec.key);
        assert_eq!(find(spec.key.as_str(), SettingOrigin::Flag).unwrap().key, spec.key);
    }
}

#[test]
fn ranges_are_for_numbers_and_every_count_has_one() {
    for spec in SETTINGS {
        let is_number = matches!(spec.kind, SettingKind::Count | SettingKind::Decimal);
        assert_eq!(spec.range.is_some(), is_number, "{}", spec.key);
        let Some(range) = &spec.range else { continue };
        let scale = if spec.kind == SettingKind::Decimal { 1_000 } else { 1 };
        for end in [range.start(), range.end()] {
            assert_eq!(spec.check(&(end / scale).to_string()), Ok(()), "{} {end}", spec.key);
        }
        if *range.end() < u64::from(u32::MAX) {
            let beyond = (range.end() / scale + 1).to_string();
            assert!(spec.check(&beyond).is_err(), "{} {beyond}", spec.key);
        }
    }
}

#[test]
fn a_database_shows_without_its_password() {
    let flag = ["store.database=postgres://u:pw@h/d".to_owned()];
    let settings = load(None, &[], &flag).unwrap().settings;
    assert_eq!(settings.store.database.show(), "postgres://u@h/d");
    assert_eq!(settings.store.database.as_str(), "postgres://u:pw@h/d");
}

#[test]
fn the_names_of_the_source_set_what_decides_on_messages() {
    let environment = [
        ("AGENT_LOOP_ENABLED", "False"),
        ("AGENT_DECISION_MODEL", "openai/small"),
        ("AGENT_ALLOWED_RUN_TYPES", "agent,sleep"),
        ("AGENT_DECISION_TIMEOUT_SECONDS", "12"),
        ("AGENT_DECISION_FALLBACK_MODE", "reply_only"),
    ];
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let variables: Vec<(String, String)> = environment.iter().map(own).collect();
    let loaded = load(None, &variables, &[]).unwrap();
    let agent = &loaded.settings.agent;
    assert!(!agent.loop_enabled);
    assert_eq!(agent.decision_model, "openai/small");
    let types: Vec<&str> =
        agent.allowed_run_types.iter().map(|name| name.run_type().name()).collect();
    assert_eq!(types, ["agent", "sleep"]);
    assert_eq!(agent.decision_timeout.ms(), 12_000);
    let wrong = [("AGENT_ALLOWED_RUN_TYPES".to_owned(), "deploy".to_owned())];
    let wrong = load(None, &wrong, &[]).map(drop).map_err(|error| error.key);
    assert_eq!(wrong, Err("agent.allowed_run_types".to_owned()));
}
