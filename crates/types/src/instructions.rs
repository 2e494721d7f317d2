//! Files that others take instructions from.

use crate::pattern::path_fits;

/// Files that later runs, or other programs, take instructions from: guidance, skills, hooks, and
/// what shells, desktops, editors, other agents and builders run by themselves. In lower case.
const INSTRUCTIONS: &[&str] = &[
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
    "**/crush.json",
    "**/*.desktop",
    "**/claude.local.md",
    "**/agents.override.md",
    "**/agent.md",
    "**/qwen.md",
    "**/warp.md",
    "**/.roo/**",
    "**/.windsurf/**",
    "**/.kiro/**",
    "**/.junie/**",
    "**/.opencode/**",
    "**/opencode.json",
    "**/.continue/**",
    "**/.amazonq/**",
    "**/.goosehints",
    "**/.rules",
    "**/.aider.conf.yml",
    "**/.nvim.lua",
    "**/.nvimrc",
    "**/.lvimrc",
    "**/.dir-locals.el",
    "**/*.sublime-project",
    "**/.fleet/**",
    "**/lefthook.yaml",
    "**/.lefthook.yml",
    "**/.lefthook.yaml",
    "**/.githooks/**",
    "**/.yarnrc.yml",
    "**/.pnpmfile.cjs",
    "**/mise.toml",
    "**/.tool-versions",
    "**/.forgejo/**",
    "**/.gitea/**",
    "**/.woodpecker.yml",
    "**/.woodpecker/**",
    "**/.drone.yml",
    "**/.buildkite/**",
    "**/.travis.yml",
    "**/jenkinsfile",
    "**/azure-pipelines.yml",
    "**/bitbucket-pipelines.yml",
    "**/.rprofile",
    "**/.irbrc",
    "**/.psqlrc",
    "**/.copilot/**",
    "**/.augment/**",
    "**/.trae/**",
    "**/.zshrc.d/**",
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

/// Names with a dot in front that nobody obeys, or only who is asked to: what builders and checkers
/// leave behind, what they look at and what they leave out. In lower case.
const ORDINARY: &[&str] = &[
    ".babelrc*",
    ".browserslistrc",
    ".cache",
    ".clang-format",
    ".clang-tidy",
    ".coverage*",
    ".dockerignore",
    ".editorconfig",
    ".env*",
    ".eslint*",
    ".flake8",
    ".gitignore",
    ".gitkeep",
    ".gradle",
    ".helmignore",
    ".htaccess",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".jshintrc",
    ".markdownlint*",
    ".mypy_cache",
    ".next",
    ".nojekyll",
    ".npmignore",
    ".nuxt",
    ".nvmrc",
    ".nyc_output",
    ".parcel-cache",
    ".prettier*",
    ".pylintrc",
    ".pytest_cache",
    ".python-version",
    ".rspec",
    ".ruby-version",
    ".ruff_cache",
    ".ruff.toml",
    ".rubocop*",
    ".rustfmt.toml",
    ".shellcheckrc",
    ".storybook",
    ".stylelint*",
    ".svelte-kit",
    ".terraform*",
    ".tox",
    ".nox",
    ".turbo",
    ".venv",
    ".well-known",
    ".yamllint*",
];

/// Whether later runs, or other programs, may take instructions from a file of the workspace: it is
/// listed, or has a name with a dot in front that is not known to be ordinary. Tools hide behind
/// such names, and no list holds them all.
#[must_use]
pub fn instructs(path: &str) -> bool {
    let is_unknown = |part: &str| {
        let has_dot = part.starts_with('.') && part.len() > 1 && part != "..";
        has_dot && !ORDINARY.iter().any(|ordinary| path_fits(ordinary, part))
    };
    is_listed(path) || path.to_lowercase().split('/').any(is_unknown)
}

/// Whether a file of the workspace is one of those that are known to instruct others.
#[must_use]
pub fn is_listed(path: &str) -> bool {
    let lower = path.to_lowercase();
    INSTRUCTIONS.iter().any(|pattern| path_fits(pattern, &lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_dot_in_front_is_suspect_unless_it_is_ordinary() {
        for path in [
            ".unheard/of/rules.md",
            "sub/.qwen/settings.json",
            ".npmrc",
            ".emacs.d/init.el",
            "crush.json",
            "x.desktop",
            "Jenkinsfile",
            ".Clinerules",
        ] {
            assert!(instructs(path), "{path}");
        }
        for path in
            ["src/main.rs", "./a", "..", ".gitignore", ".env.example", ".venv/lib/x.py", "a.b/.tox"]
        {
            assert!(!instructs(path), "{path}");
        }
        assert!(is_listed("AGENTS.md") && !is_listed(".unheard/of"));
    }
}
