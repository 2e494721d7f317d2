//! A question for permission, laid out: what would be done, where, why it is asked, which answers
//! there are. The chat and `run` show the same lines.

use super::diff_lines::diff_line;
use crate::console::Console;
use everloop_markdown::{StyledLine, Tone};
use everloop_text as text;
use everloop_types::{
    ApprovalCause, ApprovalMode, ApprovalRequest, ApprovalScope, CallPreview, Lang, Question,
    one_line, visible, visible_call,
};

/// Characters of a call above which a last line says what is asked: its first lines may have left
/// the screen, and the text in between may look like another question.
const SHORT_CHARS: usize = 400;

/// Characters of a long call that the last line repeats.
const START_CHARS: usize = 80;

/// A question as the person reads it; `text` is what the run said, for questions without a request.
pub fn question_lines(app: &Console, question: &Question, text: &str) -> Vec<StyledLine> {
    match &question.request {
        Some(request) => approval_lines(app, request, &question.text),
        None => text.split('\n').map(|line| toned(Tone::Plain, line)).collect(),
    }
}

/// The same without its look.
pub fn question_words(app: &Console, question: &Question, text: &str) -> String {
    let lines = question_lines(app, question, text);
    lines.iter().map(StyledLine::plain).collect::<Vec<_>>().join("\n")
}

/// A line that continues below its own beginning.
fn toned(tone: Tone, line: &str) -> StyledLine {
    let indent = line.len() - line.trim_start_matches(' ').len();
    StyledLine::new(tone, line).hanging(indent)
}

fn approval_lines(app: &Console, request: &ApprovalRequest, args: &str) -> Vec<StyledLine> {
    let warnings = warnings(app, &request.cause);
    let mut lines: Vec<StyledLine> =
        warnings.iter().map(|line| toned(Tone::Warning, line)).collect();
    lines.push(toned(Tone::Strong, &head(app, request)));
    let call = call_text(&request.preview, args);
    let strong = |line: String| toned(Tone::Strong, &line);
    match &request.preview {
        CallPreview::Command { .. } => lines.extend(indented("$ ", &call).map(strong)),
        CallPreview::FileChange { .. } => lines.extend(call.lines().map(diff_line)),
        CallPreview::Call => lines.extend(indented("", &call).map(strong)),
    }
    let dim = |line: String| toned(Tone::Dim, &format!("  {line}"));
    if let CallPreview::FileChange { left_out: left_out @ 1.., .. } = &request.preview {
        lines.push(dim(app.text(text::approval::more_lines(left_out))));
    }
    lines.push(dim(circumstances(app, request)));
    lines.extend(reason(app, &request.cause).map(dim));
    lines.extend(always_note(app, request).map(|line| toned(Tone::Plain, &line)));
    let count = call.chars().count();
    if count > SHORT_CHARS {
        let start = call.split_whitespace().collect::<Vec<_>>().join(" ");
        let start: String = start.chars().take(START_CHARS).collect();
        let tool = one_line(&request.tool);
        let long = text::approve::Long { tool: &tool, count: &count, start: &start };
        lines.push(toned(Tone::Warning, &app.text(long.text())));
    }
    lines
}

/// What a person must know before they read the call itself.
fn warnings(app: &Console, cause: &ApprovalCause) -> Vec<String> {
    let unsandboxed = |why: &str| {
        if why.is_empty() {
            app.text(text::approval::warn_off())
        } else {
            app.text(text::approval::warn_none(&visible(why)))
        }
    };
    match cause {
        ApprovalCause::Labels { untrusted, private, place, to_later_runs, unsandboxed: why } => {
            let [untrusted, private, place] = [untrusted, private, place].map(|it| visible(it));
            let labels = if *to_later_runs {
                text::approval::warn_labels_later(&untrusted, &place)
            } else {
                let (untrusted, private, place) = (&untrusted, &private, &place);
                text::approval::WarnLabels { untrusted, private, place }.text()
            };
            let mut lines = vec![app.text(labels)];
            lines.extend(why.as_deref().map(unsandboxed));
            lines
        }
        ApprovalCause::Unsandboxed { why } => vec![unsandboxed(why)],
        ApprovalCause::Unclear { part } => {
            vec![app.text(text::approval::warn_unclear(&visible(part)))]
        }
        ApprovalCause::Tool | ApprovalCause::Rule { .. } | ApprovalCause::SensitiveFile => {
            Vec::new()
        }
    }
}

