//! The table of tools and the tools themselves say the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::Place;
use everloop_tools::{
    BUILT_IN, Channel, HostAddress, Http, IndexSetting, Needs, SearchService, SearchSetting,
    Setting, Timeout, WebSetting,
};

/// A place that has everything.
fn everything(setting: Setting) -> Setting {
    std::fs::create_dir(setting.workspace.join(".git")).unwrap();
    std::fs::write(setting.workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let index = IndexSetting {
        folder: setting.workspace.parent().unwrap().join("index"),
        max_files: 10,
        max_bytes: 1_000,
        timeout_ms: 1_000,
    };
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
        index: Some(index),
        guard: Some(crate::support::guard()),
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
        // Pages are read, and indexes made, wherever the settings of the program are.
        let is_bare = !["fetch_web", "index_repo"].contains(&tool.name);
        let expected = tool.needs == Needs::Nothing && is_bare;
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
