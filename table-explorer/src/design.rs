//! Diagrams of entity types: the entity with its key parts, and its derived rows.

use maud::{Markup, html};
use table_core::schema::{IndexKind, StoredIndex, StoredPiece, StoredSchema};
use table_inspect::keys;
use table_inspect::kind::Kind;

use crate::keyed;
use crate::show;

/// The height of a node in the diagram, and the gap below it.
const NODE: usize = 46;
const GAP: usize = 10;
/// The widths of the entity's node, of the connecting lines, and of the nodes for derived rows.
const LEFT: usize = 300;
const LINES: usize = 70;
const RIGHT: usize = 390;
/// The maximum number of characters in one line of a node.
const LINE: usize = 46;

/// Returns a one-line summary of an entity type: its key parts, indexes, copies and feeds.
///
/// `states` is the markup for known index states, shown in place of index names.
pub(crate) fn line(schema: &StoredSchema, states: Option<&Markup>) -> Markup {
    let kind = Kind::Entity(schema);
    html! {
        div.design {
            div.key { small { "PartitionKey" } code { (keyed::pattern(&kind, &schema.partition_key)) } (codecs(&schema.partition_key)) }
            div.key { small { "RowKey" } code { (keyed::pattern(&kind, &schema.row_key)) } (codecs(&schema.row_key)) }
            div.links {
                @for word in &schema.keeps { span.badge { (show::text(word)) } }
                @if let Some(states) = states { (states) }
                @else { @for index in &schema.indexes { span.badge { (show::text(&index.name)) @if index.unique { ", unique" } } } }
            }
        }
    }
}

fn codecs(pieces: &[StoredPiece]) -> Markup {
    let codecs: Vec<&str> = pieces
        .iter()
        .filter_map(|piece| match piece {
            StoredPiece::Literal(_) => None,
            StoredPiece::Part { codec, .. } => Some(codec.as_str()),
        })
        .collect();
    html! { @if !codecs.is_empty() { small.codec { (show::text(&codecs.join(" · "))) } } }
}

/// A node for one kind of derived row, drawn to the right of the entity's node.
struct Follows {
    class: &'static str,
    title: String,
    detail: String,
}

/// Returns the diagram of an entity type, or empty markup if the type has no derived rows.
pub(crate) fn picture(schema: &StoredSchema) -> Markup {
    let indexes = schema.indexes.iter().map(of_index);
    let keeps = schema.keeps.iter().map(|word| of_word(word));
    let nodes: Vec<Follows> = indexes.chain(keeps).collect();
    if nodes.is_empty() {
        return html! {};
    }
    let height = nodes.len() * (NODE + GAP) - GAP;
    let (width, middle) = (LEFT + LINES + RIGHT, height / 2);
    let top = middle.saturating_sub(NODE / 2);
    let label = format!(
        "Each {} has derived rows: {}",
        schema.entity,
        nodes.iter().map(|node| node.title.as_str()).collect::<Vec<_>>().join(", ")
    );
    html! {
        svg.picture viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" aria-label=(show::text(&label)) {
            @for (at, _) in nodes.iter().enumerate() {
                @let end = at * (NODE + GAP) + NODE / 2;
                path.edge d={ "M" (LEFT) " " (middle) " C" (LEFT + LINES / 2) " " (middle) " " (LEFT + LINES / 2) " " (end) " " (LEFT + LINES) " " (end) } {}
            }
            rect.node.entity x="1" y=(top + 1) width=(LEFT - 1) height=(NODE - 2) rx="8" {}
            text.title x="14" y=(top + 19) { (clipped(&schema.entity)) }
            text.detail x="14" y=(top + 36) { (clipped(&format!("{} / {}", keys::pattern(&schema.partition_key), keys::pattern(&schema.row_key)))) }
            @for (at, node) in nodes.iter().enumerate() {
                @let y = at * (NODE + GAP);
                rect class={ "node " (node.class) } x=(LEFT + LINES) y=(y + 1) width=(RIGHT - 1) height=(NODE - 2) rx="8" {}
                text.title x=(LEFT + LINES + 14) y=(y + 19) { (clipped(&node.title)) }
                text.detail x=(LEFT + LINES + 14) y=(y + 36) { (clipped(&node.detail)) }
            }
        }
    }
}

fn of_index(index: &StoredIndex) -> Follows {
    let kind = match (index.kind, index.unique) {
        (IndexKind::List, _) => "list of keys",
        (IndexKind::Copies, true) => "unique index",
        (IndexKind::Copies, false) => "index of copies",
    };
    let is_here = index.table.is_none() && index.partition_key.is_none();
    let place = if is_here { "same transaction" } else { "by a worker, eventually" };
    let key =
        [index.partition_key.as_ref().map(|key| keys::pattern(key)), Some(keys::pattern(&index.row_key))];
    let key: Vec<String> = key.into_iter().flatten().collect();
    let table = index.table.as_ref().map(|table| format!("{table}: ")).unwrap_or_default();
    Follows {
        class: if is_here { "near" } else { "far" },
        title: format!("{}, {kind}, {place}", index.name),
        detail: format!("{table}{}", key.join(" / ")),
    }
}

fn of_word(word: &str) -> Follows {
    let (title, detail) = match word.split_once(' ').map_or(word, |(first, _)| first) {
        "feed" => ("Change feed", "one entry for each change, in the partition"),
        "copied_by" => ("Copies of properties", "in entities that refer to this one, by a worker"),
        "copies_from" => ("Copied properties", "from the entity to which this one refers"),
        _ => ("Derived rows", ""),
    };
    let detail = if detail.is_empty() { word.to_owned() } else { detail.to_owned() };
    Follows { class: "far", title: title.to_owned(), detail }
}

/// Truncates text to the width of a node.
fn clipped(found: &str) -> String {
    let text = show::text(found);
    if text.chars().count() <= LINE { text } else { text.chars().take(LINE - 1).chain(['…']).collect() }
}

/// Returns the properties of an entity type. A long value stored in chunks is listed once.
pub(crate) fn properties(schema: &StoredSchema) -> Markup {
    let has = |name: &str| schema.properties.iter().any(|property| property.name == name);
    let is_piece = |name: &str| {
        let base = name.trim_end_matches(|last: char| last.is_ascii_digit());
        base != name && has(base) && has(&format!("{base}1"))
    };
    let whole: Vec<_> = schema.properties.iter().filter(|property| !is_piece(&property.name)).collect();
    html! {
        @if !whole.is_empty() {
            details.properties {
                summary { (show::count_of(whole.len() as u64, "declared property")) }
                ul { @for property in &whole { li { code { (show::text(&property.name)) } " " span.faint { (show::type_name(property.edm)) @if property.optional { ", optional" } } } } }
            }
        }
    }
}