fn head(app: &Console, request: &ApprovalRequest) -> String {
    match &request.preview {
        CallPreview::Command { .. } => app.text(text::approval::command()),
        CallPreview::FileChange { path, is_new: true, .. } => {
            app.text(text::approval::new_file(&one_line(path)))
        }
        CallPreview::FileChange { path, .. } => {
            app.text(text::approval::change_file(&one_line(path)))
        }
        CallPreview::Call => app.text(text::approval::call(&one_line(&request.tool))),
    }
}

/// The call as a person must see it: nothing hidden, cut in its middle if it is very long.
fn call_text(preview: &CallPreview, args: &str) -> String {
    match preview {
        CallPreview::Command { command, .. } => visible_call(command),
        CallPreview::FileChange { diff, .. } => visible_call(diff.trim_end()),
        CallPreview::Call => visible_call(args),
    }
}

/// Every line is set off, so that none of it looks like a line of this program.
fn indented(mark: &'static str, call: &str) -> impl Iterator<Item = String> {
    let blank = " ".repeat(mark.len());
    let lines = call.lines().enumerate();
    lines.map(move |(at, line)| format!("  {}{line}", if at == 0 { mark } else { &blank }))
}

/// Folder, sandbox and network, or the size of a change.
fn circumstances(app: &Console, request: &ApprovalRequest) -> String {
    let folder = app.text(text::approval::folder(&short_folder(&request.folder)));
    match &request.preview {
        CallPreview::Command { sandboxed, network, .. } => {
            let sandbox = match sandboxed {
                true => text::approval::sandboxed(),
                false => text::approval::unsandboxed(),
            };
            let network = match network {
                true => text::approval::network(),
                false => text::approval::no_network(),
            };
            let comma = if app.lang == Lang::ZhCn { "\u{ff0c}" } else { ", " };
            format!("{folder} · {}{comma}{}", app.text(sandbox), app.text(network))
        }
        CallPreview::FileChange { added, removed, .. } => {
            format!("{folder} · {}", app.text(text::approval::lines(added, removed)))
        }
        CallPreview::Call => folder,
    }
}

/// A folder below the home of the person, as they write it.
pub fn short_folder(folder: &str) -> String {
    let home = std::env::var("HOME").unwrap_or_default();
    let below = folder.strip_prefix(home.trim_end_matches('/')).filter(|_| home.len() > 1);
    match below {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => one_line(&format!("~{rest}")),
        _ => one_line(folder),
    }
}

fn reason(app: &Console, cause: &ApprovalCause) -> Option<String> {
    match cause {
        ApprovalCause::Rule { rule } => Some(app.text(text::approval::by_rule(&one_line(rule)))),
        ApprovalCause::SensitiveFile => Some(app.text(text::approval::sensitive())),
        _ => None,
    }
}

/// What "always" covers where that is more than this call and there is no choice.
fn always_note(app: &Console, request: &ApprovalRequest) -> Option<String> {
    let Some(ApprovalScope::Exact { resource }) = request.scopes.first() else { return None };
    let (kind, what) = resource.split_once(':')?;
    let key = match kind {
        "path" => text::approve::always_path,
        "host" => text::approve::always_host,
        _ => return None,
    };
    Some(format!("  {}", app.text(key(&one_line(&request.tool), &one_line(what)))))
}

