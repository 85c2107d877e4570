//! Heat maps as SVG files without scripts, fonts or links.

use std::fmt::Write;

use crate::heat_map::HeatMap;
use crate::spread::PARTITION_TARGET;

const CELL: usize = 12;
/// The width reserved for partition names.
const LEFT: usize = 240;
const TOP: usize = 44;
/// The minimum width of the picture. The text above the map requires it.
const NARROWEST: usize = 640;
/// The maximum length of a displayed name, in characters.
const NAME: usize = 32;

pub(super) fn svg(name: &str, map: &HeatMap) -> String {
    let columns = map.rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or_default();
    let (width, height) = (NARROWEST.max(LEFT + columns * CELL + 20), TOP + map.rows.len() * CELL + 30);
    let hottest = map.hottest();
    let mut svg = String::new();
    // Writing to a `String` never fails.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"10\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"16\" font-size=\"13\">{}</text>\n\
         <text x=\"8\" y=\"32\">a column is {} s, the hottest cell {hottest:.1} entities written and pages read a second; framed: over {PARTITION_TARGET}</text>\n",
        escaped(name),
        map.seconds_per_column
    );
    for (row, (partition, cells)) in map.rows.iter().enumerate() {
        let y = TOP + row * CELL;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT - 6,
            y + CELL - 3,
            escaped(&shortened(partition))
        );
        for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| **cell > 0.0) {
            let frame = if *cell > PARTITION_TARGET { " stroke=\"#000\"" } else { "" };
            let _ = writeln!(
                svg,
                "<rect x=\"{}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"{frame}><title>{} {cell:.1}/s</title></rect>",
                LEFT + column * CELL,
                color(cell / hottest),
                escaped(partition)
            );
        }
    }
    let below = TOP + map.rows.len() * CELL + 16;
    if map.others > 0 {
        let (others, most) = (map.others, map.hottest_other);
        let _ = writeln!(
            svg,
            "<text x=\"8\" y=\"{below}\">and {others} more partitions, none over {most:.1} a second</text>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns a color between pale yellow and dark red.
fn color(share: f64) -> String {
    let between = |cold: f64, hot: f64| cold + (hot - cold) * share.clamp(0.0, 1.0);
    let channel = |cold, hot| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
        let channel = between(cold, hot).round() as u8;
        channel
    };
    format!("#{:02x}{:02x}{:02x}", channel(255.0, 176.0), channel(245.0, 16.0), channel(200.0, 16.0))
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

/// Escapes a string for use in XML elements and attributes. Control characters are replaced, because XML does not permit them.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            character if character.is_control() || matches!(character, '\u{FFFE}' | '\u{FFFF}') => {
                escaped.push('\u{FFFD}');
            }
            character => escaped.push(character),
        }
    }
    escaped
}
