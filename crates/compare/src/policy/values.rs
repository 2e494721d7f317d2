//! Values computed from observed texts: figures, hits, numbers of todos.

use super::sentences::Figure;
use everloop_text as text;
use everloop_types::Lang;

/// The figure, or why there is none.
pub(super) fn figure(figure: &Figure, content: &str) -> Result<String, String> {
    match figure {
        Figure::Lines => Ok(lines(content).to_string()),
        Figure::Sum(name) => Ok(short(column(content, name)?.iter().sum())),
        Figure::Average(name) => {
            let cells = column(content, name)?;
            Ok(short(cells.iter().sum::<f64>() / cells.len() as f64))
        }
        Figure::Largest(name) => largest(content, name),
    }
}

/// The lines that are shown, and those that a last line says were left out.
fn lines(content: &str) -> usize {
    let shown = content.lines().count();
    let last = content.lines().last().unwrap_or_default();
    let left_out = last.strip_prefix('[').and_then(|it| it.strip_suffix(" lines left out]"));
    match left_out.and_then(|count| count.parse::<usize>().ok()) {
        Some(more) => shown - 1 + more,
        None => shown,
    }
}

fn cells(line: &str) -> Vec<&str> {
    line.split(',').map(str::trim).collect()
}

/// The rows below the header, and the place of a column.
fn table<'c>(content: &'c str, name: &str) -> Result<(Vec<Vec<&'c str>>, usize), String> {
    let mut rows = content.lines().filter(|line| !line.trim().is_empty()).map(cells);
    let place = rows.next().and_then(|head| head.iter().position(|cell| *cell == name));
    let place = place.ok_or_else(|| format!("there is no column {name}"))?;
    let rows: Vec<Vec<&str>> = rows.collect();
    match rows.is_empty() {
        true => Err("there are no rows".to_owned()),
        false => Ok((rows, place)),
    }
}

fn number(row: &[&str], place: usize) -> Result<f64, String> {
    let cell = row.get(place).copied().unwrap_or_default();
    cell.parse().map_err(|_| format!("{cell:?} is no number"))
}

fn column(content: &str, name: &str) -> Result<Vec<f64>, String> {
    let (rows, place) = table(content, name)?;
    rows.iter().map(|row| number(row, place)).collect()
}

fn largest(content: &str, name: &str) -> Result<String, String> {
    let (rows, place) = table(content, name)?;
    let mut best: Option<(f64, &str)> = None;
    for row in &rows {
        let value = number(row, place)?;
        if best.is_none_or(|(most, _)| value > most) {
            best = Some((value, row.first().copied().unwrap_or_default()));
        }
    }
    best.map(|(_, first)| first.to_owned()).ok_or_else(|| "there are no rows".to_owned())
}

/// An integer if it is one, else at most two decimals.
fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// The output of a command, without the line with its exit status.
pub(super) fn printed(observed: &str) -> String {
    let text = observed.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let status = last.starts_with('[') && last.ends_with(']');
    if status { before.trim().to_owned() } else { text.trim().to_owned() }
}

/// The first hit of a search, as it was shown.
pub(super) fn first_hit(observed: &str) -> &str {
    observed.split("\n\n").next().unwrap_or_default()
}

pub(super) fn title(observed: &str) -> String {
    let line = first_hit(observed).lines().next().unwrap_or_default();
    line.strip_prefix("1. ").unwrap_or(line).trim().to_owned()
}

pub(super) fn address(observed: &str) -> Option<String> {
    let is_address = |line: &&str| line.starts_with("http://") || line.starts_with("https://");
    first_hit(observed).lines().rev().map(str::trim).find(is_address).map(str::to_owned)
}

/// A todo as an answer of the tool shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShownTodo {
    Open(u64),
    Done,
}

