//! Renders keys: coloured parts, dimmed literals, and the raw key underneath.

use maud::{Markup, html};
use table_core::TableEntity;
use table_core::schema::{StoredPiece, StoredSchema};
use table_inspect::keys::{self, Segment};
use table_inspect::kind::{self, Kind, Kinds};

use crate::show;

/// The number of colours for key parts.
const COLOURS: usize = 6;

/// A row with its kind and key segments.
#[derive(Debug)]
pub(crate) struct Keyed<'a> {
    pub(crate) row: &'a TableEntity,
    pub(crate) kind: Kind<'a>,
    segments: Option<(Vec<Segment>, Vec<Segment>)>,
}

impl<'a> Keyed<'a> {
    pub(crate) fn new(table: &str, row: &'a TableEntity, schemas: &'a [(String, StoredSchema)]) -> Self {
        Self::of_kind(row, kind::of(table, row, schemas))
    }

    /// Determines the kinds and key segments of rows.
    pub(crate) fn all(
        table: &str,
        rows: impl IntoIterator<Item = &'a TableEntity>,
        schemas: &'a [(String, StoredSchema)],
    ) -> Vec<Self> {
        let kinds = Kinds::new(table, schemas);
        rows.into_iter().map(|row| Self::of_kind(row, kinds.of(row))).collect()
    }

    fn of_kind(row: &'a TableEntity, kind: Kind<'a>) -> Self {
        Self { row, kind, segments: kind::segments(&kind, row.key()) }
    }

    /// Returns the names and values of the `RowKey` parts. Empty for a row that matches no schema.
    pub(crate) fn row_parts(&self) -> impl Iterator<Item = (&str, &str)> {
        let segments = self.segments.iter().flat_map(|(_, row_key)| row_key);
        segments.filter_map(|segment| match segment {
            Segment::Literal(_) => None,
            Segment::Part { name, value, .. } => Some((name.as_str(), value.as_str())),
        })
    }

    /// Returns the `PartitionKey` with coloured parts.
    pub(crate) fn partition_key(&self) -> Markup {
        match &self.segments {
            Some((partition_key, _)) => coloured(&self.kind, partition_key),
            None => show::raw_key(self.row.key().partition_key.as_str()),
        }
    }

    /// Returns the `RowKey` with coloured parts.
    pub(crate) fn row_key(&self) -> Markup {
        match &self.segments {
            Some((_, row_key)) => coloured(&self.kind, row_key),
            None => show::raw_key(self.row.key().row_key.as_str()),
        }
    }
}

/// Renders a key with coloured parts.
pub(crate) fn coloured(kind: &Kind<'_>, segments: &[Segment]) -> Markup {
    html! {
        @for segment in segments {
            @match segment {
                Segment::Literal(text) => span.lit { (show::text(text)) },
                Segment::Part { name, text, .. } => {
                    span class=(colour(kind, name)) title=(show::text(name)) { (show::stored(text)) }
                }
            }
        }
    }
}

/// Renders a key pattern, with coloured parts followed by their codecs.
pub(crate) fn pattern(kind: &Kind<'_>, pieces: &[StoredPiece]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                StoredPiece::Literal(text) => span.lit { (show::text(text)) },
                StoredPiece::Part { source, codec, .. } => {
                    span class=(colour(kind, keys::name_of(source))) title=(show::text(codec)) { (show::text(keys::name_of(source))) }
                }
            }
        }
        @if pieces.is_empty() { span.faint { "(empty)" } }
    }
}

/// Returns the CSS class for the colour of a key part, identified by its [label](keys::labels) or field name. The colour depends on the part's position in the
/// entity's key and is the same on all pages.
pub(crate) fn colour(kind: &Kind<'_>, name: &str) -> &'static str {
    const CLASSES: [&str; COLOURS] = ["p1", "p2", "p3", "p4", "p5", "p6"];
    let (Kind::Entity(schema) | Kind::Index(schema, _)) = kind else { return "part" };
    let pieces = schema.partition_key.iter().chain(&schema.row_key);
    let mut names = pieces.filter_map(|piece| match piece {
        StoredPiece::Literal(_) => None,
        StoredPiece::Part { source, .. } => Some(keys::name_of(source)),
    });
    let labels = keys::labels(&schema.partition_key, &schema.row_key);
    let at = labels.iter().position(|label| label == name).or_else(|| names.position(|known| known == name));
    at.and_then(|at| CLASSES.get(at % COLOURS)).copied().unwrap_or("part")
}

/// Returns the [labels](keys::labels) of a schema's key parts, in order and without duplicates.
pub(crate) fn part_labels(schema: &StoredSchema) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in keys::labels(&schema.partition_key, &schema.row_key) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}
