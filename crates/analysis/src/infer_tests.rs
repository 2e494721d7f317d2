use super::*;

fn plan_of(values: &[&str]) -> ColumnPlan {
    let mut evidence = ColumnEvidence::default();
    values.iter().for_each(|value| evidence.take(RawField::Text(value)));
    evidence.plan(StyleHint::default())
}

fn kind_of(values: &[&str]) -> ColumnKind {
    plan_of(values).kind
}

#[test]
fn columns_are_what_their_values_are() {
    assert_eq!(kind_of(&["1", "2", "30"]), ColumnKind::Integer);
    assert_eq!(kind_of(&["1", "2.5", "N/A"]), ColumnKind::Decimal);
    assert_eq!(kind_of(&["1,200.50", "¥3", "(4.00)"]), ColumnKind::Decimal);
    assert_eq!(kind_of(&["1.234,56", "7,00", "12,5"]), ColumnKind::Decimal);
    assert_eq!(kind_of(&["2026-01-31", "2026-02-01"]), ColumnKind::Date);
    assert_eq!(kind_of(&["2026年1月31日", "2026年12月1日"]), ColumnKind::Date);
    assert_eq!(kind_of(&["2026-01-31T10:00:00Z", "2026-02-01 11:30"]), ColumnKind::DateTime);
    assert_eq!(kind_of(&["Jan 31, 2026", "2 Feb 2026"]), ColumnKind::Date);
    assert_eq!(kind_of(&["true", "false"]), ColumnKind::Boolean);
    assert_eq!(kind_of(&["east", "west", "1"]), ColumnKind::Text);
    assert_eq!(kind_of(&["", "NA"]), ColumnKind::Text);
}

#[test]
fn a_code_with_leading_zeros_stays_text() {
    assert_eq!(kind_of(&["007", "012", "120"]), ColumnKind::Text);
    assert_eq!(kind_of(&["110101199003078888", "110101199003078889123"]), ColumnKind::Text);
}

#[test]
fn a_date_that_could_be_two_dates_stays_text_and_is_told() {
    let unclear = plan_of(&["01/02/2026", "03/04/2026"]);
    assert_eq!((unclear.kind, unclear.ambiguous_dates), (ColumnKind::Text, true));
    let clear = plan_of(&["01/02/2026", "13/04/2026"]);
    assert_eq!(
        clear.convert(RawField::Text("01/02/2026")),
        Some(DataValue::Text("2026-02-01".into()))
    );
    let american = plan_of(&["01/02/2026", "04/13/2026"]);
    assert_eq!(
        american.convert(RawField::Text("01/02/2026")),
        Some(DataValue::Text("2026-01-02".into()))
    );
}

#[test]
fn dirty_numbers_become_the_numbers_that_they_mean() {
    let plan = plan_of(&["1,200.50", "¥3", "(4.00)", "-7"]);
    let value = |text| plan.convert(RawField::Text(text));
    assert_eq!(value("1,200.50"), Some(DataValue::Real(1200.5)));
    assert_eq!(value("(4.00)"), Some(DataValue::Real(-4.0)));
    assert_eq!(value("￥1,000"), Some(DataValue::Real(1000.0)));
    assert_eq!(value("１２.５"), Some(DataValue::Real(12.5)));
    assert_eq!(value("about 5"), None);
    assert_eq!(value("1,20"), None);
    let comma = plan_of(&["1.234,56", "7,00", "12,5"]);
    assert_eq!(comma.convert(RawField::Text("1.234,56")), Some(DataValue::Real(1234.56)));
    let percent = plan_of(&["12.5%", "3%"]);
    assert_eq!(percent.convert(RawField::Text("12.5%")), Some(DataValue::Real(0.125)));
}

#[test]
fn a_number_of_more_digits_than_sqlite_keeps_is_kept_as_its_digits() {
    let plan = plan_of(&["0.1234567890123456789", "1.5"]);
    let kept = plan.convert(RawField::Text("0.1234567890123456789"));
    assert_eq!(kept, Some(DataValue::Text("0.1234567890123456789".into())));
}

