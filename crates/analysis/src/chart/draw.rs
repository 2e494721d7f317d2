//! The picture of a chart: frame, ticks, bars, lines and points.
//!
//! Bars whose labels have no room side by side lie, one below the other.

use super::shapes::{
    COLORS, ChartPicture, ChartShape, LABEL, ShapeClass, TITLE, TextAnchor, clipped, clipped_name,
    width,
};
use super::ticks::TickScale;
use super::{ChartAxis, ChartData, ChartKind, ChartLine, ChartSpec, axis, ticks};
use everloop_types::Lang;

/// Room at the right of the frame.
const RIGHT: f64 = 16.0;

/// Points up to which each one is seen.
const DOTS_MAX: usize = 60;

/// The widest bar.
const BAR_MAX: f64 = 72.0;

/// Room for a name below an axis, and the least in which one says something.
const NAME_ROOM: f64 = 130.0;
const NAME_ROOM_MIN: f64 = 44.0;

/// The height of a lying bar's place.
const LYING: f64 = 24.0;

/// Room for the amount at the end of a lying bar.
const VALUE_ROOM: f64 = 64.0;

/// How large a picture is, and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PictureSize {
    /// A file of its own, with its title.
    File,
    /// A page with room; the caption has the title.
    Wide,
    /// A telephone; the caption has the title.
    Narrow,
}

impl PictureSize {
    fn width(self) -> f64 {
        match self {
            Self::File => 720.0,
            Self::Wide => 620.0,
            Self::Narrow => 300.0,
        }
    }

    fn height(self) -> f64 {
        match self {
            Self::File => 344.0,
            Self::Wide => 300.0,
            Self::Narrow => 220.0,
        }
    }
}

