//! Values on their way in and out.
//!
//! PostgreSQL's text cannot hold a NUL. It is written as U+001A and `0`, U+001A itself twice, and
//! no code above this file knows.

use crate::db::{SqlRow, WriteResult};
use everloop_types::SqlValue;
use std::{borrow::Cow, error::Error};
use tokio_postgres::types::{
    FromSql, IsNull, ToSql, Type, accepts, private::BytesMut, to_sql_checked,
};

const MARK: char = '\u{1a}';

fn into_text(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte == 0 || byte == 0x1a) {
        return Cow::Borrowed(text);
    }
    let doubled = text.replace(MARK, "\u{1a}\u{1a}");
    Cow::Owned(doubled.replace('\0', "\u{1a}0"))
}

fn from_text(text: &str) -> String {
    if !text.contains(MARK) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.as_str().chars().next()) {
            (MARK, Some('0')) => plain.push('\0'),
            (MARK, Some(MARK)) => plain.push(MARK),
            // Not ours: it stays as it is.
            (c, _) => {
                plain.push(c);
                continue;
            }
        }
        chars.next();
    }
    plain
}

/// A value for a placeholder, in the form that the placeholder's type wants.
#[derive(Debug)]
pub(super) struct Param<'a>(pub(super) &'a SqlValue);

impl ToSql for Param<'_> {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, ty) {
            (SqlValue::Null, _) => Ok(IsNull::Yes),
            (SqlValue::Int(n), &Type::INT4) => i32::try_from(*n)?.to_sql(ty, out),
            (SqlValue::Int(n), &Type::INT8) => n.to_sql(ty, out),
            (SqlValue::Text(text), &Type::TEXT) => into_text(text).as_ref().to_sql(ty, out),
            (SqlValue::Bytes(bytes), &Type::BYTEA) => bytes.as_slice().to_sql(ty, out),
            (value, ty) => Err(format!("{value:?} is no {ty}").into()),
        }
    }

    accepts!(INT4, INT8, TEXT, BYTEA);
    to_sql_checked!();
}

/// A value of a column.
struct PgCell(SqlValue);

impl<'a> FromSql<'a> for PgCell {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *ty {
            Type::INT4 => SqlValue::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => SqlValue::Int(i64::from_sql(ty, raw)?),
            Type::BYTEA => SqlValue::Bytes(raw.to_vec()),
            _ => SqlValue::Text(from_text(<&str>::from_sql(ty, raw)?)),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(SqlValue::Null))
    }

    accepts!(INT4, INT8, TEXT, BYTEA);
}

/// What a statement with columns gave.
pub(super) fn done(rows: &[tokio_postgres::Row]) -> Result<WriteResult, tokio_postgres::Error> {
    let read = |row: &tokio_postgres::Row| {
        let value = |column| row.try_get::<_, PgCell>(column).map(|cell| cell.0);
        (0..row.len()).map(value).collect::<Result<_, _>>().map(SqlRow)
    };
    let rows = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(WriteResult { touched: rows.len() as u64, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_none_that_is_written_has_a_nul() {
        for text in ["", "plain", "\0", "a\0b\0", "\u{1a}", "\u{1a}0", "\u{1a}\0\u{1a}\u{1a}0\0"] {
            let written = into_text(text);
            assert!(!written.contains('\0'));
            assert_eq!(from_text(&written), text);
        }
        assert_eq!(from_text("\u{1a}x"), "\u{1a}x", "what others wrote stays");
    }
}
