use super::*;

fn result(columns: &[&str], rows: Vec<Vec<DataValue>>) -> QueryResult {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    QueryResult { columns, rows, ..QueryResult::default() }
}

fn spec(kind: ChartKind, x: &str, y: &[&str]) -> ChartSpec {
    let y = y.iter().map(|name| (*name).to_owned()).collect();
    let title = "各地区 <sales>".to_owned();
    ChartSpec { kind, title, x: x.to_owned(), y, series: None, lang: Lang::En }
}

fn regions() -> QueryResult {
    let row =
        |name: &str, amount: f64| vec![DataValue::Text(name.to_owned()), DataValue::Real(amount)];
    result(&["region", "sales"], vec![row("华东", 3927.1), row("West", -20.5)])
}

#[test]
fn every_kind_of_chart_is_whole_markup_with_words_for_those_who_cannot_see() {
    let numbers =
        (0..50_i32).map(|n| vec![DataValue::Int(n.into()), DataValue::Int((n * n).into())]);
    let numbers = result(&["a", "b"], numbers.collect());
    for (kind, x, y, data) in [
        (ChartKind::Bar, "region", "sales", regions()),
        (ChartKind::Line, "a", "b", numbers.clone()),
        (ChartKind::Scatter, "a", "b", numbers.clone()),
        (ChartKind::Histogram, "b", "b", numbers.clone()),
    ] {
        let drawn = draw(&spec(kind, x, &[y]), &data).unwrap();
        assert!(drawn.svg.starts_with("<svg ") && drawn.svg.trim_end().ends_with("</svg>"));
        assert!(
            drawn.svg.contains("各地区 &lt;sales&gt;") && !drawn.svg.contains("NaN"),
            "{kind:?}"
        );
        assert!(drawn.svg.contains("role=\"img\"") && drawn.alternative.len() > 20, "{kind:?}");
    }
}

#[test]
fn more_series_than_can_be_told_apart_are_refused() {
    let rows = (0..9_i64)
        .map(|n| vec![DataValue::Int(1), DataValue::Int(n), DataValue::Text(format!("s{n}"))]);
    let data = result(&["x", "y", "s"], rows.collect());
    let spec = ChartSpec { series: Some("s".to_owned()), ..spec(ChartKind::Bar, "x", &["y"]) };
    assert!(draw(&spec, &data).unwrap_err().contains("cannot be told apart"));
}

#[test]
fn a_column_that_is_not_there_is_named_with_those_that_are() {
    let error = draw(&spec(ChartKind::Bar, "regio", &["sales"]), &regions()).unwrap_err();
    assert_eq!(error, "there is no column regio; there are region, sales");
}

