//! Tests completion and hover by rust-analyzer inside the attributes of a declaration. The tests are skipped if rust-analyzer is not installed
//! (`rustup component add rust-analyzer`).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;
use std::{env, fs, thread};

/// The parts of the standard library to which the declaration refers. The real library is not used, because its sources may not be installed.
const STD: &str = "
pub mod macros { #[rustc_builtin_macro] pub macro derive($item:item) {} }
pub mod option { pub enum Option<T> { None, Some(T) } }
pub mod string { pub struct String {} }
pub mod prelude {
    pub mod v1 {
        pub use crate::macros::derive;
        pub use crate::option::Option::{self, None, Some};
        pub use crate::string::String;
    }
    pub mod rust_2024 { pub use super::v1::*; }
}
";

const DECLARATION: &str = r#"
use table_core::Entity;

#[derive(Entity)]
#[entity(table = "Company")]
#[partition_key(department)]
#[row_key("empid_", digits(6, id))]
#[index(ByEmail, unique, partition_key("email_", department), row_key(email), include(first_name))]
#[index_entity(ByName, at_most = 100, row_key("name_", first_name))]
struct Employee {
    /// The department of the employee.
    department: String,
    id: u32,
    first_name: String,
    /// The address for mail.
    email: String,
}
"#;

/// Pieces of the declaration, each with its replacement, in which `|` marks the cursor.
const COMPLETED: [(&str, &str); 9] = [
    ("#[partition_key(department)]", "#[partition_key(|)]"),
    ("#[partition_key(department)]", "#[partition_key(dep|)]"),
    ("#[partition_key(department)]", "#[partition_key(departme|, id)]"),
    ("\"empid_\", digits(6, id)", "\"empid_\", |"),
    ("\"empid_\", digits(6, id)", "\"empid_\", digits(6, i|)"),
    ("\"email_\", department", "\"email_\", de|"),
    ("row_key(email)", "row_key(em|)"),
    ("include(first_name)", "include(first_|)"),
    ("\"name_\", first_name", "\"name_\", fir|"),
];

/// Names in which `|` marks the cursor, each with the text that is shown for it.
const SHOWN: [(&str, &str); 5] = [
    ("#[partition_key(depart|ment)]", "department: String"),
    ("#[partition_key(depart|ment)]", "The department of the employee."),
    ("digits(6, i|d)", "id: u32"),
    ("row_key(ema|il)", "The address for mail."),
    ("include(first|_name)", "first_name: String"),
];

struct Installed {
    /// The path of the program that runs macros.
    server: PathBuf,
    /// The path of the compiled derive macro with which this test was built.
    derive: PathBuf,
}

fn installed() -> Option<Installed> {
    let answers = Command::new("rust-analyzer").arg("--version").output().is_ok_and(|it| it.status.success());
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8(sysroot.stdout).ok()?;
    let name = format!("rust-analyzer-proc-macro-srv{}", env::consts::EXE_SUFFIX);
    let server = Path::new(sysroot.trim()).join("libexec").join(name);
    let of_derive = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&format!("{}table_derive-", env::consts::DLL_PREFIX))
            && name.ends_with(env::consts::DLL_SUFFIX)
    };
    let own = env::current_exe().ok()?;
    let files = fs::read_dir(own.parent()?).ok()?.flatten().map(|entry| entry.path());
    let derive =
        files.filter(of_derive).max_by_key(|path| path.metadata().and_then(|it| it.modified()).ok())?;
    (answers && server.exists()).then_some(Installed { server, derive })
}

/// Returns `text` as a JSON string. The debug format of Rust is valid JSON, because the text is ASCII.
fn json(text: &str) -> String {
    format!("{text:?}")
}

/// Returns the content of `rust-project.json`. It lists the crates. rust-analyzer therefore does not run cargo and builds nothing.
fn project(folder: &Path, derive: &Path) -> String {
    let source = |package: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(package).join("src/lib.rs");
        json(root.canonicalize().unwrap().to_str().unwrap())
    };
    let file = |name: &str| json(folder.join(name).to_str().unwrap());
    format!(
        r#"{{"crates":[
            {{"display_name":"std","root_module":{},"edition":"2024","deps":[]}},
            {{"display_name":"table_derive","root_module":{},"edition":"2024","deps":[],"is_proc_macro":true,"proc_macro_dylib_path":{}}},
            {{"display_name":"table_store","root_module":{},"edition":"2024",
              "deps":[{{"crate":0,"name":"std"}},{{"crate":1,"name":"table_derive"}}]}},
            {{"display_name":"table_core","root_module":{},"edition":"2024","cfg":["feature=\"derive\""],
              "deps":[{{"crate":0,"name":"std"}},{{"crate":1,"name":"table_derive"}},{{"crate":2,"name":"table_store"}}]}},
            {{"display_name":"declared","root_module":{},"edition":"2024","env":{{"CARGO_MANIFEST_DIR":{}}},
              "deps":[{{"crate":0,"name":"std"}},{{"crate":3,"name":"table_core"}}]}}
        ]}}"#,
        file("std.rs"),
        source("table-derive"),
        json(derive.to_str().unwrap()),
        source("table-store"),
        source("table-core"),
        file("declared.rs"),
        json(folder.to_str().unwrap()),
    )
}

