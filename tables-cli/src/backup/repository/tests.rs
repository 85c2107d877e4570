//! Tests that backup storage belongs to one store and can be locked by only one command, and that its generations are named in order and can be found.

use super::*;

fn generation(began: DateTime<Utc>) -> Generation {
    named(Generation::name(began), began)
}

fn named(id: String, began: DateTime<Utc>) -> Generation {
    let contents = Contents::Rows { tables: Vec::new() };
    Generation { id, began, ended: began, contents }
}

#[test]
fn of_commands_that_begin_backups_at_once_one_writes() {
    for _ in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let (path, start) = (folder.path().join("backups"), std::sync::Barrier::new(4));
        let created: Vec<_> = std::thread::scope(|scope| {
            let begin = || {
                start.wait();
                Repository::create(&path, "account a")
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(begin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused = created.iter().filter_map(|found| found.as_ref().err()).map(ToString::to_string);
        let refused: Vec<_> = refused.collect();
        assert!(refused.iter().all(|text| text.starts_with("another `tables backup` writes")), "{refused:?}");
        assert!(created.iter().filter(|found| found.is_ok()).count() <= 1, "two commands write");
        drop(created);
        Repository::create(&path, "account a").unwrap();
    }
}

#[test]
fn a_folder_belongs_to_one_store_and_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backups");
    let first = Repository::create(&path, "account a").unwrap();
    let refused = Repository::create(&path, "account a").unwrap_err().to_string();
    assert!(refused.contains("another `tables backup` writes to"), "{refused}");
    drop(first);
    std::fs::rename(path.join(MARKER), path.join("BACKUPS.part")).unwrap();
    for folder in [GENERATIONS, ROWS, FILES] {
        std::fs::remove_dir(path.join(folder)).unwrap();
    }
    Repository::create(&path, "account a").unwrap();
    let refused = Repository::create(&path, "account b").unwrap_err().to_string();
    assert!(refused.contains("contains backups of account a, not of account b"), "{refused}");
    std::fs::write(folder.path().join("letter"), "Dear").unwrap();
    assert!(Repository::create(folder.path(), "a").unwrap_err().to_string().contains("contains other files"));
    assert!(Repository::open(folder.path()).unwrap_err().to_string().contains("contains no backups"));
}

/// Tests that a backup can be continued if an earlier release recorded the account's name without the endpoint that the connection string implies.
#[test]
fn backups_of_earlier_releases_are_continued() {
    let china = "https://contoso.table.core.chinacloudapi.cn";
    for (name, source, accepted) in [
        ("account contoso", "https://contoso.table.core.windows.net", true),
        ("account contoso", china, true),
        ("https://contoso.table.core.windows.net", china, false),
        ("account contoso", "https://contoso2.table.core.windows.net", false),
        ("account contoso", "data/contoso", false),
        ("the emulator", "http://127.0.0.1:10002/devstoreaccount1", true),
        ("the emulator", "http://127.0.0.1:10002/other", false),
        ("https://Contoso.table.core.windows.net:443/", "https://contoso.table.core.windows.net", true),
        ("https://fabrikam.table.core.windows.net/", "https://contoso.table.core.windows.net", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        drop(Repository::create(folder.path(), name).unwrap());
        assert_eq!(Repository::create(folder.path(), source).is_ok(), accepted, "{name}, {source}");
    }
}

#[test]
fn generations_are_named_by_time_and_found_by_a_prefix_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::create(folder.path(), "a").unwrap();
    assert!(repository.find(None).unwrap_err().to_string().contains("has no generation"));
    let one = "2026-11-25T21:05:09.123Z".parse().unwrap();
    repository.commit(&generation(one)).unwrap();
    // The clock has been set back by an hour.
    let earlier = one - Duration::hours(1);
    let two = named(repository.next_id(earlier).unwrap(), earlier);
    repository.commit(&two).unwrap();
    assert_eq!(repository.ids().unwrap(), ["20261125T210509.123Z", "20261125T210509.124Z"]);
    assert_eq!(repository.next_id(one).unwrap(), "20261125T210509.125Z");
    assert_eq!(repository.next_id(one + Duration::hours(1)).unwrap(), "20261125T220509.123Z");
    assert_eq!(repository.find(Some("20261125T210509.123")).unwrap(), generation(one));
    assert_eq!(repository.find(None).unwrap(), two);
    assert_eq!(repository.find(Some("~1")).unwrap(), generation(one));
    assert!(repository.find(Some("~2")).unwrap_err().to_string().contains("has no generation ~2"));
    assert!(repository.find(Some("2026")).unwrap_err().to_string().contains("matches 2 generations"));
    assert!(repository.find(Some("2025")).unwrap_err().to_string().contains("has no generation 2025"));
    repository.commit(&named("before-the-move".to_owned(), one)).unwrap();
    let refused = repository.next_id(one).unwrap_err().to_string();
    assert!(refused.contains("before-the-move") && refused.contains("is not a time"), "{refused}");
}
