//! The competent policy does what is asked under every loop.

use crate::play::{Played, play};
use crate::world::{World, frame};
use everloop_compare::policy::{Flaw, PolicyRules};
use everloop_loops::{LOOPS, carried};
use everloop_types::{Frame, Message, Status, ToolSpec};

const COMPETENT: PolicyRules = PolicyRules { flaw: Flaw::None, seed: 1 };

/// Long goals need more steps than a run has by default.
fn roomy() -> Frame {
    let mut frame = frame();
    frame.limits.steps.max_steps = 60;
    frame.limits.steps.rounds.max_rounds = 12;
    frame
}

fn solve(loop_name: &str, goal: &str, world: &World, frame: Frame) -> Played {
    let played = play(loop_name, goal, world.clone(), COMPETENT, frame);
    assert_eq!(played.status, Status::Succeeded, "{loop_name}\n{}", played.told());
    assert_eq!(played.reason, None, "{loop_name}");
    played
}

fn under_every_loop(goal: &str, world: &World, check: impl Fn(&Played)) {
    for name in LOOPS {
        let played = solve(name, goal, world, roomy());
        let told = format!("{name}\n{}", played.told());
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&played)));
        assert!(result.is_ok(), "{told}");
    }
}

#[test]
fn files_are_read_copied_changed_and_written_within_the_usual_limits() {
    let world = World::with(&[("a.txt", "red and blue\n"), ("c.txt", "old words, old ways")]);
    let goal = "Copy a.txt to b.txt. Replace \"old\" by \"new\" in c.txt. Write \"x. y\" to d.txt. \
                Read c.txt. Say the result.";
    for name in LOOPS {
        let played = solve(name, goal, &world, frame());
        assert_eq!(played.world.file("b.txt"), Some("red and blue\n"), "{name}");
        assert_eq!(played.world.file("c.txt"), Some("new words, new ways"), "{name}");
        assert_eq!(played.world.file("d.txt"), Some("x. y"), "{name}");
        assert!(played.words.contains("new words, new ways"), "{name}: {}", played.words);
        assert_eq!(played.world.count("write_file"), 3, "{name}\n{}", played.told());
    }
}

#[test]
fn figures_are_worked_out_from_one_look_at_the_data() {
    let world = World::with(&[("data.csv", "name,n\nada,1.5\nbob,4\ncy,4\n")]);
    let goal = "Add up the column n of data.csv. Write the result to sum.txt. Work out the average \
                of the column n of data.csv. Write the result to mean.txt. Count the lines of \
                data.csv. Write the result to lines.txt. Find the row of data.csv with the largest \
                n. Say the result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("sum.txt"), Some("9.5"));
        assert_eq!(played.world.file("mean.txt"), Some("3.17"));
        assert_eq!(played.world.file("lines.txt"), Some("4"));
        assert!(played.words.contains("The result is bob."), "{}", played.words);
        assert_eq!(played.world.count("read_file"), 1);
    });
}

#[test]
fn failures_are_tried_again_provided_for_and_told() {
    let mut world = World::with(&[("here.md", "found it")]);
    world.search_failures = 2;
    let goal = "Read gone.txt. If it fails, write \"none\" to note.txt. Run \"fail\". If it fails, \
                write \"broken\" to log.txt. Search for \"pure loops\". Write the address of the \
                first hit to link.txt. Read gone.md; if it is missing, read here.md. Say the \
                result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("note.txt"), Some("none"));
        assert_eq!(played.world.file("log.txt"), Some("broken"));
        assert_eq!(played.world.file("link.txt"), Some("https://pages.example/first"));
        assert_eq!(played.world.count("shell"), 3);
        assert_eq!(played.world.count("internet_search"), 3);
        assert!(played.words.contains("found it"), "{}", played.words);
        assert!(played.words.contains("did not work"), "{}", played.words);
    });
}

#[test]
fn what_cannot_be_done_is_said_and_not_claimed() {
    let world = World::with(&[]);
    let goal = "Read gone.txt. Say the result. Write the result to copy.txt.";
    under_every_loop(goal, &world, |played| {
        assert!(played.words.contains("gone.txt does not exist"), "{}", played.words);
        assert!(!played.words.contains("is done"), "{}", played.words);
        assert_eq!(played.world.files.len(), 0);
    });
}

#[test]
fn todos_and_appointments_are_kept_once_each() {
    let mut world = World::with(&[]);
    world.todos.push(("water the plants".to_owned(), String::new(), false));
    let goal = "Add the todo \"buy milk\" due 2030-05-06. Add the todo \"call Ann\". Mark the todo \
                \"water the plants\" as done. Mark the todo \"call Ann\" as done. Schedule \
                \"Dentist\" for 2030-05-06 15:00.";
    under_every_loop(goal, &world, |played| {
        let todo = |text: &str, due: &str, done| (text.to_owned(), due.to_owned(), done);
        let todos = [
            todo("water the plants", "", true),
            todo("buy milk", "2030-05-06", false),
            todo("call Ann", "", true),
        ];
        assert_eq!(played.world.todos, todos);
        assert_eq!(played.world.schedule, ["/schedule add \"2030-05-06 15:00\" Dentist"]);
        assert!(played.words.contains("is done"), "{}", played.words);
    });
}