#[test]
fn numbers_with_and_without_a_percent_sign_are_not_mixed() {
    let plan = plan_of(&["12%", "3", "4", "5%", "6"]);
    assert_eq!((plan.kind, plan.mixed_percent), (ColumnKind::Text, true));
}

#[test]
fn the_hour_after_midnight_and_the_one_after_noon_are_told_apart() {
    let plan = plan_of(&["2026-01-31 12:30 AM", "2026-02-01 12:30 PM", "2026-02-01 1:05:09 pm"]);
    let time = |text| plan.convert(RawField::Text(text));
    assert_eq!(time("2026-01-31 12:30 AM"), Some(DataValue::Text("2026-01-31 00:30:00".into())));
    assert_eq!(time("2026-01-31 12:30 PM"), Some(DataValue::Text("2026-01-31 12:30:00".into())));
    assert_eq!(time("2026-01-31 1:05:09 pm"), Some(DataValue::Text("2026-01-31 13:05:09".into())));
    assert_eq!(time("2026-01-31 13:05 AM"), None);
}

#[test]
fn times_of_several_zones_are_moved_into_one_and_keep_their_fractions() {
    let plan = plan_of(&["2026-01-31T23:30:00-05:00", "2026-02-01T01:00:00.25+08:00"]);
    assert_eq!((plan.kind, plan.zone), (ColumnKind::DateTime, Some(0)));
    let time = |text| plan.convert(RawField::Text(text));
    let text = |text: &str| Some(DataValue::Text(text.to_owned()));
    assert_eq!(time("2026-01-31T23:30:00-05:00"), text("2026-02-01 04:30:00"));
    assert_eq!(time("2026-02-01T01:00:00.250+08:00"), text("2026-01-31 17:00:00.25"));
    assert_eq!(time("2026-02-01 01:00 UTC"), text("2026-02-01 01:00:00"));
    // Times of one zone stay as they are written, and those of another are moved into it.
    let plan = plan_of(&["2026-01-31T23:30:00+08:00", "2026-02-01 01:00:00 +0800"]);
    assert_eq!(plan.zone, Some(480));
    let time = |text| plan.convert(RawField::Text(text));
    assert_eq!(time("2026-01-31T23:30:00+08:00"), text("2026-01-31 23:30:00"));
    assert_eq!(time("2026-01-31T23:30:00Z"), text("2026-02-01 07:30:00"));
}

#[test]
fn amounts_of_several_currencies_are_not_added_up() {
    let plan = plan_of(&["$5", "€3", "$7"]);
    assert_eq!((plan.kind, plan.mixed_currency), (ColumnKind::Text, true));
    let mut values = vec!["$5"; 100];
    values.push("€3");
    let plan = plan_of(&values);
    assert_eq!((plan.kind, plan.currency), (ColumnKind::Integer, Some('$')));
    assert_eq!(plan.convert(RawField::Text("€3")), None);
    assert_eq!(plan.convert(RawField::Text("4")), Some(DataValue::Int(4)));
    let yuan = plan_of(&["¥5", "￥6", "7元"]);
    assert_eq!((yuan.kind, yuan.mixed_currency), (ColumnKind::Integer, false));
}

#[test]
fn a_number_that_could_be_two_numbers_stays_text_and_is_told() {
    let unclear = plan_of(&["1.234", "5.678"]);
    assert_eq!((unclear.kind, unclear.ambiguous_numbers), (ColumnKind::Text, true));
    let commas = plan_of(&["1,234", "12"]);
    assert_eq!((commas.kind, commas.ambiguous_numbers), (ColumnKind::Text, true));
    for clear in [["1.234", "0.678"], ["1.234", "5.67"], ["1.234", "1234.567"]] {
        let plan = plan_of(&clear);
        assert_eq!((plan.kind, plan.numbers), (ColumnKind::Decimal, NumberStyle::Point));
    }
    let comma = plan_of(&["1.234", "1.234.567"]);
    assert_eq!((comma.kind, comma.numbers), (ColumnKind::Integer, NumberStyle::Comma));
    assert_eq!(comma.convert(RawField::Text("1.234")), Some(DataValue::Int(1234)));
}