#[test]
fn ticks_are_round_and_short() {
    assert_eq!(ticks::places(0.0, 97.0, 5.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    let labels = |places: &[f64], lang| {
        let scale = ticks::TickScale::of(places, lang);
        places.iter().map(|place| scale.label(*place)).collect::<Vec<String>>()
    };
    assert_eq!(
        labels(&[0.0, 500_000.0, 1_000_000.0, 1_500_000.0], Lang::En)[1..],
        ["0.5M", "1.0M", "1.5M"]
    );
    assert_eq!(labels(&[10_000_000.0, 15_000_000.0], Lang::ZhCn), ["1,000万", "1,500万"]);
    assert_eq!(labels(&[0.2, 0.25], Lang::En), ["0.20", "0.25"]);
    assert_eq!(labels(&[0.0, 8_000.0, 16_000.0], Lang::En), ["0", "8k", "16k"]);
    assert_eq!(labels(&[-2.0, -1.0], Lang::En), ["\u{2212}2", "\u{2212}1"]);
}

fn text(words: &str) -> DataValue {
    DataValue::Text(words.to_owned())
}

fn amounts(rows: &[(&str, Option<i64>)]) -> QueryResult {
    let row =
        |(x, y): &(&str, Option<i64>)| vec![text(x), y.map_or(DataValue::Null, DataValue::Int)];
    result(&["x", "y"], rows.iter().map(row).collect())
}

fn pieces(result: &QueryResult) -> Vec<Vec<(f64, f64)>> {
    let data = by_place(&spec(ChartKind::Line, "x", &["y"]), result).unwrap();
    draw::pieces(&data, &data.lines[0])
}

#[test]
fn a_line_over_time_goes_from_left_to_right_and_breaks_where_a_month_is_missing() {
    let months = [
        ("2026-03", Some(3)),
        ("2025-12", Some(1)),
        ("2026-01", Some(2)),
        ("2025-11", Some(9)),
        ("2026-04", Some(5)),
    ];
    let places: Vec<Vec<f64>> =
        pieces(&amounts(&months)).iter().map(|p| p.iter().map(|p| p.1).collect()).collect();
    assert_eq!(places, [vec![9.0, 1.0, 2.0], vec![3.0, 5.0]]);
    let data = by_place(&spec(ChartKind::Line, "x", &["y"]), &amounts(&months)).unwrap();
    assert_eq!(data.axis, ChartAxis::Values(AxisForm::Month));
}

#[test]
fn a_line_breaks_at_a_row_without_a_number_and_not_at_a_weekend() {
    let rows = [("1", Some(1)), ("2", None), ("3", Some(3)), ("4", Some(4))];
    assert_eq!(pieces(&amounts(&rows)).len(), 2);
    let days = ["2026-11-12", "2026-11-13", "2026-11-16", "2026-11-17", "2026-11-18"];
    let days: Vec<(&str, Option<i64>)> = days.into_iter().map(|day| (day, Some(1))).collect();
    assert_eq!(pieces(&amounts(&days)).len(), 1);
    let without = [days[0], days[2], days[3], days[4]];
    assert_eq!(pieces(&amounts(&without)).len(), 2);
}

#[test]
fn numbers_lie_at_their_distance_and_names_stay_in_the_order_of_the_query() {
    let numbers = [("10", Some(1)), ("2", Some(2)), ("30", Some(3))];
    let data = by_place(&spec(ChartKind::Line, "x", &["y"]), &amounts(&numbers)).unwrap();
    let at: Vec<f64> = data.lines[0].points.iter().map(|p| p.0).collect();
    assert_eq!(at, [2.0, 10.0, 30.0]);
    let names = [("West", Some(1)), ("East", Some(2)), ("North", Some(3))];
    let data = by_place(&spec(ChartKind::Bar, "x", &["y"]), &amounts(&names)).unwrap();
    let labels = ["West", "East", "North"].map(str::to_owned).to_vec();
    assert_eq!(data.axis, ChartAxis::Labels(labels));
}

#[test]
fn bars_of_months_quarters_and_years_stand_in_their_order() {
    for (given, shown) in [
        (["2026-02", "2025-11", "2026-01"], ["2025-11", "2026-01", "2026-02"]),
        (["2026-Q1", "2025-Q3", "2025-Q4"], ["2025-Q3", "2025-Q4", "2026-Q1"]),
        (["2026", "2024", "2025"], ["2024", "2025", "2026"]),
        (["2026年2月", "2026年10月", "2026年1月"], ["2026年1月", "2026年2月", "2026年10月"]),
    ] {
        let rows: Vec<(&str, Option<i64>)> = given.into_iter().map(|x| (x, Some(1))).collect();
        let data = by_place(&spec(ChartKind::Bar, "x", &["y"]), &amounts(&rows)).unwrap();
        assert_eq!(data.axis, ChartAxis::Labels(shown.map(str::to_owned).to_vec()));
    }
}

#[test]
fn ticks_of_time_are_dates_and_no_more_than_there_is_room_for() {
    let day = |text: &str| AxisForm::Day.place(text).unwrap();
    let shown = |form: AxisForm, low, high, most| -> Vec<String> {
        form.ticks(low, high, most, Lang::En).into_iter().map(|tick| tick.1).collect()
    };
    let year = shown(AxisForm::Day, day("2026-01-10"), day("2026-12-20"), 6.0);
    assert_eq!(year, ["2026-03", "2026-05", "2026-07", "2026-09", "2026-11"]);
    let week = shown(AxisForm::Day, day("2026-01-01"), day("2026-01-04"), 6.0);
    assert_eq!(week, ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]);
    assert_eq!(shown(AxisForm::Year, 2019.0, 2024.0, 3.0), ["2020", "2022", "2024"]);
    assert_eq!(AxisForm::Quarter.show(2026.0 * 4.0 + 2.0), "2026-Q3");
    assert_eq!(AxisForm::of(["2026-13-01", "x"].into_iter()), None);
}

#[test]
fn a_chart_of_the_first_rows_is_known_as_one() {
    let rows = (0..5_001_i64).map(|n| vec![DataValue::Int(n), DataValue::Int(n)]).collect();
    let long = result(&["a", "b"], rows);
    assert!(shows_part(ChartKind::Scatter, &long));
    assert!(!shows_part(ChartKind::Histogram, &long));
    assert!(shows_part(ChartKind::Histogram, &QueryResult { is_cut: true, ..long }));
}

/// A font in which every ASCII character is the same box, 500 of 1,000 units wide.
fn box_font() -> Vec<u8> {
    let be16 = |values: &[i16]| values.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    let be32 = |values: &[u32]| values.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
    let mut head = be32(&[0x0001_0000, 0x0001_0000, 0, 0x5f0f_3cf5]);
    head.extend(be16(&[0, 1000]));
    head.extend([0; 16]);
    head.extend(be16(&[0, 0, 500, 700, 0, 8, 2, 0, 0]));
    let mut hhea = be32(&[0x0001_0000]);
    hhea.extend(be16(&[800, -200, 0, 500, 0, 0, 500, 1, 0, 0, 0, 0, 0, 0, 0, 2]));
    let mut maxp = be32(&[0x0001_0000]);
    maxp.extend(be16(&[2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]));
    let mut cmap = be16(&[0, 1, 3, 10]);
    cmap.extend(be32(&[12]));
    cmap.extend(be16(&[13, 0]));
    cmap.extend(be32(&[28, 0, 1, 0x20, 0x7e, 1]));
    let mut glyf = be16(&[1, 50, 0, 450, 700, 3, 0]);
    glyf.extend([1; 4]);
    glyf.extend(be16(&[50, 400, 0, -400, 0, 0, 700, 0]));
    let tables = [
        (*b"cmap", cmap),
        (*b"glyf", glyf.clone()),
        (*b"head", head),
        (*b"hhea", hhea),
        (*b"hmtx", be16(&[500, 0, 500, 0])),
        (*b"loca", be16(&[0, 0, i16::try_from(glyf.len() / 2).unwrap()])),
        (*b"maxp", maxp),
    ];
    let mut font = be32(&[0x0001_0000]);
    font.extend(be16(&[7, 64, 2, 48]));
    let mut at = 12 + 16 * tables.len();
    let mut bodies = Vec::new();
    for (name, body) in tables {
        font.extend(name);
        font.extend(be32(&[0, u32::try_from(at).unwrap(), u32::try_from(body.len()).unwrap()]));
        at += body.len().next_multiple_of(4);
        bodies.extend(&body);
        bodies.resize(bodies.len().next_multiple_of(4), 0);
    }
    font.extend(bodies);
    font
}

fn boxes() -> (tempfile::TempDir, FontSet) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Boxes-Regular.ttf"), box_font()).unwrap();
    std::fs::write(folder.path().join("Broken.ttf"), "no font").unwrap();
    let fonts = FontSet::of_folders(&[folder.path().to_owned()]);
    (folder, fonts)
}

