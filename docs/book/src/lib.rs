//! Tests of the code samples, pictures, cost tables and links in the book.
//!
//! `mdbook build docs/book` renders the chapters in this folder and the reference pages in `docs`. `cargo test -p book` compiles and runs every code sample as
//! a reader would copy it, and compares the pictures and cost tables with the committed ones. `TABLES_UPDATE=1 cargo test -p book` updates the pictures and
//! tables.

// Warnings in a sample are errors, because a reader who copies the sample would see them.
#![doc(test(attr(deny(warnings))))]

#[cfg(test)]
mod compare;
#[cfg(test)]
mod costs;
#[cfg(test)]
mod crates;
#[cfg(test)]
mod expansion;
#[cfg(test)]
mod forms;
#[cfg(test)]
mod guarantees;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod links;
#[cfg(test)]
mod names;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod passed_on;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod ratios;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod targets;
// The sample of `unique.md` and its tests.
#[cfg(test)]
mod unique;
#[cfg(test)]
mod updates;

/// The chapters, included as documentation tests.
#[cfg(doctest)]
mod chapters {
    macro_rules! chapters {
        ($($name:ident $file:literal)*) => {
            $(#[doc = include_str!(concat!("../", $file))] mod $name {})*
        };
    }

    chapters! {
        attributes "attributes.md"
        azure "azure.md"
        capacity "capacity.md"
        combining "combining.md"
        compare "../compare.md"
        evolution "evolution.md"
        explorer "explorer.md"
        first_steps "first-steps.md"
        from_azure_data_tables "from-azure-data-tables.md"
        from_electrodb "from-electrodb.md"
        from_sql "from-sql.md"
        keys "keys.md"
        limits "limits.md"
        operations "operations.md"
        own_codecs "own-codecs.md"
        pattern_copies "pattern-copies.md"
        pattern_indexes "pattern-indexes.md"
        pattern_large "pattern-large.md"
        pattern_logs "pattern-logs.md"
        pattern_outbox "pattern-outbox.md"
        pattern_parts "pattern-parts.md"
        pattern_periods "pattern-periods.md"
        pattern_sequences "pattern-sequences.md"
        pattern_series "pattern-series.md"
        pattern_views "pattern-views.md"
        platforms "platforms.md"
        questions "questions.md"
        reading "reading.md"
        refused "refused.md"
        running "running.md"
        tenants "tenants.md"
        testing "testing.md"
        tool "tool.md"
        values "values.md"
        which_pattern "which-pattern.md"
        writing "writing.md"
    }
}
