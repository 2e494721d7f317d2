//! Lines that run a denied command. Each is denied, or asked about whatever else is allowed.

use crate::support::{Place, guard};
use crate::told::{Sandboxing, Stage, Told, Verdict, tried};
use everloop_ports::CallPolicy;
use everloop_tools::{RuleAction, RuleExamples, Setting, ShellRule};
use serde_json::json;
use std::fs;
use std::process::Command;

pub(crate) fn ids() -> Vec<&'static str> {
    LINES.iter().map(|(id, _)| *id).collect()
}

pub(crate) async fn tell(stage: Stage) -> Vec<Told> {
    tried(LINES, |(id, line)| async move {
        let name = format!("a denied command: {}", line.replace('\n', "⏎"));
        Told { id, name, verdict: verdict(stage, line).await }
    })
    .await
}

async fn verdict(stage: Stage, line: &str) -> Verdict {
    let examples = RuleExamples { fits: vec!["rm -rf d".to_owned()], fits_not: Vec::new() };
    let rule = ShellRule::new(RuleAction::Deny, "rm -rf *", &examples).unwrap();
    let place = Place::with(|mut setting| {
        setting.shell.rules = vec![rule];
        Setting { guard: Some(guard()), ..setting }
    });
    if stage.proves {
        fs::create_dir(place.path("d")).unwrap();
        let mut sh = Command::new("sh");
        let _ = sh.args(["-c", line]).current_dir(place.root()).output();
        if place.path("d").exists() {
            return Verdict::Broken("proves nothing: it does not run the command".to_owned());
        }
    }
    match place.tool("shell").judge(&json!({ "command": line }).to_string()).await {
        CallPolicy::Deny(_) | CallPolicy::AlwaysAsk(_) => Verdict::Held,
        CallPolicy::Unsandboxed(_) if stage.sandboxing == Sandboxing::None => Verdict::Asked,
        other => Verdict::Broken(format!("{other:?}")),
    }
}

/// With the rule that `rm -rf *` is denied; `d` is a folder.
const LINES: &[(&str, &str)] = &[
    ("", "rm -rf d"),
    ("", "echo $(rm -rf d)"),
    ("A15", "echo \"$(rm -rf d)\""),
    ("A16", "echo \"`rm -rf d`\""),
    ("A17", "x=\"$(rm -rf d)\""),
    ("A18", ": \"${x:=$(rm -rf d)}\""),
    ("A19", "cat <<'X'\n'\nX\nrm -rf d\n: '"),
    ("A22", "eval rm '-rf d'"),
    ("A24", "rm -rf$Z d"),
    ("A29", "echo 'rm -rf d' | xargs -I{} sh -c {}"),
    ("A30", "echo 'rm -rf d' | env sh"),
    ("A32", "echo 'rm -rf d' | command sh"),
    ("A34", "env '-Srm -rf d'"),
    ("", "/bin/rm -rf d"),
    ("", "\\rm -rf d"),
    ("", "r\"m\" -r'f' d"),
    ("", "r\\\nm -rf d"),
    ("", "true && rm -rf d"),
    ("", "false || rm -rf d"),
    ("", "true; rm -rf d;"),
    ("", "true | rm -rf d"),
    ("", "rm -rf d & wait"),
    ("", "(rm -rf d)"),
    ("", "{ rm -rf d; }"),
    ("", "! rm -rf d"),
    ("", "time -p rm -rf d"),
    ("", "if true; then rm -rf d; fi"),
    ("", "for i in 1; do rm -rf d; done"),
    ("", "until rm -rf d; do :; done"),
    ("", "case a in a) rm -rf d;; esac"),
    ("", "f() { rm -rf d; }; f"),
    ("", "alias x='rm -rf d'\nx"),
    ("", "trap 'rm -rf d' EXIT"),
    ("", "trap 'rm -rf d' 0; exit 1"),
    ("", "x=rm; $x -rf d"),
    ("", "set -- rm -rf d; \"$@\""),
    ("", "IFS=,; x=rm,-rf,d; $x"),
    ("", "r=m; eval \"r$r -rf d\""),
    ("", "echo rm -rf d > s; . ./s; rm -rf d"),
    ("", "echo 'rm -rf d' | sh"),
    ("", "echo 'rm -rf d' | bash"),
    ("", "printf 'rm -rf d' | tee /dev/null | sh -x"),
    ("", "bash -c \"bash <<< 'rm -rf d'\""),
    ("", "sh <<X\nrm -rf d\nX"),
    ("", "sh -c 'rm -rf d'"),
    ("", "sh -ec 'rm -rf d'"),
    ("", "bash -c \"$(printf 'rm -rf d')\""),
    ("", "bash -c \"\\$'\\\\x72m' -rf d\""),
    ("", "bash -c '{rm,-rf,d}'"),
    ("", "bash -c 'coproc rm -rf d; wait'"),
    ("", "bash -c 'cat <(rm -rf d)'"),
    ("", "bash -c 'time rm -rf d'"),
    ("", "find . -maxdepth 0 -exec rm -rf d \\;"),
    ("", "find . -name d -exec rm -rf {} +"),
    ("", "echo d | xargs rm -rf"),
    ("", "printf 'd\\0' | xargs -0 rm -rf"),
    ("", "echo d | xargs -I{} rm -rf {}"),
    ("", "nohup rm -rf d"),
    ("", "nice rm -rf d"),
    ("", "timeout 5 rm -rf d"),
    ("", "env rm -rf d"),
    ("", "env -i /bin/rm -rf d"),
    ("", "setsid -w rm -rf d"),
    ("", "stdbuf -oL rm -rf d"),
    ("", "command rm -rf d"),
    ("", "exec rm -rf d"),
    ("", "chroot / /bin/true; rm -rf d"),
    ("", "echo $((1 + $(rm -rf d; echo 1)))"),
    ("", "cat > f <<X\n$(rm -rf d)\nX"),
    ("", "> f rm -rf d"),
    ("", "2>&1 rm -rf d"),
    ("", "A=1 B=2 rm -rf d"),
    ("", "[ -n \"$(rm -rf d)\" ]"),
    ("", "while read x; do rm -rf $x; done <<X\nd\nX"),
    ("", "# harmless\nrm -rf d"),
    ("", "echo a\trm; rm\t-rf\td"),
];
