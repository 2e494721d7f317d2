use super::*;

fn found(text: &str) -> Vec<&str> {
    let numbers = numbers_of(text).into_iter();
    numbers.filter(|own| own.form != NumberForm::Vague).map(|number| &text[number.at]).collect()
}

fn vague(text: &str) -> Vec<&str> {
    let numbers = numbers_of(text).into_iter();
    numbers.filter(|own| own.form == NumberForm::Vague).map(|number| &text[number.at]).collect()
}

#[test]
fn numbers_are_found_with_sign_unit_and_percent() {
    assert_eq!(found("fell 18.4% to 3,927.1"), ["18.4%", "3,927.1"]);
    assert_eq!(found("环比 −18.4%，少 885.5 万元，约 1.2亿"), ["−18.4%", "885.5 万", "1.2亿"]);
    assert_eq!(found("$1.5 million and 20k"), ["1.5 million", "20k"]);
    assert_eq!(
        found("rose 3 percentage points, 2.5个百分点"),
        ["3 percentage points", "2.5个百分点"]
    );
    assert_eq!(found("between 3-5 units"), ["3", "5"]);
    assert_eq!(found("3.57 万元，38.68 %，5 千克"), ["3.57 万", "38.68 %", "5"]);
    assert_eq!(found("29.0\u{202f}% and 5 M&Ms and 3 bn"), ["29.0\u{202f}%", "5", "3 bn"]);
}

#[test]
fn what_is_no_number_of_the_data_is_left_alone() {
    let none = [
        "1. first\n2. second",
        "## 2 Regions",
        "## 2. Regions",
        "# 1. Regions",
        "Q3 and v2 and v2.1.3 and 5G and UTF-8 and A4",
        "on 2026-11-18 at 09:30, 5pm",
        "on May 3, 2024 and 3 May, March 12 to March 15, by 05/03/2024",
        "`x = 5` and ``y = 7``",
        "```sql\nSELECT 7\n```",
        "[a](b/12.svg)",
        "see https://a.example/1",
        "2026年3月5日，3月，12日，26年3月",
        "in 2024 and since 2019",
        "Q3 2024, H1 2024, 2024 Q1, FY2024, the 1990s",
        "May 2025",
        "note [1] and [^2]",
        "the 3rd and the 21st",
        "run 7q2m, cell c1, q2_sales",
    ];
    for text in none {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
    assert_eq!(found("2024 orders"), ["2024"]);
}

#[test]
fn letters_at_its_side_do_not_hide_a_number() {
    let some = [
        ("99999USD", "99999"),
        ("CNY5000", "5000"),
        ("CNY50", "50"),
        ("3x", "3"),
        ("12GB", "12"),
        ("250kg", "250"),
        ("5ms", "5"),
        ("SKU12345", "12345"),
        ("_99,999_", "99,999"),
        ("__99999__", "99999"),
        ("total_99999", "99999"),
        ("#99999", "99999"),
        ("Q99999", "99999"),
        ("East-12%", "12%"),
        ("99999th", "99999"),
        ("1.5e6", "1.5e6"),
        ("marketing 2024", "2024"),
    ];
    for (text, number) in some {
        assert_eq!(found(text), [number], "{text}");
    }
}

#[test]
fn years_headings_and_lists_do_not_hide_a_number() {
    let some = [
        ("a total of 2000", "2000"),
        ("rose to 2045", "2045"),
        ("fell by 1950", "1950"),
        ("# 12,345 units were lost", "12,345"),
        ("# 12 units were lost", "12"),
        ("## 123 units were lost", "123"),
        ("## 12% were lost", "12%"),
        ("12345. units", "12345"),
        ("lost [99999] of them", "99999"),
        ("3年", "3"),
        ("13月", "13"),
        ("5000年", "5000"),
        ("99:99", "99"),
    ];
    for (text, number) in some {
        assert_eq!(found(text)[0], number, "{text}");
    }
}

#[test]
fn other_digits_code_and_boxes_do_not_hide_a_number() {
    let some = [
        ("共１２，３４５元", "１２，３４５"),
        ("共１２．５％", "１２．５％"),
        ("𝟗𝟗𝟗", "𝟗𝟗𝟗"),
        ("9\u{200b}9,999", "9\u{200b}9,999"),
        ("1\u{202f}234\u{202f}567", "1\u{202f}234\u{202f}567"),
        ("`99,999`", "99,999"),
        ("`¥99,999 USD`", "99,999"),
        ("a sign ` and 99,999", "99,999"),
        ("foo](99,999)", "99,999"),
        ("<!-- 99,999 -->", "99,999"),
        ("```\n99,999\n```", "99,999"),
        ("```text\n99,999\n```", "99,999"),
        ("```sql\n~~~\n```\n99,999\n```sql\n```", "99,999"),
        ("见https://a.example/，99,999元", "99,999"),
    ];
    for (text, number) in some {
        assert_eq!(found(text), [number], "{text}");
    }
    let long = "9".repeat(60);
    assert_eq!(found(&long), [long.as_str()]);
}

#[test]
fn numbers_in_words_are_read_or_counted() {
    let value = |text: &str| {
        let numbers = numbers_of(text);
        assert_eq!(numbers.len(), 1, "{text}: {numbers:?}");
        (numbers[0].value.to_string(), numbers[0].percent, numbers[0].form)
    };
    let words = |text: &str, number: &str, percent: bool| {
        assert_eq!(value(text), (number.to_owned(), percent, NumberForm::Words), "{text}");
    };
    words("East sold twelve thousand units", "12000", false);
    words("two hundred and five", "205", false);
    words("a million", "1000000", false);
    words("Thirty-five percent", "35", true);
    words("共一万二千三百元", "12300", false);
    words("占百分之十二点五", "12.5", true);
    words("二十五家", "25", false);
    assert_eq!(
        vague("sales doubled in two regions, half of all, three times"),
        ["doubled", "two", "half", "three"]
    );
    assert_eq!(
        vague("增长三倍，占一半，两个地区，三成"),
        ["三倍", "一半", "两", "三"].map(|own| { own.trim_end_matches('倍') })
    );
    let none = ["one of them, the first half", "第三季度、十二月、星期三、万一、十分、一些、一般"];
    for text in none {
        assert!(numbers_of(text).is_empty(), "{text}: {:?}", numbers_of(text));
    }
}

#[test]
fn rough_numbers_are_told_apart() {
    let rough = |text: &str| numbers_of(text)[0].rough;
    assert!(rough("about 1,200") && rough("约 1200") && rough("~5"));
    assert!(!rough("exactly 1,200"));
}