/// A running rust-analyzer with one open file.
struct Editor {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    file: String,
    count: usize,
    /// The sender whose drop ends the process: the thread that watches the process then kills it.
    _done: Sender<()>,
}

impl Editor {
    fn open(installed: &Installed) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("analyzer");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("std.rs"), STD).unwrap();
        fs::write(folder.join("declared.rs"), DECLARATION).unwrap();
        fs::write(folder.join("rust-project.json"), project(&folder, &installed.derive)).unwrap();
        let mut command = Command::new("rust-analyzer");
        command.current_dir(&folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let file = json(&format!("file://{}", folder.join("declared.rs").display()));
        let mut editor = Self { input, output, file, count: 0, _done: watch(child) };
        let linked = json(folder.join("rust-project.json").to_str().unwrap());
        let server = json(installed.server.to_str().unwrap());
        editor.ask(
            "initialize",
            &format!(
                r#"{{"processId":null,"rootUri":null,"capabilities":{{"experimental":{{"serverStatusNotification":true}}}},
                "initializationOptions":{{"linkedProjects":[{linked}],"checkOnSave":false,
                "procMacro":{{"enable":true,"server":{server}}},"cachePriming":{{"enable":false}}}}}}"#
            ),
        );
        editor.say("initialized", "{}");
        let (file, text) = (editor.file.clone(), json(DECLARATION));
        editor.say(
            "textDocument/didOpen",
            &format!(r#"{{"textDocument":{{"uri":{file},"languageId":"rust","version":0,"text":{text}}}}}"#),
        );
        while !editor.hear().contains("\"quiescent\":true") {}
        editor
    }

    fn send(&mut self, message: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{message}", message.len()).unwrap();
        self.input.flush().unwrap();
    }

    fn say(&mut self, method: &str, parameters: &str) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{parameters}}}"#));
    }

    fn hear(&mut self) -> String {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "rust-analyzer ended");
            match line.trim().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("Content-Length") => {
                    length = value.trim().parse().unwrap();
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    fn ask(&mut self, method: &str, parameters: &str) -> String {
        self.count += 1;
        let id = self.count;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{parameters}}}"#));
        let answer = format!(r#""id":{id},"#);
        loop {
            let heard = self.hear();
            if heard.contains(&answer) && !heard.contains("\"method\":") {
                return heard;
            }
        }
    }

    /// Replaces `piece` in the declaration with `changed`. Returns the response for the position of the `|` in `changed`.
    fn ask_at(&mut self, method: &str, piece: &str, changed: &str) -> String {
        assert!(DECLARATION.contains(piece), "{piece}");
        let text = DECLARATION.replacen(piece, changed, 1);
        let (before, _) = text.split_once('|').unwrap();
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap().len();
        let (file, text) = (self.file.clone(), json(&text.replacen('|', "", 1)));
        self.count += 1;
        let version = self.count;
        self.say(
            "textDocument/didChange",
            &format!(r#"{{"textDocument":{{"uri":{file},"version":{version}}},"contentChanges":[{{"text":{text}}}]}}"#),
        );
        self.ask(
            method,
            &format!(
                r#"{{"textDocument":{{"uri":{file}}},"position":{{"line":{line},"character":{character}}}}}"#
            ),
        )
    }
}

/// Kills the process when the returned sender is dropped, or after ten minutes if the test hangs. Reads from the process then fail.
fn watch(mut child: Child) -> Sender<()> {
    let (done, over) = mpsc::channel();
    thread::spawn(move || {
        let _ = over.recv_timeout(Duration::from_secs(10 * 60));
        let _ = child.kill();
        let _ = child.wait();
    });
    done
}

#[test]
fn names_in_attributes_are_completed_and_shown() {
    let Some(installed) = installed() else {
        eprintln!("skipped: rust-analyzer is not installed");
        return;
    };
    let mut editor = Editor::open(&installed);
    for (piece, changed) in COMPLETED {
        let answer = editor.ask_at("textDocument/completion", piece, changed);
        for field in ["department", "id", "first_name", "email"] {
            assert!(answer.contains(&format!(r#""label":"{field}""#)), "no `{field}` at {changed}: {answer}");
        }
    }
    for (name, shown) in SHOWN {
        let answer = editor.ask_at("textDocument/hover", &name.replace('|', ""), name);
        assert!(answer.contains(shown), "no `{shown}` at {name}: {answer}");
    }
}
