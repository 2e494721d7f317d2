//! The attempts, each with what must come of it.

#![allow(dead_code, reason = "each test file uses a part of it")]

/// What must come of a path that is given to every file tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// Every tool refuses it with these words.
    Refused(&'static str),
    /// Every tool fails in some words of the system.
    Fails,
    /// Only what changes files refuses it, with these words.
    NotChanged(&'static str),
    /// It is a plain name inside the workspace, whatever it looks like.
    Inside,
    /// It leads to a file that was made to have two names: what changes it parts the two.
    Parted,
}

use Path::{Fails, Inside, NotChanged, Parted, Refused};

const OUTSIDE: Path = Refused("leads outside the workspace");
const OWN: Path = Refused("belongs to everloop itself");
const SPECIAL: Path = Refused("neither a file nor a folder");
const GIT: Path = NotChanged("tells git which programs to run");
const SHUT: Path = NotChanged("is protected in a workspace");

/// `{root}` is the workspace, `{long}` a very long name, `{deep}` a very long path, `{nul}` a NUL.
pub(crate) const PATHS: &[(&str, &str, Path)] = &[
    ("climbing", "../secret", OUTSIDE),
    ("climbing from within", "inside/../../secret", OUTSIDE),
    ("climbing many times", "../../../../../../../../etc/passwd", OUTSIDE),
    ("absolute", "{root}/../secret", OUTSIDE),
    ("absolute elsewhere", "/etc/passwd", OUTSIDE),
    ("a folder with the same beginning", "{root}-beside/x", OUTSIDE),
    ("the environment of the process", "/proc/self/environ", OUTSIDE),
    ("the root by the process table", "/proc/self/root/etc/passwd", OUTSIDE),
    ("a device", "/dev/zero", OUTSIDE),
    ("a link to the outside", "link", OUTSIDE),
    ("a relative link to the outside", "relative_link", OUTSIDE),
    ("a link to a link to the outside", "link_to_link", OUTSIDE),
    ("through a link to the folder above", "up/secret", OUTSIDE),
    ("through a link to the root", "top/etc/passwd", OUTSIDE),
    ("through a link and back", "inside/../up/workspace/../secret", OUTSIDE),
    ("a link to what does not exist outside", "dangling", OUTSIDE),
    ("a link to a device", "zero", OUTSIDE),
    ("a link to the process's own files", "fds/0", OUTSIDE),
    ("a link to itself", "circle", Fails),
    ("a hard link to a file outside", "hard", Parted),
    ("a pipe", "pipe", SPECIAL),
    ("a socket", "socket", SPECIAL),
    ("a NUL", "inside/a{nul}b", Fails),
    ("a very long name", "{long}", Fails),
    ("a very long path", "{deep}", Fails),
    ("nothing", "", Fails),
    ("a file as a folder", "inside/file/x", Fails),
    ("the program's own file", "data/own.db", OWN),
    ("it by a way around", "inside/../data/./own.db", OWN),
    ("it by a link", "own_link", OWN),
    ("it by a hard link", "own_hard", OWN),
    ("below it as if it were a folder", "data/own.db/x", Fails),
    ("git's settings", ".git/config", SHUT),
    ("a hook", ".git/hooks/pre-commit", SHUT),
    ("git's settings in other letters", ".GiT/config", SHUT),
    ("git's settings of a folder below", "inside/.git/config", SHUT),
    ("attributes that run filters", ".gitattributes", GIT),
    ("git's settings by a link", "git_link/config", SHUT),
    ("a file that leads git elsewhere", ".git/commondir", SHUT),
    ("mercurial's settings", ".hg/hgrc", SHUT),
    ("jujutsu's settings of a folder below", "inside/.jj/repo/config.toml", SHUT),
    ("a skill that later runs believe", ".agents/skills/x/SKILL.md", SHUT),
    ("a start-up file", ".bashrc", SHUT),
    ("a key of the person", ".ssh/authorized_keys", SHUT),
    ("dots of another alphabet", "\u{ff0e}\u{ff0e}/secret", Inside),
    ("one character that looks like two dots", "\u{2025}/secret", Inside),
    ("dots as in an address", "%2e%2e/secret", Inside),
    ("another system's separators", "..\\secret", Inside),
    ("a home", "~/.profile", Inside),
    ("a variable", "$HOME/x", Inside),
    ("an address of a file", "file:///etc/passwd", Inside),
    ("a line break", "inside/a\nb", Inside),
    ("a turned direction of writing", "inside/\u{202e}txt.exe", Inside),
];

/// What a file tool is given that leads to what others obey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileGoal {
    /// The path itself.
    Itself,
    /// The path is a link to this.
    Link(&'static str),
}

use FileGoal::{Itself, Link};

/// What is written only if a person says yes, or not at all.
pub(crate) const INSTRUCTIONS: &[(&str, &str, FileGoal)] = &[
    ("guidance", "AGENTS.md", Itself),
    ("guidance in other letters", "agents.MD", Itself),
    ("guidance of a folder below", "src/AGENTS.md", Itself),
    ("guidance for another assistant", "CLAUDE.md", Itself),
    ("guidance for an editor", ".cursorrules", Itself),
    ("guidance on a forge", ".github/copilot-instructions.md", Itself),
    ("what a forge runs", ".github/workflows/ci.yml", Itself),
    ("what another forge runs", ".gitlab-ci.yml", Itself),
    ("what runs on entering the folder", ".envrc", Itself),
    ("an editor's tasks", ".vscode/tasks.json", Itself),
    ("an editor's settings", ".vscode/settings.json", Itself),
    ("another editor's tasks", ".idea/runConfigurations/x.xml", Itself),
    ("a container for an editor", ".devcontainer/devcontainer.json", Itself),
    ("hooks of a helper", ".pre-commit-config.yaml", Itself),
    ("hooks of another helper", ".husky/pre-commit", Itself),
    ("servers of tools", ".mcp.json", Itself),
    ("the repositories within", ".gitmodules", Itself),
    ("a skill", ".agents/skills/x/SKILL.md", Itself),
    ("a dangling link to guidance", "notes.md", Link("AGENTS.md")),
    ("a dangling link to an environment", "env.txt", Link(".envrc")),
    ("a dangling link to tasks", "t.json", Link(".vscode/tasks.json")),
    ("a dangling link from below", "sub/up", Link("../.github/workflows/x.yml")),
    ("a dangling link by a way around", "a", Link("./x/../CLAUDE.md")),
    ("a dangling link to a start-up file", "b", Link(".bashrc")),
    ("a dangling link to a skill", "c", Link(".agents/skills/x/SKILL.md")),
    ("a dangling link to a hook", "d", Link(".git/hooks/pre-commit")),
    ("a link to itself's guidance in other letters", "e", Link("Claude.MD")),
];

/// What must come of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Address {
    /// It leads to this machine or its network.
    Near,
    /// It is refused by its look, with these words.
    Looks(&'static str),
}

use Address::{Looks as By, Near};

/// `{port}` is that of a server on this machine. Names are those of [`NAMES`].
pub(crate) const ADDRESSES: &[(&str, &str, Address)] = &[
    ("this machine", "http://127.0.0.1:{port}/", Near),
    ("another of its addresses", "http://127.9.9.9:{port}/", Near),
    ("in two parts", "http://127.1:{port}/", Near),
    ("as one number", "http://2130706433:{port}/", Near),
    ("in sixteens", "http://0x7f000001:{port}/", Near),
    ("in sixteens by parts", "http://0x7f.0x0.0x0.0x1:{port}/", Near),
    ("in eights", "http://0177.0.0.01:{port}/", Near),
    ("in eights as one number", "http://017700000001:{port}/", Near),
    ("with a dot at the end", "http://127.0.0.1.:{port}/", Near),
    ("with dots of another alphabet", "http://127\u{3002}0\u{3002}0\u{3002}1:{port}/", Near),
    ("with digits in circles", "http://\u{2460}\u{2461}\u{2466}.0.0.1:{port}/", Near),
    ("with escapes", "http://%31%32%37.0.0.1:{port}/", Near),
    ("with a line break within", "http://127.0.\n0.1:{port}/", Near),
    ("with other slashes", "http:\\\\127.0.0.1:{port}\\", Near),
    ("zero", "http://0:{port}/", Near),
    ("zeroes", "http://0.0.0.0:{port}/", Near),
    ("the sixth protocol", "http://[::1]:{port}/", Near),
    ("its zero", "http://[::]:{port}/", Near),
    ("mapped", "http://[::ffff:127.0.0.1]:{port}/", Near),
    ("mapped in sixteens", "http://[::ffff:7f00:1]:{port}/", Near),
    ("compatible", "http://[::127.0.0.1]:{port}/", Near),
    ("translated", "http://[64:ff9b::7f00:1]:{port}/", Near),
    ("translated locally", "http://[64:ff9b:1::7f00:1]:{port}/", Near),
    ("tunnelled", "http://[2002:7f00:1::]:{port}/", Near),
    ("tunnelled otherwise", "http://[2001::7f00:1]:{port}/", Near),
    ("a link's address", "http://[fe80::1]/", Near),
    ("a site's address", "http://[fec0::1]/", Near),
    ("a local address", "http://[fd12::1]/", Near),
    ("a group", "http://[ff02::1]/", Near),
    ("a private network", "http://10.0.0.1/", Near),
    ("another", "http://172.31.255.1/", Near),
    ("a third", "http://192.168.1.1/", Near),
    ("a provider's network", "http://100.64.0.1/", Near),
    ("metadata", "http://169.254.169.254/latest/meta-data/", Near),
    ("metadata as one number", "http://2852039166/", Near),
    ("metadata mapped", "http://[::ffff:a9fe:a9fe]/", Near),
    ("metadata of another cloud", "http://100.100.100.200/", Near),
    ("metadata of a third", "http://192.0.0.192/", Near),
    ("metadata of a fourth", "http://168.63.129.16/", Near),
    ("metadata of the sixth protocol", "http://[fd00:ec2::254]/", Near),
    ("benchmarks", "http://198.18.0.1/", Near),
    ("everybody", "http://255.255.255.255/", Near),
    ("its name", "http://localhost:{port}/", Near),
    ("its name in other letters", "http://LOCALHOST:{port}/", Near),
    ("its name with a dot", "http://localhost.:{port}/", Near),
    ("a name below it", "http://a.localhost:{port}/", Near),
    ("a name that leads home", "http://home.example:{port}/", Near),
    ("a name that leads into the network", "http://intranet.example/", Near),
    ("a name with one good address", "http://mixed.example:{port}/", Near),
    ("a name that leads there mapped", "http://mapped.example:{port}/", Near),
    ("a name of metadata", "http://metadata.google.internal/", Near),
    ("a person before the host", "http://example.com@127.0.0.1:{port}/", By("name or password")),
    ("a password", "http://me:word@public.example/", By("name or password")),
    ("files", "file:///etc/passwd", By("only http and https")),
    ("another protocol", "ftp://127.0.0.1/", By("only http and https")),
    ("a protocol for anything", "gopher://127.0.0.1:{port}/_x", By("only http and https")),
    ("data", "data:text/html,hello", By("only http and https")),
    ("a script", "javascript:alert(1)", By("only http and https")),
    ("no protocol", "127.0.0.1:{port}/", By("not an address")),
    ("no host", "http://", By("not an address")),
    ("a zone", "http://[fe80::1%25eth0]/", By("not an address")),
    ("mail", "http://public.example:25/", By("port 25")),
    ("a remote shell", "http://public.example:22/", By("port 22")),
];

/// Where names lead.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    ("localhost", &["127.0.0.1", "::1"]),
    ("localhost.", &["127.0.0.1"]),
    ("a.localhost", &["127.0.0.1"]),
    ("home.example", &["127.0.0.1"]),
    ("intranet.example", &["10.1.2.3"]),
    ("mixed.example", &["1.1.1.1", "127.0.0.1"]),
    ("mapped.example", &["::ffff:127.0.0.1"]),
    ("metadata.google.internal", &["169.254.169.254"]),
    ("public.example", &["1.1.1.1"]),
];

/// Where a page that may be read sends on, and what must come of it.
pub(crate) const REDIRECTS: &[(&str, &str, &str)] = &[
    ("to another port of this machine", "http://127.0.0.1:{other}/", "not on the public network"),
    ("to its name", "http://localhost:{port}/", "not on the public network"),
    ("to it in another form", "http://[::ffff:127.0.0.1]:{port}/", "not on the public network"),
    ("to metadata", "http://169.254.169.254/", "not on the public network"),
    ("to metadata without a protocol", "//169.254.169.254/", "not on the public network"),
    ("to a name that leads home", "http://home.example:{other}/", "not on the public network"),
    ("to a file", "file:///etc/passwd", "only http and https"),
    ("to a person before the host", "http://a@127.0.0.1:{port}/", "name or password"),
    ("round and round", "/again", "more than 5 redirects"),
];
