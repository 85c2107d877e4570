//! Index states and the progress of backfills (the initial creation of index rows), as recorded with stored schemas.

use maud::{Markup, html};
use table_core::{TableEntity, Value};

use crate::show;

/// The state of one index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexState {
    pub(crate) entity: String,
    pub(crate) index: String,
    pub(crate) phase: Phase,
}

/// The phase of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Unknown, because the schema's row was not found.
    Unknown,
    Ready,
    /// The backfill has not started.
    Announced,
    /// Before processing rows, the backfill waits until all programs built with an older release are rejected.
    Closing,
    /// The backfill's first step, which compares index rows with their entities.
    Rows,
    /// The backfill's second step, which compares entities with their index rows.
    Entities,
}

/// Returns the phase of an index, as recorded in the schema's row.
pub(crate) fn phase(row: &TableEntity, index: &str) -> Phase {
    let note = format!("index {index}");
    let lines = |name: &str| match row.get(name) {
        Some(Value::String(text)) => text.split('\n').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if !lines("Pending").contains(&note) {
        return Phase::Ready;
    }
    let progress = lines("Progress");
    let position = progress.iter().find_map(|line| line.split_once('\t').filter(|(what, _)| *what == note));
    let Some((_, position)) = position else { return Phase::Announced };
    let progress: serde_json::Value = serde_json::from_str(position).unwrap_or_default();
    match progress.get("pass").map(|pass| pass.pointer("/at/next/phase").and_then(serde_json::Value::as_str))
    {
        None => Phase::Closing,
        Some(Some("entities")) => Phase::Entities,
        Some(_) => Phase::Rows,
    }
}

/// Returns a badge for each index of the given entity type.
pub(crate) fn badges(states: &[IndexState], entity: &str) -> Markup {
    html! {
        @for state in states.iter().filter(|state| state.entity == entity) {
            @let name = show::text(&state.index);
            @match &state.phase {
                Phase::Unknown => span.badge.warn title="The stored schema was not found." { (name) " unknown" },
                Phase::Ready => span.badge.ok { (name) " ready" },
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
        let note = |pending: &str, progress: &str| {
            let row = TableEntity::new("company", "Employee").unwrap();
            let row = row.with("Pending", pending).with("Progress", progress);
            phase(&row, "ByName")
        };
        assert_eq!(note("", ""), Phase::Ready);
        assert_eq!(note("index ByNameAndAge", ""), Phase::Ready);
        assert_eq!(note("property Age\nindex ByName", ""), Phase::Announced);
        assert_eq!(
            note("index ByName", "index ByName\t{\"closing\":{\"since\":7,\"by\":5}}"),
            Phase::Closing
        );
        assert_eq!(note("index ByName", "index ByName\t{\"pass\":{\"id\":5,\"at\":null}}"), Phase::Rows);
        let pass = |index: &str, next: &str| {
            let failed = "{\"phase\":\"rows\",\"position\":{}}";
            format!(
                "index {index}\t{{\"pass\":{{\"id\":5,\"at\":{{\"failed\":{failed},\"next\":{{\"phase\":\"{next}\"}}}}}}}}"
            )
        };
        assert_eq!(note("index ByName", &pass("ByName", "rows")), Phase::Rows);
        let both = format!("{}\n{}", pass("Other", "rows"), pass("ByName", "entities"));
        assert_eq!(note("index ByName", &both), Phase::Entities);
    }
}