/// Width, height and the dots of a PNG, three bytes each.
fn decoded(png: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut dots = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut dots).unwrap();
    (info.width as usize, info.height as usize, dots)
}

#[test]
fn a_png_shows_the_bars_in_their_color_and_the_letters_of_a_font() {
    let (_folder, mut fonts) = boxes();
    let title = "Sales".to_owned();
    let data = amounts(&[("East", Some(4)), ("West", Some(2))]);
    let wanted = ChartSpec { title, ..spec(ChartKind::Bar, "x", &["y"]) };
    let png = draw_png(&wanted, &data, &mut fonts).unwrap().unwrap();
    let (width, height, dots) = decoded(&png);
    assert_eq!((width, height), (1440, 744));
    let count = |color: [u8; 3]| dots.chunks(3).filter(|dot| **dot == color).count();
    // The first bar is twice as high as the second; letters are boxes of the color of text.
    assert!(count([0x00, 0x72, 0xb2]) > 50_000, "{}", count([0x00, 0x72, 0xb2]));
    assert!(count([0x33, 0x33, 0x33]) > 1_000, "{}", count([0x33, 0x33, 0x33]));
    assert!(count([0xff, 0xff, 0xff]) > width * height / 2);
}

#[test]
fn a_character_without_a_glyph_or_one_that_has_to_be_joined_makes_no_png() {
    let (_folder, mut fonts) = boxes();
    let data = amounts(&[("华东", Some(4)), ("مبيعات", Some(2))]);
    let missing = draw_png(&spec(ChartKind::Bar, "x", &["y"]), &data, &mut fonts).unwrap_err();
    let missing: String = missing.into_iter().collect();
    assert!(missing.contains('华') && missing.contains('م') && !missing.contains('s'), "{missing}");
}

