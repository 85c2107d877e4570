//! Tests that commands report the stored rows that a store omits from its pages.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A row whose RowKey, written by another program, has an unpaired surrogate.
const STRANGE: &str = r#"{"PartitionKey":"p","RowKey":"a\ud83d","Age":1}"#;
const ROW: &str = r#"{"PartitionKey":"p","RowKey":"b","Age":2}"#;
/// A row with a date-time before 1601, which Azurite accepts.
const EARLY: &str =
    r#"{"PartitionKey":"q","RowKey":"early","When@odata.type":"Edm.DateTime","When":"1200-01-01T00:00:00Z"}"#;
/// The beginning of the warning about an omitted row.
const SKIPPED: &str = "warning: an entity was skipped: ";
/// The checksum of the readable row.
const SUM: &str = "checksum 0607db29baa4971bc392c3d378c4bc63";
/// The schema of the table `Indexed`, whose entity `r` has one index row.
const SCHEMA: &str = r#"{"PartitionKey":"indexed","RowKey":"Person","Schema":"schema 1\nentity Person\ntable Indexed\nPartitionKey p text 0..512 ordered legal\nRowKey \"r\"\nproperty Email Edm.String\nindex ByEmail copies\nindex ByEmail RowKey \"email_\"\nindex ByEmail RowKey .Email text 0..512 ordered legal\nindex ByEmail keeps *\nindex ByEmail property Email Edm.String\n"}"#;
const PERSON: &str = r#"{"PartitionKey":"p","RowKey":"r","Email":"ada"}"#;
/// A part of a wide entity without its first part.
const PART: &str = r#"{"PartitionKey":"p","RowKey":"w_02","WriteId@odata.type":"Edm.Guid","WriteId":"7bd4a4ec-0c2c-4b1f-9fb0-7f9b5c6a1d10"}"#;
/// The response to a request for a missing table.
const MISSING: &str = r#"{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"The table does not exist."}}}"#;

/// The response to a request for a missing row.
const NO_ROW: &str = r#"{"odata.error":{"code":"ResourceNotFound","message":{"lang":"en-US","value":"The row does not exist."}}}"#;

/// An account. Its table `Things` has one readable row, and two rows that pages omit.
struct Account {
    /// The connection string.
    store: String,
    /// `true` if all rows of the table `Changed` can be read. Later, another program changes a row.
    is_readable: Arc<AtomicBool>,
}

/// Returns the response to a request, or `None` if the table does not exist.
fn body(request: &str, is_readable: bool) -> Option<String> {
    let rest = request.strip_prefix("GET /devstoreaccount1/")?;
    let name = rest.split(['(', '?', ' ']).next()?;
    // The server does not evaluate filters, and the tables have no intents.
    if ["%EF%BF%BCoutbox_", "%EF%BF%BCpoison_"].iter().any(|prefix| rest.contains(prefix)) {
        return Some("{\"value\":[]}".to_owned());
    }
    let rows = match name {
        "Tables" => vec![r#"{"TableName":"Things"}"#.to_owned(), r#"{"TableName":"Changed"}"#.to_owned()],
        "Things" => vec![STRANGE.to_owned(), ROW.to_owned(), EARLY.to_owned()],
        "Changed" if is_readable => vec![ROW.to_owned(), EARLY.replace("1200", "2000")],
        "Changed" => vec![ROW.to_owned(), EARLY.to_owned()],
        // Requests with a filter select the schemas of another table.
        "TablesLayouts" if !rest.contains("filter") => vec![SCHEMA.to_owned()],
        "Indexed" => vec![PERSON.replace("\"r\"", "\"email_ada\""), PERSON.to_owned(), EARLY.to_owned()],
        "Faulty" => vec![PART.to_owned(), STRANGE.to_owned()],
        "Slow" => {
            std::thread::sleep(Duration::from_millis(900));
            vec![STRANGE.to_owned(), ROW.to_owned()]
        }
        "Many" => {
            let strange = |number| STRANGE.replace("a\\ud83d", &format!("{number}\\ud83d"));
            (0..50).map(strange).chain([ROW.to_owned()]).collect()
        }
        _ => return None,
    };
    if !rest.starts_with(&format!("{name}(PartitionKey=")) {
        return Some(format!("{{\"value\":[{}]}}", rows.join(",")));
    }
    let found = rows.iter().find(|row| {
        let row: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
        row["RowKey"].as_str().is_some_and(|key| rest.contains(&format!("RowKey='{key}'")))
    });
    Some(found.map_or_else(|| NO_ROW.to_owned(), Clone::clone))
}

fn answer(mut stream: &TcpStream, is_readable: &AtomicBool) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut request) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line == "\r\n" {
            let body = body(&request, is_readable.load(Ordering::SeqCst));
            let body = body.unwrap_or_else(|| MISSING.to_owned());
            let status = if body.starts_with("{\"odata.error\"") { "404 Not Found" } else { "200 OK" };
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nETag: W/\"1\"\r\nx-ms-request-id: 1\r\n"
            );
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
            request.clear();
        }
        request.push_str(line.trim_start_matches("\r\n"));
        line.clear();
    }
}

