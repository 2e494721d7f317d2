//! Commands that try to get out of the sandbox.

use crate::attempt_rows::{
    Attempt, Barrier, Check, FILES, LEFT, LIMITS, NETWORK, PROTECTED, RIGHTS,
};
use crate::sandbox_scene::{Scene, Things};
use crate::support::bare;
use crate::told::{Sandboxing, Stage, Told, Verdict, is_asked, tried};
use everloop_ports::CallContext;
use everloop_types::{Ending, Observation};
use serde_json::json;

const ROOMS: [(Things, &[Attempt]); 6] = [
    (Things::None, LIMITS),
    (Things::None, FILES),
    (Things::Protected, PROTECTED),
    (Things::None, NETWORK),
    (Things::None, RIGHTS),
    (Things::None, LEFT),
];

fn rows() -> impl Iterator<Item = (Things, &'static Attempt)> {
    ROOMS.into_iter().flat_map(|(things, room)| room.iter().map(move |attempt| (things, attempt)))
}

pub(crate) fn ids() -> Vec<&'static str> {
    rows().flat_map(|(_, attempt)| attempt.id.split(' ')).collect()
}

pub(crate) async fn tell(stage: Stage) -> Vec<Told> {
    tried(rows(), |(things, attempt)| async move {
        let verdict = verdict(stage, things, attempt).await;
        Told { id: attempt.id, name: attempt.name.to_owned(), verdict }
    })
    .await
}

/// Whether the sandbox of a stage must stop it.
fn is_promised(barrier: Barrier, sandboxing: Sandboxing) -> bool {
    match barrier {
        Barrier::Any | Barrier::Syscalls | Barrier::Limits => sandboxing != Sandboxing::None,
        Barrier::Outer => sandboxing == Sandboxing::Both,
    }
}

async fn verdict(stage: Stage, things: Things, attempt: &Attempt) -> Verdict {
    let scene = Scene::new(things, |setting| setting);
    let must_ask = match stage.sandboxing {
        Sandboxing::Both => false,
        Sandboxing::Landlock => things == Things::Protected,
        Sandboxing::None => true,
    };
    match is_asked(&scene.place, &scene.filled(attempt.command)).await {
        Err(why) => return Verdict::Broken(why),
        Ok(asked) if asked != must_ask => {
            return Verdict::Broken(format!("a person is asked: {asked}"));
        }
        Ok(true) if escaped(attempt, &scene, "") => {
            return Verdict::Broken("it ran though nobody was asked".to_owned());
        }
        Ok(true) => return Verdict::Asked,
        Ok(false) if !is_promised(attempt.barrier, stage.sandboxing) => {
            return Verdict::NotPromised;
        }
        Ok(false) => {}
    }
    let seen = run(attempt, &scene, false).await;
    let is_alive = seen.ending != Ending::Denied
        && !seen.text.contains("the sandbox cannot be built")
        && !seen.text.starts_with("bwrap: Can't");
    if escaped(attempt, &scene, &seen.text) || !is_alive {
        return Verdict::Broken(seen.text);
    }
    if attempt.works_bare && stage.proves {
        let scene = Scene::new(things, bare);
        let seen = run(attempt, &scene, true).await;
        if !escaped(attempt, &scene, &seen.text) {
            return Verdict::Broken(format!("proves nothing, it fails bare too: {}", seen.text));
        }
    }
    Verdict::Held
}

async fn run(attempt: &Attempt, scene: &Scene, may_run_bare: bool) -> Observation {
    let command = json!({ "command": scene.filled(attempt.command) });
    let context = CallContext { may_run_bare, ..CallContext::new("key") };
    scene.place.call_in("shell", command, &context).await
}

/// Whether the attempt got what it wanted.
fn escaped(attempt: &Attempt, scene: &Scene, said: &str) -> bool {
    match attempt.check {
        Check::Nothing => said.contains("ESCAPED"),
        // What was said is about the inside, and there it may be so.
        Check::Outside(holds) => !holds(scene),
    }
}