#[test]
fn a_machine_without_fonts_draws_no_png() {
    let mut none = FontSet::of_folders(&[]);
    let data = amounts(&[("East", Some(4))]);
    assert!(draw_png(&spec(ChartKind::Line, "x", &["y"]), &data, &mut none).is_err());
}

fn drawn_words(kind: ChartKind, data: &QueryResult) -> Vec<String> {
    let wanted = spec(kind, "x", &["y"]);
    let drawn = data_of(&wanted, data).unwrap();
    let picture = draw::picture(&wanted, &drawn, PictureSize::Wide);
    let words = picture.shapes.into_iter().filter_map(|shape| match shape {
        shapes::ChartShape::Words { words, .. } => Some(words),
        _ => None,
    });
    words.collect()
}

#[test]
fn a_histogram_of_one_value_has_edges_that_are_numbers() {
    let rows = (0..40).map(|_| vec![DataValue::Int(7), DataValue::Int(7)]).collect();
    let words = drawn_words(ChartKind::Histogram, &result(&["x", "y"], rows));
    assert!(words.contains(&"7".to_owned()), "{words:?}");
    assert!(!words.iter().any(|word| word.contains("inf") || word.contains("NaN")), "{words:?}");
}

#[test]
fn long_names_that_differ_at_their_end_can_be_told_apart() {
    let names: Vec<String> =
        (10..22).map(|n| format!("A very long category label that goes on {n}")).collect();
    let rows: Vec<(&str, Option<i64>)> =
        names.iter().map(|name| (name.as_str(), Some(1))).collect();
    let mut words = drawn_words(ChartKind::Bar, &amounts(&rows));
    words.retain(|word| word.starts_with("A very"));
    words.dedup();
    assert_eq!(words.len(), 12, "{words:?}");
}

#[test]
fn every_name_of_a_short_line_is_below_it() {
    let names = ["Alabama", "Connecticut", "Massachusetts", "Ohio", "Pennsylvania", "Utah"];
    let rows: Vec<(&str, Option<i64>)> = names.into_iter().map(|name| (name, Some(1))).collect();
    let words = drawn_words(ChartKind::Line, &amounts(&rows));
    for name in names {
        assert!(words.iter().any(|word| word.starts_with(&name[..3])), "{name}: {words:?}");
    }
}

#[test]
fn amounts_beside_bars_are_short() {
    assert_eq!(ticks::amount(7.7297, Lang::En), "7.73");
    assert_eq!(ticks::amount(8_739.7, Lang::En), "8,739.7");
    assert_eq!(ticks::amount(184_138_564_929.0, Lang::En), "184.1B");
    assert_eq!(ticks::amount(0.0123, Lang::En), "0.0123");
}
