//! SVG diagrams of physical partitions. Each state is a bar that shows the ranges in order. The colour of a range shows its utilization.

use std::fmt::Write as _;

use crate::{Epk, Heat, Load};

/// The width of a bar.
const WIDTH: f64 = 960.0;
/// The height of a bar.
const BAR: f64 = 48.0;
/// The height of a bar together with its caption.
const ROW: f64 = 88.0;
/// The number of possible values for the first byte of a key. All of them are less than `40` (hexadecimal).
const SPACE: f64 = 64.0;

/// Renders named states as an SVG picture, for example the states before and after a split.
///
/// Each partition is drawn at the position of its hash range. Its colour shows its utilization, from green to red. A partition without keys is grey.
///
/// ```
/// use table_hierarchy::{Bounds, KeyLoad, Load, PartitionMap, picture};
///
/// let key = |user: u32| KeyLoad { levels: vec!["Microsoft".into(), format!("u{user}")], bytes: 6e8, growth: 0.0, ru: 1.0 };
/// let before = Load::new(PartitionMap::even(2), (0..100).map(key).collect(), Bounds::SERVICE);
/// let mut after = before.clone();
/// after.settle()?;
/// let svg = picture(&[("before", &before), ("after", &after)]);
/// assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
/// assert_eq!(svg.matches("<rect").count(), 2 + 3);
/// # Ok::<(), table_core::Error>(())
/// ```
#[must_use]
pub fn picture(states: &[(&str, &Load)]) -> String {
    let rows = f64::from(u32::try_from(states.len()).unwrap_or(u32::MAX));
    let height = ROW * rows + 8.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"14\">\n"
    );
    let mut top = 8.0;
    for (name, load) in states {
        let heat = load.heat();
        let fullest = heat.iter().map(|heat| heat.full).fold(0.0, f64::max);
        let name = name.replace('&', "&amp;").replace('<', "&lt;");
        let partitions = heat.len();
        // Writing to a `String` never fails.
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{:.0}\">{name}: {partitions} partitions, the fullest at {:.0} %</text>",
            top + 14.0,
            fullest * 100.0
        );
        for heat in &heat {
            bar(&mut svg, heat, top + 22.0);
        }
        top += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}

fn bar(svg: &mut String, heat: &Heat, top: f64) {
    let (from, to) = (place(heat.range.start()), place(heat.range.end()));
    let colour = if heat.keys == 0 {
        "#dddddd".to_owned()
    } else {
        format!("hsl({:.0} 70% 55%)", 120.0 * (1.0 - heat.full.clamp(0.0, 1.0)))
    };
    let _ = writeln!(
        svg,
        "<rect x=\"{from:.1}\" y=\"{top:.0}\" width=\"{:.1}\" height=\"{BAR}\" fill=\"{colour}\" stroke=\"white\"><title>partition {}: {} \
         keys, {:.2} GB, {:.0} RU/s, {:.0} % full</title></rect>",
        to - from,
        heat.id,
        heat.keys,
        heat.bytes / 1e9,
        heat.ru,
        heat.full * 100.0
    );
}

/// Returns the x coordinate of a bound on the bar. It is computed from the bound's first four bytes.
fn place(epk: &Epk) -> f64 {
    let mut share = 0.0;
    let mut unit = 1.0 / SPACE;
    for byte in epk.as_bytes().iter().take(4) {
        share += f64::from(*byte) * unit;
        unit /= 256.0;
    }
    share.min(1.0) * WIDTH
}
