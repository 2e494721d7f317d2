//! Which keys of a repository's own configuration make git run programs or change where it goes.
//!
//! A person who approves a commit or a push sees its arguments, not this configuration, and reading
//! a repository needs no approval. The configuration of the user, outside the repository, is
//! trusted.
//!
//! Deliberately absent: values that are programs. A key that could run something is reason enough.

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

/// Whether a setting is one of those that certainly make no git run anything, or go elsewhere by
/// itself.
pub(crate) fn is_harmless(name: &str, value: &str) -> bool {
    is_harmless_key(name) && is_harmless_value(name, value)
}

/// Where a value is an address or a form, only usual ones count.
fn is_harmless_value(name: &str, value: &str) -> bool {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    let key = rest.rsplit_once('.').map_or(rest, |(_, key)| key);
    let is_address = matches!(
        (section, key),
        ("remote", "url" | "pushurl" | "pushdefault")
            | ("branch", "remote" | "pushremote")
            | ("submodule", "url")
    );
    let is_plain = !value.contains(char::is_control);
    match section {
        "extensions" => is_plain && value.chars().all(|sign| sign.is_ascii_alphanumeric()),
        _ if is_address => is_plain && is_plain_address(value),
        _ => true,
    }
}

/// A path, another machine, or one of the usual protocols; nothing that names a program.
fn is_plain_address(value: &str) -> bool {
    const USUAL: [&str; 5] = ["https", "http", "ssh", "git", "file"];
    let is_usual = value.split_once("://").is_none_or(|(protocol, _)| USUAL.contains(&protocol));
    let is_option = value.starts_with('-') || value.contains("://-") || value.contains("@-");
    is_usual && !is_option && !value.contains("::")
}

fn is_harmless_key(name: &str) -> bool {
    let (section, rest) = name.split_once('.').unwrap_or((name, ""));
    let (between, key) = rest.rsplit_once('.').map_or((None, rest), |(sub, key)| (Some(sub), key));
    let known = HARMLESS
        .iter()
        .filter(|(known, has_name, _)| *known == section && *has_name == between.is_some());
    known
        .flat_map(|(.., keys)| *keys)
        .any(|known| *known == key || *known == "*" && !key.is_empty())
}

/// Sections, whether a name follows them, and their keys.
const HARMLESS: &[(&str, bool, &[&str])] = &[
    ("core", false, &HARMLESS_CORE),
    ("user", false, &["name", "email", "signingkey", "useconfigonly"]),
    ("author", false, &["name", "email"]),
    ("committer", false, &["name", "email"]),
    ("init", false, &["defaultbranch"]),
    ("branch", false, &["autosetupmerge", "autosetuprebase", "sort"]),
    ("branch", true, &HARMLESS_BRANCH),
    ("remote", false, &["pushdefault"]),
    ("remote", true, &HARMLESS_REMOTE),
    ("pull", false, &["rebase", "ff"]),
    ("push", false, &["default", "autosetupremote", "followtags"]),
    ("fetch", false, &["prune", "prunetags", "parallel", "writecommitgraph", "fsckobjects"]),
    ("transfer", false, &["fsckobjects"]),
    ("receive", false, &["denycurrentbranch", "denynonfastforwards", "denydeletes", "fsckobjects"]),
    ("merge", false, &["conflictstyle", "ff", "renames", "renamelimit", "log"]),
    ("rebase", false, &["autostash", "autosquash", "updaterefs"]),
    ("commit", false, &["verbose", "cleanup", "status"]),
    ("tag", false, &["sort"]),
    ("log", false, &["date", "abbrevcommit", "decorate", "follow"]),
    ("diff", false, &HARMLESS_DIFF),
    ("diff", true, &["xfuncname", "funcname", "binary", "wordregex"]),
    ("status", false, &["showuntrackedfiles", "short", "branch", "relativepaths", "aheadbehind"]),
    ("color", false, &["*"]),
    ("color", true, &["*"]),
    ("column", false, &["*"]),
    ("advice", false, &["*"]),
    ("gc", false, &["auto", "autodetach", "autopacklimit", "pruneexpire", "reflogexpire"]),
    ("maintenance", false, &["auto", "autodetach", "strategy"]),
    ("index", false, &["*"]),
    ("pack", false, &["*"]),
    ("feature", false, &["*"]),
    ("i18n", false, &["*"]),
    ("extensions", false, &HARMLESS_EXTENSIONS),
    ("submodule", false, &["active", "fetchjobs"]),
    ("submodule", true, &["url", "active", "ignore", "branch", "path", "shallow"]),
    ("lfs", false, &["repositoryformatversion"]),
    ("lfs", true, &["access", "locksverify"]),
];