#[test]
fn the_other_columns_of_a_file_and_its_separator_say_how_numbers_are_written() {
    let evidence = |values: &[&str]| {
        let mut evidence = ColumnEvidence::default();
        values.iter().for_each(|value| evidence.take(RawField::Text(value)));
        evidence
    };
    let columns = [evidence(&["1.234", "5.678"]), evidence(&["0,5", "12,75"])];
    let plan = columns[0].plan(StyleHint::of(&columns, Some(';')));
    assert_eq!((plan.kind, plan.numbers), (ColumnKind::Integer, NumberStyle::Comma));
    let columns = [evidence(&["1,234", "5,678"])];
    let plan = columns[0].plan(StyleHint::of(&columns, Some(',')));
    assert_eq!((plan.kind, plan.numbers), (ColumnKind::Integer, NumberStyle::Point));
}

#[test]
fn digits_that_nothing_groups_say_what_the_point_means() {
    let bare = plan_of(&["50.975", "49.999", "5000", "-9000"]);
    assert_eq!((bare.kind, bare.numbers), (ColumnKind::Decimal, NumberStyle::Point));
    let mut evidence = ColumnEvidence::default();
    ["50.975", "49.999"].iter().for_each(|value| evidence.take(RawField::Text(value)));
    let in_comma_file = evidence.plan(StyleHint::of(&[], Some(',')));
    assert_eq!(in_comma_file.kind, ColumnKind::Decimal);
}

#[test]
fn blanks_and_apostrophes_group_digits_only_by_three() {
    for texts in [["5'11", "6'02"], ["06 12 34 56 78", "06 22 34 56 78"], ["10 20", "11 21"]] {
        assert_eq!(kind_of(&texts), ColumnKind::Text, "{texts:?}");
    }
    assert_eq!(kind_of(&["+4915112345678", "+4915112345679"]), ColumnKind::Text);
    for texts in [["1 234", "12 345"], ["1'234.50", "7"], ["€ 1 234,56", "- 5,1"], ["5 %", "7 %"]]
    {
        assert!(kind_of(&texts).is_number(), "{texts:?}");
    }
}

#[test]
fn a_column_says_why_it_is_text() {
    let reason = |texts: &[&str]| plan_of(texts).text_reason;
    assert_eq!(reason(&["007", "012"]), Some(TextReason::Codes));
    assert_eq!(reason(&["1", "2", "x"]), Some(TextReason::SomeNumbers));
    assert_eq!(reason(&["2026-01-31", "2026-02-01", "soon"]), Some(TextReason::SomeDates));
    assert_eq!(reason(&["5 kg", "7 kg"]), Some(TextReason::Units));
    assert_eq!(reason(&["12,34,100.00", "1.5万"]), Some(TextReason::Units));
    assert_eq!(reason(&["east", "west"]), None);
    assert_eq!(reason(&["12 Main Street", "13 Main Street"]), None);
}

#[test]
fn one_odd_value_does_not_decide_how_a_column_of_unclear_numbers_is_read() {
    let mut values = vec!["1,234"; 2_000];
    values.push("12,5");
    let plan = plan_of(&values);
    assert_eq!((plan.kind, plan.ambiguous_numbers), (ColumnKind::Text, true));
    let plan = |separator| {
        let mut evidence = ColumnEvidence::default();
        values.iter().for_each(|value| evidence.take(RawField::Text(value)));
        evidence.plan(StyleHint::of(&[evidence.clone()], separator))
    };
    let in_comma_file = plan(Some(','));
    assert_eq!(
        (in_comma_file.kind, in_comma_file.numbers),
        (ColumnKind::Integer, NumberStyle::Point)
    );
    assert_eq!(plan(Some(';')).kind, ColumnKind::Text);
    // Many values that can be read in one way only do decide.
    values.extend(["12,5"; 60]);
    assert_eq!(plan_of(&values).numbers, NumberStyle::Comma);
}

