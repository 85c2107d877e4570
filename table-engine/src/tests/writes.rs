//! Tests that single writes and transactions follow the service's rules.

use super::*;

type MakeKind = fn(IfMatch) -> OperationKind;

const CONDITIONAL: [MakeKind; 3] = [
    |condition| OperationKind::Replace(row(2), condition),
    |condition| OperationKind::Merge(row(2), condition),
    OperationKind::Delete,
];

#[test]
fn ins_1_an_insert_of_an_existing_key_is_409_and_changes_nothing() {
    everywhere(|engine, settle| {
        write(engine, "1", insert(1)).unwrap();
        settle();
        let error = write(engine, "1", insert(2)).unwrap_err();
        assert_eq!(
            (outcome(&error), error.rule()),
            ((ErrorCode::EntityAlreadyExists, Some(0)), Some("INS-1"))
        );
        assert_eq!((error.table(), error.key()), (Some("Employee"), Some(("Sales", "1"))));
        assert_eq!(number(engine, "1"), Some(1));
    });
}

#[test]
fn opt_6_every_data_operation_on_a_missing_table_is_table_not_found() {
    let engine = Engine::in_memory();
    let key = EntityKey::new("Sales", "1").unwrap();
    let query = Query::new(KeyRange::ALL);
    for error in [
        write(&engine, "1", insert(1)).unwrap_err(),
        wait(engine.get(&employees(), &key, &Select::All)).unwrap_err(),
        wait(engine.query(&employees(), &query, None)).unwrap_err(),
    ] {
        assert_eq!((error.code(), error.table()), (ErrorCode::TableNotFound, Some("Employee")));
    }
}

#[test]
fn ifm_1_any_and_the_current_etag_are_accepted_and_give_a_new_etag() {
    everywhere(|engine, settle| {
        for (at, kind) in CONDITIONAL.iter().enumerate() {
            let row_key = at.to_string();
            let first = write(engine, &row_key, insert(1)).unwrap().unwrap();
            settle();
            let second =
                write(engine, &row_key, OperationKind::Replace(row(3), first.clone().into())).unwrap();
            assert_ne!(second, Some(first), "ETAG-5");
            let third = write(engine, &row_key, kind(second.unwrap().into())).unwrap();
            let deleted = matches!(kind(IfMatch::Any), OperationKind::Delete(_));
            assert_eq!(third.is_none(), deleted, "DEL-2");
            assert_eq!(number(engine, &row_key), (!deleted).then_some(2));
            assert_eq!(get(engine, "Sales", &row_key).map(|found| found.etag), third, "ETAG-2");
            if !deleted {
                write(engine, &row_key, kind(IfMatch::Any)).unwrap();
            }
        }
    });
}

#[test]
fn ifm_1_and_ifm_4_another_etag_is_412_and_del_3_a_missing_entity_is_404() {
    everywhere(|engine, settle| {
        let old = write(engine, "1", insert(1)).unwrap().unwrap();
        let current = write(engine, "1", upsert(1)).unwrap();
        settle();
        for kind in CONDITIONAL {
            for condition in [old.clone(), ETag::parse("W/\"bad\"").unwrap()] {
                let error = write(engine, "1", kind(condition.clone().into())).unwrap_err();
                assert_eq!(error.code(), ErrorCode::UpdateConditionNotSatisfied);
                let error = write(engine, "none", kind(condition.into())).unwrap_err();
                assert_eq!(error.code(), ErrorCode::ResourceNotFound);
            }
            // With `IfMatch::Any`, a write to a missing entity fails (UPD-2, UPS-4).
            assert_eq!(
                write(engine, "none", kind(IfMatch::Any)).unwrap_err().code(),
                ErrorCode::ResourceNotFound
            );
        }
        assert_eq!(get(engine, "Sales", "1").map(|found| found.etag), current);
    });
}

#[test]
fn upd_1_replace_removes_and_mrg_1_merge_keeps_omitted_properties() {
    everywhere(|engine, settle| {
        let both = || properties(&[("N", Value::Int32(1)), ("City", Value::from("Oslo"))]);
        for (row_key, kind, city) in [
            ("1", OperationKind::Replace(row(2), IfMatch::Any), false),
            ("2", OperationKind::InsertOrReplace(row(2)), false),
            ("3", OperationKind::Merge(row(2), IfMatch::Any), true),
            ("4", OperationKind::InsertOrMerge(row(2)), true),
        ] {
            write(engine, row_key, OperationKind::Insert(both())).unwrap();
            settle();
            write(engine, row_key, kind).unwrap();
            let stored = get(engine, "Sales", row_key).unwrap().row;
            assert_eq!(stored.view().find("City", &mut 0).unwrap().is_some(), city, "{row_key}");
            assert_eq!(number_of(&stored), 2);
        }
    });
}