impl Account {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_readable = Arc::new(AtomicBool::new(true));
        let flag = Arc::clone(&is_readable);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let flag = Arc::clone(&flag);
                std::thread::spawn(move || answer(&stream, &flag));
            }
        });
        let store = format!(
            "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=a2V5;TableEndpoint=http://{address}/devstoreaccount1"
        );
        Self { store, is_readable }
    }
}

/// The result of a command.
struct Done {
    code: Option<i32>,
    out: String,
    error: String,
}

fn command(program: &str, folder: &Path, store: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("TABLES_STORE", store);
    for name in ["HTTP_PROXY", "http_proxy"] {
        command.env_remove(name);
    }
    command
}

fn run(folder: &Path, store: &str, line: &str) -> Done {
    let words = line.split(' ');
    let done = command(env!("CARGO_BIN_EXE_tables"), folder, store).args(words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: done.status.code(), out: text(done.stdout), error: text(done.stderr) }
}

/// Tests that each omitted row has one warning, although some commands read the table several times, and that the report and the exit code tell the number of
/// omitted rows. Only the output of the command is on standard output.
#[test]
fn omitted_rows_are_reported_once_and_counted() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let row = r#"{"odata.etag":"W/\"datetime'0001-01-01T00%3A00%3A00Z'\"","PartitionKey":"p","RowKey":"b","Age":2}"#;
    let warning = "warning: 2 rows omitted, because the store cannot represent them as entities";
    let exported = format!("1 row exported, 2 rows omitted, {SUM}");
    let csv = "PartitionKey,RowKey,Timestamp,Age,Age@type\np,b,,2,Edm.Int32";
    let address = account.store.rsplit('=').next().unwrap();
    for (line, out, error) in [
        ("query Things --output json", row, warning),
        ("tail Things --partition p --output json", row, warning),
        ("count Things --output csv", "rows\n1", warning),
        ("heat Things --output csv", "partition,rows,bytes,share\np,1,26,100.0 %", warning),
        ("export Things a.jsonl", "", &exported),
        ("export Things a.csv", "", &exported),
        ("export Things - --format csv", csv, &exported),
        (
            "copy Things --to copied",
            &format!("copied Things to Things: 1 row, 2 rows omitted, verified, {SUM}"),
            "",
        ),
        (
            "copy Things --to b --mode merge",
            "copied Things to Things: 1 row, 2 rows omitted, not verified",
            "",
        ),
        ("sync Things --to c", "Things: 1 added, 0 changed, 0 deleted, 2 rows omitted", ""),
        ("sync Things --to c", "Things: 0 added, 0 changed, 0 deleted, 2 rows omitted", ""),
        (
            "sync Things --to c --dry-run",
            "would change Things: 0 added, 0 changed, 0 deleted, 2 rows omitted",
            "",
        ),
        (
            "delete Things --all --dry-run",
            &format!("would delete 1 row of Things in {address}, 2 rows omitted"),
            "",
        ),
    ] {
        let done = run(folder.path(), &account.store, line);
        assert_eq!((done.code, done.out.trim_end()), (Some(5), out), "{line}: {}", done.error);
        let (warnings, rest): (Vec<_>, Vec<_>) =
            done.error.lines().partition(|line| line.contains("skipped"));
        let is_of = |warning: &str, key| warning.starts_with(SKIPPED) && warning.contains(key);
        assert!(
            warnings.len() == 2
                && is_of(warnings[0], "table `Things`; PartitionKey 'p', RowKey 'a\u{fffd}'")
                && is_of(warnings[1], "table `Things`; PartitionKey 'q', RowKey 'early'"),
            "{line}: {}",
            done.error
        );
        assert_eq!(rest.join("\n"), error, "{line}");
    }
    // The number is also known if an earlier command copied the rows.
    let copy = "copy Things --to d --state s --no-verify";
    let first = run(folder.path(), &account.store, copy);
    assert_eq!(first.out, "copied Things to Things: 1 row, 2 rows omitted, not verified\n");
    let second = run(folder.path(), &account.store, copy);
    let known = "Things was copied to Things before: 1 row, 2 rows omitted, not verified";
    assert!(second.code == Some(5) && second.out.starts_with(known), "{}{}", second.out, second.error);
    let exported = std::fs::read_to_string(folder.path().join("a.jsonl")).unwrap();
    assert!(exported.contains("\"b\"") && exported.lines().count() == 1, "{exported}");
}

