//! Programs that we start ourselves are never taken from where a run can write.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{Place, guard};
use everloop_ports::CallContext;
use everloop_tools::{SandboxLevel, SandboxSupport, Setting, builtin_tools, find_program};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

/// Names of the programs that the tests plant.
const PLANTED: [&str; 5] = ["git", "bwrap", "sh", "ssh", "everloop"];

fn plant(folder: &Path, trace: &Path) {
    fs::create_dir_all(folder).unwrap();
    for name in PLANTED {
        let real = format!("/usr/bin/{name}");
        let script = format!("#!/bin/sh\necho {name} >> {}\nexec {real} \"$@\"\n", trace.display());
        fs::write(folder.join(name), script).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn repository(folder: &Path) {
    let script = "git init -q . && git config user.name T && git config user.email t@b && git \
        commit -q --allow-empty -m first";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).status();
    assert!(made.unwrap().success());
}

/// Everything that starts programs of ours, in a process whose search path the parent chose.
#[tokio::test]
async fn starts_programs_if_it_is_asked_to() {
    let Some(workspace) = std::env::var_os("EVERLOOP_TEST_WORKSPACE").map(PathBuf::from) else {
        return;
    };
    let setting = Setting { guard: Some(guard()), ..Setting::new(&workspace) };
    let registry = builtin_tools(&setting).unwrap();
    println!("sandbox: {}", SandboxSupport::here(&guard()).level().name());
    for (tool, args) in [
        ("git_read", json!({"view": "status"})),
        ("shell", json!({"command": "true"})),
        ("git_read", json!({"view": "log"})),
        ("git_commit", json!({"message": "m", "paths": ["a.txt"]})),
    ] {
        let tool = Arc::clone(registry.get(tool).unwrap());
        tool.judge(&args.to_string()).await;
        let done = tool.call(&args.to_string(), &CallContext::new("key")).await;
        println!("{done:?}");
    }
}

fn start(workspace: &Path, path: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "programs::starts_programs_if_it_is_asked_to"])
        .env("EVERLOOP_TEST_WORKSPACE", workspace)
        .env("PATH", path)
        .current_dir(workspace)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn no_program_of_the_workspace_is_run_though_the_search_path_leads_there() {
    let system = std::env::var("PATH").unwrap();
    for case in ["plain", "relative", "empty", "link to a folder", "link to a program", "shared"] {
        let outer = TempDir::new().unwrap();
        let (work, trace) = (outer.path().join("work"), outer.path().join("trace"));
        let bin = work.join(".venv/bin");
        fs::create_dir(&work).unwrap();
        repository(&work);
        fs::write(work.join("a.txt"), "x").unwrap();
        plant(&bin, &trace);
        let first = match case {
            "relative" => ".venv/bin".to_owned(),
            // An empty entry means the folder where one is.
            "empty" => {
                plant(&work, &trace);
                String::new()
            }
            "link to a folder" => {
                symlink(&bin, outer.path().join("linked")).unwrap();
                outer.path().join("linked").display().to_string()
            }
            "link to a program" => {
                let folder = outer.path().join("links");
                fs::create_dir(&folder).unwrap();
                for name in PLANTED {
                    symlink(bin.join(name), folder.join(name)).unwrap();
                }
                folder.display().to_string()
            }
            "shared" => {
                let folder = outer.path().join("shared");
                plant(&folder, &trace);
                fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
                folder.display().to_string()
            }
            _ => bin.display().to_string(),
        };
        let said = start(&work, &format!("{first}:{system}"));
        assert!(!trace.exists(), "{case}: {} ran; {said}", fs::read_to_string(&trace).unwrap());
        // The tools work all the same, with the system's own programs.
        assert!(said.contains("first") && said.contains("committed "), "{case}: {said}");
    }
}

#[test]
fn a_program_outside_every_workspace_is_found_by_its_real_path() {
    assert_eq!(find_program("sh"), Path::new("/bin/sh").canonicalize().ok());
    assert_eq!(find_program("no-such-program-here"), None);
}

/// Our own helper lies in the workspace, as it does for whoever builds it there.
#[tokio::test]
async fn our_own_program_in_the_workspace_cannot_be_changed_by_any_tool() {
    let place = Place::with(|setting| {
        let own = setting.workspace.join("target/debug/everloop-guard");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::copy(guard(), &own).unwrap();
        Setting { guard: Some(own), ..setting }
    });
    let own = "target/debug/everloop-guard";
    let bytes = fs::read(guard()).unwrap();
    fs::hard_link(place.path(own), place.path("hard")).unwrap();
    symlink(own, place.path("link")).unwrap();
    for path in [own, "hard", "link", "./target/../target/debug/everloop-guard"] {
        let args = json!({"path": path, "content": "#!/bin/sh\n"});
        assert!(!place.call("write_file", args).await.is_ok(), "{path}");
        let args = json!({"path": path, "old": "ELF", "new": "elf"});
        assert!(!place.call("edit_file", args).await.is_ok(), "{path}");
    }
    match SandboxSupport::here(&guard()).level() {
        SandboxLevel::Full => {
            for command in [
                "echo x > target/debug/everloop-guard",
                "rm -f target/debug/everloop-guard",
                "mv target aside && mkdir -p target/debug && echo x > target/debug/everloop-guard",
                "mv target/debug/everloop-guard x; cp /bin/true target/debug/everloop-guard",
                "ln -f /bin/true target/debug/everloop-guard",
                "chmod 000 target/debug/everloop-guard",
            ] {
                let seen = place.shell(command).await;
                assert!(!seen.is_ok(), "{command}: {}", seen.text);
            }
            assert!(place.shell("test -x target/debug/everloop-guard").await.is_ok());
        }
        level => println!("SKIPPED commands: the sandbox {} does not protect it", level.name()),
    }
    assert!(fs::read(place.path(own)).unwrap() == bytes);
}
