//! The table of tools and the tools themselves say the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use everloop_tools::{
    BUILT_IN, Channel, HostAddress, Http, Needs, SearchService, SearchSetting, Setting, Timeout,
    WebSetting,
};
use support::Place;

/// A place that has everything.
fn everything(setting: Setting) -> Setting {
    std::fs::create_dir(setting.workspace.join(".git")).unwrap();
    std::fs::write(setting.workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    Setting {
        records: Some(setting.workspace.parent().unwrap().join("effects")),
        http: Http {
            hosts: HostAddress::parse("localhost").into_iter().collect(),
            ..Http::default()
        },
        channels: Channel::parse("ops=https://hooks.example.com/x").into_iter().collect(),
        search: Some(SearchSetting {
            service: SearchService::Bing,
            base_url: String::new(),
            timeout_ms: 1,
            top_k: 1,
        }),
        web: Some(WebSetting::default()),
        guard: Some(support::guard()),
        ..setting
    }
}

#[test]
fn every_built_in_tool_is_in_the_table_as_it_is() {
    let specs = Place::with(everything).registry.specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, BUILT_IN.iter().map(|tool| tool.name).collect::<Vec<_>>());
    for (spec, tool) in specs.iter().zip(BUILT_IN) {
        let handling = &spec.handling;
        let said = (handling.class, handling.approval, handling.resource_arg.as_deref());
        assert_eq!(said, (tool.class, tool.approval, tool.resource_arg), "{}", tool.name);
        if let Timeout::Ms(ms) = tool.timeout {
            assert_eq!(handling.timeout_ms, ms, "{}", tool.name);
        }
    }
}

#[test]
fn what_the_table_says_to_be_needed_is_what_is_missing_without_it() {
    let bare = Place::new();
    for tool in BUILT_IN {
        // Pages are read wherever the settings of the program are.
        let expected = tool.needs == Needs::Nothing && tool.name != "fetch_web";
        assert_eq!(bare.registry.get(tool.name).is_some(), expected, "{}", tool.name);
    }
}

#[test]
fn tools_are_chosen_by_their_names() {
    let registry = Place::new().registry;
    let chosen = registry.specs_of(|name| ["shell", "read_file", "none"].contains(&name));
    let names: Vec<&str> = chosen.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["read_file", "shell"]);
}
