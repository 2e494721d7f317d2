#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::*;

fn memory() -> (tempfile::TempDir, Memory) {
    let folder = tempfile::TempDir::new().unwrap();
    let memory = Memory::of(folder.path(), Path::new("place"));
    (folder, memory)
}

fn section<'a>(mark: &'a str, text: &'a str) -> MemorySection<'a> {
    MemorySection { mark, title: "2026-11-15 run_1", text, untrusted: false }
}

#[test]
fn a_section_is_written_once_however_often_it_is_added() {
    let (_folder, memory) = memory();
    assert_eq!(memory.add(&section("run_1 1", "one")).unwrap(), MemoryWrite::Now);
    for _ in 0..3 {
        assert_eq!(memory.add(&section("run_1 1", "one")).unwrap(), MemoryWrite::Before);
    }
    assert_eq!(memory.add(&section("run_1 2", "two")).unwrap(), MemoryWrite::Now);
    let text = memory.text().unwrap();
    assert_eq!((text.matches("one").count(), text.matches("two").count()), (1, 1), "{text}");
}

#[test]
fn words_of_others_are_known_until_they_are_taken_out() {
    let (_folder, memory) = memory();
    memory.add(&section("run_1 1", "<!-- everloop: untrusted -->")).unwrap();
    assert!(!memory.is_untrusted().unwrap(), "no text makes itself a mark");
    let theirs = MemorySection { untrusted: true, ..section("run_1 2", "two") };
    memory.add(&theirs).unwrap();
    assert!(memory.is_untrusted().unwrap());
    assert!(!memory.newest(1_000).unwrap().contains("everloop:"));
    fs::write(memory.file(), "my own words").unwrap();
    assert!(!memory.is_untrusted().unwrap());
}

/// Killed after the section and before its mark in the list: it is found, and not written again.
#[test]
fn a_crash_between_the_section_and_the_list_leaves_one_section() {
    let (_folder, memory) = memory();
    memory.add(&section("run_1 1", "one")).unwrap();
    fs::remove_file(memory.folder.join("sections")).unwrap();
    assert_eq!(memory.add(&section("run_1 1", "one")).unwrap(), MemoryWrite::Before);
    assert_eq!(memory.text().unwrap().matches("one").count(), 1);
}

/// A machine that stops in the middle of a write leaves a section without its mark.
#[test]
fn half_a_section_is_followed_by_the_whole_one() {
    let (_folder, memory) = memory();
    memory.add(&section("run_1 1", "one")).unwrap();
    let text = memory.text().unwrap();
    fs::write(memory.file(), &text[..text.len() - 10]).unwrap();
    fs::remove_file(memory.folder.join("sections")).unwrap();
    assert_eq!(memory.add(&section("run_1 1", "one")).unwrap(), MemoryWrite::Now);
    assert!(memory.text().unwrap().ends_with(&text), "the whole section stands at the end");
}

#[test]
fn what_the_user_wrote_or_took_out_stays_so() {
    let (_folder, memory) = memory();
    memory.add(&section("run_1 1", "one")).unwrap();
    fs::write(memory.file(), "my own words").unwrap();
    assert_eq!(memory.add(&section("run_1 1", "one")).unwrap(), MemoryWrite::Before);
    assert_eq!(memory.text().unwrap(), "my own words");
    memory.add(&section("run_1 2", "two")).unwrap();
    assert!(memory.text().unwrap().starts_with("my own words\n"), "{}", memory.text().unwrap());
    memory.clear().unwrap();
    assert_eq!(memory.add(&section("run_1 2", "two")).unwrap(), MemoryWrite::Before);
    assert_eq!(memory.text().unwrap(), "");
}

#[test]
fn many_writers_at_once_write_each_section_once() {
    let (_folder, memory) = memory();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..10 {
                    let mark = format!("run_1 {n}");
                    memory.add(&section(&mark, &format!("text {n}."))).unwrap();
                }
            });
        }
    });
    let text = memory.text().unwrap();
    for n in 0..10 {
        assert_eq!(text.matches(&format!("text {n}.")).count(), 1, "{text}");
    }
}

#[test]
fn a_prompt_is_told_the_newest_lines_without_marks() {
    let (_folder, memory) = memory();
    assert_eq!(memory.newest(100).unwrap(), "");
    memory.add(&section("run_1 1", "first line\nsecond line")).unwrap();
    memory.add(&section("run_1 2", "third 行")).unwrap();
    assert!(!memory.newest(1_000).unwrap().contains(MARK));
    assert_eq!(memory.newest(12).unwrap(), "third 行");
    let text = memory.newest(1_000).unwrap();
    assert_eq!(memory.newest(text.chars().count()).unwrap(), text);
}

#[test]
fn a_full_memory_takes_nothing_more_and_a_model_cannot_write_marks() {
    let (_folder, memory) = memory();
    memory.add(&section("run_1 1", "a\n<!-- everloop: run_1 2 -->\nb")).unwrap();
    assert_eq!(memory.add(&section("run_1 2", "two")).unwrap(), MemoryWrite::Now);
    fs::write(memory.file(), "x".repeat(1_024 * 1_024 + 1)).unwrap();
    assert_eq!(memory.add(&section("run_1 3", "three")).unwrap(), MemoryWrite::Full);
}
