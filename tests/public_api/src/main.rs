//! Compares the public API of the published packages with the lists in `docs/api`.
//!
//! A change to the public API appears in a review as a change to these lists: `cargo run -p public-api-snapshots -- --accept` writes them. Items
//! under `#[doc(hidden)]` are omitted, as are impls of derived, automatic and blanket traits.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use clap::Parser;
use public_api::Builder;

/// The version of rustdoc's JSON format that the `public-api` crate reads. Any release of the toolchain may change the format.
const FORMAT: u64 = 57;

const PACKAGES: [&str; 13] = [
    "table-core",
    "table-store",
    "table-engine",
    "table-derive",
    "table-patterns",
    "table-hierarchy",
    "table-advice",
    "table-wire",
    "table-azure",
    "table-cosmos",
    "table-server",
    "table-inspect",
    "table-explorer",
];

/// Compares the public API of each package with its list in `docs/api`.
#[derive(Parser)]
struct Options {
    /// Write the lists.
    #[arg(long)]
    accept: bool,
    /// Only these packages; all packages by default.
    packages: Vec<String>,
}

/// The environment variable that is set when cargo runs this program in place of rustdoc.
const AS_RUSTDOC: &str = "PUBLIC_API_AS_RUSTDOC";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(rustdoc) = env::var_os(AS_RUSTDOC) {
        return as_rustdoc(&rustdoc);
    }
    let options = Options::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let mut exit = ExitCode::SUCCESS;
    let folder = rustdoc(&root)?;
    for package in PACKAGES {
        if !options.packages.is_empty() && !options.packages.iter().any(|named| named == package) {
            continue;
        }
        let file = root.join("docs/api").join(package).with_extension("txt");
        let Some(list) = public_items(&folder, package)? else {
            println!(
                "{package}: not compared, since this toolchain's rustdoc does not write format {FORMAT}"
            );
            continue;
        };
        if options.accept {
            fs::write(&file, list)?;
            continue;
        }
        let differences = differences(&fs::read_to_string(&file).unwrap_or_default(), &list);
        println!("{package}: {} lines, {} differences", list.lines().count(), differences.len());
        if !differences.is_empty() {
            println!("{}", differences.join("\n"));
            println!("If that is meant: cargo run -p public-api-snapshots -- --accept {package}");
            exit = ExitCode::FAILURE;
        }
    }
    Ok(exit)
}

/// Returns one line for each public item of a package with all its features, or `None` if rustdoc writes another version of its format.
fn public_items(folder: &Path, package: &str) -> Result<Option<String>, Box<dyn Error>> {
    let json = folder.join(package.replace('-', "_")).with_extension("json");
    let format = serde_json::from_str::<serde_json::Value>(&fs::read_to_string(&json)?)?;
    if format.get("format_version").and_then(serde_json::Value::as_u64) != Some(FORMAT) {
        return Ok(None);
    }
    let builder = Builder::from_rustdoc_json(json);
    let api =
        builder.omit_blanket_impls(true).omit_auto_trait_impls(true).omit_auto_derived_impls(true).build()?;
    Ok(Some(format!("{api}")))
}

/// Writes the documentation of all packages as JSON and returns the folder. All packages are documented together, as in CI, to avoid recompiling dependencies
/// with different features.
fn rustdoc(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["doc", "--quiet", "--workspace", "--no-deps", "--all-features", "--lib"]);
    command
        .env(AS_RUSTDOC, env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()))
        .env("RUSTDOC", env::current_exe()?)
        .env("RUSTDOCFLAGS", "-Zunstable-options --output-format json");
    if !command.status()?.success() {
        return Err("cargo doc failed".into());
    }
    Ok(target.join("doc"))
}

/// Runs rustdoc with the arguments given by cargo, and skips packages without a list.
fn as_rustdoc(rustdoc: &OsStr) -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let name = arguments.iter().skip_while(|argument| *argument != "--crate-name").nth(1);
    if name.is_some_and(|name| !PACKAGES.iter().any(|package| *name == *package.replace('-', "_"))) {
        return Ok(ExitCode::SUCCESS);
    }
    // The JSON output is unstable. The variable that allows it is set for rustdoc alone, because setting it for cargo would rebuild the dependencies.
    let status = Command::new(rustdoc).args(arguments).env("RUSTC_BOOTSTRAP", "1").status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the lines that occur in only one of the two lists.
fn differences(accepted: &str, found: &str) -> Vec<String> {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (accepted, found) = (lines(accepted), lines(found));
    let gone = accepted.difference(&found).map(|line| format!("- {line}"));
    gone.chain(found.difference(&accepted).map(|line| format!("+ {line}"))).collect()
}