#[test]
fn ups_2_upserts_insert_missing_rows_and_mrg_4_an_empty_merge_changes_the_etag() {
    let engine = in_memory();
    write(&engine, "1", upsert(1)).unwrap();
    let first = write(&engine, "2", OperationKind::InsertOrMerge(row(2))).unwrap();
    assert_eq!((number(&engine, "1"), number(&engine, "2")), (Some(1), Some(2)));
    let second = write(&engine, "2", OperationKind::Merge(properties(&[]), IfMatch::Any)).unwrap();
    assert_ne!(first, second);
    // A merge may change the type of a property (TYPE-12).
    write(&engine, "2", OperationKind::InsertOrMerge(properties(&[("N", Value::from("two"))]))).unwrap();
    let stored = get(&engine, "Sales", "2").unwrap().row;
    assert_eq!(stored.view().find("N", &mut 0).unwrap(), Some(ValueRef::String("two")));
}

#[test]
fn size_6_the_result_of_a_merge_must_fit_the_limits() {
    let engine = in_memory();
    let many = |prefix: &str, count: usize| {
        let names: Vec<String> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        properties(&names.iter().map(|name| (name.as_str(), Value::Boolean(true))).collect::<Vec<_>>())
    };
    write(&engine, "1", OperationKind::Insert(many("A", 252))).unwrap();
    for kind in [OperationKind::Merge(many("B", 1), IfMatch::Any), OperationKind::InsertOrMerge(many("B", 1))]
    {
        assert_eq!(write(&engine, "1", kind).unwrap_err().code(), ErrorCode::TooManyProperties);
    }
    write(&engine, "1", OperationKind::Merge(many("A", 252), IfMatch::Any)).unwrap();
    let large = |prefix: &str| {
        let names: Vec<String> = (0..10).map(|n| format!("{prefix}{n}")).collect();
        let value = Value::Binary(vec![0; 65_536]);
        properties(&names.iter().map(|name| (name.as_str(), value.clone())).collect::<Vec<_>>())
    };
    write(&engine, "2", OperationKind::Insert(large("A"))).unwrap();
    let error = write(&engine, "2", OperationKind::Merge(large("B"), IfMatch::Any)).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EntityTooLarge);
}

#[test]
fn eng_16_a_transaction_built_with_wider_limits_must_fit_the_engines() {
    let engine = in_memory();
    let error = submit(&engine, "Sales", vec![(&"k".repeat(513), insert(1))]).unwrap_err();
    assert_eq!((outcome(&error), error.rule()), ((ErrorCode::PropertyValueTooLarge, Some(0)), Some("KEY-8")));
    let keys: Vec<String> = (0..101).map(|n| n.to_string()).collect();
    let error =
        submit(&engine, "Sales", keys.iter().map(|key| (key.as_str(), insert(1))).collect()).unwrap_err();
    assert_eq!(error.rule(), Some("EGT-2"));
    let wide = with_table(EngineOptions::new().limits(Limits::WIDE).in_memory());
    submit(&wide, "Sales", vec![(&"k".repeat(513), insert(1))]).unwrap();
}

#[test]
fn key_9_a_required_entity_with_an_overlong_key_is_not_found() {
    let engine = in_memory();
    let long = "k".repeat(513);
    for kind in
        [delete(), OperationKind::Replace(row(1), IfMatch::Any), OperationKind::Merge(row(1), IfMatch::Any)]
    {
        for (partition_key, row_key) in [("Sales", &*long), (&*long, "1")] {
            let error = submit(&engine, partition_key, vec![(row_key, kind.clone())]).unwrap_err();
            assert_eq!(outcome(&error), (ErrorCode::ResourceNotFound, Some(0)), "{kind:?}");
        }
    }
}

#[test]
fn egt_9_a_transaction_that_fails_at_its_last_operation_applies_nothing() {
    everywhere(|engine, settle| {
        let etag = write(engine, "1", insert(1)).unwrap();
        write(engine, "2", insert(2)).unwrap();
        settle();
        let operations = vec![
            ("0", insert(0)),
            ("1", OperationKind::Replace(row(9), IfMatch::Any)),
            ("2", delete()),
            ("3", OperationKind::Replace(row(3), IfMatch::Any)),
        ];
        let error = submit(engine, "Sales", operations).unwrap_err();
        assert_eq!(outcome(&error), (ErrorCode::ResourceNotFound, Some(3))); // EGT-33, EGT-34
        assert_eq!(error.key(), Some(("Sales", "3")));
        assert_eq!(["0", "1", "2", "3"].map(|key| number(engine, key)), [None, Some(1), Some(2), None]);
        assert_eq!(get(engine, "Sales", "1").map(|found| found.etag), etag);
    });
}

