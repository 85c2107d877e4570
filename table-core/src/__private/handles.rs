//! Compile-time checks of the entity types used with the handles in `table_patterns`.

use super::message::Message;
use crate::schema::EntitySchema;

/// Fails if a part and its owner are declared in different tables. One transaction writes both, so they must share a table.
///
/// # Panics
/// Panics at compile time if the names of the tables differ.
pub const fn require_table_of_owner(owner: &EntitySchema, part: &EntitySchema) {
    if !owner.table.eq_ignore_ascii_case(part.table) {
        let message = Message::new().with("[T252] the part `").with(part.entity).with("` is in the table `");
        let message = message.with(part.table).with("`, and its owner `").with(owner.entity).with("` in `");
        let message = message.with(owner.table).with("`, but one transaction writes both (PAT-CK-3); write ");
        let message = message.with("`#[entity(table = \"").with(owner.table).with("\")]` above `");
        panic!("{}", message.with(part.entity).with("`").as_str());
    }
}

/// Fails if a write of an entity requires follow-up writes. Only a handle with an outbox can record such writes.
///
/// # Panics
/// Panics at compile time if the entity has copies, or an index in another partition or table.
pub const fn require_no_outbox(of: &EntitySchema, needs_outbox: bool) {
    if needs_outbox {
        let message = Message::new().with("[T253] `").with(of.entity);
        let message =
            message.with("` has an index in another partition or table, or gives or holds copies, which a ");
        let message = message.with("worker updates; write `store.entities_with_outbox::<").with(of.entity);
        let message = message
            .with(", _>(outbox)`, which records its changes in the transaction of the entity (PAT-EC-8)");
        panic!("{}", message.as_str());
    }
}

/// Fails if a write of an entity requires follow-up writes, but the outbox records nothing.
///
/// # Panics
/// Panics at compile time if the entity has copies, or an index in another partition or table.
pub const fn require_recording_outbox(of: &EntitySchema, is_missing: bool) {
    if is_missing {
        let message = Message::new().with("[T253] this outbox records nothing, but `").with(of.entity);
        let message =
            message.with("` has an index in another partition or table, or gives or holds copies, which a ");
        let message = message
            .with("worker updates from the records of an outbox; create one by `Outbox::new(…)` (PAT-EC-8)");
        panic!("{}", message.as_str());
    }
}

/// Fails if dropping a period's table would leave index rows or copies behind.
///
/// # Panics
/// Panics at compile time if the entity has copies, or an index in another partition or table.
pub const fn require_droppable(of: &EntitySchema, has_remote_index: bool, has_copies: bool) {
    let message = Message::new().with("[T256] `").with(of.entity);
    let message = if has_remote_index {
        let message = message.with(
            "` has an index in another partition or table, whose rows would remain when the table of a ",
        );
        message.with("period is dropped; declare the index without `table` and `partition_key` (PAT-HVD)")
    } else if has_copies {
        let message = message.with(
            "` gives or holds copies, but entities in tables of periods cannot be referred to, because ",
        );
        message.with("their tables are dropped; remove `copied_by` and `copies_from` (PAT-HVD)")
    } else {
        return;
    };
    panic!("{}", message.as_str());
}

/// Fails if the `RowKey` of a log does not end with its stamp.
///
/// # Panics
/// Panics at compile time if the entity is not a log.
pub const fn require_log(of: &EntitySchema, is_log: bool) {
    if !is_log {
        let message = Message::new().with("[T257] `").with(of.entity);
        let message = message
            .with("` is not a log, because its `row_key` does not end with its stamp; declare a field ");
        panic!("{}", message.with("`stamp: LogStamp`, and write `#[row_key(stamp)]` (PAT-LOG-1)").as_str());
    }
}
