//! What a chart is made of, and how it is written as SVG.

use crate::escape::escape;
use std::fmt::Write as _;

/// Columns of an ordinary character at the size of labels.
const CHAR: f64 = 7.2;

/// The size of labels, in units of the picture.
pub(super) const LABEL: f64 = 12.0;

/// The size of the title.
pub(super) const TITLE: f64 = 15.0;

/// Colors that color-blind people tell apart (Okabe and Ito), dark ones first.
pub(super) const COLORS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b4c9a", "#7f7f7f"];

/// For a picture that stands alone: on a page, the page says how words and lines look.
const STYLE: &str = "text{font:12px system-ui,'Noto Sans SC','Noto Sans CJK SC','PingFang SC',\
'Microsoft YaHei',sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.grid{stroke:#ddd}\
.axis{stroke:#888}@media(prefers-color-scheme:dark){text{fill:#ccc}.grid{stroke:#383838}\
.axis{stroke:#777}}";

/// Where a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextAnchor {
    Start,
    Middle,
    End,
}

/// How a text or line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ShapeClass {
    Title,
    Label,
    Tick,
    Value,
    Grid,
    Axis,
}

impl ShapeClass {
    fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Label => "lab",
            Self::Tick => "tick",
            Self::Value => "val",
            Self::Grid => "grid",
            Self::Axis => "axis",
        }
    }
}

/// One thing of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ChartShape {
    /// A bar.
    Bar { x: f64, y: f64, width: f64, height: f64, color: usize },
    /// A straight line of the frame.
    Rule { class: ShapeClass, from: (f64, f64), to: (f64, f64) },
    /// The line of a series.
    Path { points: Vec<(f64, f64)>, color: usize },
    /// A point of a series.
    Dot { at: (f64, f64), size: f64, color: usize, shade: f64 },
    /// Words.
    Words { class: ShapeClass, at: (f64, f64), anchor: TextAnchor, words: String },
}

/// A picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChartPicture {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<ChartShape>,
}

/// What surrounds a picture.
pub(super) enum SvgUse<'a> {
    /// A file of its own.
    File { title: &'a str, alternative: &'a str },
    /// The part of a page for wide windows.
    Wide { alternative: &'a str },
    /// The part of a page for narrow windows; the wide one is read aloud.
    Narrow,
}

impl ChartPicture {
    pub(super) fn words(
        &mut self,
        class: ShapeClass,
        at: (f64, f64),
        anchor: TextAnchor,
        words: &str,
    ) {
        let words = words.to_owned();
        self.shapes.push(ChartShape::Words { class, at, anchor, words });
    }

    pub(super) fn rule(&mut self, class: ShapeClass, from: (f64, f64), to: (f64, f64)) {
        self.shapes.push(ChartShape::Rule { class, from, to });
    }

    pub(super) fn svg(&self, used: &SvgUse<'_>) -> String {
        let mut out = String::from("<svg ");
        let size = format!("viewBox=\"0 0 {:.0} {:.0}\"", self.width, self.height);
        let _ = match used {
            SvgUse::File { title, alternative } => write!(
                out,
                "xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\" aria-label=\"{}\">\
                 <title>{}</title><style>{STYLE}</style>",
                escape(alternative),
                escape(title)
            ),
            SvgUse::Wide { alternative } => write!(
                out,
                "class=\"plot wide\" {size} role=\"img\" aria-label=\"{}\">",
                escape(alternative)
            ),
            SvgUse::Narrow => write!(out, "class=\"plot narrow\" {size} aria-hidden=\"true\">"),
        };
        for shape in &self.shapes {
            write_shape(&mut out, shape);
        }
        out.push_str("</svg>");
        out
    }
}

fn write_shape(out: &mut String, shape: &ChartShape) {
    let _ = match shape {
        ChartShape::Bar { x, y, width, height, color } => write!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             rx=\"1.5\" fill=\"{}\"/>",
            COLORS[color % 8]
        ),
        ChartShape::Rule { class, from, to } => write!(
            out,
            "<line class=\"{}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            class.name(),
            from.0,
            from.1,
            to.0,
            to.1
        ),
        ChartShape::Path { points, color } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            write!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.2\" \
                 stroke-linejoin=\"round\"/>",
                points.join(" "),
                COLORS[color % 8]
            )
        }
        ChartShape::Dot { at, size, color, shade } => write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{size}\" fill=\"{}\" fill-opacity=\"{shade}\"/>",
            at.0,
            at.1,
            COLORS[color % 8]
        ),
        ChartShape::Words { class, at, anchor, words } => {
            let anchor = match anchor {
                TextAnchor::Start => "start",
                TextAnchor::Middle => "middle",
                TextAnchor::End => "end",
            };
            write!(
                out,
                "<text class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                class.name(),
                at.0,
                at.1,
                escape(words)
            )
        }
    };
}

/// Units that a text takes up; Chinese characters take nearly two.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(|c| if c as u32 > 0x2e80 { CHAR * 1.75 } else { CHAR }).sum()
}

/// As much of a text as fits.
pub(super) fn clipped(words: &str, room: f64) -> String {
    if width(words) <= room {
        return words.to_owned();
    }
    let mut kept = String::new();
    for c in words.chars() {
        if width(&kept) + 2.0 * CHAR > room {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

/// As much of a name as fits, its end too: names of a kind often differ there.
pub(super) fn clipped_name(words: &str, room: f64) -> String {
    if width(words) <= room {
        return words.to_owned();
    }
    let chars: Vec<char> = words.chars().collect();
    let tail_room = room * 0.4;
    let mut tail = chars.len();
    while tail > 0 && width(&chars[tail - 1..].iter().collect::<String>()) <= tail_room {
        tail -= 1;
    }
    let end: String = chars[tail..].iter().collect();
    clipped(words, room - width(&end)) + end.trim_start()
}