#[test]
fn egt_6_all_kinds_in_one_transaction_and_egt_31_an_etag_for_each_but_the_delete() {
    everywhere(|engine, settle| {
        for key in ["1", "2", "3", "4"] {
            write(engine, key, upsert(0)).unwrap();
        }
        settle();
        let operations = vec![
            ("0", insert(10)),
            ("1", OperationKind::Replace(row(11), IfMatch::Any)),
            ("2", OperationKind::Merge(row(12), IfMatch::Any)),
            ("3", upsert(13)),
            ("4", delete()),
            ("5", OperationKind::InsertOrMerge(row(15))),
        ];
        let committed = submit(engine, "Sales", operations).unwrap();
        assert_eq!(
            committed.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, true, true, true, false, true]
        );
        let numbers = ["0", "1", "2", "3", "4", "5"].map(|key| number(engine, key));
        assert_eq!(numbers, [Some(10), Some(11), Some(12), Some(13), None, Some(15)]);
        submit(engine, "Sales", ["0", "1", "2", "3", "5"].map(|key| (key, delete())).into()).unwrap();
        assert_eq!(all(engine), []);
    });
}

#[test]
fn egt_12_an_empty_transaction_is_refused() {
    let error = submit(&in_memory(), "Sales", vec![]).unwrap_err();
    assert_eq!((error.code(), error.rule()), (ErrorCode::InvalidInput, Some("EGT-12")));
}

#[test]
fn con_5_exactly_one_of_several_writers_with_one_etag_succeeds() {
    everywhere(|engine, _| {
        let etag = write(engine, "1", insert(0)).unwrap().unwrap();
        let successes: usize = std::thread::scope(|scope| {
            let writers: Vec<_> = (1..=16)
                .map(|n| {
                    let kind = OperationKind::Replace(row(n), IfMatch::ETag(etag.clone()));
                    scope.spawn(move || match write(engine, "1", kind) {
                        Ok(_) => 1,
                        Err(error) if error.is_precondition_failed() => 0,
                        Err(error) => panic!("{error}"),
                    })
                })
                .collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).sum()
        });
        assert_eq!(successes, 1);
    });
}

#[test]
fn con_2_reads_see_acknowledged_writes_and_con_7_queries_whole_transactions() {
    everywhere(|engine, _| {
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for n in 0..200 {
                    submit(engine, "Sales", ["1", "2", "3"].map(|key| (key, upsert(n))).into()).unwrap();
                    assert_eq!(number(engine, "2"), Some(n));
                }
            });
            while !writer.is_finished() {
                let found = all(engine);
                assert!(found.windows(2).all(|pair| pair[0].2 == pair[1].2), "{found:?}");
                assert!(matches!(found.len(), 0 | 3));
            }
        });
    });
}

#[test]
fn eng_8_con_12_timestamps_increase_across_setbacks_deletes_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let open = |now: u64| {
        let clock = crate::Clock::new(move || now);
        with_table(options().clock(clock).open(folder.path()).unwrap())
    };
    let mut last = 0;
    let mut check = |etag: Option<ETag>| {
        let ticks = etag.unwrap().ticks().unwrap();
        assert!(ticks > last, "{ticks} after {last}");
        last = ticks;
    };
    let engine = open(1_000_000);
    check(write(&engine, "1", insert(1)).unwrap());
    check(write(&engine, "1", upsert(2)).unwrap());
    write(&engine, "1", delete()).unwrap();
    check(write(&engine, "1", insert(3)).unwrap());
    drop(engine);
    let engine = open(500); // the last Timestamp is known from the journal
    check(write(&engine, "1", upsert(4)).unwrap());
    wait(engine.delete_table(&employees())).unwrap();
    wait(engine.create_table(&employees())).unwrap();
    check(write(&engine, "1", insert(5)).unwrap());
    wait(engine.checkpoint()).unwrap();
    drop(engine);
    let engine = open(400); // the last Timestamp is known from the base
    check(write(&engine, "1", upsert(6)).unwrap());
}

#[test]
fn dq_13_a_lookup_returns_the_selected_properties_and_keeps_the_etag() {
    everywhere(|engine, settle| {
        let etag = write(
            engine,
            "1",
            OperationKind::Insert(properties(&[("N", Value::Int32(1)), ("City", Value::from("Oslo"))])),
        );
        settle();
        let key = EntityKey::new("Sales", "1").unwrap();
        let select = Select::names(["City", "None"]);
        let stored = wait(engine.get(&employees(), &key, &select)).unwrap().unwrap();
        assert_eq!((stored.row.view().len(), Some(&stored.etag)), (1, etag.unwrap().as_ref()));
        assert_eq!(stored.row.view().timestamp(), stored.etag.ticks().unwrap());
    });
}
