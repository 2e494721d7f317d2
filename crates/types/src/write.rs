//! A write to the database as a value, so that many can share one commit or one round trip.

/// The SQL of a write, and whether secrets are removed from its values.
///
/// There is no default: each new statement states its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    sql: &'static str,
    screening: Screening,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Screening {
    Screened,
    Sealed,
}

impl Statement {
    /// A statement whose text values are screened: the store replaces known secrets in them.
    ///
    /// SQL with `$1`, `$2`, … as placeholders; the same text for every database.
    #[must_use]
    pub const fn screened(sql: &'static str) -> Self {
        Self { sql, screening: Screening::Screened }
    }

    /// A statement whose values reach the database byte for byte, because the row carries a digest
    /// or a checksum of them. The caller removes secrets before it computes that digest.
    #[must_use]
    pub const fn sealed(sql: &'static str) -> Self {
        Self { sql, screening: Screening::Sealed }
    }

    /// The SQL.
    #[must_use]
    pub const fn sql(&self) -> &'static str {
        self.sql
    }

    /// Whether its values must reach the database unchanged.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        matches!(self.screening, Screening::Sealed)
    }
}

/// A statement, its values, and the number of rows that it must touch.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// What is executed.
    pub statement: Statement,
    /// Values for the placeholders.
    pub params: Vec<SqlValue>,
    /// What must hold, or the whole transaction is rolled back.
    pub expect: Rows,
}

/// How many rows a statement must touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Any number.
    Any,
    /// Exactly so many.
    Exactly(u64),
}

/// A value for a placeholder, or of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// BIGINT.
    Int(i64),
    /// TEXT.
    Text(String),
    /// BLOB or BYTEA.
    Bytes(Vec<u8>),
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for SqlValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for SqlValue {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
