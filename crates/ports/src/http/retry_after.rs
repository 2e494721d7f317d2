//! The `Retry-After` header.

use http::header::{DATE, HeaderMap, RETRY_AFTER};
use std::time::SystemTime;

/// Milliseconds to wait, from `retry-after-ms`, or `retry-after` in seconds or as a date. A date is
/// compared with the server's own `date` if it sends one.
#[must_use]
pub fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return whole_ms(ms);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return whole_ms(seconds * 1000.0);
    }
    let then = httpdate::parse_http_date(after).ok()?;
    let served = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    let now = served.unwrap_or_else(SystemTime::now);
    let wait = then.duration_since(now).unwrap_or_default();
    Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX))
}

fn whole_ms(ms: f64) -> Option<u64> {
    (ms.is_finite() && ms >= 0.0).then(|| ms.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pairs: &[(&'static str, &str)]) -> Option<u64> {
        let pairs = pairs.iter().map(|(name, value)| {
            (http::header::HeaderName::from_static(name), value.parse().unwrap())
        });
        retry_after_ms(&pairs.collect())
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(after(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(after(&[("retry-after", "0.25")]), Some(250));
        assert_eq!(after(&[("retry-after-ms", "30"), ("retry-after", "1")]), Some(30));
        let (date, then) = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(after(&[("date", date), ("retry-after", then)]), Some(30_000));
        assert_eq!(after(&[("date", then), ("retry-after", date)]), Some(0));
        assert_eq!(after(&[("retry-after", "soon")]), None);
        assert_eq!(after(&[]), None);
    }
}
