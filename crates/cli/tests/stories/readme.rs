//! The scripted examples of both READMEs, copied and run.

use crate::support::Home;

/// The fenced block that plays a script, as it stands in a README.
#[track_caller]
fn scripted_example(readme: &str) -> &str {
    let blocks = readme.split("\n```").skip(1).step_by(2);
    let mut code = blocks.filter_map(|block| block.split_once('\n')).map(|(_, code)| code);
    code.find(|code| code.contains("scripted/")).expect("a scripted example")
}

#[test]
fn the_scripted_example_of_each_readme_works_as_it_is_written() {
    for (lang, readme, said) in [
        ("en", include_str!("../../../../README.md"), "Done."),
        ("zh-CN", include_str!("../../../../README.zh-CN.md"), "完成。"),
    ] {
        let home = Home::new().with("EVERLOOP_LANG", lang);
        let shown = home.shell(scripted_example(readme)).ends_with(0);
        assert_eq!(shown.stdout, format!("{said}\n"), "{lang}: {}", shown.stderr);
        shown.says(&["list_dir"]);
    }
}
