//! `make_chart`: a picture of a result.

use super::{AnalysisContext, blocking, handling};
use crate::chart::{ChartKind, ChartSpec, draw, shows_part};
use crate::error::AnalysisError;
use crate::results::{KeptChart, ResultStore};
use everloop_ports::{CallContext, Tool, ToolReturn};
use everloop_text as text;
use everloop_types::{Handling, Lang};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `make_chart`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeChartArgs {
    /// bar, line, scatter or histogram.
    pub kind: ChartKind,
    /// The result to draw, such as "q1".
    pub query: String,
    /// The column along the bottom; for a histogram, the column that is counted.
    pub x: String,
    /// The columns with the amounts; none for a histogram.
    #[serde(default)]
    pub y: Vec<String>,
    /// The column whose values become series of their own, at most 8.
    #[serde(default)]
    pub series: Option<String>,
    /// The title, in the language of the report, with the unit.
    pub title: String,
}

/// Draws results.
#[derive(Debug)]
pub struct MakeChart {
    /// What it works with.
    pub analysis: AnalysisContext,
}

/// What the model reads of a chart that does not show all rows.
const PART_WARNING: &str = "\nwarning: the result has more rows than are drawn, and the title says \
    so now; aggregate in SQL, or take every nth row (WHERE rowid % 10 = 0), and draw that instead";

impl Tool for MakeChart {
    const NAME: &'static str = "make_chart";
    type Args = MakeChartArgs;

    fn description(&self) -> &'static str {
        "Draw a bar, line, scatter or histogram chart of a result of query_dataset. It is put into \
         the report; to choose the place, write the line that this tool returns."
    }

    fn handling(&self) -> Handling {
        handling(60_000)
    }

    async fn call(&self, args: MakeChartArgs, context: &CallContext) -> ToolReturn {
        let data = self.analysis.data(context);
        let (key, analysis) = (context.idem_key.clone(), self.analysis.clone());
        let (reads, bounds) = (analysis.read_limits(context), analysis.query_limits(context));
        blocking(move || {
            analysis.rebuild_parent_results(&data, &reads, &bounds)?;
            let results = ResultStore::open(&data)?;
            let (chart, part) = drawn(&results, args, analysis.lang)?;
            let kept = results.keep_chart(&key, |number| KeptChart { number, ..chart })?;
            let warning = if part { PART_WARNING } else { "" };
            Ok(format!(
                "![{}](charts/chart{}.svg)\n{}{warning}",
                kept.title.replace(['[', ']'], " "),
                kept.number,
                kept.alternative
            ))
        })
        .await
    }
}

/// The chart without its number, and whether it shows only the first rows.
pub(super) fn drawn(
    results: &ResultStore,
    args: MakeChartArgs,
    lang: Lang,
) -> Result<(KeptChart, bool), AnalysisError> {
    let number = args.query.trim_start_matches('q').parse::<u32>().ok();
    let query = match number {
        Some(number) => results.query(number)?,
        None => None,
    };
    let query = query
        .ok_or_else(|| AnalysisError::Refused(format!("there is no result {}", args.query)))?;
    let y = if args.y.is_empty() { vec![args.x.clone()] } else { args.y };
    let part = shows_part(args.kind, &query.result);
    let title = match part {
        true => format!("{} ({})", args.title, text::analysis::chart_part().in_lang(lang)),
        false => args.title,
    };
    let spec = ChartSpec { kind: args.kind, title, x: args.x, y, series: args.series, lang };
    let drawn = draw(&spec, &query.result).map_err(AnalysisError::Refused)?;
    let chart = KeptChart {
        number: 0,
        title: spec.title.clone(),
        query: query.number,
        alternative: drawn.alternative,
        svg: drawn.svg,
        spec: Some(spec),
    };
    Ok((chart, part))
}
