//! What others obey in a workspace because a link or a setting leads to it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, guard};
use crate::ways::{Way, all_are_held};
use everloop_ports::CallPolicy;
use everloop_tools::{SandboxLevel, SandboxSupport};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;

const WAYS: &[Way] = &[
    Way {
        id: "",
        name: "hooks that the person's settings lead to",
        given: "git init -q .; git config core.hooksPath .githooks; mkdir .githooks; \
            printf '#!/bin/sh\\ntrue\\n' > .githooks/pre-commit; chmod +x .githooks/pre-commit",
        commands: &["printf '#!/bin/sh\\n{trap}' > .githooks/pre-commit"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "hooks that are not there yet",
        given: "git init -q .; git config core.hooksPath tools/hooks",
        commands: &["mkdir -p tools/hooks; printf '#!/bin/sh\\n{trap}' > tools/hooks/pre-commit; \
            chmod +x tools/hooks/pre-commit"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "hooks that are not there yet, by a link",
        given: "git init -q .; git config core.hooksPath tools/hooks",
        commands: &["mkdir -p x/hooks; printf '#!/bin/sh\\n{trap}' > x/hooks/pre-commit; \
            chmod +x x/hooks/pre-commit; ln -s x tools"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a hook that is a link",
        given: "git init -q .; mkdir tools; printf '#!/bin/sh\\ntrue\\n' > tools/check; \
            chmod +x tools/check; ln -s ../../tools/check .git/hooks/pre-commit",
        commands: &["printf '#!/bin/sh\\n{trap}' > tools/check; mv tools old; mkdir tools; \
            printf '#!/bin/sh\\n{trap}' > tools/check; chmod +x tools/check"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "included settings of the person",
        given: "git init -q .; git config include.path ../shared.cfg; echo '[core]' > shared.cfg",
        commands: &["printf '[core]\\n\\tfsmonitor = \"{trap} #\"\\n' >> shared.cfg"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "settings that are included by others, not there yet",
        given: "git init -q .; git config include.path ../shared.cfg; \
            printf '[include]\\npath = more.cfg\\n' > shared.cfg",
        commands: &["printf '[core]\\n\\tfsmonitor = \"{trap} #\"\\n' > more.cfg"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a program of a filter",
        given: "git init -q .; mkdir tools; printf 'cat\\n' > tools/clean.sh; \
            git config filter.x.clean 'sh tools/clean.sh %f'; echo '* filter=x' > .gitattributes; \
            echo a > a",
        commands: &["printf '{trap}' > tools/clean.sh; echo b > a"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "hooks of the repository that the workspace is a part of",
        given: "git init -q ..; git config core.hooksPath workspace/hooks",
        commands: &["mkdir hooks; printf '#!/bin/sh\n{trap}' > hooks/pre-commit; \
            chmod +x hooks/pre-commit"],
        folders: &["."],
    },
    Way {
        id: "",
        name: "a program of a nested repository's alias",
        given: "git init -q sub; echo true > sub/st.sh; git -C sub config alias.st '!sh st.sh'",
        commands: &["printf '{trap}' > sub/st.sh"],
        folders: &["sub"],
    },
];

#[tokio::test]
async fn what_the_settings_of_the_person_lead_to_is_shut() {
    all_are_held(WAYS).await;
}

fn given(place: &Place, script: &str) {
    let mut sh = Command::new("sh");
    assert!(sh.args(["-c", script]).current_dir(place.root()).status().unwrap().success());
}

async fn is_asked(place: &Place, path: &str) -> bool {
    let args = json!({"path": path, "content": "x"}).to_string();
    place.tool("write_file").judge(&args).await == CallPolicy::Sensitive
}

#[tokio::test]
async fn a_person_is_asked_about_what_links_and_settings_lead_to() {
    let place = Place::sandboxed();
    given(
        &place,
        "git init -q .; git config core.hooksPath .githooks; git config include.path ../more.cfg; \
         git config diff.x.textconv 'python3 tools/show.py'; mkdir tools docs; \
         echo > tools/show.py; echo > docs/guide.md; ln -s docs/guide.md GEMINI.md; \
         mkdir sub; git init -q sub; git -C sub config core.hooksPath hooks",
    );
    for path in [
        ".githooks/pre-commit",
        "more.cfg",
        "tools/show.py",
        "docs/guide.md",
        "GEMINI.md",
        "sub/hooks/pre-push",
    ] {
        assert!(is_asked(&place, path).await, "{path}");
    }
    for path in ["tools/other.py", "docs/other.md", "hooks/pre-push", "sub/a", "a"] {
        assert!(!is_asked(&place, path).await, "{path}");
    }
}

#[tokio::test]
async fn instructions_that_are_links_stay_as_they_are() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where instructions are");
        return;
    }
    let place = Place::sandboxed();
    given(
        &place,
        "echo mine > AGENTS.md; ln -s AGENTS.md CLAUDE.md; mkdir docs; echo guide > docs/guide.md; \
         ln -s docs GUIDES; ln -s GUIDES/guide.md GEMINI.md; mkdir .cargo .config; \
         echo '[build]' > .cargo/config.toml; mkdir .config/systemd; echo x > .config/systemd/u; \
         echo y > .config/other",
    );
    for (command, path) in [
        ("rm -f CLAUDE.md; echo evil > CLAUDE.md", "CLAUDE.md"),
        ("rm -f CLAUDE.md; echo evil > other; ln -s other CLAUDE.md", "CLAUDE.md"),
        ("mv CLAUDE.md x; mkdir CLAUDE.md", "CLAUDE.md"),
        ("rm GUIDES; mkdir GUIDES; echo evil > GUIDES/guide.md", "GUIDES"),
    ] {
        let was = fs::read_link(place.path(path)).unwrap();
        let seen = place.shell(command).await;
        assert_eq!(fs::read_link(place.path(path)).ok(), Some(was), "{command}: {}", seen.text);
        assert!(seen.text.contains("was put back"), "{command}: {}", seen.text);
    }
    for command in [
        "echo evil > docs/guide.md",
        "echo evil >> .cargo/config.toml",
        "mv .cargo x",
        "mv docs x",
        "echo evil >> .config/systemd/u",
        "echo evil > AGENTS.md",
    ] {
        let seen = place.shell(command).await;
        assert!(!seen.is_ok(), "{command}: {}", seen.text);
    }
    assert_eq!(place.content("CLAUDE.md"), "mine\n");
    assert_eq!(place.content("GEMINI.md"), "guide\n");
    let seen = place.shell("echo z > .config/other; echo z > docs/other.md; ls").await;
    assert!(seen.is_ok() && !seen.text.contains("put back"), "{}", seen.text);
}

#[tokio::test]
async fn instructions_with_a_second_name_get_their_content_back() {
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED: without bubblewrap a person is asked where instructions are");
        return;
    }
    let place = Place::sandboxed();
    given(&place, "echo mine > AGENTS.md; ln AGENTS.md notes.txt");
    let seen = place.shell("echo evil > notes.txt").await;
    assert_eq!(place.content("AGENTS.md"), "mine\n", "{}", seen.text);
    assert!(seen.text.contains("AGENTS.md was changed"), "{}", seen.text);
    assert!(Path::exists(&place.path("AGENTS.md-set-aside")));
    let seen = place.shell("echo more > notes.txt").await;
    assert!(!seen.text.contains("was changed"), "{}", seen.text);
}
