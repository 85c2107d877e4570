//! Tests `backup` and `restore` on the command line, with folders and with a `table-server`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Account, refused, shown, tables};
use tables_cli::Exit;
use tables_cli::backup::Repository;
use tables_cli::backup::generation::{Contents, Generation};

/// Writes three rows in two partitions.
fn fill(at: &std::path::Path) {
    for (partition, row) in [("Sales", 1), ("Sales", 2), ("Marketing", 3)] {
        shown(at, &format!("put Company {partition} {row} Age=3{row} --store DB"));
    }
}

const CHECKSUM: &str = "count Company --checksum --store";

#[test]
fn every_form_is_listed_verified_and_restored_at_any_generation() {
    for form in ["rows", "files"] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fill(at);
        let before = shown(at, &format!("{CHECKSUM} DB"));
        let backup = format!("backup DIR/backups --store DB --format {form}");
        assert!(shown(at, &backup).contains("consistency: one moment"));
        shown(at, "delete Company --partition Sales --row 1 --store DB --yes");
        shown(at, "put Company Sales 4 Age=34 --store DB");
        let text = shown(at, &backup);
        let report = if form == "rows" { "1 table, 3 rows, 1 added, 0 changed, 1 deleted" } else { "kept" };
        assert!(text.contains(report), "{text}");
        let list = shown(at, "backup ls DIR/backups -o csv");
        let ids: Vec<_> = list.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(ids.len(), 2, "{list}");
        assert!(shown(at, "backup verify DIR/backups").starts_with("2 generations, "));

        // Restores the entire backup to a new folder.
        shown(at, "restore DIR/backups DIR/newest");
        assert_eq!(shown(at, &format!("{CHECKSUM} DIR/newest")), shown(at, &format!("{CHECKSUM} DB")));
        shown(at, &format!("restore DIR/backups DIR/first --generation {}", ids[0]));
        assert_eq!(shown(at, &format!("{CHECKSUM} DIR/first")), before);

        // Restores a key, a partition, and a table under another name. All of them are restored to the original store.
        let key = format!("restore DIR/backups DB Company --partition Sales --row 1 --generation {}", ids[0]);
        assert_eq!(shown(at, &key), "restored Company to Company: 1 row, 1 written, 0 deleted, verified\n");
        assert_eq!(shown(at, &key), "restored Company to Company: 1 row, 0 written, 0 deleted, verified\n");
        shown(at, "put Company Sales 1 Age=99 --store DB");
        let (_, text) = refused(at, &key);
        assert!(
            text.contains("has other rows than the backup, first ('Sales', '1'); pass `--replace`"),
            "{text}"
        );
        assert!(shown(at, &format!("{key} --replace")).contains("1 row, 1 written"));
        let partition = format!("restore DIR/backups DB Company --partition Sales --generation {}", ids[0]);
        assert!(shown(at, &format!("{partition} --keep")).contains("2 rows, 0 written, 0 deleted"));
        assert!(shown(at, &format!("{partition} --replace")).contains("2 rows, 0 written, 1 deleted"));
        assert_eq!(shown(at, &format!("{CHECKSUM} DB")), before);
        shown(at, "restore DIR/backups DB Company --rename Company2");
        assert_eq!(shown(at, "count Company2 --store DB -o csv"), "rows\n3\n");
        let none = "restore DIR/backups DB Company --partition Nowhere";
        assert!(matches!(tables(at, none).0, Ok(Exit::Nothing)));
    }
}

