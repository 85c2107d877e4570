//! The states of a table's indexes, and the progress of backfills, as recorded next to the stored schemas.

use maud::{Markup, html};
use table_core::query::KeyRange;
use table_core::{Query, TableEntity, TableName, Value};
use table_inspect::keys::SCHEMAS;

use crate::failure::{Failure, Result};
use crate::pages::Context;
use crate::show;

/// The state of one index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) entity: String,
    pub(crate) index: String,
    pub(crate) phase: Phase,
}

/// The phase of an index's life.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Ready,
    Disabled,
    /// The backfill has not begun.
    Announced,
    /// Programs of an older release are being refused; the pass begins afterwards.
    Closing,
    /// The pass compares rows of the index with their entities: the first of two steps.
    Rows,
    /// The pass compares entities with their rows: the second of two steps.
    Entities,
}

/// Reads the states of a table's indexes: one request, and none if no index is declared.
pub(crate) async fn states(context: &Context<'_>, table: &TableName) -> Result<Vec<State>> {
    if context.known.of(table).all(|schema| schema.indexes.is_empty()) {
        return Ok(Vec::new());
    }
    let query = Query::new(KeyRange::partition(table.folded()));
    let rows = match context.reader.page(&TableName::new(SCHEMAS)?, &query, None).await {
        Err(Failure::Store(error)) if error.is_table_not_found() => Vec::new(),
        page => page?.rows,
    };
    let mut found = Vec::new();
    for schema in context.known.of(table) {
        let row = rows.iter().find(|row| row.key().row_key.as_str() == schema.entity);
        for index in &schema.indexes {
            let phase = row.map_or(Phase::Ready, |row| phase(row, &index.name));
            found.push(State { entity: schema.entity.clone(), index: index.name.clone(), phase });
        }
    }
    Ok(found)
}

/// Returns the phase that the row of a stored schema records for an index.
fn phase(row: &TableEntity, index: &str) -> Phase {
    let note = format!("index {index}");
    let lines = |name: &str| match row.get(name) {
        Some(Value::String(text)) => text.split('\n').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if lines("Disabled").contains(&note) {
        return Phase::Disabled;
    }
    if !lines("Pending").contains(&note) {
        return Phase::Ready;
    }
    let progress = lines("Progress");
    let position = progress.iter().find_map(|line| line.split_once('\t').filter(|(what, _)| *what == note));
    let Some((_, position)) = position else { return Phase::Announced };
    match position.split(' ').next() {
        Some("rows") => Phase::Rows,
        Some("entities") => Phase::Entities,
        _ => Phase::Closing,
    }
}

/// Returns a badge for each index.
pub(crate) fn badges(states: &[State], entity: &str) -> Markup {
    html! {
        @for state in states.iter().filter(|state| state.entity == entity) {
            @let name = show::text(&state.index);
            @match &state.phase {
                Phase::Ready => span.badge.ok { (name) " ready" },
                Phase::Disabled => span.badge.warn { (name) " disabled" },
                Phase::Announced => span.badge.warn title="Its backfill has not begun." { (name) " not built" },
                Phase::Closing => span.badge.warn title="Programs of an older release are refused; the backfill begins afterwards." { (name) " waits" },
                Phase::Rows => span.badge.warn title="Its backfill compares the rows of the index with their entities." { (name) " building, step 1 of 2" },
                Phase::Entities => span.badge.warn title="Its backfill compares the entities with their rows of the index." { (name) " building, step 2 of 2" },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_the_notes_next_to_the_schema() {
        let note = |pending: &str, disabled: &str, progress: &str| {
            let row = TableEntity::new("company", "Employee").unwrap();
            let row = row.with("Pending", pending).with("Disabled", disabled).with("Progress", progress);
            phase(&row, "ByName")
        };
        assert_eq!(note("", "", ""), Phase::Ready);
        assert_eq!(note("index ByNameAndAge", "", ""), Phase::Ready);
        assert_eq!(note("", "index ByName", ""), Phase::Disabled);
        assert_eq!(note("property Age\nindex ByName", "", ""), Phase::Announced);
        assert_eq!(note("index ByName", "", "index ByName\tclosing 5"), Phase::Closing);
        assert_eq!(note("index ByName", "", "index ByName\trows 0 "), Phase::Rows);
        assert_eq!(
            note("index ByName", "", "index Other\trows 0 \nindex ByName\tentities 1 x"),
            Phase::Entities
        );
    }
}
