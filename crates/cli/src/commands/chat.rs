//! `everloop chat`: the chat of `everloop_chat`, with the commands of the shell that it shows too.

use super::{doctor, mcp, memory, tour};
use crate::args::{ChatArgs, DoctorArgs, McpArgs, MemoryArgs, MemoryVerb};
use crate::setup;
use everloop_app::frames::RunOptions;
use everloop_chat::{ChatOptions, PageFuture, ShellPage, ShellPages};
use everloop_console::{Console, Exit, Failure};

pub(crate) async fn chat(app: &Console, args: ChatArgs) -> Result<Exit, Failure> {
    let run = RunOptions::from(&args.how);
    let wanted = ChatOptions { message: args.message, run, target: args.wanted };
    everloop_chat::chat(app, wanted, &CommandPages).await
}

/// The commands that a chat shows.
struct CommandPages;

impl ShellPages for CommandPages {
    fn set_up<'a>(&'a self, app: &'a Console) -> PageFuture<'a, Console> {
        Box::pin(setup::first_run(app))
    }

    fn show<'a>(&'a self, app: &'a Console, page: ShellPage<'a>) -> PageFuture<'a, ()> {
        Box::pin(async move { show(app, page).await.map(drop) })
    }
}

async fn show(app: &Console, page: ShellPage<'_>) -> Result<Exit, Failure> {
    match page {
        ShellPage::Doctor => doctor::doctor(app, &DoctorArgs { json: false }).await,
        ShellPage::Mcp => mcp::mcp(app, McpArgs { json: false, verb: None }).await,
        ShellPage::EditMemory(workspace) => {
            let workspace = Some(workspace.to_owned());
            let verb = Some(MemoryVerb::Edit { id: None, text: Vec::new() });
            memory::memory(app, &MemoryArgs { workspace, json: false, verb }).await
        }
        ShellPage::Tour => tour::tour_in_chat(app).await,
    }
}
