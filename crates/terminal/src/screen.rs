//! The screen: finished lines scroll up and stay; below them is a live area that is drawn anew.
//!
//! ```text
//!   finished lines          (scrollback)
//!   live lines              plan, end of an answer, status
//!   input                   prompt and what is typed; the cursor is here
//!   rows below              the menu
//! ```
//!
//! Every frame is one write. Its rows end with line ends of our own, so that a terminal which
//! wraps its rows anew after a resize tells us by arithmetic how many rows the area has now.

use crate::layout::InputLayout;
use crate::width::{clip_line, display_width, rows_of};
use std::io::{self, Write};

/// What begins and ends a frame that a terminal shows at once.
const FRAME_BEGIN: &str = "\u{1b}[?2026h";
const FRAME_END: &str = "\u{1b}[?2026l";

/// A screen on some output.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    columns: usize,
    rows: usize,
    /// Whether the terminal wraps rows anew when its width changes.
    rewraps: bool,
    /// Columns of each row of the live area as it was drawn.
    drawn: Vec<usize>,
    /// Where the cursor is in it.
    cursor: (usize, usize),
    live: Vec<String>,
    input: Option<InputLayout>,
    below: Vec<String>,
}

impl<W: Write> Screen<W> {
    /// A screen whose cursor stands at the beginning of a row.
    pub fn new(out: W, (columns, rows): (u16, u16), rewraps: bool) -> Self {
        Self {
            out,
            columns: usize::from(columns).max(2),
            rows: usize::from(rows).max(2),
            rewraps,
            drawn: Vec::new(),
            cursor: (0, 0),
            live: Vec::new(),
            input: None,
            below: Vec::new(),
        }
    }

    /// Columns that a row of the live area may take, and rows that the input may.
    #[must_use]
    pub fn room(&self) -> (usize, usize) {
        (self.columns - 1, (self.rows / 2).max(1))
    }

    /// The terminal has this size now. Whether that is new.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) -> bool {
        let (columns, rows) = (usize::from(columns).max(2), usize::from(rows).max(2));
        let is_new = (columns, rows) != (self.columns, self.rows);
        (self.columns, self.rows) = (columns, rows);
        is_new
    }

    /// The lines above the input, from the next frame on.
    pub fn set_live(&mut self, lines: Vec<String>) {
        self.live = lines;
    }

    /// The input and the rows below it, from the next frame on. Without one the cursor stands below
    /// everything.
    pub fn set_input(&mut self, input: Option<InputLayout>, below: Vec<String>) {
        self.input = input;
        self.below = below;
    }

    /// Draws the live area.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn draw(&mut self) -> io::Result<()> {
        self.print(&[])
    }

    /// Lets finished lines scroll up, above the live area. One that is too wide is wrapped by the
    /// terminal.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn print(&mut self, lines: &[String]) -> io::Result<()> {
        let mut frame = String::from(FRAME_BEGIN);
        self.erase_into(&mut frame);
        for line in lines {
            frame.push_str(line);
            frame.push_str("\r\n");
        }
        self.draw_into(&mut frame);
        frame.push_str(FRAME_END);
        self.write(&frame)
    }

    /// Clears the whole screen and draws the live area at its top.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        let mut frame = String::from(FRAME_BEGIN);
        // Some terminals keep what is cleared: the live area must not be among it.
        self.erase_into(&mut frame);
        frame.push_str("\u{1b}[2J\u{1b}[H");
        self.draw_into(&mut frame);
        frame.push_str(FRAME_END);
        self.write(&frame)
    }

    /// Takes the live area away, for another program or for good. The next frame draws it again.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn erase(&mut self) -> io::Result<()> {
        let mut frame = String::new();
        self.erase_into(&mut frame);
        self.write(&frame)
    }

    /// Writes what a terminal obeys and does not show, such as a bell.
    ///
    /// # Errors
    /// If the terminal cannot be written to.
    pub fn write(&mut self, controls: &str) -> io::Result<()> {
        self.out.write_all(controls.as_bytes())?;
        self.out.flush()
    }

    fn erase_into(&mut self, frame: &mut String) {
        let up = self.rows_above_cursor().min(self.rows.saturating_sub(1));
        if up > 0 {
            frame.push_str(&format!("\u{1b}[{up}A"));
        }
        // From the second column on: a multiplexer that is told to clear all of the screen keeps
        // what was on it, and each frame would be kept.
        frame.push_str("\r \u{1b}[J\r\u{1b}[K");
        self.drawn.clear();
        self.cursor = (0, 0);
    }

    /// Rows between the top of the live area and the cursor, at the present width.
    fn rows_above_cursor(&self) -> usize {
        let (row, column) = self.cursor;
        if !self.rewraps {
            return row;
        }
        let above = self.drawn.iter().take(row);
        let above: usize = above.map(|width| rows_of(*width, self.columns)).sum();
        above + column / self.columns
    }

    fn draw_into(&mut self, frame: &mut String) {
        let columns = self.columns - 1;
        let input_rows = self.input.as_ref().map_or(0, |input| input.rows.len());
        let room = self.rows.saturating_sub(input_rows + 1);
        let below = &self.below[..self.below.len().min(room)];
        let live_room = room - below.len();
        let live = &self.live[self.live.len().saturating_sub(live_room)..];
        let input = self.input.iter().flat_map(|input| &input.rows);
        let rows: Vec<String> =
            live.iter().chain(input).chain(below).map(|row| clip_line(row, columns)).collect();
        self.drawn = rows.iter().map(|row| display_width(row)).collect();
        if rows.is_empty() {
            return;
        }
        // A row that is wider than we think is cut at the edge and stays one row.
        frame.push_str("\u{1b}[?7l");
        frame.push_str(&rows.join("\r\n"));
        frame.push_str("\u{1b}[?7h");
        let last = rows.len() - 1;
        self.cursor = match &self.input {
            Some(input) => (live.len() + input.cursor_row, input.cursor_column.min(columns)),
            None => {
                frame.push_str("\r\n");
                self.drawn.push(0);
                (last + 1, 0)
            }
        };
        let up = last.saturating_sub(self.cursor.0);
        if up > 0 {
            frame.push_str(&format!("\u{1b}[{up}A"));
        }
        if self.input.is_some() {
            frame.push('\r');
            if self.cursor.1 > 0 {
                frame.push_str(&format!("\u{1b}[{}C", self.cursor.1));
            }
        }
    }

    /// The same, while the screen is used.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }
}
