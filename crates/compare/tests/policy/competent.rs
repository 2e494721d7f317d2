//! The competent policy does what is asked under every loop.

use crate::play::{Played, play};
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, Mind};
use everloop_loops::LOOPS;
use everloop_types::Status;

const COMPETENT: Mind = Mind { flaw: Flaw::None, seed: 1 };

fn solve(loop_name: &str, goal: &str, world: &World) -> Played {
    let played = play(loop_name, goal, world.clone(), COMPETENT, frame());
    assert_eq!(played.status, Status::Succeeded, "{loop_name}\n{}", played.told());
    played
}

fn under_every_loop(goal: &str, world: &World, check: impl Fn(&Played)) {
    for name in LOOPS {
        let played = solve(name, goal, world);
        check(&played);
    }
}

#[test]
fn files_are_read_copied_changed_and_written() {
    let world = World::with(&[("a.txt", "red and blue\n"), ("c.txt", "old words, old ways")]);
    let goal = "Copy a.txt to b.txt. Replace \"old\" by \"new\" in c.txt. Write \"x. y\" to d.txt. \
                Read c.txt. Say the result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("b.txt"), Some("red and blue\n"));
        assert_eq!(played.world.file("c.txt"), Some("new words, new ways"));
        assert_eq!(played.world.file("d.txt"), Some("x. y"));
        assert!(played.words.contains("new words, new ways"), "{}", played.words);
        assert_eq!(played.world.count("write_file"), 3, "{}", played.told());
    });
}
