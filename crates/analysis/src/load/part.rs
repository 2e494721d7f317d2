//! One table of a file: a sample gives a plan, all rows are written, and where all rows say
//! something else than the sample did, they are written again.

use super::rows::{RowBatch, RowReceiver, RowSender, RowWriter, row_channel};
use super::{LoadPhase, LoadProgress, LoadedColumn, LoadedTable, OnProgress, quoted};
use crate::error::AnalysisError;
use crate::infer::{
    ColumnEvidence, ColumnKind, ColumnPlan, Misfits, StyleHint, is_code, is_null_word,
};
use crate::source::{RawField, ReadLimits, ReadNotes, RowSink, TableSource, WantMore, tidy_header};
use crate::value::DataValue;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Rows from which the types are inferred at first.
const SAMPLE_ROWS: u64 = 20_000;

/// Of a thousand values, so many may be of another kind before the column is read as text.
const MISFITS_PER_THOUSAND: u64 = 100;

/// Of twenty numbers, one with a leading zero makes the column one of codes.
const CODES_ONE_IN: u64 = 20;

/// Times that a table is written again for better plans; after that, columns become text.
const PLANS_MAX: usize = 3;

/// Rows between two looks at whether to stop.
const CHECK_EVERY: u64 = 2_000;

pub(super) fn load(
    connection: &Connection,
    part: &TableSource,
    (table, misfits): (String, String),
    limits: &ReadLimits,
    on_progress: OnProgress<'_>,
) -> Result<LoadedTable, AnalysisError> {
    let began = Instant::now();
    let total_bytes = part.file.metadata().map_or(0, |found| found.len());
    let progress = ProgressMeter::new(LoadPhase::Loading, total_bytes, limits, on_progress);
    let names = TableNames { table, misfits };
    let mut loader = PartLoader { connection, part: part.clone(), names, progress };
    let (sample, written) = loader.load()?;
    let misfits_table = loader.keep_misfits(&written)?;
    let columns = sample.names.into_iter().zip(sample.header).zip(sample.plans);
    let columns = columns.zip(written.misfits).map(|(((name, named), plan), misfits)| {
        let named = if name == named { String::new() } else { named };
        LoadedColumn { named, name, plan, misfits }
    });
    Ok(LoadedTable {
        columns: columns.collect(),
        name: loader.names.table,
        misfits_table,
        file: PathBuf::new(),
        beside: PathBuf::new(),
        part: String::new(),
        form: part.form,
        bytes: 0,
        modified_ms: 0,
        hash: String::new(),
        rows: written.rows,
        notes: written.notes,
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// How the columns of a part are read.
struct PartPlans {
    header: Vec<String>,
    names: Vec<String>,
    plans: Vec<ColumnPlan>,
    hint: StyleHint,
}

/// A table, and the one beside it with what did not fit.
struct TableNames {
    table: String,
    misfits: String,
}

struct PartLoader<'a> {
    connection: &'a Connection,
    part: TableSource,
    names: TableNames,
    progress: ProgressMeter<'a>,
}

impl PartLoader<'_> {
    fn load(&mut self) -> Result<(PartPlans, WrittenRows), AnalysisError> {
        let mut own = self.first_plans()?;
        let mut tries = 0;
        loop {
            let written = self.write(&own)?;
            tries += 1;
            self.progress = self.progress.again();
            let other = written.notes.other_encoding();
            if let Some(encoding) = other.filter(|_| self.part.encoding.is_none()) {
                self.part.encoding = Some(encoding);
                self.drop_table()?;
                own = self.first_plans()?;
                continue;
            }
            let odd = written.misread_columns(&own);
            if odd.is_empty() {
                own.plans = written.final_plans(&own);
                self.declare(&own, &written)?;
                return Ok((own, written));
            }
            let plans = match tries < PLANS_MAX {
                true => self.replan(&mut own, &odd)?,
                false => as_text(&own.plans, &odd),
            };
            // What is no better is text.
            own.plans = if plans == own.plans { as_text(&own.plans, &odd) } else { plans };
            self.drop_table()?;
        }
    }

    fn first_plans(&self) -> Result<PartPlans, AnalysisError> {
        let mut sample = SampleSink::of(SAMPLE_ROWS, &self.progress);
        let notes = self.part.read(self.progress.limits, &mut sample)?;
        let names = tidy_header(&sample.header);
        if names.is_empty() {
            return Err(self.part.no_table("it has no columns"));
        }
        let hint = StyleHint::of(&sample.evidence, notes.separator);
        let plans = sample.evidence.iter().map(|evidence| evidence.plan(hint)).collect();
        Ok(PartPlans { header: sample.header, names, plans, hint })
    }

    /// Plans for these columns by all rows.
    fn replan(&self, own: &mut PartPlans, odd: &[usize]) -> Result<Vec<ColumnPlan>, AnalysisError> {
        let mut all = SampleSink::of(u64::MAX, &self.progress);
        let notes = self.part.read(self.progress.limits, &mut all)?;
        own.hint = StyleHint::of(&all.evidence, notes.separator);
        let mut better = own.plans.clone();
        odd.iter().for_each(|at| better[*at] = all.evidence[*at].plan(own.hint));
        Ok(better)
    }

    fn drop_table(&self) -> Result<(), AnalysisError> {
        for name in [&self.names.table, &self.names.misfits] {
            self.connection.execute_batch(&format!("DROP TABLE {}", quoted(name)))?;
        }
        Ok(())
    }

    /// The name of the table of misfits, which is only kept if there are some.
    fn keep_misfits(&self, written: &WrittenRows) -> Result<String, AnalysisError> {
        if written.misfits.iter().any(|found| found.misfits > 0) {
            return Ok(self.names.misfits.clone());
        }
        self.connection.execute_batch(&format!("DROP TABLE {}", quoted(&self.names.misfits)))?;
        Ok(String::new())
    }

    /// Whole numbers have no declared type at first: SQLite would change those with many digits.
    fn write(&self, own: &PartPlans) -> Result<WrittenRows, AnalysisError> {
        self.connection.execute_batch(&self.table_sql(own, |_, plan| match plan.kind {
            ColumnKind::Text | ColumnKind::Date | ColumnKind::DateTime => plan.kind.sql(),
            // All that goes into it is real already, or a blob.
            ColumnKind::Decimal => plan.kind.sql(),
            ColumnKind::Integer | ColumnKind::Boolean => "",
        }))?;
        let misfits = quoted(&self.names.misfits);
        let columns = "\"row\" INTEGER, \"column\" TEXT, \"value\" TEXT";
        self.connection.execute_batch(&format!("CREATE TABLE {misfits} ({columns})"))?;
        let table = quoted(&self.names.table);
        let writer = RowWriter::new(self.connection, &table, (&misfits, &own.names))?;
        let (to, from) = row_channel();
        let columns = vec![WrittenColumn::default(); own.names.len()];
        let progress = &self.progress;
        let sink = InsertSink { to: Some(to), plans: &own.plans, columns, rows: 0, progress };
        let (notes, sink) = self.read_apart(sink, from, writer)?;
        self.progress.tell(sink.rows);
        let (misfits, found) = sink
            .columns
            .into_iter()
            .map(|column| (column.misfits, (column.evidence, column.codes)))
            .unzip();
        Ok(WrittenRows { rows: sink.rows, misfits, found, notes })
    }

    /// Reads in a thread of its own; this one writes.
    fn read_apart<'s>(
        &self,
        mut sink: InsertSink<'s>,
        from: RowReceiver,
        writer: RowWriter<'_>,
    ) -> Result<(ReadNotes, InsertSink<'s>), AnalysisError> {
        let (part, limits) = (&self.part, self.progress.limits);
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let notes = part.read(limits, &mut sink);
                // The writer waits for rows until this end of the channel is gone.
                sink.end();
                notes.map(|notes| (notes, sink))
            });
            let written = from.write_all(writer);
            let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            written.and(read)
        })
    }

    fn table_sql(
        &self,
        own: &PartPlans,
        kind: impl Fn(usize, &ColumnPlan) -> &'static str,
    ) -> String {
        let columns = own.names.iter().zip(&own.plans).enumerate();
        let columns =
            columns.map(|(at, (name, plan))| format!("{} {}", quoted(name), kind(at, plan)));
        let columns = columns.collect::<Vec<_>>().join(", ");
        format!("CREATE TABLE {} ({columns})", quoted(&self.names.table))
    }

    /// A column of numbers alone is declared as one, so that `year = '2026'` finds its rows.
    fn declare(&self, own: &PartPlans, written: &WrittenRows) -> Result<(), AnalysisError> {
        let sql = self.table_sql(own, |at, plan| {
            let has_blobs = plan.kind == ColumnKind::Integer && written.misfits[at].long > 0;
            if has_blobs { "BLOB" } else { plan.kind.sql() }
        });
        self.connection.execute_batch("PRAGMA writable_schema = ON")?;
        let update = "UPDATE sqlite_schema SET sql = $1 WHERE type = 'table' AND name = $2";
        self.connection.execute(update, (sql, &self.names.table))?;
        self.connection.execute_batch("PRAGMA writable_schema = OFF")?;
        Ok(())
    }
}