const HARMLESS_CORE: [&str; 26] = [
    "abbrev",
    "autocrlf",
    "bare",
    "bigfilethreshold",
    "checkstat",
    "commentchar",
    "commitgraph",
    "compression",
    "eol",
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "longpaths",
    "multipackindex",
    "precomposeunicode",
    "preloadindex",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "repositoryformatversion",
    "safecrlf",
    "sharedrepository",
    "symlinks",
    "trustctime",
    "untrackedcache",
    "whitespace",
];

const HARMLESS_BRANCH: [&str; 8] = [
    "remote",
    "merge",
    "rebase",
    "description",
    "pushremote",
    "vscode-merge-base",
    "gh-merge-base",
    "github-pr-owner-number",
];

const HARMLESS_REMOTE: [&str; 10] = [
    "url",
    "pushurl",
    "fetch",
    "push",
    "mirror",
    "tagopt",
    "prune",
    "prunetags",
    "gh-resolved",
    "followremotehead",
];

const HARMLESS_DIFF: [&str; 9] = [
    "algorithm",
    "colormoved",
    "context",
    "indentheuristic",
    "interhunkcontext",
    "mnemonicprefix",
    "noprefix",
    "renamelimit",
    "renames",
];

/// What a repository is made of; where it would lie elsewhere, or be fetched when it is missing, it
/// is not among them.
const HARMLESS_EXTENSIONS: [&str; 5] =
    ["objectformat", "compatobjectformat", "refstorage", "preciousobjects", "relativeworktrees"];

/// Not `hookspath`, which many repositories have: every call overrules it.
const CORE: [&str; 7] =
    ["fsmonitor", "sshcommand", "gitproxy", "pager", "editor", "alternaterefscommand", "askpass"];

#[cfg(test)]
mod tests {
    use super::{is_harmless, runs_programs};

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

    #[test]
    fn an_address_that_names_a_program_is_not_harmless() {
        for (value, is) in [
            ("https://example.org/a.git", true),
            ("git@example.org:a/b.git", true),
            ("ssh://git@example.org:22/a", true),
            ("../a", true),
            ("/srv/a", true),
            ("file:///srv/a", true),
            ("ext::sh -c x", false),
            ("foo::https://example.org", false),
            ("foo://example.org", false),
            ("ssh://-oProxyCommand=x/a", false),
            ("-u", false),
            ("a\nb", false),
        ] {
            for name in ["remote.a.url", "submodule.b.c.url", "branch.main.remote"] {
                assert_eq!(is_harmless(name, value), is, "{name} {value}");
            }
        }
        assert!(is_harmless("extensions.refstorage", "reftable"));
        assert!(!is_harmless("extensions.refstorage", "files:///srv/refs"));
    }

    #[test]
    fn only_what_is_known_is_harmless() {
        for name in [
            "core.bare",
            "remote.origin.url",
            "branch.a.b.merge",
            "user.email",
            "color.ui",
            "submodule.a/b.url",
        ] {
            assert!(is_harmless(name, "x"), "{name}");
        }
        for name in [
            "core.fsmonitor",
            "core.hookspath",
            "core.worktree",
            "alias.st",
            "include.path",
            "tar.tar.gz.command",
            "lfs.customtransfer.x.path",
            "lfs.url",
            "branch.main.mergeoptions",
            "submodule.a.update",
            "filter.x.clean",
            "color",
            "unheard.of",
            "remote.origin.vcs",
            "extensions.worktreeconfig",
            "extensions.partialclone",
            "remote.origin.promisor",
            "remote.origin.partialclonefilter",
        ] {
            assert!(!is_harmless(name, "x"), "{name}");
        }
    }
}