/// Which answers there are.
pub fn answers_line(app: &Console, question: &Question) -> String {
    let editable = question.request.as_ref().is_some_and(|request| request.editable.is_some());
    app.text(if editable { text::answer::approve_edit() } else { text::answer::approve() })
}

/// The scopes of "always", numbered, each with what it covers.
pub fn scope_lines(app: &Console, question: &Question) -> String {
    let Some(request) = &question.request else { return String::new() };
    let mut lines = vec![app.text(text::approval::which_scope())];
    for (at, scope) in request.scopes.iter().enumerate() {
        lines.push(format!("  [{}] {}", at + 1, covered(app, request, scope)));
    }
    lines.push(app.text(text::approval::choose_scope(&request.scopes.len())));
    lines.join("\n")
}

fn covered(app: &Console, request: &ApprovalRequest, scope: &ApprovalScope) -> String {
    let tool = one_line(&request.tool);
    let is_command = matches!(request.preview, CallPreview::Command { .. });
    let words = match scope {
        ApprovalScope::Exact { resource } => match resource.split_once(':') {
            Some(("path", what)) => text::approval::scope_path(&tool, &one_line(what)),
            Some(("host", what)) => text::approval::scope_host(&tool, &one_line(what)),
            _ if is_command => text::approval::scope_command(),
            _ => text::approval::scope_call(&tool),
        },
        ApprovalScope::Prefix { pattern } => text::approval::scope_prefix(&one_line(pattern)),
        ApprovalScope::Conversation => text::approval::scope_conversation(&tool),
        ApprovalScope::Place { place } => text::approval::scope_place(&one_line(place)),
    };
    app.text(words)
}

/// How the call is changed, or that it cannot be.
pub fn edit_lines(app: &Console, question: &Question) -> String {
    let request = question.request.as_ref();
    match request.filter(|request| request.editable.is_some()).map(|request| &request.preview) {
        Some(CallPreview::Command { command, .. }) => {
            app.text(text::approval::how_to_edit(&one_line(command)))
        }
        Some(_) => app.text(text::approval::how_to_edit(&"…")),
        None => {
            let tool = request.map_or("", |request| &request.tool);
            app.text(text::approval::not_editable(&one_line(tool)))
        }
    }
}

/// What a mode means.
pub(crate) fn mode_words(app: &Console, mode: ApprovalMode) -> String {
    app.text(match mode {
        ApprovalMode::Ask if app.settings.approvals.ask_edits => text::approval::mode::ask_edits(),
        ApprovalMode::Ask => text::approval::mode::ask(),
        ApprovalMode::Edits => text::approval::mode::edits(),
        ApprovalMode::Plan => text::approval::mode::plan(),
        ApprovalMode::All => text::approval::mode::all(),
    })
}

/// All modes, with a mark before the one in force.
pub fn mode_lines(app: &Console, current: ApprovalMode) -> String {
    let mut lines = vec![app.text(text::approval::mode::is(&current.name()))];
    for mode in ApprovalMode::ALL {
        let mark = if mode == current { '*' } else { ' ' };
        lines.push(format!("{mark} {:<6} {}", mode.name(), mode_words(app, mode)));
    }
    lines.push(app.text(text::approval::mode::how()));
    lines.join("\n")
}

/// One line on a mode: its name, and what it means.
pub fn mode_line(app: &Console, mode: ApprovalMode) -> String {
    let name = app.text(text::approval::mode::is(&mode.name()));
    format!("{name} ({})", mode_words(app, mode))
}

/// That new goals use a mode, and what it means.
pub fn chosen_lines(app: &Console, mode: ApprovalMode) -> String {
    let now = app.text(text::approval::mode::now(&mode.name()));
    format!("{now}\n{}", mode_words(app, mode))
}

/// That there is no such mode.
pub fn unknown_mode(app: &Console, name: &str) -> String {
    app.text(text::approval::mode::unknown(&one_line(name)))
}
