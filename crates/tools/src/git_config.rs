//! Which keys of a repository's own configuration make git run programs or change where it goes.
//!
//! Whoever approves a commit or a push sees its arguments, not this configuration, and looking at a
//! repository asks nobody. The person's own configuration, outside the repository, is theirs.
//!
//! Deliberately absent: values. A key that could run something is reason enough.

/// Whether a key, as `git config --list` names it, is one of them.
pub(crate) fn runs_programs(name: &str) -> bool {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    let (between, key) = rest.rsplit_once('.').map_or((None, rest), |(sub, key)| (Some(sub), key));
    match (section, between) {
        ("protocol" | "credential" | "gpg" | "include" | "includeif", _) => true,
        ("core", None) => CORE.contains(&key),
        ("diff", None) => key == "external",
        ("gc", None) => key == "recentobjectshook",
        ("filter", Some(_)) => matches!(key, "clean" | "smudge" | "process"),
        ("diff", Some(_)) => matches!(key, "command" | "textconv"),
        ("merge", Some(_)) => key == "driver",
        ("trailer", Some(_)) => matches!(key, "cmd" | "command"),
        ("hook", Some(_)) => key == "command",
        ("remote", Some(_)) => matches!(key, "uploadpack" | "receivepack" | "vcs"),
        ("url", Some(_)) => matches!(key, "insteadof" | "pushinsteadof"),
        _ => false,
    }
}

/// Whether a key is one of them, or makes a person's own git run something: no call of theirs
/// overrules it.
pub(crate) fn runs_programs_for_a_person(name: &str) -> bool {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    let key = rest.rsplit('.').next().unwrap_or(rest);
    runs_programs(name)
        || match section {
            "core" => matches!(key, "hookspath" | "worktree"),
            "sequence" => key == "editor",
            "interactive" => key == "difffilter",
            "submodule" => key == "update",
            "extensions" => key == "worktreeconfig",
            "pager" => true,
            "difftool" | "mergetool" | "browser" | "man" => matches!(key, "cmd" | "path"),
            "sendemail" => key.ends_with("cmd") || key == "smtpserver",
            _ => false,
        }
}

/// Not `hookspath`, which many repositories have: every call overrules it.
const CORE: [&str; 7] =
    ["fsmonitor", "sshcommand", "gitproxy", "pager", "editor", "alternaterefscommand", "askpass"];

#[cfg(test)]
mod tests {
    use super::runs_programs;

    #[test]
    fn what_every_repository_has_is_harmless_and_a_dot_in_a_name_hides_nothing() {
        for name in [
            "core.bare",
            "core.filemode",
            "core.hookspath",
            "remote.origin.url",
            "remote.origin.fetch",
            "branch.main.remote",
            "user.email",
            "filter.lfs.required",
            "merge.conflictstyle",
        ] {
            assert!(!runs_programs(name), "{name}");
        }
        for name in
            ["filter.a.b.clean", "url.https://a.b/.insteadof", "credential.https://a.helper"]
        {
            assert!(runs_programs(name), "{name}");
        }
    }
}