/// Tests the commands that read a table several times, or only its first rows: each omitted row counts once.
#[test]
fn commands_that_examine_a_table_tell_the_number_of_omitted_rows() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let checked = "table,entity,pattern,state,detail\nIndexed,Person,index ByEmail,";
    for (line, out, omitted) in [
        ("check Things --output csv", "table,entity,pattern,state,detail", 2),
        ("check Indexed --output csv", &format!("{checked}ok,\"1 entities, 1 index row\""), 1),
        ("repair Indexed --output csv", &format!("{checked}repaired 0,"), 1),
        ("repair Indexed --dry-run --output csv", &format!("{checked}would repair 0,"), 1),
        (
            "describe Things --output csv",
            "No schema is stored for Things; keys are shown as they are stored.\nPartitionKey,RowKey,Timestamp,Age,Age@type\np,b,,2,Edm.Int32",
            2,
        ),
    ] {
        let done = run(folder.path(), &account.store, line);
        assert_eq!((done.code, done.out.trim_end()), (Some(5), out), "{line}: {}", done.error);
        let rows = if omitted == 1 { "1 row" } else { "2 rows" };
        let expected =
            format!("warning: {rows} omitted, because the store cannot represent them as entities");
        assert_eq!(done.error.lines().last(), Some(expected.as_str()), "{line}: {}", done.error);
    }
    // A fault is more important than the omitted rows, whose number is printed nevertheless.
    let done = run(folder.path(), &account.store, "check Faulty");
    assert_eq!(done.code, Some(3), "{}", done.error);
    assert!(
        done.error.contains("warning: 1 row omitted") && done.error.contains("error: 1 fault"),
        "{}",
        done.error
    );
}

