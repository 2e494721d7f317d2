//! A picture as PNG, for programs that show no SVG.
//!
//! Every shape becomes a polygon, every glyph its outline; both are filled with smooth edges and
//! laid over white, at twice the size of the drawing.

use super::fonts::FontSet;
use super::shapes::{COLORS, ChartPicture, ChartShape, LABEL, ShapeClass, TITLE, TextAnchor};
use ab_glyph::{Font as _, GlyphId, Point, PxScale, point};
use ab_glyph_rasterizer::Rasterizer;

/// Dots for each unit of the drawing.
const SCALE: f32 = 2.0;

/// Corners of a circle: no edge is longer than a dot.
const CIRCLE_CORNERS: u8 = 24;

const TEXT: Rgb = Rgb([0x33, 0x33, 0x33]);
const GRID: Rgb = Rgb([0xdd, 0xdd, 0xdd]);
const AXIS: Rgb = Rgb([0x88, 0x88, 0x88]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rgb([u8; 3]);

impl Rgb {
    /// A color as SVG writes it.
    fn of_hex(hex: &str) -> Self {
        let value = u32::from_str_radix(hex.trim_start_matches('#'), 16).unwrap_or_default();
        let [_, red, green, blue] = value.to_be_bytes();
        Self([red, green, blue])
    }
}

/// Draws a picture.
///
/// # Errors
/// The characters for which no font has a glyph.
pub(super) fn png_of(picture: &ChartPicture, fonts: &mut FontSet) -> Result<Vec<u8>, Vec<char>> {
    let words = picture.shapes.iter().filter_map(|shape| match shape {
        ChartShape::Words { words, .. } => Some(words.as_str()),
        _ => None,
    });
    let missing = fonts.missing(&words.collect::<String>());
    if !missing.is_empty() {
        return Err(missing);
    }
    let mut canvas = Canvas::new(picture.width, picture.height);
    for shape in &picture.shapes {
        canvas.draw(shape, fonts);
    }
    Ok(canvas.encoded())
}

struct Canvas {
    width: usize,
    height: usize,
    dots: Vec<u8>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Self {
        let (width, height) = (dots(width), dots(height));
        Self { width, height, dots: vec![0xff; width * height * 3] }
    }

    fn draw(&mut self, shape: &ChartShape, fonts: &FontSet) {
        match shape {
            ChartShape::Bar { x, y, width, height, color } => {
                let (from, to) = (place((*x, *y)), place((x + width, y + height)));
                let corners = [from, point(to.x, from.y), to, point(from.x, to.y)];
                self.fill(&[corners.to_vec()], series_color(*color), 1.0);
            }
            ChartShape::Rule { class, from, to } => {
                let color = if *class == ShapeClass::Grid { GRID } else { AXIS };
                self.fill(&[stroke(place(*from), place(*to), 1.0)], color, 1.0);
            }
            ChartShape::Path { points, color } => {
                let points: Vec<Point> = points.iter().map(|at| place(*at)).collect();
                let lines = points.windows(2).map(|ends| stroke(ends[0], ends[1], 2.2));
                let joints = points.iter().map(|at| circle(*at, 1.1));
                let polygons: Vec<Vec<Point>> = lines.chain(joints).collect();
                self.fill(&polygons, series_color(*color), 1.0);
            }
            ChartShape::Dot { at, size, color, shade } => {
                let color = series_color(*color);
                self.fill(&[circle(place(*at), real(*size))], color, real(*shade));
            }
            ChartShape::Words { class, at, anchor, words } => {
                self.write(*class, place(*at), *anchor, words, fonts);
            }
        }
    }

    /// Fills polygons that all turn the same way, as one shape.
    fn fill(&mut self, polygons: &[Vec<Point>], color: Rgb, shade: f32) {
        let corners = polygons.iter().flatten();
        let (mut low, mut high) = (point(f32::MAX, f32::MAX), point(f32::MIN, f32::MIN));
        for corner in corners {
            low = point(low.x.min(corner.x), low.y.min(corner.y));
            high = point(high.x.max(corner.x), high.y.max(corner.y));
        }
        if !(low.x <= high.x && low.y <= high.y) {
            return;
        }
        let origin = point(low.x.floor() - 1.0, low.y.floor() - 1.0);
        let mut raster = Rasterizer::new(
            cells(high.x - origin.x + 2.0).min(self.width + 4),
            cells(high.y - origin.y + 2.0).min(self.height + 4),
        );
        for polygon in polygons {
            for (at, corner) in polygon.iter().enumerate() {
                let next = polygon[(at + 1) % polygon.len()];
                raster.draw_line(*corner - origin, next - origin);
            }
        }
        raster.for_each_pixel_2d(|x, y, cover| {
            self.blend(origin, x, y, color, cover.min(1.0) * shade);
        });
    }

    fn write(
        &mut self,
        class: ShapeClass,
        at: Point,
        anchor: TextAnchor,
        words: &str,
        fonts: &FontSet,
    ) {
        let size = if class == ShapeClass::Title { TITLE } else { LABEL };
        let size = real(size) * SCALE;
        let glyphs: Vec<_> = words.chars().filter_map(|c| fonts.find(c)).collect();
        let total: f32 = glyphs.iter().map(|(font, id)| advance(font, *id, size)).sum();
        let mut x = at.x
            - match anchor {
                TextAnchor::Start => 0.0,
                TextAnchor::Middle => total / 2.0,
                TextAnchor::End => total,
            };
        // A title is heavier: drawn twice, a little apart.
        let strokes: &[f32] = if class == ShapeClass::Title { &[0.0, 0.7] } else { &[0.0] };
        for (font, id) in glyphs {
            for shift in strokes {
                let scale = px_scale(font, size);
                let glyph = id.with_scale_and_position(scale, point(x + shift, at.y));
                if let Some(outline) = font.outline_glyph(glyph) {
                    let origin = outline.px_bounds().min;
                    outline.draw(|x, y, cover| self.blend(origin, x, y, TEXT, cover.min(1.0)));
                }
            }
            x += advance(font, id, size);
        }
    }

    /// Lays a color over one dot, which is counted from the origin of its shape.
    fn blend(&mut self, origin: Point, x: u32, y: u32, color: Rgb, cover: f32) {
        #[expect(clippy::cast_possible_truncation, reason = "a picture has some thousand dots")]
        let (x, y) = (origin.x as i64 + i64::from(x), origin.y as i64 + i64::from(y));
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x >= self.width || y >= self.height {
            return;
        }
        let first = (y * self.width + x) * 3;
        for (dot, over) in self.dots[first..first + 3].iter_mut().zip(color.0) {
            let mixed = f32::from(*dot) + (f32::from(over) - f32::from(*dot)) * cover;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
            let mixed = mixed.round() as u8;
            *dot = mixed;
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (width, height) = (u32::try_from(self.width), u32::try_from(self.height));
        let size = (width.unwrap_or(u32::MAX), height.unwrap_or(u32::MAX));
        let mut encoder = png::Encoder::new(&mut out, size.0, size.1);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.dots))
            .expect("memory takes a picture of its own size");
        out
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a place in a picture")]
fn real(value: f64) -> f32 {
    value as f32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by its use")]
fn cells(value: f32) -> usize {
    value.ceil().max(1.0) as usize
}

fn dots(units: f64) -> usize {
    cells(real(units) * SCALE)
}

fn place((x, y): (f64, f64)) -> Point {
    point(real(x) * SCALE, real(y) * SCALE)
}

fn series_color(color: usize) -> Rgb {
    Rgb::of_hex(COLORS[color % COLORS.len()])
}

/// A line with a width, as a rectangle that turns as circles do.
fn stroke(from: Point, to: Point, width: f32) -> Vec<Point> {
    let along = to - from;
    let length = along.x.hypot(along.y).max(f32::MIN_POSITIVE);
    let half = width * SCALE / 2.0 / length;
    let side = point(-along.y * half, along.x * half);
    vec![from - side, to - side, to + side, from + side]
}

fn circle(at: Point, radius: f32) -> Vec<Point> {
    let turn = std::f32::consts::TAU / f32::from(CIRCLE_CORNERS);
    let corner = |n: u8| {
        let angle = turn * f32::from(n);
        let reach = radius * SCALE;
        at + point(angle.cos() * reach, angle.sin() * reach)
    };
    (0..CIRCLE_CORNERS).map(corner).collect()
}

/// The scale at which a font's letters have a size as CSS counts it.
fn px_scale(font: &ab_glyph::FontVec, size: f32) -> PxScale {
    let em = font.units_per_em().unwrap_or(1000.0);
    PxScale::from(size * font.height_unscaled() / em)
}

fn advance(font: &ab_glyph::FontVec, id: GlyphId, size: f32) -> f32 {
    font.h_advance_unscaled(id) * size / font.units_per_em().unwrap_or(1000.0)
}
