//! Whether the words of a plan item name work that only a tool can do.

/// English verbs of such work.
const VERBS: &[&str] = &[
    "add", "append", "build", "call", "cancel", "change", "check", "commit", "compile", "copy",
    "count", "create", "delete", "deploy", "download", "edit", "execute", "export", "fetch",
    "find", "fix", "import", "inspect", "install", "list", "look", "mail", "measure", "merge",
    "modify", "move", "open", "post", "publish", "push", "query", "read", "remind", "remove",
    "rename", "replace", "run", "save", "schedule", "search", "send", "store", "test", "update",
    "upload", "verify", "write",
];

/// What is written for the user, and needs no tool.
const WRITINGS: &[&str] = &["answer", "conclusion", "greeting", "reply", "response", "summary"];

/// Chinese verbs of such work, one a line.
const PHRASES: &str = include_str!("tool_work_zh.txt");

/// Whether a text names a tool's work: a verb of it, a file, a command or an address.
pub(crate) fn is_named(text: &str) -> bool {
    if text.contains(['/', '`', '$', '\\']) || PHRASES.lines().any(|phrase| text.contains(phrase)) {
        return true;
    }
    let lower = text.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let words = lower.split(|c| !is_part(c)).map(|word| word.trim_matches(['.', '-']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    // "e.g" and "i.e" are no files.
    let is_file = |word: &&str| {
        word.rsplit_once('.').is_some_and(|(stem, end)| {
            let is_end = end.starts_with(|c: char| c.is_ascii_alphabetic()) && end.len() <= 5;
            is_end && !stem.is_empty() && word.len() > 3
        })
    };
    // The name of a tool: `read_file`.
    let is_named = |word: &&str| word.contains('_') || is_file(word);
    let is_for_user = words.iter().any(|word| WRITINGS.contains(word));
    let is_verb = |word: &&str| VERBS.contains(word) && !(is_for_user && *word == "write");
    words.iter().any(|word| is_named(word) || is_verb(word))
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn files_commands_and_their_verbs_are_a_tools_work() {
        for text in [
            "read notes",
            "look at sales.csv",
            "run the tests",
            "use read_file",
            "`cargo build`",
            "see https://example.com",
            "Write the report",
            "读取文件",
            "运行测试",
            "统计行数",
        ] {
            assert!(is_named(text), "{text}");
        }
    }

    #[test]
    fn words_for_the_user_are_not() {
        for text in [
            "greet the user",
            "sum up",
            "Sum up.",
            "explain what was found",
            "write a summary",
            "answer",
            "think about the result",
            "问候用户",
            "总结",
            "说明结论",
            "e.g. thanks",
        ] {
            assert!(!is_named(text), "{text}");
        }
    }
}
