//! What stops the build of this crate, and what the build script writes.

#[path = "../build/catalog.rs"]
mod catalog;
#[path = "../build/generate.rs"]
mod generate;

fn problems(text: &str) -> Vec<String> {
    let files = [("a.txt".to_owned(), text.to_owned())];
    let found = catalog::read(&files).expect_err("nothing was wrong");
    found.iter().map(ToString::to_string).collect()
}

fn code(text: &str) -> String {
    let files = [("a.txt".to_owned(), text.to_owned())];
    generate::code(&catalog::read(&files).expect("it is sound"))
}

#[test]
fn a_missing_language_is_told_with_its_file_and_line() {
    let text = "# A comment.\nrun.a\n  en: \"A\"\n\nrun.b\n  zh: \"乙\"\n";
    let expected =
        ["a.txt:2: `run.a` needs both `en` and `zh`", "a.txt:5: `run.b` needs both `en` and `zh`"];
    assert_eq!(problems(text), expected);
}

#[test]
fn arguments_that_are_unknown_or_unused_in_a_language_are_told() {
    let text = "run.a(id)\n  en: \"A {id} {of}\"\n  zh: \"甲\"\n";
    let expected = [
        "a.txt:2: `run.a` has no argument `of`",
        "a.txt:3: `run.a`: the argument `id` is not used",
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn a_key_that_is_defined_twice_is_told_also_across_files() {
    let one = "run.a\n  en: \"A\"\n  zh: \"甲\"\n".to_owned();
    let files = [("a.txt".to_owned(), one.clone()), ("b.txt".to_owned(), one)];
    let found = catalog::read(&files).expect_err("nothing was wrong");
    assert_eq!(found[0].to_string(), "b.txt:1: `run.a` is defined twice");
}

#[test]
fn plurals_need_a_count_and_both_forms() {
    let both = "  en.one: \"{n} step\"\n  en.other: \"{n} steps\"\n  zh: \"{n} 步\"\n";
    let no_count = format!("run.a(n)\n{both}");
    let expected = "a.txt:1: `run.a`: a plural needs a count: mark one argument with `#`";
    assert_eq!(problems(&no_count), [expected]);
    let no_plural = "run.a(#n)\n  en: \"{n}\"\n  zh: \"{n}\"\n";
    let expected = "a.txt:1: `run.a`: `#` marks a count, but there is no plural";
    assert_eq!(problems(no_plural), [expected]);
    let half = "run.a(#n)\n  en.one: \"{n}\"\n  zh: \"{n}\"\n";
    assert!(problems(half)[0].contains("needs both `en.one` and `en.other`"));
    let mixed = format!("run.a(#n)\n  en: \"{{n}}\"\n{both}");
    assert!(problems(&mixed)[0].contains("exclude each other"));
}

#[test]
fn unknown_forms_bad_lines_and_bad_escapes_are_told() {
    let text = "run.a\n  en.few: \"A\"\n  fr: \"A\"\n  en: A\n  en: \"a\\t\"\n  zh: \"\"\n";
    let found = problems(text);
    assert!(found[0].starts_with("a.txt:2: unknown form `en.few`"), "{found:?}");
    assert!(found[1].starts_with("a.txt:3: unknown form `fr`"), "{found:?}");
    assert!(found[2].starts_with("a.txt:4: a text is written"), "{found:?}");
    assert!(found[3].starts_with("a.txt:5: unknown escape"), "{found:?}");
    assert!(found[4].starts_with("a.txt:6: the text of `zh` is empty"), "{found:?}");
}

#[test]
fn a_message_becomes_a_function_and_with_three_arguments_a_struct() {
    let text = "run.loop(id)\n  en: \"A {id}\"\n  zh: \"甲 {id}\"\n\n\
                run.long_one(a, b, in)\n  en: \"{a}{b}{in}\"\n  zh: \"{in}{b}{a}\"\n";
    let code = code(text);
    for part in [
        "pub mod run {",
        "pub fn r#loop(id: &dyn std::fmt::Display) -> crate::Text",
        "pub struct LongOne<'a>",
        "pub r#in: &'a dyn std::fmt::Display,",
    ] {
        assert!(code.contains(part), "{part} is not in {code}");
    }
}

#[test]
fn messages_that_are_found_by_name_take_no_arguments_and_get_no_function() {
    let text = "@named help\nhelp.todo.add\n  en: \"A\"\n  zh: \"甲\"\n";
    let made = code(text);
    assert!(made.contains("pub fn named(name: &str)") && !made.contains("pub fn add("), "{made}");
    let text = "@named help\nhelp.add(x)\n  en: \"{x}\"\n  zh: \"{x}\"\n";
    assert_eq!(problems(text), ["a.txt:2: `help.add` is found by name and takes no arguments"]);
}

#[test]
fn a_pattern_may_find_more_than_it_shows() {
    let text = "@patterns\nseen.a\n  en: \"{n} of {m}\"\n  zh: \"{n}\"\n";
    assert!(code(text).contains("PATTERNS"));
    let text = "@patterns\nseen.a\n  en: \"{n}\"\n  zh: \"{n}{m}\"\n";
    assert_eq!(problems(text), ["a.txt:4: `seen.a`: the pattern finds no `m`"]);
}
