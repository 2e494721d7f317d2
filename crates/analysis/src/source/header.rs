//! Whether the first row of a table holds the names of its columns.

use crate::infer::{is_null_word, looks_like_data};

/// Whether a row is a header, by itself and by the rows below it.
///
/// Words are names. Years and months may be names too (`region, 2023, 2024`), where they differ
/// from each other and the cells below them are of another kind.
pub(super) fn is_header(first: &[String], below: &[Vec<String>]) -> bool {
    if first.iter().all(|field| field.trim().is_empty()) {
        return false;
    }
    let (data, words): (Vec<usize>, Vec<usize>) = (0..first.len())
        .filter(|at| !first[*at].trim().is_empty())
        .partition(|at| looks_like_data(&first[*at]));
    if data.is_empty() {
        return true;
    }
    let mut names: Vec<&str> = first.iter().map(|field| field.trim()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    let is_unique = names.windows(2).all(|pair| pair[0] != pair[1]);
    let all_periods = data.iter().all(|at| is_period(&first[*at]));
    // Without a word beside them, only a row of periods is taken for names.
    let is_enough = !words.is_empty() || data.len() >= 3;
    is_unique && all_periods && is_enough && data.iter().all(|at| differs_below(*at, below))
}

/// A column whose cells are no periods.
fn differs_below(at: usize, below: &[Vec<String>]) -> bool {
    let mut cells = below
        .iter()
        .filter_map(|row| row.get(at))
        .map(|cell| cell.trim())
        .filter(|cell| !is_null_word(cell));
    let mut some = false;
    let none = !cells.any(|cell| {
        some = true;
        is_period(cell)
    });
    some && none
}

/// A year, a month or a day, as columns of a pivot table are called.
fn is_period(field: &str) -> bool {
    let text = field.trim().trim_end_matches(['年', '月']);
    let year = |text: &str| {
        text.len() == 4 && text.parse::<u32>().is_ok_and(|year| (1900..=2100).contains(&year))
    };
    let month = |text: &str| {
        text.len() <= 2 && text.parse::<u32>().is_ok_and(|month| (1..=12).contains(&month))
    };
    if year(text) {
        return true;
    }
    let separators = ['-', '/', '.', '年'];
    let parts: Vec<&str> = text.split(separators).collect();
    match parts.as_slice() {
        [one, two] => year(one) && month(two) || month(one) && year(two),
        [one, two, day] => {
            let is_day = day.parse::<u32>().is_ok_and(|day| (1..=31).contains(&day));
            year(one) && month(two) && is_day
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(rows: &[&str]) -> bool {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        is_header(&rows[0], &rows[1..])
    }

    #[test]
    fn years_and_months_are_names_where_other_values_stand_below() {
        assert!(header(&["region,2023,2024,2025", "East,1,2,3", "West,4,5,6"]));
        assert!(header(&["2023,2024,2025", "1.5,2,3", "4,5,6"]));
        assert!(header(&["name,2026-01,2026-02", "x,10,20"]));
        assert!(header(&["name,value", "x,1"]));
    }

    #[test]
    fn rows_of_data_are_no_header() {
        assert!(!header(&["East,2023,2024", "West,2024,2025"]), "years are the data");
        assert!(!header(&["1,2", "3,4"]));
        assert!(!header(&["East,2023,2023", "West,1,2"]), "names differ");
        assert!(!header(&["East,12", "West,13"]));
        assert!(!header(&["2023,5", "2024,6"]));
    }
}
