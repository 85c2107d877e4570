//! The grid of a page's rows. Only the most frequent kind of row has property columns; the properties of other rows are shown on one line.

use maud::{Markup, html};
use table_core::TableName;
use table_core::schema::ENTITY_TYPE;
use table_inspect::kind::Kind;

use crate::columns::{self, Column};
use crate::internal::is_internal;
use crate::keyed::{self, Keyed};
use crate::link;
use crate::mark;
use crate::show;

/// The maximum number of properties shown for a row without columns.
const INLINE: usize = 6;

/// A grid of rows, in store order.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    table: &'a TableName,
    rows: &'a [Keyed<'a>],
    main: Kind<'a>,
    /// The `RowKey` part names of the main kind.
    parts: Vec<String>,
    columns: Vec<Column>,
    left_out: usize,
    has_partitions: bool,
    has_kinds: bool,
    has_marks: bool,
    /// The CSS classes of the grid's container element.
    class: &'static str,
}

impl<'a> Grid<'a> {
    /// Creates a grid with columns for the most frequent kind.
    pub(crate) fn new(table: &'a TableName, rows: &'a [Keyed<'a>]) -> Self {
        let most = counts(rows).into_iter().max_by_key(|(_, count)| *count);
        let main = most.map_or(Kind::Unknown, |(kind, _)| kind);
        let parts = rows.iter().find(|row| row.kind == main);
        let parts = parts.map(|row| row.row_parts().map(|(name, _)| name.to_owned()).collect());
        let of_kind = rows.iter().filter(|row| row.kind == main).map(|row| row.row);
        let (columns, left_out) = columns::of(of_kind);
        let partition = |row: &Keyed<'_>| row.row.key().partition_key.as_str().to_owned();
        let first = rows.first().map(partition);
        let has_partitions = rows.iter().any(|row| Some(partition(row)) != first);
        let has_kinds = rows.iter().any(|row| row.kind != main);
        Self {
            table,
            rows,
            main,
            parts: parts.unwrap_or_default(),
            columns,
            left_out,
            has_partitions,
            has_kinds,
            has_marks: false,
            class: "wrap rows",
        }
    }

    /// Adds to each row a checkbox that selects the row for the form [`mark::FORM`].
    pub(crate) fn with_marks(self, has_marks: bool) -> Self {
        Self { has_marks, ..self }
    }

    /// Makes rows selectable for the detail pane.
    pub(crate) fn with_selection(self) -> Self {
        Self { class: "wrap rows selects", ..self }
    }

    /// Returns the kind whose rows have columns.
    pub(crate) const fn main(&self) -> Kind<'a> {
        self.main
    }

    pub(crate) fn render(&self, label: &str) -> Markup {
        html! {
            div class=(self.class) tabindex="0" role="region" aria-label=(label) {
                table.grid {
                    thead { (self.head()) }
                    tbody { @for (row, owner) in self.rows.iter().zip(self.owners()) { (self.row(row, owner)) } }
                }
            }
            @if self.left_out > 0 { p.note { (show::count_of(self.left_out as u64, "additional property")) " in these rows; the page of an entity shows all." } }
        }
    }

    fn head(&self) -> Markup {
        let parts = &self.parts;
        html! {
            tr {
                @if self.has_marks { th.mark scope="col" { span.hidden { "Mark" } } }
                @if self.has_partitions { th scope="col" { "PartitionKey" small { "key" } } }
                @if parts.is_empty() { th scope="col" { "RowKey" small { "key" } } }
                @for name in parts { th scope="col" { span class=(keyed::colour(&self.main, name)) { (show::text(name)) } small { "RowKey" } } }
                @if self.has_kinds { th scope="col" { "Kind" small { "of row" } } }
                @for column in &self.columns {
                    th scope="col" class=(show::class(column.edm)) { (show::stored(&column.name)) small { (show::type_name(column.edm)) @if column.is_chunked { ", in pieces" } } }
                }
                @if self.columns.is_empty() { th scope="col" { "Properties" small { "none" } } }
            }
        }
    }

