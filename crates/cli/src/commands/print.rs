//! `everloop -p "question"`: the answer alone, for scripts. What comes on stdin is read with it.

use super::{keep, run};
use crate::app::App;
use crate::args::{Format, Print, Run};
use crate::exit::{Exit, Failure};
use std::io::{IsTerminal, Read};

/// Bytes of the input that are read.
const INPUT_BYTES_MAX: u64 = 400_000;

pub(crate) async fn print(app: &App, args: Print) -> Result<Exit, Failure> {
    let app = App { interactive: false, quiet: true, ..app.clone() };
    if everloop_assistant::commands::is_command(&args.question) {
        return keep::line(&app, &args.question, args.output_format != Format::Text).await;
    }
    let run = Run {
        goal: args.question,
        loop_name: None,
        output_format: args.output_format,
        workspace: None,
        persona: None,
        image: Vec::new(),
        yes: false,
    };
    run::run_with(&app, run, &input(&app)?).await
}

/// What is piped in; nothing from a terminal.
fn input(app: &App) -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Ok(String::new());
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| app.failure(Exit::Failed, "error.system", &error))?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        let most = (INPUT_BYTES_MAX / 1000).to_string();
        let words = app.text("print.input_too_long", &[("most", &most)]);
        return Err(Failure { exit: Exit::Usage, words });
    }
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    Ok(if text.is_empty() { text } else { format!("\n[input]\n{text}") })
}