/// Returns the response to a request for a page.
#[cfg(unix)]
fn page(address: &str, path: &str, cookie: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[cfg(unix)]
#[test]
fn the_explorer_tells_the_number_of_omitted_rows_on_the_page_and_at_its_end() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let mut explorer = command(env!("CARGO_BIN_EXE_tables"), folder.path(), &account.store)
        .arg("explore")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(explorer.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let (address, path) = url.trim().strip_prefix("http://").unwrap().split_once('/').unwrap();
    let opened = page(address, &format!("/{path}"), "");
    let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let shown = page(address, "/t/Things/p?pk=p", cookie.split(';').next().unwrap());
    assert!(shown.contains("<b>2 rows</b> omitted"), "{shown}");
    let interrupt = Command::new("kill").args(["-INT", &explorer.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let done = explorer.wait_with_output().unwrap();
    let error = String::from_utf8(done.stderr).unwrap();
    let expected =
        "warning: pages lacked 2 rows in total, because the store cannot represent them as entities";
    assert_eq!((done.status.code(), error.lines().last()), (Some(5), Some(expected)), "{error}");
}

/// Tests that a row that another program makes unreadable is not deleted from a backup or from a synchronised store.
#[test]
fn a_row_that_becomes_unreadable_is_kept() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let tables = |line: &str| {
        let done = run(folder.path(), &account.store, line);
        (done.code, done.out.lines().next().unwrap_or(&done.error).to_owned())
    };
    let backup = |is_changed: bool| {
        let (code, line) = tables("backup backups");
        let report = line.split_once(": ").unwrap_or_default().1.to_owned();
        let expected = if is_changed {
            "2 tables, 3 rows, 0 added, 0 changed, 0 deleted, 3 rows omitted"
        } else {
            "2 tables, 3 rows, 3 added, 0 changed, 0 deleted, 2 rows omitted"
        };
        assert_eq!((code, report.as_str()), (Some(5), expected));
    };
    backup(false);
    let synced = tables("sync Changed --to synced");
    assert_eq!(synced, (Some(0), "Changed: 2 added, 0 changed, 0 deleted".to_owned()));
    account.is_readable.store(false, Ordering::SeqCst);
    backup(true);
    for (line, expected) in [
        (
            "sync Changed --to synced --dry-run",
            "would change Changed: 0 added, 0 changed, 0 deleted, 1 row omitted",
        ),
        ("sync Changed --to synced", "Changed: 0 added, 0 changed, 0 deleted, 1 row omitted"),
        ("backup verify backups", "2 generations, 2 files, 3 rows, 3 rows omitted"),
    ] {
        assert_eq!(tables(line), (Some(5), expected.to_owned()), "{line}");
    }
    let (_, listed) = tables("backup ls backups --output json");
    assert!(listed.contains("0 deleted, 2 rows omitted"), "{listed}");
    let restored = "restored Changed to Changed: 2 rows, 2 written, 0 deleted, 1 row omitted, verified";
    assert_eq!(tables("restore backups restored Changed"), (Some(5), restored.to_owned()));
    for store in ["restored", "synced"] {
        let count = run(folder.path(), store, "count Changed --output csv");
        assert_eq!((count.code, count.out.as_str()), (Some(0), "rows\n2\n"), "{}", count.error);
    }
}

#[test]
fn the_warnings_of_a_command_are_limited() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let done = run(folder.path(), &account.store, "export Many a.csv");
    let lines: Vec<_> = done.error.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with(SKIPPED)).count(), 21, "{}", done.error);
    let expected = [
        "warning: an entity was skipped: further warnings are not printed".to_owned(),
        format!("1 row exported, 50 rows omitted, {SUM}"),
    ];
    assert_eq!(lines[20..], expected, "{}", done.error);
    assert_eq!((done.code, done.out.as_str()), (Some(5), ""));
}

/// Tests that a warning does not follow the progress display on the same line. `script` connects the program to a pseudo-terminal.
#[cfg(target_os = "linux")]
#[test]
fn warnings_do_not_mix_with_the_progress_display() {
    let (account, folder) = (Account::start(), tempfile::tempdir().unwrap());
    let line = format!("{} export Slow a.jsonl", env!("CARGO_BIN_EXE_tables"));
    let mut script = command("script", folder.path(), &account.store);
    let done = script.env("TERM", "xterm").args(["-qec", &line, "/dev/null"]).output().unwrap();
    let shown = String::from_utf8(done.stdout).unwrap();
    // The terminal moves to the beginning of a line, or clears it, before it shows other text.
    let parts: Vec<_> = shown.split(['\r', '\n']).flat_map(|part| part.split("\u{1b}[2K")).collect();
    let displays = |part: &&str| part.contains("rows exported, ");
    assert!(parts.iter().any(displays), "{shown:?}");
    assert!(parts.iter().any(|part| part.starts_with(SKIPPED)), "{shown:?}");
    assert!(!parts.iter().filter(|part| displays(part)).any(|part| part.contains("skipped")), "{shown:?}");
}
