//! Tests the rendered pages in a browser: their width, their contrast and their pictures, and that no button runs code.

use std::fs;
use std::process::Command;

use crate::{pages, program, rendered, skip};

const PROGRAM: &str = include_str!("measure.html");

#[test]
fn every_page_fits_and_can_be_read_in_light_and_dark_themes() {
    let Some(folder) = rendered() else { return };
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let Some(chromium) = known.iter().find_map(|name| program(name)) else {
        return skip("Chromium is not installed");
    };
    let list = format!("[{}]", pages().iter().map(|page| format!("{page:?}")).collect::<Vec<_>>().join(", "));
    let measure = folder.join("measure.html");
    fs::write(&measure, PROGRAM.replacen("of PAGES)", &format!("of {list})"), 1)).unwrap();

    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new(chromium);
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--allow-file-access-from-files", "--virtual-time-budget=600000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", measure.display()));
    let output = command.output().unwrap();
    let page = String::from_utf8_lossy(&output.stdout);
    let lines = page.split_once("<pre id=\"faults\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (lines, _) = lines.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    assert!(lines.starts_with("measured"), "{lines}");
    assert_eq!(lines, "measured", "faults of the rendered pages");
}
