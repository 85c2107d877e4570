//! Pictures of keys: the rows of a design in the order of the store, and those that a selection reads.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use table_patterns::EntityKey;
use table_patterns::query::KeyRange;
use table_patterns::schema::{EntitySchema, KeyPiece};

/// Width of a character of the monospaced font, and heights, in pixels.
const CHARACTER: usize = 8;
const LINE: usize = 22;
const MARGIN: usize = 12;
/// From one column to the next.
const GAP: usize = 28;

/// Compares the picture of `keys` with `images/NAME.svg`, or writes it if `TABLES_UPDATE` is set.
///
/// Keys are drawn in the order of the store, partitions apart from each other, with the pieces of each key above them. Rows in one of `read` are
/// marked.
///
/// # Panics
/// If the file has another picture, or cannot be read or written.
pub fn draw(name: &str, schema: &EntitySchema, keys: impl IntoIterator<Item = EntityKey>, read: &[KeyRange]) {
    let mut keys: Vec<EntityKey> = keys.into_iter().collect();
    keys.sort();
    let picture = svg(schema, &keys, read);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("images").join(name).with_extension("svg");
    if env::var_os("TABLES_UPDATE").is_some() {
        let written = fs::write(&path, &picture);
        assert!(written.is_ok(), "{}: {written:?}", path.display());
        return;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == picture,
        "{} differs from what its sample draws: `TABLES_UPDATE=1 cargo test -p book` writes it anew",
        path.display()
    );
}

fn svg(schema: &EntitySchema, keys: &[EntityKey], read: &[KeyRange]) -> String {
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
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut y = MARGIN + LINE / 2 + 4;
    for (x, (name, pieces)) in [(MARGIN, ("PartitionKey", &pieces[0])), (second, ("RowKey", &pieces[1]))] {
        text(&mut out, x, y, "#000000\" font-weight=\"bold", name);
        let mut at = x;
        for (piece, literal) in pieces {
            text(&mut out, at, y + LINE, if *literal { "#808080" } else { "#0050b0" }, piece);
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
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{LINE}\" fill=\"#ffe08a\"/>",
                    MARGIN / 2,
                    y - LINE + 7,
                    total_width - MARGIN
                );
            }
            let colour = if at == 0 { "#000000" } else { "#b0b0b0" };
            text(&mut out, MARGIN, y, colour, key.partition_key.as_str());
            text(&mut out, second, y, "#000000", key.row_key.as_str());
            y += LINE;
        }
        y += LINE / 2;
    }
    out.push_str("</svg>\n");
    out
}

/// Each piece as it is shown, and whether it is a literal.
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
