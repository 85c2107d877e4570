//! Method names that pattern handles do not have. Calling one is a compile error whose message lists the handle's methods.

use table_core::__private::Refused;
use table_core::{__refused_by_name, __refused_methods};

use crate::feed::Feed;
use crate::migrate::Migration;
use crate::outbox::Outbox;
use crate::periods::PeriodTables;
use crate::series::{Series, SeriesTable};
use crate::view::{View, ViewTable};

/// Declares handle methods that cannot be called. They are bound by a trait that no handle implements, so a call is a compile error with the trait's message.
/// Methods in the first list, whose names also occur in `TableStoreExt` or `Iterator`, have a placeholder for each argument; those in the second can be called
/// with any arguments.
macro_rules! refused_of_handle {
    ($(#[$docs:meta])* $bound:ident, $label:literal, $note:literal: [$($of:ident $(: $limit:ident)?),*] $handle:ty, $what:literal:
        $($counted:ident($($value:tt),*))*; $($name:ident)*) => {
        $(#[$docs])*
        #[diagnostic::on_unimplemented(message = $what, label = $label, note = $note)]
        pub trait $bound: Refused {}

        impl<$($of $(: $limit)?),*> $handle {
            __refused_methods! { $bound: $($counted($($value),*))*; }
        }

        impl<$($of $(: $limit)?),*> $handle
        where
            Self: $bound,
        {
            __refused_by_name! { $($name)* }
        }
    };
}

refused_of_handle! {
    /// The bound on methods that other libraries offer for series. No handle satisfies it, so calling one is a compile error with this message.
    OfSeries,
    "write `set(&entity, slot, value)`, `increment(&entity, slot, by)`, `get_slot(key, slot)` or `query(rows)`",
    "a slot is a number, the position of its name in `SLOTS`; `table()` returns the table of the rows":
    [E: Series, S, O] SeriesTable<E, S, O>, "[T260] a table of series has no method of this name: it writes and reads slots":
    update(_, _) put(_, _, _) insert(_) patch(_) find(_) sum(_) add(_, _);
    incr inc incr_by increment_by increment_one decrement add_to set_slot put_slot update_slot push append record slot slots get_value value get_many
        set_many range read write hincrby hset upsert_slot
}

refused_of_handle! {
    /// The bound on methods that other libraries offer for views. No handle satisfies it, so calling one is a compile error with this message.
    OfView,
    "write `table().await?.get(…)` to read a row, `catch_up(100)` to apply changes, or `rebuild().run()` to fill the view",
    "`table().await?.query(…).collect()` reads several rows; a service calls `catch_up` in a loop":
    [V: View, S] ViewTable<V, S>, "[T260] a view has no method of this name: its rows are read by its table, and follow the changes of their sources":
    query(_) scan(_) refresh() reload() update() insert(_) find(_) all() count();
    get get_many get_all read rows list fetch select run start sync sync_all catch_up_all process poll materialize rebuild_all refresh_all
        refresh_materialized_view populate backfill build
}

refused_of_handle! {
    /// The bound on table methods that period tables do not have. No handle satisfies it, so calling one is a compile error with this message.
    OfPeriods,
    "write `entities_of(instant).await?` first, the handle of the table of one period",
    "`insert(&entity)` and `query(selection, from, until)?` find the tables by the instants; `prepare()` creates tables, and `expire()` drops them":
    [E, S] PeriodTables<E, S>, "[T260] tables of periods have no method of this name: an entity is in the table of its period":
    update(_, _) delete(_, _) upsert(_) put(_) save(_) patch(_) scan(_) count() all() filter(_) find(_);
    get get_many get_as exists replace merge insert_or_replace insert_or_merge bulk transaction unit table current today create create_if_missing
        create_tables cleanup purge drop_expired remove remove_expired
}

refused_of_handle! {
    /// The bound on queue methods that an outbox does not have. No handle satisfies it, so calling one is a compile error with this message.
    OfOutbox,
    "write `unit.add_step(key, Step::call(&message)?)?`, in the unit that changes the entity",
    "`Worker::new(outbox).handler(…)` receives the messages: its `run` processes them":
    [S, Q] Outbox<S, Q>, "[T260] an outbox has no method of this name: a message is a step of a unit, and is written with it":
    commit() send(_) add(_);
    send_message publish enqueue emit dispatch push add_message add_step produce post schedule notify receive poll subscribe run process
        start deliver relay
}

refused_of_handle! {
    /// The bound on methods that other libraries offer for migrations. No handle satisfies it, so calling one is a compile error with this message.
    OfMigration,
    "write `while migration.step().await? {{}}`",
    "each step copies a page of rows, and `position()` is where to `resume`; `checksums()` compares the two tables":
    [S, T] Migration<S, T>, "[T260] a migration has no method of this name: it copies page by page":
    next() all() go();
    run execute migrate start copy copy_all up apply perform finish run_to_end migrate_all
}

refused_of_handle! {
    /// The bound on methods that other libraries offer for feeds. No handle satisfies it, so calling one is a compile error with this message.
    OfFeed,
    "write `read(table, &partition_key, &cursor, 100)`, which reads the changes of one partition after a cursor",
    "`partitions(&table)` lists the partitions that have a feed; a view or a follower reads all of them":
    [S] Feed<S>, "[T260] a feed has no method of this name: it is read from a position, partition by partition":
    next() all() map(_);
    subscribe watch changes stream listen poll on_change read_all follow tail get_records events consume observe receive get_shard_iterator
}
