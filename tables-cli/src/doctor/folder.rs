//! Diagnostic steps for a folder of the embedded engine.

use std::path::Path;

use table_core::{DynTableStore, Engine, ErrorCode};

use crate::doctor::Step;
use crate::doctor::account::find_table;
use crate::failure::WithCause;

pub(super) async fn examine(path: &Path, table: Option<&str>) -> Vec<Step> {
    let shown = path.display();
    let mut steps = Vec::new();
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => steps.push(Step::passed("folder", format!("{shown} exists"))),
        Ok(_) => {
            let help = "name the folder that contains the store";
            return vec![Step::failed("folder", format!("{shown} is a file"), help)];
        }
        Err(error) => {
            let help = "check the path; `tables import` and `tables copy --to` create a new store";
            return vec![Step::failed("folder", format!("{shown}: {error}"), help)];
        }
    }
    let engine = match Engine::open_read_only(path) {
        Ok(engine) => engine,
        Err(error) => {
            let help = match error.code() {
                ErrorCode::FolderNotOurs => "name a folder that the engine created",
                ErrorCode::Corrupted => "restore the store with `tables restore`, or export what can be read",
                ErrorCode::FormatTooNew => "install a newer version of `tables`",
                _ => "check that this user may read every file of the folder",
            };
            steps.push(Step::failed("read", WithCause(&error).to_string(), help));
            return steps;
        }
    };
    steps.push(Step::passed("read", "the store can be read"));
    // Opening and closing the folder shows whether another process has locked it.
    match Engine::open(path) {
        Ok(engine) => {
            if let Err(error) = engine.close().await {
                steps.push(Step::failed(
                    "write",
                    WithCause(&error).to_string(),
                    "check the disk and the free space",
                ));
                return steps;
            }
            steps.push(Step::passed("write", "no other process holds the folder"));
        }
        Err(error) if error.code() == ErrorCode::ReadOnly => {
            let fact =
                "the folder is a backup, which commands only read; `tables restore` creates a store from it";
            steps.push(Step::passed("write", fact));
        }
        Err(error) if error.code() == ErrorCode::FolderLocked => {
            let help = "end the process that has it open, or serve the folder with `tables serve`; commands that only read still work";
            steps.push(Step::failed("write", WithCause(&error).to_string(), help));
            return steps;
        }
        Err(error) => {
            steps.push(Step::failed(
                "write",
                WithCause(&error).to_string(),
                "check permissions and free space",
            ));
            return steps;
        }
    }
    steps.extend(find_table(&DynTableStore::new(engine), table).await);
    steps
}