    /// Returns the owner of each row. The owner is the nearest preceding row of the main kind, provided that the row's key extends the owner's key. Rows of the
    /// main kind have no owner.
    fn owners(&self) -> Vec<Option<&'a Keyed<'a>>> {
        let mut above = None;
        let owner = |row: &'a Keyed<'a>| {
            if row.kind == self.main {
                above = Some(row);
                return None;
            }
            above.filter(|above: &&Keyed<'_>| is_beneath(row, above))
        };
        self.rows.iter().map(owner).collect()
    }

    fn row(&self, row: &Keyed<'_>, owner: Option<&Keyed<'_>>) -> Markup {
        let is_main = row.kind == self.main;
        let address = link::entity(self.table, row.row.key());
        let partition = || link::partition(self.table, row.row.key().partition_key.as_str());
        html! {
            tr class=[(!is_main).then_some("other")] {
                @if self.has_marks { td.mark { @if let Some(mark) = mark::of(row.row).filter(|_| !is_internal(row.row.key().row_key.as_str())) { input type="checkbox" name="row" form=(mark::FORM) value=(mark) aria-label={ "Mark " (show::text(row.row.key().row_key.as_str())) }; } } }
                @if self.has_partitions { td { a href=(partition()) { (row.partition_key()) } } }
                (self.key_cells(row, &address, owner))
                @if self.has_kinds { td.kind { (kind_label(&row.kind)) } }
                @if is_main {
                    @for column in &self.columns { td class=(show::class(column.edm)) { (self.value(row, column)) } }
                    @if self.columns.is_empty() { td.faint { "–" } }
                } @else {
                    td colspan=(self.columns.len().max(1)) { (self.inline(row)) }
                }
            }
        }
    }

    /// Returns the key cells of a row: one per part, or a single cell for a row of another kind. The first cell contains the link and the raw key. Below its
    /// owner, a row omits the parts shared with the owner's key.
    fn key_cells(&self, row: &Keyed<'_>, address: &str, owner: Option<&Keyed<'_>>) -> Markup {
        let parts: Vec<_> =
            row.row_parts().skip(owner.map_or(0, |owner| owner.row_parts().count())).collect();
        let expected = self.parts.len().max(1);
        html! {
            @if row.kind == self.main && !parts.is_empty() {
                @for (at, (name, value)) in parts.iter().enumerate() {
                    td {
                        @if at == 0 { a.key href=(address) { b class=(keyed::colour(&row.kind, name)) { (show::part(value)) } } span.raw { (row.row_key()) } }
                        @else { b class=(keyed::colour(&row.kind, name)) { (show::part(value)) } }
                    }
                }
            } @else {
                td colspan=(expected) {
                    @if owner.is_some() { span.faint aria-hidden="true" { "└ " } }
                    a.key href=(address) {
                        @if parts.is_empty() { span.mono { (row.row_key()) } }
                        @for (at, (name, value)) in parts.iter().enumerate() { @if at > 0 { " · " } b class=(keyed::colour(&row.kind, name)) { (show::part(value)) } }
                    }
                    @if !parts.is_empty() { span.raw { (row.row_key()) } }
                }
            }
        }
    }

    fn value(&self, row: &Keyed<'_>, column: &Column) -> Markup {
        let link = link::value(self.table, row.row.key(), &column.name, "text");
        match row.row.get(&column.name) {
            None => html! { span.faint { "–" } },
            Some(found) if found.edm_type() != column.edm => {
                html! { span.badge.warn { (show::type_name(found.edm_type())) } " " (show::cell(found, &link)) }
            }
            Some(_) if column.is_chunked => match columns::joined(row.row, &column.name) {
                Some((whole, pieces)) if pieces > 1 => html! {
                    (show::cell(&whole, &link)) " " span.faint { "in " (pieces) " pieces" }
                },
                Some((whole, _)) => show::cell(&whole, &link),
                None => html! {},
            },
            Some(found) => show::cell(found, &link),
        }
    }

    /// Returns the first properties of a row without columns, formatted as one line.
    fn inline(&self, row: &Keyed<'_>) -> Markup {
        let later = columns::later_pieces(row.row);
        let is_shown = |name: &str| name != ENTITY_TYPE && !later.contains(name);
        let properties: Vec<_> = row.row.iter().filter(|(name, _)| is_shown(name)).collect();
        let count = properties.len();
        html! {
            @for (name, value) in properties.iter().take(INLINE) {
                span.pair { span.faint { (show::stored(name)) } " " (show::cell(value, &link::value(self.table, row.row.key(), name, "text"))) }
            }
            @if count > INLINE { span.faint { "and " (count - INLINE) " more" } }
            @if count == 0 { span.faint { "no properties" } }
        }
    }
}

/// Returns `true` if the key of `row` extends the key of `above` by further parts.
fn is_beneath(row: &Keyed<'_>, above: &Keyed<'_>) -> bool {
    let (key, other) = (row.row.key(), above.row.key());
    let rest = key.row_key.as_str().strip_prefix(other.row_key.as_str());
    let has_more =
        rest.is_some_and(|rest| rest.starts_with('_')) && row.row_parts().count() > above.row_parts().count();
    has_more && key.partition_key == other.partition_key
}

/// Returns the kinds of rows with their row counts, in order of first occurrence.
pub(crate) fn counts<'a>(rows: &[Keyed<'a>]) -> Vec<(Kind<'a>, usize)> {
    let mut counts: Vec<(Kind<'a>, usize)> = Vec::new();
    for row in rows {
        match counts.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((row.kind, 1)),
        }
    }
    counts
}

/// Returns the label of a kind.
pub(crate) fn kind_label(kind: &Kind<'_>) -> Markup {
    html! {
        @match kind {
            Kind::Entity(schema) => (show::stored(&schema.entity)),
            Kind::Index(schema, index) => { "index " (show::stored(&index.name)) " of " (show::stored(&schema.entity)) }
            Kind::Reserved("feed") => "feed",
            Kind::Reserved("outbox") => "pending work",
            Kind::Reserved("poison") => span.badge.warn { "poison" },
            Kind::Reserved("guard") => "guard",
            Kind::Reserved(_) => "internal rows of the library",
            Kind::Unknown => "unexplained",
        }
    }
}
