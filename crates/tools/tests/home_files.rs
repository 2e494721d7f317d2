//! A workspace that is a home, and links to files that others take instructions from.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, context, guard};
use everloop_ports::{CallPolicy, Registry};
use everloop_tools::{SandboxLevel, SandboxSupport, Setting, builtin_tools};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What shells, desktops and tools run or obey in a home.
const OBEYED: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".zshenv",
    ".zlogin",
    ".gitconfig",
    ".config/git/config",
    ".config/fish/config.fish",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    ".local/bin/ls",
    ".local/share/applications/x.desktop",
    ".vimrc",
    ".tmux.conf",
    ".npmrc",
    ".cargo/config.toml",
    ".gnupg/gpg.conf",
    ".pam_environment",
    ".xprofile",
    ".unheard-of-rc",
    "bin/ls",
    "link-to-zshenv",
    "link-to-missing",
    "folder/.zshenv",
];

const FREE: &[&str] = &["notes.txt", "project/zprofile.txt", "project/src/main.rs", ".venv/x"];

async fn asked(registry: &Registry, path: &str) -> bool {
    let args = json!({"path": path, "content": "x\n"}).to_string();
    registry.get("write_file").unwrap().judge(&args).await == CallPolicy::Sensitive
}

#[tokio::test]
async fn in_a_home_a_person_is_asked_about_what_others_obey() {
    let Some(home) = std::env::var_os("EVERLOOP_TEST_HOME").map(PathBuf::from) else {
        return in_a_home();
    };
    let setting = Setting { guard: Some(guard()), ..Setting::new(&home) };
    let registry = builtin_tools(&setting).unwrap();
    for path in OBEYED {
        assert!(asked(&registry, path).await, "{path}");
    }
    for path in FREE {
        assert!(!asked(&registry, path).await, "{path}");
    }
    if SandboxSupport::here(&guard()).level() != SandboxLevel::Full {
        println!("SKIPPED commands: only bubblewrap protects files in a workspace");
        return;
    }
    let shell = registry.get("shell").unwrap();
    for command in [
        "echo x >> .profile2; echo x > .bash_aliases",
        "mkdir -p .config/autostart && echo x > .config/autostart/x.desktop",
        "echo x > .zshenv",
        "mv .config aside; mkdir .config",
        "rm -f .linked; echo x > .linked",
        "ln -s notes.txt .xprofile",
        "mkdir -p bin; echo x > bin/ls",
        "echo x > .gitconfig; echo fine > notes.txt; mkdir -p .venv/bin",
    ] {
        let args = json!({ "command": command }).to_string();
        println!("{command}: {:?}", shell.call(&args, &context()).await);
    }
    for name in [".profile2", ".zshenv", ".xprofile", ".gitconfig", "bin", "aside"] {
        assert!(fs::symlink_metadata(home.join(name)).is_err(), "{name}");
    }
    assert_eq!(fs::read_to_string(home.join(".bash_aliases")).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(home.join(".config")).unwrap().count(), 0);
    assert_ne!(fs::read_to_string(home.join(".linked")).unwrap_or_default(), "x\n");
    assert_eq!(fs::read_to_string(home.join("notes.txt")).unwrap(), "fine\n");
    assert!(home.join(".venv/bin").is_dir());
}

fn again(test: &str, home: &Path, workspace: &Path) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", test])
        .env("EVERLOOP_TEST_HOME", workspace)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn in_a_home() {
    let outer = tempfile::TempDir::new().unwrap();
    let home = outer.path().canonicalize().unwrap().join("home");
    fs::create_dir_all(home.join(".config")).unwrap();
    fs::write(home.join(".bash_aliases"), "mine\n").unwrap();
    fs::write(home.join("rc"), "mine\n").unwrap();
    symlink("rc", home.join(".linked")).unwrap();
    symlink(".zshenv", home.join("link-to-zshenv")).unwrap();
    symlink(".config/missing/deep", home.join("link-to-missing")).unwrap();
    symlink(".", home.join("folder")).unwrap();
    again("home_files::in_a_home_a_person_is_asked_about_what_others_obey", &home, &home);
}

