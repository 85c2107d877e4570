//! Schemas as data. A schema is printed as text and compared with a changed schema (EVO rules).

use table_core::schema::{Compatibility, StoredSchema, compare_schemas};
use table_core::{Entity, ErrorCode, Result, TableStoreExt};

use crate::grid::Grid;
use crate::inputs::Inputs;
use crate::model::company::Employee;
use crate::model::company_versions::{next, wider};
use crate::recipe::{Recipe, Report};
use crate::store::Store;

pub(super) const RECIPE: Recipe<Inputs> = Recipe {
    name: "layout",
    question: "Can the next version of the program use the employees that this one stored?",
    schema: Employee::SCHEMA,
    run: |store, inputs| Box::pin(run(store, inputs)),
};

async fn run(store: &Store, _: &Inputs) -> Result<Report> {
    let stored = StoredSchema::of(Employee::SCHEMA);
    let mut answer = Grid::new(["Version", "Rule", "Compatibility", "Change", "What to do"]);
    let versions = [
        ("next", next::Employee::SCHEMA, Compatibility::NeedsBackfill),
        ("wider", wider::Employee::SCHEMA, Compatibility::NeedsRewrite),
    ];
    for (version, schema, expected) in versions {
        let evolution = compare_schemas(&stored, &StoredSchema::of(schema));
        assert_eq!(evolution.compatibility(), expected);
        for change in &evolution.changes {
            let rule = change.rule;
            answer.row([version, rule.id, &rule.compatibility.to_string(), &change.what, rule.advice]);
        }
    }

    // A program that opens the table compares its schema with the stored one. These calls bypass the meter, because the first run sends a different number of
    // requests than later runs.
    let store = store.unmetered();
    store.table::<Employee>().open().await?;
    let Err(refused) = store.table::<wider::Employee>().open().await else {
        panic!("old keys have six digits")
    };
    assert_eq!((refused.code(), refused.rule()), (ErrorCode::SchemaMismatch, Some("EVO-11")));
    let description = Employee::SCHEMA.to_string();
    Ok(Report::new("", answer)
        .note(description.trim_end().replace('\n', "\n  "))
        .note("Opening the table as the wider version:")
        .note(refused.to_string()))
}
