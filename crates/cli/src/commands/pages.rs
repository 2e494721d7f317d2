//! `everloop completion` and `everloop man`: what shells and `man` want to know, in the person's
//! language.

use crate::args::{self, Cli};
use crate::help::worded;
use clap::{Command, CommandFactory};
use everloop_console::{Console, Exit, Failure, terminal};
use everloop_text as text;
use std::io::Write;

pub(crate) fn completion(app: &Console, args: &args::CompletionArgs) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut visible(app), "everloop", &mut text);
    print(&text);
    Ok(Exit::Done)
}

pub(crate) fn man(app: &Console, args: &args::ManArgs) -> Result<Exit, Failure> {
    let written = match &args.dir {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(visible(app), folder)),
        None => {
            let mut page = Vec::new();
            let made = clap_mangen::Man::new(visible(app)).render(&mut page);
            made.map(|()| print(&page))
        }
    };
    match written {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            let folder = args.dir.as_deref().unwrap_or(std::path::Path::new("-"));
            let (folder, detail) = (folder.display().to_string(), error.to_string());
            let words = app.text(text::man::unwritable(&folder, &detail));
            Err(Failure { exit: Exit::Failed, words })
        }
    }
}

/// The command line without what is only for everloop itself.
fn visible(app: &Console) -> Command {
    let whole = worded(Cli::command(), app.lang);
    let shown = whole.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned();
    let command = Command::new("everloop")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(whole.get_arguments().cloned())
        .subcommands(shown);
    match whole.get_about() {
        Some(about) => command.about(about.clone()),
        None => command,
    }
}

fn print(text: &[u8]) {
    let mut out = std::io::stdout().lock();
    terminal::note_unwritten(out.write_all(text).and_then(|()| out.flush()));
}
