//! Draws a picture as SVG.

use std::fmt::Write as _;

use table_patterns::EntityKey;
use table_patterns::query::KeyRange;
use table_patterns::schema::{EntitySchema, KeyPiece};

/// The width of a character in the monospaced font, in pixels.
const CHARACTER: usize = 8;
/// The height of a row, in pixels.
const LINE: usize = 22;
const MARGIN: usize = 12;
/// The space between columns, in pixels.
const GAP: usize = 28;
/// The background colours of the picture and of the rows that are read.
const PAPER: &str = "#ffffff";
const MARKED: &str = "#b9d6ff";
/// The colours of text, of repeated partition keys, of field names and of literals.
const INK: &str = "#000000";
const REPEATED: &str = "#555555";
const FIELD: &str = "#0b4a9e";
const LITERAL: &str = "#555555";

/// Draws rows in key order below the names of their key parts. Partitions are separated, and the rows in the ranges `read` are highlighted.
pub(super) fn svg(schema: &EntitySchema, keys: &[EntityKey], read: &[KeyRange]) -> String {
    let pieces = [pieces(schema.partition_key), pieces(schema.row_key)];
    let columns = [
        width(&pieces[0], "PartitionKey", keys.iter().map(|key| key.partition_key.as_str())),
        width(&pieces[1], "RowKey", keys.iter().map(|key| key.row_key.as_str())),
    ];
    let second = MARGIN + columns[0] + GAP;
    let partitions = keys.chunk_by(|one, next| one.partition_key == next.partition_key).count();
    let total_width = second + columns[1] + MARGIN;
    let total_height = MARGIN * 2 + LINE * (2 + keys.len()) + partitions.saturating_sub(1) * (LINE / 2);

    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {total_width} {total_height}\" width=\"{total_width}\" \
         height=\"{total_height}\" font-family=\"ui-monospace, monospace\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>\n"
    );
    let mut y = MARGIN + LINE / 2 + 4;
    for (x, (name, pieces)) in [(MARGIN, ("PartitionKey", &pieces[0])), (second, ("RowKey", &pieces[1]))] {
        text(&mut out, x, y, &format!("{INK}\" font-weight=\"bold"), name);
        let mut at = x;
        for (piece, literal) in pieces {
            text(&mut out, at, y + LINE, if *literal { LITERAL } else { FIELD }, piece);
            at += (piece.chars().count() + 1) * CHARACTER;
        }
    }
    y += LINE * 2;
    for partition in keys.chunk_by(|one, next| one.partition_key == next.partition_key) {
        for (at, key) in partition.iter().enumerate() {
            let is_read = read.iter().any(|range| {
                range.partition_key.contains(key.partition_key.as_str())
                    && range.row_key.contains(key.row_key.as_str())
            });
            if is_read {
                let _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LINE}\" fill=\"{MARKED}\"/>",
                    MARGIN / 2,
                    y - LINE + 7,
                    total_width - MARGIN
                );
            }
            let colour = if at == 0 { INK } else { REPEATED };
            text(&mut out, MARGIN, y, colour, key.partition_key.as_str());
            text(&mut out, second, y, INK, key.row_key.as_str());
            y += LINE;
        }
        y += LINE / 2;
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the text of each key part, together with `true` if the part is a literal.
fn pieces(pieces: &[KeyPiece]) -> Vec<(String, bool)> {
    let shown = pieces.iter().map(|piece| match piece {
        KeyPiece::Literal(literal) => (format!("\"{literal}\""), true),
        KeyPiece::Field { field, codec, .. } => (format!("{field}:{codec}"), false),
    });
    shown.collect()
}

fn width<'a>(pieces: &[(String, bool)], name: &str, keys: impl Iterator<Item = &'a str>) -> usize {
    let head = pieces.iter().map(|(piece, _)| piece.chars().count() + 1).sum::<usize>();
    keys.map(|key| key.chars().count()).chain([head, name.len()]).max().unwrap_or_default() * CHARACTER
}

fn text(out: &mut String, x: usize, y: usize, fill: &str, text: &str) {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ =
        writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\" xml:space=\"preserve\">{escaped}</text>");
}

/// Returns the relative luminance of a colour, as the Web Content Accessibility Guidelines 2 define it.
fn luminance(colour: [f64; 3]) -> f64 {
    let linear =
        colour.map(|part| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn colour(text: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| f64::from(u8::from_str_radix(&text[at..at + 2], 16).unwrap()) / 255.0)
}

/// Multiplies a colour by the colour of the page, as `book.css` does in light themes.
fn on_light_page(colour: [f64; 3], page: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|part| colour[part] * page[part])
}

/// Applies `invert(1) hue-rotate(180deg)` to a colour, and then takes the lighter of the result and the page in each channel, as `book.css` does in dark
/// themes.
fn on_dark_page(colour: [f64; 3], page: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = colour.map(|part| 1.0 - part);
    // The matrix of hue-rotate(180deg): cos = -1, sin = 0.
    let turned = [
        -0.574 * r + 1.430 * g + 0.144 * b,
        0.426 * r + 0.430 * g + 0.144 * b,
        0.426 * r + 1.430 * g - 0.856 * b,
    ];
    [0, 1, 2].map(|part| turned[part].clamp(0.0, 1.0).max(page[part]))
}

#[test]
fn every_text_has_a_contrast_of_at_least_4_5_in_each_theme() {
    type Theme = (&'static str, &'static str, fn([f64; 3], [f64; 3]) -> [f64; 3]);
    // These are the background colours of mdBook's themes.
    let themes: [Theme; 5] = [
        ("light", "#ffffff", on_light_page),
        ("rust", "#e1e1db", on_light_page),
        ("coal", "#131516", on_dark_page),
        ("navy", "#161923", on_dark_page),
        ("ayu", "#0f1419", on_dark_page),
    ];
    for (theme, page, shown) in themes {
        for paper in [PAPER, MARKED] {
            for ink in [INK, REPEATED, FIELD, LITERAL] {
                let found = contrast(shown(colour(ink), colour(page)), shown(colour(paper), colour(page)));
                assert!(found >= 4.5, "{theme}: {ink} on {paper}: {found:.2}");
            }
        }
    }
}