/// Start-up files that are kept in a repository are the same files there.
#[tokio::test]
async fn what_a_home_links_to_is_asked_about_where_it_lies() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_HOME").map(PathBuf::from) else {
        let outer = tempfile::TempDir::new().unwrap();
        let home = outer.path().canonicalize().unwrap().join("home");
        fs::create_dir_all(home.join("dotfiles/fish")).unwrap();
        fs::create_dir(home.join(".config")).unwrap();
        fs::write(home.join("dotfiles/rc"), "mine\n").unwrap();
        symlink("dotfiles/rc", home.join(".bashrc")).unwrap();
        symlink("../dotfiles/fish", home.join(".config/fish")).unwrap();
        let test = "home_files::what_a_home_links_to_is_asked_about_where_it_lies";
        return again(test, &home, &home.join("dotfiles"));
    };
    let setting = Setting { guard: Some(guard()), ..Setting::new(&workspace) };
    let registry = builtin_tools(&setting).unwrap();
    assert!(asked(&registry, "rc").await && asked(&registry, "fish/config.fish").await);
    assert!(!asked(&registry, "README.md").await);
    if SandboxSupport::here(&guard()).level() == SandboxLevel::Full {
        let args = json!({"command": "echo x > rc; echo x > fish/new; echo x > README.md"});
        registry.get("shell").unwrap().call(&args.to_string(), &context()).await;
        assert_eq!(fs::read_to_string(workspace.join("rc")).unwrap(), "mine\n");
        assert!(!workspace.join("fish/new").exists() && workspace.join("README.md").exists());
    }
}

#[tokio::test]
async fn a_link_leads_to_the_question_also_where_nothing_is_yet() {
    let place = Place::sandboxed();
    for (link, goal) in [
        ("notes.md", "AGENTS.md"),
        ("env.txt", ".envrc"),
        ("t.json", ".vscode/tasks.json"),
        ("first", "second"),
        ("second", "sub/../CLAUDE.md"),
        ("sub/up", "../.github/workflows/x.yml"),
        ("folder", ".claude"),
    ] {
        fs::create_dir_all(place.path(link).parent().unwrap()).unwrap();
        symlink(goal, place.path(link)).unwrap();
    }
    let paths = [
        "notes.md",
        "env.txt",
        "t.json",
        "first",
        "second",
        "sub/up",
        "./sub/../sub/up",
        "folder/x",
    ];
    for path in paths {
        for (tool, args) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old": "x", "new": "y"})),
        ] {
            let judged = place.tool(tool).judge(&args.to_string()).await;
            assert_eq!(judged, CallPolicy::Sensitive, "{tool} {path}");
        }
    }
    let args = json!({"path": "plain.md", "content": "x"}).to_string();
    assert_eq!(place.tool("write_file").judge(&args).await, CallPolicy::Default);
    // What no tool writes at all is not written through such a link either.
    for (link, goal) in
        [("a", ".git/hooks/pre-commit"), ("b", ".agents/skills/x/SKILL.md"), ("c", ".bashrc")]
    {
        fs::create_dir_all(place.path(goal).parent().unwrap()).unwrap();
        symlink(goal, place.path(link)).unwrap();
        let seen = place.call("write_file", json!({"path": link, "content": "x"})).await;
        assert!(!seen.is_ok() && !place.path(goal).exists(), "{link}: {}", seen.text);
    }
}

/// Git takes a folder for a repository by what is in it, and file tools could put that there.
#[tokio::test]
async fn a_file_that_makes_a_folder_a_repository_or_lies_in_one_is_asked_about() {
    for order in [
        ["HEAD", "objects/x", "refs/x", "config"],
        ["config", "refs/x", "objects/x", "HEAD"],
        ["config", "HEAD", "objects/x", "refs/x"],
        ["config", "x", "commondir", "HEAD"],
    ] {
        for folder in [".", "src/deep"] {
            let place = Place::sandboxed();
            let mut asked = Vec::new();
            for name in order {
                let path = format!("{folder}/{name}");
                let args = json!({"path": path, "content": "x"}).to_string();
                asked.push(place.tool("write_file").judge(&args).await == CallPolicy::Sensitive);
                place.write(&path, "x");
            }
            assert!(asked[3], "{folder} {order:?}: {asked:?}");
            assert!(!asked[0], "{folder} {order:?}: {asked:?}");
        }
    }
    let place = Place::sandboxed();
    for path in ["config", "HEAD", "refs/x", "hooks/x", "docs/objects/x"] {
        let args = json!({"path": path, "content": "x"}).to_string();
        assert_eq!(place.tool("write_file").judge(&args).await, CallPolicy::Default, "{path}");
    }
}