fn as_text(plans: &[ColumnPlan], odd: &[usize]) -> Vec<ColumnPlan> {
    let mut plans = plans.to_vec();
    odd.iter().for_each(|at| plans[*at] = ColumnPlan { is_forced_text: true, ..plans[*at].text() });
    plans
}

/// What was written of a part.
struct WrittenRows {
    rows: u64,
    misfits: Vec<Misfits>,
    /// By column: what all values of a text column say, or the misfits of another; and how many
    /// numbers look like codes.
    found: Vec<(ColumnEvidence, u64)>,
    notes: ReadNotes,
}

impl WrittenRows {
    /// The columns for which the sample misled.
    fn misread_columns(&self, own: &PartPlans) -> Vec<usize> {
        let plans = &own.plans;
        (0..plans.len()).filter(|at| !plans[*at].is_forced_text && self.is_odd(*at, own)).collect()
    }

    fn is_odd(&self, at: usize, own: &PartPlans) -> bool {
        let (found, (evidence, codes)) = (&self.misfits[at], &self.found[at]);
        let plan = own.plans[at];
        let is_bad = found.misfits * 1_000 > found.present * MISFITS_PER_THOUSAND;
        let is_bad_number = is_bad
            || codes * CODES_ONE_IN > found.present
            || plan.currency.is_none() && evidence.has_currencies();
        match plan.kind {
            ColumnKind::Text => evidence.plan(own.hint).kind != ColumnKind::Text,
            ColumnKind::Integer => is_bad_number || evidence.has_fractions(plan.numbers),
            ColumnKind::Decimal => is_bad_number,
            ColumnKind::Date => is_bad || evidence.has_times(),
            ColumnKind::DateTime | ColumnKind::Boolean => is_bad,
        }
    }

