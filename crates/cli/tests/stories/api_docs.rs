//! The examples of the pages about the API, copied and run against a real server.

use crate::support::{Home, says};

/// The blocks of a page that a shell runs, one after the other.
fn examples(page: &str) -> String {
    let blocks = page.split("\n```sh\n").skip(1);
    blocks.map(|block| block.split("\n```").next().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_examples_of_the_api_work_as_they_are_written() {
    for (lang, page) in [
        ("en", include_str!("../../../../docs/api.md")),
        ("zh-CN", include_str!("../../../../docs/api.zh-CN.md")),
    ] {
        let home = Home::scripted(&[says("Hello.")]).with_token().with("EVERLOOP_LANG", lang);
        let served = home.serve();
        let head = format!("set -u\nURL=http://{}\nTOKEN=test-token-0123456789\n", served.address);
        let shown = home.shell(&(head + &examples(page))).ends_with(0);
        let said = &shown.stdout;
        assert!(!said.lines().any(|line| line == "null"), "{lang}: {said}");
        for words in
            ["What is in this folder?", "run.succeeded", "conversation.message", "not_found"]
        {
            assert!(said.contains(words), "{lang}: {words} is not in {said}\n{}", shown.stderr);
        }
    }
}
