//! Files that others take instructions from.

use crate::pattern::path_fits;

/// Files that later runs, or other programs, take instructions from and whose names do not begin
/// with a dot: guidance, hooks, what editors, builders and interpreters run by themselves. In small
/// letters.
const INSTRUCTIONS: &[&str] = &[
    "**/agent.md",
    "**/agents.md",
    "**/agents.*.md",
    "**/claude.md",
    "**/claude.*.md",
    "**/gemini.md",
    "**/qwen.md",
    "**/skill.md",
    "**/opencode.json",
    "**/opencode.jsonc",
    "**/crush.json",
    "**/*.code-workspace",
    "**/*.sublime-project",
    "**/*.desktop",
    "**/lefthook.yml",
    "**/lefthook.yaml",
    "**/lefthook.toml",
    "**/lefthook.json",
    "**/lefthook-local.*",
    "**/mise.toml",
    "**/mise.*.toml",
    "**/mise/config.toml",
    "**/jenkinsfile",
    "**/jenkinsfile.*",
    "**/azure-pipelines.yml",
    "**/azure-pipelines.yaml",
    "**/bitbucket-pipelines.yml",
    "**/appveyor.yml",
    "**/conftest.py",
    "**/sitecustomize.py",
    "**/usercustomize.py",
    "**/*.pth",
];

/// Names with a dot that nobody takes for more than a list of names or a way to indent.
const INERT: &[&str] = &[
    ".gitignore",
    ".gitkeep",
    ".keep",
    ".mailmap",
    ".nojekyll",
    ".editorconfig",
    ".dockerignore",
    ".npmignore",
    ".prettierignore",
    ".eslintignore",
    ".env.example",
    ".env.sample",
    ".env.template",
];

/// Names that are known to be taken for instructions. Commands may not write there at all, so the
/// list leaves out what tools keep beside their work, such as `.venv` and `.cache`.
const KNOWN: &[&str] = &[
    "**/agents.md",
    "**/claude.md",
    "**/gemini.md",
    "**/skill.md",
    "**/.agents/**",
    "**/.everloop/**",
    "**/.git/**",
    "**/.hg/**",
    "**/.jj/**",
    "**/.svn/**",
    "**/.github/**",
    "**/.gitlab-ci.yml",
    "**/.circleci/**",
    "**/.husky/**",
    "**/.pre-commit-config.yaml",
    "**/lefthook.yml",
    "**/.envrc",
    "**/.mise.toml",
    "**/.vscode/**",
    "**/.idea/**",
    "**/.devcontainer/**",
    "**/.devcontainer.json",
    "**/.mcp.json",
    "**/.claude/**",
    "**/.codex/**",
    "**/.gemini/**",
    "**/.cursor/**",
    "**/.cursorrules",
    "**/.windsurfrules",
    "**/.clinerules/**",
    "**/*.code-workspace",
    "**/.zed/**",
    "**/.cargo/config",
    "**/.cargo/config.toml",
    "**/.bash_aliases",
    "**/.bash_login",
    "**/.bash_logout",
    "**/.zshenv",
    "**/.zlogin",
    "**/.zlogout",
    "**/.kshrc",
    "**/.cshrc",
    "**/.tcshrc",
    "**/.inputrc",
    "**/.xinitrc",
    "**/.xprofile",
    "**/.xsession",
    "**/.xsessionrc",
    "**/.pam_environment",
    "**/.gitconfig",
    "**/.hgrc",
    "**/.config/autostart/**",
    "**/.config/environment.d/**",
    "**/.config/fish/**",
    "**/.config/git/**",
    "**/.config/systemd/**",
    "**/.local/bin/**",
    "**/.ssh/**",
    "**/.gnupg/**",
    "**/.exrc",
    "**/.vimrc",
    "**/.gdbinit",
    "**/.lldbinit",
    "**/.screenrc",
    "**/.tmux.conf",
    "**/.forward",
    "**/.procmailrc",
];

/// Whether a file of the workspace is closed to commands, since others take instructions from it.
#[must_use]
pub fn is_closed_to_commands(path: &str) -> bool {
    let lower = path.to_lowercase();
    KNOWN.iter().any(|pattern| path_fits(pattern, &lower))
}

/// Whether later runs, or other programs, take instructions from a file of the workspace.
///
/// Names that begin with a dot are those of shells, editors, agents, hooks and builders, and there
/// are new ones every month: all but a few count.
#[must_use]
pub fn instructs(path: &str) -> bool {
    let lower = path.to_lowercase();
    let is_dotted = |part: &str| part.starts_with('.') && !matches!(part, "." | "..");
    let mut parts = lower.split('/').rev();
    let is_inert = parts.next().is_some_and(|name| INERT.contains(&name));
    let lies_apart = parts.any(is_dotted);
    let is_named = lower.split('/').next_back().is_some_and(is_dotted) && !is_inert;
    lies_apart || is_named || INSTRUCTIONS.iter().any(|pattern| path_fits(pattern, &lower))
}

#[cfg(test)]
mod tests {
    use super::{instructs, is_closed_to_commands};

    #[test]
    fn what_others_run_or_obey_is_known_by_its_dot_or_its_name() {
        for path in [
            "AGENTS.md",
            "a/CLAUDE.local.md",
            "AGENTS.override.md",
            ".windsurf/rules/x.md",
            ".git/hooks/pre-commit",
            "sub/.nvim.lua",
            ".npmrc",
            ".config/direnv/direnvrc",
            "Jenkinsfile",
            "tests/conftest.py",
            "x.desktop",
            "mise.toml",
            ".github/.gitignore",
        ] {
            assert!(instructs(path), "{path}");
        }
        for (path, closed) in [(".venv", false), (".cache", false), (".vscode", true)] {
            assert_eq!(is_closed_to_commands(path), closed, "{path}");
        }
        for path in ["src/main.rs", "a/.gitignore", "./README.md", "Makefile", "../x", "a.b/c.d"] {
            assert!(!instructs(path), "{path}");
        }
    }
}