/// The todo of that text: `#3: text` in a confirmation, or a row of a table that ends with it.
pub(super) fn todo(observed: &str, text: &str) -> Option<ShownTodo> {
    observed.lines().find_map(|line| confirmed(line, text)).or_else(|| {
        let rows: Vec<ShownTodo> = observed.lines().filter_map(|line| row(line, text)).collect();
        let open = rows.iter().position(|todo| matches!(todo, ShownTodo::Open(_)));
        rows.into_iter().nth(open.unwrap_or(0))
    })
}

fn confirmed(line: &str, text: &str) -> Option<ShownTodo> {
    let (_, rest) = line.split_once('#')?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let said = rest[end..].trim_start_matches([':', '\u{ff1a}']).trim_start();
    // Details such as the due date follow the text.
    let after = said.strip_prefix(text)?;
    let whole = ["", " (", "\u{ff08}"]
        .iter()
        .any(|it| after == *it || !it.is_empty() && after.starts_with(it));
    rest[..end].parse().ok().filter(|_| whole).map(ShownTodo::Open)
}

fn row(line: &str, text: &str) -> Option<ShownTodo> {
    let before = line.trim_end().strip_suffix(text)?;
    let mut words = before.strip_suffix("  ")?.split_whitespace();
    let (id, state) = (words.next()?.parse().ok()?, words.next().unwrap_or_default());
    let done = [Lang::En, Lang::ZhCn].map(|lang| text::todo::state::done().in_lang(lang));
    Some(if done.iter().any(|word| word == state) { ShownTodo::Done } else { ShownTodo::Open(id) })
}

#[cfg(test)]
mod tests {
    use super::{ShownTodo, address, figure, printed, title, todo};
    use crate::policy::sentences::Figure;

    #[test]
    fn figures_are_worked_out() {
        let csv = "name, n,m\na,1,x\nb, 2.5,y\nc,2.5,z\n";
        let n = || "n".to_owned();
        assert_eq!(figure(&Figure::Sum(n()), csv), Ok("6".to_owned()));
        assert_eq!(figure(&Figure::Average(n()), "x,n\na,1\nb,2\nc,2"), Ok("1.67".to_owned()));
        assert_eq!(figure(&Figure::Largest(n()), csv), Ok("b".to_owned()));
        assert_eq!(figure(&Figure::Lines, csv), Ok("4".to_owned()));
        assert_eq!(figure(&Figure::Lines, "a\nb\n[7 lines left out]"), Ok("9".to_owned()));
        assert_eq!(figure(&Figure::Sum("m".into()), csv), Err("\"x\" is no number".to_owned()));
        assert!(figure(&Figure::Sum("q".into()), csv).is_err());
    }

    #[test]
    fn results_of_tools_are_read() {
        assert_eq!(printed("  hi\nyou\n[exit code 0]"), "hi\nyou");
        assert_eq!(printed("[exit code 0]"), "");
        let hits = "1. One\nA page.\nhttps://one.example/\n\n2. Two\nhttps://two.example/";
        assert_eq!(title(hits), "One");
        assert_eq!(address(hits).as_deref(), Some("https://one.example/"));
    }

    #[test]
    fn a_todo_is_known_by_its_whole_text() {
        let table = "ID  State  Tag      Text\n3   done   default  milk\n4   open   default  buy milk\n\
            5   open   default  milk\n3 in all, 2 open";
        assert_eq!(todo(table, "milk"), Some(ShownTodo::Open(5)));
        assert_eq!(todo(table, "buy milk"), Some(ShownTodo::Open(4)));
        assert_eq!(todo(table, "butter"), None);
        assert_eq!(todo("ID  Text\n2   milk\n1 in all", "milk"), Some(ShownTodo::Open(2)));
        assert_eq!(
            todo("Added todo #7: milk (due 2030-05-06 23:59)", "milk"),
            Some(ShownTodo::Open(7))
        );
        assert_eq!(todo("Added todo #7: milk shake", "milk"), None);
    }
}
