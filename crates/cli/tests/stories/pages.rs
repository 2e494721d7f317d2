//! Completion scripts and manual pages, with words in the reader's language.

use crate::support::Home;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands_and_not_the_guard() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.run(["completion", shell]).ends_with(0).stdout;
        assert!(script.contains("doctor") && script.contains("lang"), "{shell}: {script}");
        assert!(!script.contains("__guard"), "{shell}");
    }
    let zsh = home.run(["completion", "zsh", "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(zsh.contains("检查安装情况"), "{zsh}");
    home.run(["completion", "tcsh"]).ends_with(2);
}

#[test]
fn the_manual_is_one_page_or_one_for_each_command() {
    let home = Home::new();
    let page = home.run(["man"]).ends_with(0).stdout;
    assert!(page.contains(".TH everloop 1") && page.contains("Check the installation"), "{page}");
    let zh = home.run(["man", "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(zh.contains("检查安装情况"), "{zh}");
    let folder = home.path("man");
    home.run(["man", "--dir", folder.to_str().unwrap()]).ends_with(0);
    for name in ["everloop.1", "everloop-doctor.1", "everloop-config-set.1"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    let guard = std::fs::read_dir(&folder).unwrap().flatten();
    assert!(
        guard.map(|page| page.file_name()).all(|name| !name.to_string_lossy().contains("guard"))
    );
    std::fs::write(home.path("file"), "x").unwrap();
    let below = home.path("file").join("man");
    home.run(["man", "--dir", below.to_str().unwrap()]).ends_with(1).says(&["file/man"]);
}