#[test]
fn an_account_is_backed_up_by_its_changes_and_restored_to_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    let (one, two) = (Account::start(), Account::start());
    shown(at, &format!("copy --store DB --to {}", one.string));
    let text = shown(at, &format!("backup DIR/backups --store {}", one.string));
    assert!(text.contains("each page of at most 1000 rows is of its own moment"), "{text}");
    shown(at, &format!("delete Company --partition Marketing --yes --store {}", one.string));
    let text = shown(at, &format!("backup DIR/backups --settle --store {}", one.string));
    assert!(text.contains("2 rows, 0 added, 0 changed, 1 deleted"), "{text}");
    assert!(text.contains("consistency: one moment for each table"), "{text}");
    let listed = shown(at, "backup ls DIR/backups -o csv");
    let moments: Vec<_> = listed.lines().skip(1).filter_map(|line| line.rsplit(',').next()).collect();
    assert_eq!(moments, ["each page", "one moment"], "{listed}");
    // The tables of an account are read one after another, so each table has a different read time.
    shown(at, &format!("put Orders web 9 Total=12 --store {}", one.string));
    shown(at, &format!("backup DIR/backups --settle --store {}", one.string));
    let listed = shown(at, "backup ls DIR/backups -o csv");
    assert!(listed.trim_end().ends_with(",one moment for each table"), "{listed}");
    shown(at, &format!("restore DIR/backups {}", two.string));
    let checksum = |store: &str| shown(at, &format!("{CHECKSUM} {store}"));
    assert_eq!(checksum(&one.string), checksum(&two.string));
    let (_, text) = refused(at, &format!("backup DIR/backups --store {}", two.string));
    assert!(text.contains("contains backups of"), "{text}");
}

#[test]
fn files_of_an_engine_are_not_mixed_with_files_of_the_engine_before_a_restore() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    let before = shown(at, &format!("{CHECKSUM} DB"));
    shown(at, "backup DIR/backups --store DB --format files");
    shown(at, "restore DIR/backups DIR/restored");
    // The newest generation contains rows, so it has no files to compare.
    shown(at, "backup DIR/backups --store DB --format rows");
    std::fs::remove_dir_all(at.join("db")).unwrap();
    std::fs::rename(at.join("restored"), at.join("db")).unwrap();
    shown(at, "put Company Sales 4 Age=34 --store DB");
    let (_, text) = refused(at, "backup DIR/backups --store DB --format files");
    assert!(text.contains("another engine"), "{text}");
    assert!(shown(at, "backup verify DIR/backups").starts_with("2 generations, "));
    shown(at, "restore DIR/backups DIR/first --generation ~1");
    assert_eq!(shown(at, &format!("{CHECKSUM} DIR/first")), before);
    shown(at, "backup DIR/others --store DB --format files");
}

#[test]
fn generations_are_kept_by_age() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    for _ in 0..3 {
        shown(at, "backup DIR/backups --store DB --format rows");
    }
    let text = shown(at, "backup DIR/backups --store DB --format rows --keep 2");
    assert!(text.ends_with("removed 2 generations\n"), "{text}");
    assert_eq!(shown(at, "backup ls DIR/backups -o csv").lines().count(), 3);
    shown(at, "restore DIR/backups DIR/restored");
}

#[test]
fn a_generation_from_a_clock_that_was_ahead_deletes_no_later_generation() {
    for form in ["rows", "files"] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fill(at);
        let backup = format!("backup DIR/backups --store DB --format {form}");
        shown(at, &backup);
        let backups = at.join("backups");
        let source = Repository::open(&backups).unwrap().source().to_owned();
        let ahead = chrono::Utc::now() + chrono::Duration::days(400);
        let contents = Contents::Rows { tables: Vec::new() };
        let generation = Generation { id: Generation::name(ahead), began: ahead, ended: ahead, contents };
        Repository::create(&backups, &source).unwrap().commit(&generation).unwrap();
        shown(at, &backup);
        // Two days have generations: the day shown by the fast clock, and today.
        let text = shown(at, &format!("{backup} --keep 2d"));
        assert!(text.ends_with("removed 2 generations\n"), "{form}: {text}");
        let repository = Repository::open(&backups).unwrap();
        let ids = repository.ids().unwrap();
        assert!(ids.len() == 2 && ids[0] == generation.id, "{form}: {ids:?}");
        let newest = repository.read(&ids[1]).unwrap();
        assert!(newest.id > generation.id && newest.began < ahead, "{form}: {newest:?}");
        shown(at, "restore DIR/backups DIR/restored");
        assert_eq!(shown(at, &format!("{CHECKSUM} DIR/restored")), shown(at, &format!("{CHECKSUM} DB")));
    }
}

