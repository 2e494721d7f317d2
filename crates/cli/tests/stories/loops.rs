//! `everloop loops`: every loop is explained, in both languages, and what bounds it.

use crate::support::Home;
use everloop_loops::LOOPS;

#[test]
fn every_loop_is_explained_with_its_picture_in_both_languages() {
    for (lang, default, good) in
        [("en", "plan-replan (default)", "Good for: "), ("zh-CN", "plan-replan（默认）", "适合：")]
    {
        let home = Home::new().with("EVERLOOP_LANG", lang);
        let said = home.run(["loops"]).ends_with(0).stdout;
        assert!(said.contains(default), "{said}");
        assert_eq!(said.matches(good).count(), LOOPS.len(), "{said}");
        for name in LOOPS {
            let begins = format!("\n{name}");
            let told =
                said.split("\n\n").find(|part| format!("\n{}", part.trim()).starts_with(&begins));
            let told = told.unwrap_or_else(|| panic!("{name} is not told of: {said}"));
            assert!(told.contains("──►") && told.lines().count() >= 4, "{told}");
            assert!(!told.contains("loops."), "a text is missing: {told}");
            let one = home.run(["loops", name]).ends_with(0).stdout;
            assert!(one.contains("budget.model_calls") && !one.contains("loops."), "{one}");
        }
    }
}

#[test]
fn settings_and_limits_are_those_in_force_and_the_default_is_the_chosen_one() {
    let home = Home::new();
    let set = ["--set", "loop.max_iterations=7", "--set", "loop.default=hybrid"];
    let all = home.run(["loops", "--json"].into_iter().chain(set)).ends_with(0).json();
    let all = all["loops"].as_array().unwrap();
    let names: Vec<&str> = all.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, LOOPS);
    for one in all {
        let expected = match one["name"].as_str().unwrap() {
            "plan-replan" => 20,
            "plan-execute-think" => 5,
            _ => 7,
        };
        assert_eq!(one["step_limit"], expected, "{one}");
        assert_eq!(one["default"], one["name"] == "hybrid");
    }
    home.run(["loops", "raect"]).ends_with(2).says(&["Did you mean react?"]);
    let chat = home.chat(&["/loop"]).ends_with(0).stdout;
    assert!(
        chat.contains("* plan-replan") && LOOPS.iter().all(|name| chat.contains(name)),
        "{chat}"
    );
}