/// Where the picture of the data lies.
struct Frame2d {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame2d {
    fn x(&self, value: f64) -> f64 {
        let part = (value - self.x.0) / (self.x.1 - self.x.0);
        self.left + part * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.y.0) / (self.y.1 - self.y.0);
        self.bottom - part * (self.bottom - self.top)
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn real(count: usize) -> f64 {
    count as f64
}

/// The amounts along an axis. Bars lie if they do not begin at nothing.
fn amounts(data: &ChartData, most: f64) -> Vec<f64> {
    let points = data.lines.iter().flat_map(|line| line.points.iter());
    let (mut low, mut high) = bounds(points.map(|point| point.1));
    let begins_at_zero = match data.kind {
        ChartKind::Scatter => false,
        ChartKind::Line => low > 0.0 && low < high / 2.0,
        ChartKind::Bar | ChartKind::Histogram => true,
    };
    if begins_at_zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    if low >= high {
        high = low + 1.0;
    }
    ticks::places(low, high, most)
}

/// Draws everything.
pub(super) fn picture(spec: &ChartSpec, data: &ChartData, size: PictureSize) -> ChartPicture {
    let (width, height) = (size.width(), size.height());
    let mut picture = ChartPicture { width, height, shapes: Vec::new() };
    let mut top = 6.0;
    if size == PictureSize::File {
        let title = clipped(&spec.title, width - 16.0);
        picture.words(ShapeClass::Title, (8.0, 8.0 + TITLE), TextAnchor::Start, &title);
        top += 28.0;
        // The title is above the picture, not in it.
        picture.height += 28.0;
    }
    top = legend(&mut picture, data, top);
    match &data.axis {
        ChartAxis::Labels(labels) if lies(data, labels, width) => {
            lying_bars(&mut picture, spec, data, labels, top);
        }
        _ => upright(&mut picture, spec, data, top, size),
    }
    picture
}

/// Names of the series beside their colors, in as many lines as they need.
fn legend(picture: &mut ChartPicture, data: &ChartData, top: f64) -> f64 {
    if data.lines.len() < 2 {
        return top;
    }
    let (mut x, mut y) = (8.0, top + LABEL);
    let most = (picture.width - 48.0).min(260.0);
    for (color, series) in data.lines.iter().enumerate() {
        let name = clipped(&series.name, most);
        if x > 8.0 && x + 16.0 + width(&name) > picture.width - 8.0 {
            (x, y) = (8.0, y + 20.0);
            picture.height += 20.0;
        }
        let bar = ChartShape::Bar { x, y: y - 10.0, width: 11.0, height: 11.0, color };
        picture.shapes.push(bar);
        picture.words(ShapeClass::Label, (x + 16.0, y), TextAnchor::Start, &name);
        x += width(&name) + 34.0;
    }
    y + 12.0
}

/// Whether the labels of bars have no room side by side.
fn lies(data: &ChartData, labels: &[String], picture_width: f64) -> bool {
    let widest = labels.iter().map(|label| width(label)).fold(1.0, f64::max);
    data.kind == ChartKind::Bar && (widest + 10.0) * real(labels.len()) > picture_width - 80.0
}

fn upright(
    picture: &mut ChartPicture,
    spec: &ChartSpec,
    data: &ChartData,
    mut top: f64,
    size: PictureSize,
) {
    if !data.y_name.is_empty() {
        let name = clipped(&data.y_name, picture.width - 16.0);
        picture.words(ShapeClass::Label, (8.0, top + LABEL), TextAnchor::Start, &name);
        top += 18.0;
    }
    let places = amounts(data, if size == PictureSize::Narrow { 4.0 } else { 5.0 });
    let scale = TickScale::of(&places, spec.lang);
    let labels: Vec<String> = places.iter().map(|place| scale.label(*place)).collect();
    let widest = labels.iter().map(|label| width(label)).fold(20.0, f64::max);
    let frame = Frame2d {
        left: widest + 14.0,
        right: picture.width - RIGHT,
        top: top + 12.0,
        bottom: picture.height - 44.0,
        x: x_range(data),
        y: (places[0], places[places.len() - 1]),
    };
    for (place, label) in places.iter().zip(&labels) {
        let at = frame.y(*place);
        picture.rule(ShapeClass::Grid, (frame.left, at), (frame.right, at));
        picture.words(ShapeClass::Tick, (frame.left - 6.0, at + 4.0), TextAnchor::End, label);
    }
    for (color, series) in data.lines.iter().enumerate() {
        match data.kind {
            ChartKind::Bar | ChartKind::Histogram => {
                bars(picture, data, (series, color), &frame, spec.lang);
            }
            ChartKind::Line => line(picture, data, series, color, &frame),
            ChartKind::Scatter => dots(picture, &series.points, color, &frame),
        }
    }
    let zero = frame.y(frame.y.0.max(0.0).min(frame.y.1));
    picture.rule(ShapeClass::Axis, (frame.left, zero), (frame.right, zero));
    x_axis(picture, spec, data, &frame);
}

fn x_range(data: &ChartData) -> (f64, f64) {
    let (low, high) = match &data.axis {
        ChartAxis::Values(_) => {
            bounds(data.lines.iter().flat_map(|l| l.points.iter()).map(|p| p.0))
        }
        ChartAxis::Labels(labels) => (0.0, real(labels.len().saturating_sub(1))),
    };
    match (&data.axis, data.kind) {
        (ChartAxis::Values(_), ChartKind::Scatter) => {
            let ticks = ticks::places(low, if low < high { high } else { low + 1.0 }, 6.0);
            (ticks[0], ticks[ticks.len() - 1])
        }
        (ChartAxis::Values(_), _) if low < high => {
            let room = (high - low) * 0.03;
            (low - room, high + room)
        }
        // The labels are the edges of the bars.
        (_, ChartKind::Histogram) => (-0.5, high - 0.5),
        // Many points fill the width; a few leave room for their labels.
        (_, ChartKind::Line) if high > 40.0 => (low, high),
        _ => (low - 0.5, high + 0.5),
    }
}

fn x_axis(picture: &mut ChartPicture, spec: &ChartSpec, data: &ChartData, frame: &Frame2d) {
    let room = frame.right - frame.left;
    let shown: Vec<(f64, String)> = match &data.axis {
        ChartAxis::Values(form) => {
            let widest = width(&form.show(frame.x.1)).max(width(&form.show(frame.x.0))) + 16.0;
            form.ticks(frame.x.0, frame.x.1, room / widest, spec.lang)
        }
        ChartAxis::Labels(labels) => {
            let widest = labels.iter().map(|label| width(label)).fold(1.0, f64::max) + 14.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let most = (room / widest).max(1.0) as usize;
            let slot = room / real(labels.len()) - 6.0;
            let every = match data.kind {
                ChartKind::Bar => 1,
                // Short names beside each other say more than a few long ones.
                ChartKind::Line if slot >= NAME_ROOM_MIN => 1,
                _ => labels.len().div_ceil(most).max(1),
            };
            let most =
                if every == 1 && widest > slot { slot.max(NAME_ROOM_MIN) } else { NAME_ROOM };
            let shift = if data.kind == ChartKind::Histogram { 0.5 } else { 0.0 };
            let labels = labels.iter().enumerate().step_by(every);
            labels.map(|(at, label)| (real(at) - shift, clipped_name(label, most))).collect()
        }
    };
    let y = frame.bottom + 18.0;
    let mut free = f64::MIN;
    for (place, label) in shown {
        let half = width(&label) / 2.0;
        // No label leaves the picture, and none covers another.
        let x = frame.x(place).min(picture.width - 2.0 - half).max(half + 2.0);
        if x - half < free {
            continue;
        }
        free = x + half + 4.0;
        picture.words(ShapeClass::Tick, (x, y), TextAnchor::Middle, &label);
    }
    let name = clipped(&data.x_name, room);
    picture.words(ShapeClass::Label, (frame.right, y + 18.0), TextAnchor::End, &name);
}

fn bars(
    picture: &mut ChartPicture,
    data: &ChartData,
    (series, color): (&ChartLine, usize),
    frame: &Frame2d,
    lang: Lang,
) {
    let slot = frame.x(1.0) - frame.x(0.0);
    let part = if data.kind == ChartKind::Histogram { 0.96 } else { 0.76 };
    let count = real(data.lines.len());
    let widest = if data.kind == ChartKind::Histogram { f64::MAX } else { BAR_MAX };
    let bar = (slot * part / count).min(widest);
    for (place, amount) in &series.points {
        let x = frame.x(*place) + (real(color) - count / 2.0) * bar;
        let (zero, end) = (frame.y(0.0), frame.y(*amount));
        let height = (zero - end).abs().max(0.5);
        let (y, width_of) = (zero.min(end), (bar - 1.0).max(1.0));
        picture.shapes.push(ChartShape::Bar { x, y, width: width_of, height, color });
        let label = ticks::amount(*amount, lang);
        // The amount stands at its bar where there is room for it.
        if count < 2.0 && data.kind == ChartKind::Bar && width(&label) < slot {
            let y = if *amount < 0.0 { end + 14.0 } else { end - 5.0 };
            picture.words(ShapeClass::Value, (frame.x(*place), y), TextAnchor::Middle, &label);
        }
    }
}

/// Bars from the left, each with its label before it.
fn lying_bars(
    picture: &mut ChartPicture,
    spec: &ChartSpec,
    data: &ChartData,
    labels: &[String],
    top: f64,
) {
    let names: Vec<String> =
        labels.iter().map(|label| clipped_name(label, picture.width * 0.34)).collect();
    let widest = names.iter().map(|name| width(name)).fold(20.0, f64::max);
    let count = data.lines.len();
    let slot = LYING.max(9.0 * real(count) + 8.0);
    let places = amounts(data, 4.0);
    let value_room = if count == 1 { VALUE_ROOM } else { RIGHT };
    let has_negative = places[0] < 0.0;
    let frame = Frame2d {
        left: widest + 14.0 + if has_negative { value_room * 0.8 } else { 0.0 },
        right: picture.width - value_room,
        top: top + 4.0,
        bottom: top + 4.0 + slot * real(labels.len()),
        x: (places[0], places[places.len() - 1]),
        y: (0.0, 1.0),
    };
    for (at, name) in names.iter().enumerate() {
        let y = frame.top + slot * (real(at) + 0.5) + 4.0;
        picture.words(ShapeClass::Label, (widest + 8.0, y), TextAnchor::End, name);
    }
    let bar = (slot - 8.0) / real(count);
    for (color, series) in data.lines.iter().enumerate() {
        for (place, amount) in &series.points {
            let (zero, end) = (frame.x(0.0), frame.x(*amount));
            let y = frame.top + slot * place + 4.0 + bar * real(color);
            let width = (zero - end).abs().max(0.5);
            let height = (bar - 1.0).max(1.0);
            picture.shapes.push(ChartShape::Bar { x: zero.min(end), y, width, height, color });
            if count == 1 {
                let at = (end, y + bar / 2.0 + 4.0);
                lying_value(picture, spec, *amount, at, places[1] - places[0]);
            }
        }
    }
    let zero = frame.x(frame.x.0.max(0.0).min(frame.x.1));
    picture.rule(ShapeClass::Axis, (zero, frame.top), (zero, frame.bottom));
    let mut y = frame.bottom + 16.0;
    if count > 1 {
        let scale = TickScale::of(&places, spec.lang);
        for place in places {
            let label = scale.label(place);
            picture.words(ShapeClass::Tick, (frame.x(place), y), TextAnchor::Middle, &label);
        }
        y += 18.0;
    }
    let name = clipped(&data.y_name, frame.right - frame.left);
    picture.words(ShapeClass::Label, (frame.right, y), TextAnchor::End, &name);
    picture.height = y + 8.0;
}

/// The amount behind the end of a lying bar, short where it is long.
fn lying_value(
    picture: &mut ChartPicture,
    spec: &ChartSpec,
    amount: f64,
    end: (f64, f64),
    step: f64,
) {
    let (x, anchor) = match amount < 0.0 {
        true => (end.0 - 5.0, TextAnchor::End),
        false => (end.0 + 5.0, TextAnchor::Start),
    };
    let label = match ticks::amount(amount, spec.lang) {
        plain if width(&plain) + 6.0 < VALUE_ROOM => plain,
        _ => TickScale::new(amount, step / 100.0, spec.lang).label(amount),
    };
    picture.words(ShapeClass::Value, (x, end.1), anchor, &label);
}

/// A line that breaks where something is missing: nothing is drawn that no value says.
fn line(
    picture: &mut ChartPicture,
    data: &ChartData,
    series: &ChartLine,
    color: usize,
    frame: &Frame2d,
) {
    let pieces = pieces(data, series);
    let few = series.points.len() <= DOTS_MAX;
    for piece in pieces {
        if few || piece.len() == 1 {
            dots(picture, &piece, color, frame);
        }
        let points = piece.iter().map(|(x, y)| (frame.x(*x), frame.y(*y))).collect();
        if piece.len() > 1 {
            picture.shapes.push(ChartShape::Path { points, color });
        }
    }
}

/// The parts of a line between which values are missing.
pub(super) fn pieces(data: &ChartData, series: &ChartLine) -> Vec<Vec<(f64, f64)>> {
    let step = match &data.axis {
        ChartAxis::Labels(_) => Some(1.0),
        ChartAxis::Values(form) => {
            let mut places: Vec<f64> =
                data.lines.iter().flat_map(|line| line.points.iter()).map(|p| p.0).collect();
            places.sort_by(f64::total_cmp);
            places.dedup();
            axis::regular_step(&places).filter(|_| form.is_time() || is_whole(&places))
        }
    };
    let is_day = data.axis == ChartAxis::Values(axis::AxisForm::Day);
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    for point in &series.points {
        let last = pieces.last().and_then(|piece| piece.last()).copied();
        let goes_on = last.is_some_and(|last| {
            let is_far = step.is_some_and(|step| point.0 - last.0 > step * 1.5);
            let is_missing = series.missing.iter().any(|at| (last.0..point.0).contains(at));
            !is_missing && (!is_far || is_day && axis::is_weekend(last.0, point.0))
        });
        match pieces.last_mut().filter(|_| goes_on) {
            Some(piece) => piece.push(*point),
            None => pieces.push(vec![*point]),
        }
    }
    pieces
}

fn is_whole(places: &[f64]) -> bool {
    places.iter().all(|place| place.fract() == 0.0)
}

fn dots(picture: &mut ChartPicture, points: &[(f64, f64)], color: usize, frame: &Frame2d) {
    let (size, shade) = if points.len() > 300 { (2.0, 0.5) } else { (3.2, 0.85) };
    for (x, y) in points {
        let at = (frame.x(*x), frame.y(*y));
        picture.shapes.push(ChartShape::Dot { at, size, color, shade });
    }
}

const _: () = assert!(COLORS.len() == super::SERIES_MAX);
