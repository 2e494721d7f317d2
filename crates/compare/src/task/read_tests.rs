use super::{from_folder, read};

const GOOD: &str = r#"name = "one"
kind = "files"
goal = """
Write "a" to a.txt.
Read a.txt.
"""
checks = [
    { file_equals = { file = "a.txt", text = "a" } },
]
"#;

fn complaint(text: &str) -> String {
    read("x.toml", text).unwrap_err().to_string()
}

#[test]
fn a_task_is_read_and_its_goal_is_one_line() {
    let task = read("x.toml", GOOD).unwrap();
    assert_eq!(task.goal, r#"Write "a" to a.txt. Read a.txt."#);
    assert_eq!(task.sentences(), 2);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let without = |line: &str, by: &str| GOOD.replace(line, by);
    for (text, line, words) in [
        (without("kind = \"files\"", "kind = \"filing\""), 2, "filing"),
        (without("kind = \"files\"", "kind = \"files\"\nspeed = 3"), 3, "speed"),
        (without("file_equals", "file_equal"), 8, "file_equal"),
        (without(", text = \"a\"", ""), 8, "text"),
        (without("name = \"one\"", "name = \"one two\""), 1, "name"),
        (without("checks = [", "checks = ["), 7, ""),
        (without("    { file", "    {{ file"), 8, ""),
        (without("text = \"a\" } }", "text = \"a\" } },\n{ answer_has = \"\" }"), 7, "empty"),
        (format!("{GOOD}[files]\n\"../a\" = \"x\"\n"), 10, "../a"),
        (format!("{GOOD}[files]\n\"a.txt\" = \"a\"\n"), 7, "before anything is done"),
    ] {
        if words.is_empty() && read("x.toml", &text).is_ok() {
            continue;
        }
        let said = complaint(&text);
        assert!(said.starts_with(&format!("x.toml:{line}: ")), "{line} {words}: {said}");
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_folder_needs_tasks_and_each_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert!(from_folder(&at("none")).unwrap_err().to_string().contains("none"));
    assert!(from_folder(folder.path()).unwrap_err().to_string().contains("no .toml"));
    std::fs::write(at("b.toml"), GOOD).unwrap();
    std::fs::write(at("readme.md"), "not a task").unwrap();
    assert_eq!(from_folder(folder.path()).unwrap().len(), 1);
    std::fs::write(at("c.toml"), GOOD).unwrap();
    let said = from_folder(folder.path()).unwrap_err().to_string();
    assert!(said.contains("c.toml:1: name: one is also the name of"), "{said}");
    std::fs::write(at("c.toml"), "name = ").unwrap();
    assert!(from_folder(folder.path()).unwrap_err().to_string().contains("c.toml:1: "));
}