    /// The plans with what all rows of text columns say: whether they have dates that could be two.
    fn final_plans(&self, own: &PartPlans) -> Vec<ColumnPlan> {
        let plans = own.plans.iter().zip(&self.found).map(|(plan, (evidence, _))| {
            let is_open = plan.kind == ColumnKind::Text && !plan.is_forced_text;
            if is_open { evidence.plan(own.hint) } else { *plan }
        });
        plans.collect()
    }
}

/// Tells how far a load is.
struct ProgressMeter<'a> {
    phase: LoadPhase,
    began: Instant,
    total_bytes: u64,
    limits: &'a ReadLimits,
    on_progress: OnProgress<'a>,
}

impl<'a> ProgressMeter<'a> {
    fn new(
        phase: LoadPhase,
        total_bytes: u64,
        limits: &'a ReadLimits,
        on_progress: OnProgress<'a>,
    ) -> Self {
        Self { phase, began: Instant::now(), total_bytes, limits, on_progress }
    }

    /// For another look at the same file. Time is counted anew, as bytes are.
    fn again(&self) -> Self {
        Self::new(LoadPhase::Again, self.total_bytes, self.limits, self.on_progress)
    }

    fn tell(&self, rows: u64) {
        (self.on_progress)(LoadProgress {
            phase: self.phase,
            rows,
            bytes: self.limits.bytes_read.load(Ordering::Relaxed).min(self.total_bytes),
            total_bytes: self.total_bytes,
            took_ms: u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        });
    }

    /// Now and then: whether to stop, and how far it is.
    fn pass(&self, rows: u64) -> Result<(), AnalysisError> {
        if rows.is_multiple_of(CHECK_EVERY) {
            self.limits.check()?;
            self.tell(rows);
        }
        Ok(())
    }
}

/// Looks at the first rows, or at all.
struct SampleSink<'a> {
    header: Vec<String>,
    evidence: Vec<ColumnEvidence>,
    rows: u64,
    most: u64,
    progress: &'a ProgressMeter<'a>,
}

impl<'a> SampleSink<'a> {
    fn of(most: u64, progress: &'a ProgressMeter<'a>) -> Self {
        Self { header: Vec::new(), evidence: Vec::new(), rows: 0, most, progress }
    }
}

