//! What a piece of a streamed answer costs: `cargo run --release -p everloop-markdown --example
//! chunks`. The last quarter of an answer must cost no more than the first.

use everloop_markdown::{MarkdownStream, TerminalStyle};
use std::time::{Duration, Instant};

const STYLE: TerminalStyle =
    TerminalStyle { width: 80, color: true, emphasis: true, links: true, unicode: true };

fn main() {
    let prose = "Some **bold** words, `code` and a sentence that is long enough to be wrapped.\n\n";
    let mixed = format!(
        "## Part\n\n{prose}- item one\n- item two\n\n```rust\nfn main() {{}}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
    );
    report("mixed", &mixed.repeat(2000 / mixed.lines().count() + 1));
    report("one list", &"- an item of a long list with `code` in it\n".repeat(2000));
    let row = "| alpha | 1 | some words in a cell |\n";
    report("one table", &format!("| a | b | c |\n|---|--:|---|\n{}", row.repeat(2000)));
    report(
        "one block of code",
        &format!("```rust\n{}", "let x = call(1, \"two\");\n".repeat(2000)),
    );
    report("one paragraph", &"words and more words to fill a line ".repeat(2000));
    report("one quote", &"> quoted words that go on and on\n".repeat(2000));
}

/// Pushes a text in pieces of four characters, and prints what one costs in each quarter.
fn report(name: &str, text: &str) {
    let letters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = letters.chunks(4).map(|piece| piece.iter().collect()).collect();
    let mut stream = MarkdownStream::new(STYLE);
    let mut quarters = [Duration::ZERO; 4];
    let mut worst = Duration::ZERO;
    for (index, piece) in pieces.iter().enumerate() {
        let start = Instant::now();
        std::hint::black_box(stream.push(piece));
        let took = start.elapsed();
        quarters[index * 4 / pieces.len()] += took;
        worst = worst.max(took);
    }
    let each = |quarter: Duration| quarter.as_nanos() * 4 / pieces.len() as u128;
    let figures = quarters.map(|quarter| format!("{:>6}", each(quarter)));
    println!(
        "{name:<18} {:>6} pieces  ns per piece by quarter: {}  worst {} µs",
        pieces.len(),
        figures.join(" "),
        worst.as_micros()
    );
}