#[test]
fn numbers_of_both_styles_that_are_each_clear_follow_the_style_of_most() {
    let mut values = vec!["12.50"; 100];
    values.extend(["12,5"; 4]);
    let plan = plan_of(&values);
    assert_eq!((plan.kind, plan.numbers), (ColumnKind::Decimal, NumberStyle::Point));
    assert_eq!(plan.convert(RawField::Text("12,5")), None);
    values.push("1.234");
    assert!(plan_of(&values).ambiguous_numbers, "one that could be either is not guessed");
}

#[test]
fn dates_that_contradict_each_other_leave_the_unclear_ones_as_text() {
    let of = |unclear: usize, day_first: usize, month_first: usize| {
        let mut values = vec!["03/04/2026"; unclear];
        values.extend(vec!["13/04/2026"; day_first]);
        values.extend(vec!["04/13/2026"; month_first]);
        let plan = plan_of(&values);
        (plan.dates, plan.ambiguous_dates)
    };
    assert_eq!(of(1_000, 60, 50), (None, true));
    assert_eq!(of(1_000, 1, 0), (None, true));
    assert_eq!(of(1_000, 60, 1), (Some(DateStyle::DayFirst), false));
    assert_eq!(of(1_000, 0, 60), (Some(DateStyle::MonthFirst), false));
    assert_eq!(of(0, 100, 5), (Some(DateStyle::DayFirst), false));
}

#[test]
fn codes_that_begin_like_the_name_of_a_month_are_text() {
    for code in
        ["MARK-01-2024", "DECK-05-2023", "Junction 10 2020", "Octane 12 2021", "5x May 2020"]
    {
        assert_eq!(kind_of(&[code, code]), ColumnKind::Text, "{code}");
    }
    for date in ["1st March 2024", "MAR-01-2024", "Sept 5, 2023", "31 december 2020"] {
        assert_eq!(kind_of(&[date, date]), ColumnKind::Date, "{date}");
    }
}

#[test]
fn a_number_that_its_file_has_as_one_is_read_with_a_point_whatever_the_column_holds() {
    let mut evidence = ColumnEvidence::default();
    ["0,5", "12,75", "7,25"].iter().for_each(|text| evidence.take(RawField::Text(text)));
    evidence.take(RawField::Number("1.000"));
    let plan = evidence.plan(StyleHint::default());
    assert_eq!((plan.kind, plan.numbers), (ColumnKind::Decimal, NumberStyle::Comma));
    assert_eq!(plan.convert(RawField::Number("12.345")), Some(DataValue::Real(12.345)));
    assert_eq!(plan.convert(RawField::Number("1e-40")), Some(DataValue::Real(1e-40)));
    let text = ColumnPlan::of(ColumnKind::Text);
    assert_eq!(ColumnPlan::as_text(RawField::Number("1.50")), DataValue::Text("1.50".into()));
    assert_eq!(text.convert(RawField::Number("1.50")), None);
    let whole = ColumnPlan::of(ColumnKind::Integer);
    assert_eq!(whole.convert(RawField::Number("3.0")), Some(DataValue::Int(3)));
    assert_eq!(whole.convert(RawField::Number("3.5")), None);
}

#[test]
fn numbers_too_small_to_be_exact_are_numbers() {
    let plan = plan_of(&["0.05", "2.3e-45", "1E-31", "1.7e80"]);
    assert_eq!(plan.kind, ColumnKind::Decimal);
    assert_eq!(plan.convert(RawField::Text("2.3e-45")), Some(DataValue::Real(2.3e-45)));
    assert_eq!(plan.convert(RawField::Text("1.7e80")), Some(DataValue::Real(1.7e80)));
    assert_eq!(plan.convert(RawField::Text("1e999")), None);
    assert_eq!(kind_of(&["1e", "e5", "1-e"]), ColumnKind::Text);
}