impl RowSink for SampleSink<'_> {
    fn begin(&mut self, header: &[String]) -> Result<(), AnalysisError> {
        self.header = header.to_vec();
        self.evidence = vec![ColumnEvidence::default(); header.len()];
        Ok(())
    }

    fn row(&mut self, fields: &[RawField<'_>]) -> Result<WantMore, AnalysisError> {
        for (evidence, field) in self.evidence.iter_mut().zip(fields) {
            evidence.take(*field);
        }
        self.rows += 1;
        self.progress.pass(self.rows)?;
        Ok(if self.rows < self.most { WantMore::Yes } else { WantMore::No })
    }
}

#[derive(Debug, Clone, Default)]
struct WrittenColumn {
    misfits: Misfits,
    evidence: ColumnEvidence,
    codes: u64,
}

struct InsertSink<'a> {
    /// Gone when all rows were read.
    to: Option<RowSender>,
    plans: &'a [ColumnPlan],
    columns: Vec<WrittenColumn>,
    rows: u64,
    progress: &'a ProgressMeter<'a>,
}

impl RowSink for InsertSink<'_> {
    fn begin(&mut self, _: &[String]) -> Result<(), AnalysisError> {
        Ok(())
    }

    fn row(&mut self, fields: &[RawField<'_>]) -> Result<WantMore, AnalysisError> {
        let Some(to) = &mut self.to else { return Ok(WantMore::No) };
        self.rows += 1;
        let row = i64::try_from(self.rows).unwrap_or(i64::MAX);
        let columns = self.plans.iter().zip(&mut self.columns).enumerate();
        for ((at, (plan, column)), field) in columns.zip(fields) {
            column.take(plan, *field, (row, at), &mut to.batch);
        }
        // A row is as long as the table is wide, whatever a reader gives.
        (fields.len()..self.plans.len()).for_each(|_| to.batch.null());
        self.progress.pass(self.rows)?;
        // Why nobody writes any more is told where it was noticed.
        Ok(if to.end_row() { WantMore::Yes } else { WantMore::No })
    }
}

impl InsertSink<'_> {
    /// Sends what is left.
    fn end(&mut self) {
        if let Some(mut to) = self.to.take() {
            to.send();
        }
    }
}

impl WrittenColumn {
    /// Counts a field, and adds its value to the row.
    fn take(
        &mut self,
        plan: &ColumnPlan,
        field: RawField<'_>,
        place: (i64, usize),
        row: &mut RowBatch,
    ) {
        match field {
            RawField::Null => self.misfits.missing += 1,
            RawField::Error(error) => {
                self.misfits.null_word(error);
                return row.null();
            }
            RawField::Text(text) if is_null_word(text) => {
                if plan.kind == ColumnKind::Text && !text.trim().is_empty() {
                    self.misfits.kept_word(text);
                    return row.text(text);
                }
                self.misfits.null_word(text);
                return row.null();
            }
            _ => self.misfits.present += 1,
        }
        if plan.kind == ColumnKind::Text && !plan.is_forced_text {
            self.evidence.take(field);
        }
        if let RawField::Number(text) | RawField::Text(text) = field {
            self.codes += u64::from(plan.kind.is_number() && is_code(text.trim()));
        }
        if let RawField::Number(digits) = field
            && let Some(value) = plan.convert_plain_digits(digits)
        {
            return row.plain(value);
        }
        if let RawField::Text(text) = field {
            match plan.convert_plain(text) {
                Some(value) => return row.plain(value),
                // Text goes in as it is.
                None if plan.kind == ColumnKind::Text => return row.text(text),
                None => {}
            }
        }
        self.take_converted(plan, field, place, row);
    }

    /// The same for a field that takes a closer look.
    fn take_converted(
        &mut self,
        plan: &ColumnPlan,
        field: RawField<'_>,
        place: (i64, usize),
        row: &mut RowBatch,
    ) {
        let Some(value) = plan.convert(field) else {
            if plan.kind != ColumnKind::Text {
                self.misfits.misfit(field);
                self.evidence.take(field);
                // Text among numbers would be larger than each of them.
                row.misfit(place, &ColumnPlan::as_text(field).shown());
                return row.null();
            }
            return row.value(&ColumnPlan::as_text(field));
        };
        if let RawField::Text(text) = field {
            self.misfits.odd_zones += u64::from(plan.is_odd_zone(text));
        }
        match (plan.kind.is_number(), value) {
            (true, DataValue::Text(digits)) => {
                self.misfits.long += 1;
                row.long(&digits);
            }
            (_, value) => row.value(&value),
        }
    }
}
