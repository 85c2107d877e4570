//! Line charts of values over time, as SVG.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

use crate::show;

/// The width and height of a sparkline.
const SPARK: (u64, u64) = (260, 46);
/// The width and height of a chart. [`LABELS`] is the space reserved for value labels on the left and time labels at the bottom.
const CHART: (u64, u64) = (720, 190);
const LABELS: (u64, u64) = (84, 26);

/// Returns a sparkline of evenly spaced values. `label` is its accessible description.
pub(crate) fn spark(values: &[u32], label: &str) -> Markup {
    let most = u64::from(values.iter().max().copied().unwrap_or(0)).max(1);
    let last = (values.len().max(2) - 1) as u64;
    let points = values.iter().enumerate().map(|(at, value)| {
        let x = at as u64 * SPARK.0 / last;
        (x, SPARK.1 - 1 - u64::from(*value) * (SPARK.1 - 4) / most)
    });
    let line = path(points);
    html! {
        svg.spark viewBox={ "0 0 " (SPARK.0) " " (SPARK.1) } preserveAspectRatio="none" role="img" aria-label=(show::text(label)) {
            path.area d={ (line) "L" (SPARK.0) " " (SPARK.1) "L0 " (SPARK.1) "Z" } {}
            path.line d=(line) vector-effect="non-scaling-stroke" {}
        }
    }
}

/// Returns a chart of values over time. The value axis starts at zero, and the points must be in chronological order.
///
/// `number` formats the labels of the value axis.
pub(crate) fn chart(points: &[(DateTime<Utc>, u64)], label: &str, number: impl Fn(u64) -> String) -> Markup {
    let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else { return html! {} };
    let most = points.iter().map(|(_, value)| *value).max().unwrap_or(0).max(1);
    let (width, height) = (CHART.0 - LABELS.0 - 8, CHART.1 - LABELS.1 - 8);
    let span = last.signed_duration_since(*first).num_seconds().max(1).cast_unsigned();
    let x = |at: DateTime<Utc>| {
        let passed = at.signed_duration_since(*first).num_seconds().max(0).cast_unsigned();
        LABELS.0 + passed.saturating_mul(width) / span
    };
    let y = |value: u64| 8 + height - scaled(value, height, most);
    let line = path(points.iter().map(|(at, value)| (x(*at), y(*value))));
    let bottom = 8 + height;
    html! {
        svg.chart viewBox={ "0 0 " (CHART.0) " " (CHART.1) } role="img" aria-label=(show::text(label)) {
            @for value in [0, most / 2, most] {
                line.rule x1=(LABELS.0) x2=(CHART.0 - 8) y1=(y(value)) y2=(y(value)) {}
                text.tick x=(LABELS.0 - 8) y=(y(value) + 4) text-anchor="end" { (number(value)) }
            }
            path.area d={ (line) "L" (x(*last)) " " (bottom) "L" (LABELS.0) " " (bottom) "Z" } {}
            path.line d=(line) {}
            @for (at, value) in points.iter().filter(|_| points.len() <= 60) { circle.point cx=(x(*at)) cy=(y(*value)) r="2.5" {} }
            text.tick x=(LABELS.0) y=(CHART.1 - 6) { (first.format("%Y-%m-%d %H:%M UTC")) }
            text.tick x=(CHART.0 - 8) y=(CHART.1 - 6) text-anchor="end" { (last.format("%Y-%m-%d %H:%M UTC")) }
        }
    }
}

/// Returns `value * to / most`, computed without overflow.
fn scaled(value: u64, to: u64, most: u64) -> u64 {
    let product = u128::from(value) * u128::from(to) / u128::from(most.max(1));
    u64::try_from(product).unwrap_or(to)
}

fn path(points: impl Iterator<Item = (u64, u64)>) -> String {
    let text = points.fold(String::new(), |text, (x, y)| {
        let command = if text.is_empty() { 'M' } else { 'L' };
        format!("{text}{command}{x} {y}")
    });
    if text.is_empty() { "M0 0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_of_any_values_stay_inside_their_box() {
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        for values in [vec![], vec![0], vec![u64::MAX, 0, u64::MAX / 2], vec![7; 200]] {
            let points: Vec<_> = (0..).zip(&values).map(|(nth, value)| (at(nth * 60), *value)).collect();
            let text = chart(&points, "a \"label\" <of> rows", show::thousands).into_string();
            assert!(!text.contains("<of>"), "{text}");
            let numbers = text.split(['M', 'L', 'Z', '"']).filter_map(|pair| pair.split_once(' '));
            for (x, y) in numbers.filter_map(|(x, y)| Some((x.parse::<u64>().ok()?, y.parse::<u64>().ok()?)))
            {
                assert!(x <= CHART.0 && y <= CHART.1, "{x} {y} in {text}");
            }
        }
        let text = spark(&[0, 5, u32::MAX], "last hour").into_string();
        assert!(text.contains("M0 45L130 45L260 3"), "{text}");
        assert!(spark(&[], "none").into_string().contains("M0 0"));
    }
}