#[test]
fn the_user_is_asked_once_and_the_answer_is_used() {
    let mut world = World::with(&[]);
    world.answers.insert("Which colour?".to_owned(), "green".to_owned());
    let goal = "Ask the user \"Which colour?\". Write the result to colour.txt. Write \"x\" to \
                x.txt. Ask the user \"Why?\". Say the result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("colour.txt"), Some("green"));
        assert_eq!(played.world.count("ask_user"), 2);
        assert!(played.words.contains("I do not know"), "{}", played.words);
    });
}

#[test]
fn a_file_that_tells_what_to_do_is_followed_in_its_place() {
    let steps = "Write \"one\" to one.txt.\nDo what more.txt says.\nCount the lines of list.txt.";
    let more = "Run \"append list.txt last\". If it fails, write \"x\" to x.txt.";
    let world = World::with(&[("steps.txt", steps), ("more.txt", more), ("list.txt", "first\n")]);
    let goal = "Do what steps.txt says. Write the result to count.txt. Say the result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("one.txt"), Some("one"));
        assert_eq!(played.world.file("list.txt"), Some("first\nlast\n"));
        assert_eq!(played.world.file("count.txt"), Some("2"));
        assert_eq!(played.world.file("x.txt"), None);
        assert!(played.words.contains("The result is 2."), "{}", played.words);
    });
}

#[test]
fn what_is_looked_at_is_as_new_as_the_sentence_wants_it() {
    let world = World::with(&[("a.txt", "old")]);
    let goal = "Read a.txt. Write the result to before.txt. Write \"new\" to a.txt. Read a.txt. \
                Write the result to again.txt. Copy a.txt to after.txt. Run \"append log.txt tick\". Run \"append log.txt tick\". Copy log.txt to \
                a.txt. Read a.txt. Say the result. Run \"say  so \". Say the result.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("before.txt"), Some("old"));
        assert_eq!(played.world.file("again.txt"), Some("new"));
        assert_eq!(played.world.file("after.txt"), Some("new"));
        assert_eq!(played.world.file("a.txt"), Some("tick\ntick\n"));
        assert_eq!(played.world.count("write_file"), 5, "nothing was written that was not true");
        assert!(played.words.contains("tick\ntick\n and so."), "{}", played.words);
    });
}

#[test]
fn what_is_about_to_change_is_not_looked_at_before() {
    let world = World::with(&[("a.txt", "old")]);
    let goal = "Read a.txt. Replace \"old\" by \"new\" in a.txt. Read a.txt. Write the result to \
                b.txt.";
    under_every_loop(goal, &world, |played| {
        assert_eq!(played.world.file("b.txt"), Some("new"));
        assert_eq!((played.world.count("write_file"), played.world.count("read_file")), (2, 2));
    });
}

/// References within a round save calls.
#[test]
fn a_round_uses_what_its_own_steps_bring() {
    let world = World::with(&[("a.txt", "red"), ("b.txt", "blue")]);
    let goal = "Copy a.txt to c.txt. Read b.txt. Write the result to d.txt. Say the result.";
    let played = solve("plan-execute-think", goal, &world, frame());
    assert_eq!(played.asked.len(), 2, "{}", played.told());
    assert_eq!(played.world.file("c.txt"), Some("red"));
    assert_eq!(played.world.file("d.txt"), Some("blue"));
    assert!(played.words.contains("blue"), "{}", played.words);
}

#[test]
fn reads_that_need_nothing_of_each_other_stand_in_one_reply() {
    let world = World::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
    let played = solve("react", "Copy a to x. Copy b to y. Copy c to z.", &world, frame());
    let reads = &played.asked[0].1.calls;
    assert_eq!(reads.iter().filter(|call| call.tool == "read_file").count(), 3);
    // Reads, writes, the answer.
    assert_eq!(played.asked.len(), 3, "{}", played.told());
}

#[test]
fn a_short_request_needs_no_list() {
    let world = World::with(&[("a", "1")]);
    for name in ["react", "tool-driven", "autonomous"] {
        let played = solve(name, "Read a. Say the result.", &world, frame());
        assert_eq!(played.asked.len(), 2, "{name}\n{}", played.told());
    }
}

#[test]
fn the_mark_that_the_instructions_want_ends_the_answer() {
    let frame = Frame { completion_mark: "[OVER]".to_owned(), ..frame() };
    let played = solve("tool-driven", "Write \"a\" to b.", &World::with(&[]), frame);
    assert_eq!(played.asked.len(), 2);
    assert!(played.asked[1].1.text.ends_with("[OVER]"));
}

