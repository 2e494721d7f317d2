//! The task set, as the competent policy does it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{contest, run, tasks};
use everloop_compare::{Contest, ContestResults, task};
use everloop_loops::LOOPS;

fn without_time(results: &ContestResults) -> String {
    let mut cells = results.cells.clone();
    cells.iter_mut().for_each(|cell| cell.tally.wall_ms = 0);
    format!("{cells:#?}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_task_is_solved_under_some_loop_and_every_run_ends_with_words() {
    let results = run(contest(&LOOPS, &["competent"], task::builtin()), Vec::new()).await;
    assert!(results.is_complete());
    for task in &results.contest.tasks {
        let solved = results.cells.iter().filter(|cell| cell.task == task.name);
        let tries: Vec<_> = solved.map(|cell| (&cell.loop_name, &cell.failed_checks)).collect();
        assert!(tries.iter().any(|(_, failed)| failed.is_empty()), "{}: {tries:?}", task.name);
    }
    for cell in &results.cells {
        let tally = &cell.tally;
        assert_eq!(tally.ended_with_words, 1, "{cell:?}");
        assert!(tally.model_calls > 0 && tally.input_tokens > 0, "{cell:?}");
        assert!(tally.cached_tokens <= tally.input_tokens, "{cell:?}");
    }
}

/// All randomness comes from the seed and the prompt, and no prompt depends on the machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_gives_the_same_figures_and_another_seed_gives_others() {
    let chosen = || tasks(&["files-release", "recovery-flaky", "long-move"]);
    let seeded = |seed| async move {
        let contest = contest(&["react", "autonomous"], &["format", "repeats"], chosen());
        without_time(&run(Contest { seed, repeats: 3, ..contest }, Vec::new()).await)
    };
    let first = seeded(1).await;
    assert_eq!(first, seeded(1).await);
    assert_ne!(first, seeded(100).await);
}