#[test]
fn a_flipped_bit_is_reported_and_not_restored() {
    for (form, sub) in [("rows", "rows"), ("files", "files")] {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fill(at);
        shown(at, &format!("backup DIR/backups --store DB --format {form}"));
        let file = std::fs::read_dir(at.join("backups").join(sub)).unwrap().next().unwrap().unwrap().path();
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let (exit, text) = tables(at, "backup verify DIR/backups");
        assert!(exit.is_err_and(|failure| failure.exit() == Exit::Refused), "{form}");
        assert!(text.contains(&file.file_name().unwrap().to_string_lossy().into_owned()), "{form}: {text}");
        assert!(tables(at, "restore DIR/backups DIR/restored").0.is_err(), "{form}");
    }
}

#[test]
fn invalid_backups_and_restores_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    shown(at, "backup DIR/backups --store DB");
    shown(at, "put Company Sales 9 Age=39 --store DB");
    for (line, exit, message) in [
        ("backup DIR/db --store DB", Exit::Refused, "contains other files"),
        ("backup DIR/other --store DB --settle", Exit::Usage, "a backup of files is a snapshot"),
        ("backup DIR/other --store memory: --format files", Exit::Refused, "has no files to copy"),
        ("backup DIR/other --store DB --keep 7x", Exit::Usage, "such as 7d,4w,12m"),
        ("backup ls DIR/db", Exit::Refused, "contains no backups"),
        ("backup verify DIR/nowhere", Exit::Refused, "contains no backups"),
        ("restore DIR/nowhere DIR/to", Exit::Store, "FolderNotOurs"),
        (
            "restore DIR/backups DIR/to Nowhere",
            Exit::Refused,
            "has no table Nowhere; the generation has: Company",
        ),
        ("restore DIR/backups DIR/to --generation 1999", Exit::Refused, "has no generation 1999"),
        ("restore DIR/backups DIR/to --partition Sales", Exit::Usage, "name the table"),
        ("restore DIR/backups DB", Exit::Refused, "has other rows than the backup, first ('Sales', '9')"),
    ] {
        let (found, text) = refused(at, line);
        assert!(found == exit && text.contains(message), "{line}: {found:?} {text}");
    }
}

#[test]
fn a_url_names_the_place_of_backups() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fill(at);
    if cfg!(feature = "object-store") {
        shown(at, "backup file://DIR/backups --store DB --format rows");
        assert_eq!(shown(at, "backup verify file://DIR/backups"), "1 generation, 1 file, 3 rows\n");
        assert_eq!(shown(at, "backup ls DIR/backups -o csv").lines().count(), 2);
        shown(at, "restore file://DIR/backups DIR/restored");
        assert_eq!(shown(at, &format!("{CHECKSUM} DIR/restored")), shown(at, &format!("{CHECKSUM} DB")));
        let (exit, text) = refused(at, "backup ftp://host/path?sig=secret --store DB");
        assert!(exit == Exit::Usage && text.starts_with("ftp://host/path is not an object store"), "{text}");
    } else {
        for line in ["backup s3://bucket/path --store DB", "restore s3://bucket/path DIR/restored"] {
            let (exit, text) = refused(at, line);
            assert!(exit == Exit::Usage && text.contains("--features object-store"), "{text}");
        }
    }
}

#[test]
fn a_backup_succeeds_although_an_earlier_generation_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for row in ["1", "2"] {
        shown(at, &format!("put Things p {row} --store DB"));
        shown(at, "backup DIR/b --format rows --store DB");
    }
    let mut names: Vec<_> =
        std::fs::read_dir(at.join("b/generations")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    std::fs::write(&names[0], "nonsense").unwrap();
    shown(at, "put Things p 3 --store DB");
    for options in ["--format rows", "--format rows --keep 7d"] {
        let text = shown(at, &format!("backup DIR/b {options} --store DB"));
        assert!(text.contains("consistency: one moment"), "{text}");
    }
    std::fs::remove_file(&names[0]).unwrap();
    shown(at, "backup verify DIR/b");
}