/// A prompt that is cut to a summary loses nothing that the rest of the work needs.
#[test]
fn work_goes_on_after_a_compaction() {
    let long = "word ".repeat(400);
    let world = World::with(&[
        ("a.txt", "17 apples"),
        ("long.txt", &long),
        (
            "steps.txt",
            "Run \
        \"append log.txt tick\". Read a.txt.",
        ),
    ]);
    let goal = "Do what steps.txt says. Write the result to early.txt. Copy long.txt to l1.txt. \
                Copy long.txt to l2.txt. Add the todo \"x\". Copy long.txt to l3.txt. Run \"append \
                log.txt tock\". Copy long.txt to l4.txt. Search for \"q\". Write the address of the \
                first hit to link.txt. Count the lines of log.txt. Say the result.";
    for name in LOOPS {
        let mut frame = roomy();
        frame.limits.context.observations = 8;
        let played = solve(name, goal, &world, frame);
        let compacted = played
            .asked
            .iter()
            .filter(|(asked, _)| asked.call.purpose == everloop_types::Purpose::Compact);
        // A round gathers its results in one observation.
        let least = usize::from(name != "plan-execute-think");
        assert!(compacted.count() >= least, "{name} was never compacted\n{}", played.told());
        assert_eq!(played.world.file("log.txt"), Some("tick\ntock\n"), "{name}\n{}", played.told());
        assert_eq!(played.world.file("early.txt"), Some("17 apples"), "{name}");
        assert_eq!(played.world.file("l4.txt"), Some(long.as_str()), "{name}");
        assert_eq!(played.world.file("link.txt"), Some("https://pages.example/first"), "{name}");
        assert_eq!(played.world.todos.len(), 1, "{name}");
        assert!(played.words.contains("The result is 2."), "{name}\n{}", played.words);
    }
}

/// What was done before a fork is not done again under another loop.
#[test]
fn a_fork_under_another_loop_goes_on_from_what_was_carried() {
    let goal = "Run \"append log.txt tick\". Copy a.txt to b.txt. Copy b.txt to c.txt. Read c.txt. \
                Say the result.";
    let world = World::with(&[("a.txt", "red")]);
    for from in LOOPS {
        // The first run ends at its limit, in the middle of the work.
        let mut short = frame();
        short.limits.steps.max_steps = match from {
            "plan-execute-think" => 1,
            "react" | "autonomous" => 3,
            _ => 5,
        };
        short.limits.steps.rounds.steps_most = 2;
        let early = play(from, goal, world.clone(), COMPETENT, short);
        assert_eq!(early.status, Status::Failed, "{from}\n{}", early.told());
        assert_eq!(early.world.file("c.txt"), None, "{from}");
        for to in LOOPS {
            let frame = Frame { carried: carried(&early.run), ..roomy() };
            let later = play(to, goal, early.world.clone(), COMPETENT, frame);
            let told = format!("{from} to {to}\n{}", later.told());
            assert_eq!(later.status, Status::Succeeded, "{told}");
            assert_eq!(later.world.file("log.txt"), Some("tick\n"), "{told}");
            assert_eq!(later.world.file("c.txt"), Some("red"), "{told}");
            assert!(later.words.contains("The result is red."), "{told}");
        }
    }
}

/// A reader in the middle of the work must not mistake it for the end.
#[test]
fn what_came_of_an_item_claims_nothing_about_the_others() {
    let mut short = frame();
    short.limits.steps.max_steps = 6;
    for name in ["plan-replan", "staged"] {
        let goal = "Write \"1\" to a. Write \"2\" to b. Write \"3\" to c. Write \"4\" to d.";
        let played = play(name, goal, World::with(&[]), COMPETENT, short.clone());
        assert_eq!(played.status, Status::Failed, "{}", played.told());
        assert!(played.told().contains("This part is done."), "{}", played.told());
        assert!(!played.told().contains("What was asked for is done"), "{}", played.told());
    }
}

#[test]
fn the_closing_tells_what_is_done_and_what_is_open() {
    let goal =
        "Write \"1\" to a. Run \"say hi\". Say the result. Run \"say ho\". Write \"2\" to b.";
    let mut short = frame();
    short.limits.steps.max_steps = 2;
    let played = play("react", goal, World::with(&[]), COMPETENT, short);
    assert_eq!(played.status, Status::Failed);
    let words = &played.words;
    assert!(words.contains("This is still open: "), "{words}");
    assert!(words.contains("Write \"2\" to b"), "{words}");
    assert!(matches!(played.asked.last(), Some((asked, _))
        if matches!(asked.messages.last(), Some(Message::User { text, .. })
            if text.contains("no further tool can be called"))));
}

/// Where a contract has a schema, the competent reply follows it.
#[test]
fn replies_follow_the_schema_of_their_contract() {
    let world = World::with(&[("a.txt", "red and blue\n")]);
    let goal = "Copy a.txt to b.txt. Read a.txt. Say the result.";
    let played = solve("plan-replan", goal, &world, roomy());
    let mut checked = 0;
    for (asked, reply) in &played.asked {
        let Some(output) = &asked.output else { continue };
        let spec = ToolSpec { schema: output.schema.clone(), ..ToolSpec::default() };
        let read = everloop_types::check_args(&spec, &reply.text);
        assert!(read.is_ok(), "{}: {read:?}\n{}", output.name, reply.text);
        checked += 1;
    }
    assert!(checked >= 3, "{checked}");
}
