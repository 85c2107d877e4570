//! Determines whether a module may have the attribute `no_implicit_prelude`.
//!
//! The bounds with the messages of a struct have the attribute `#[diagnostic::on_unimplemented]`. In a module without the prelude, rustc does not resolve the
//! name `diagnostic`, which has no other path and cannot be imported, so the bounds would not compile and are not generated there. A derive cannot see the
//! attributes of a module, so it looks for the name in the source file and in the files of the modules around it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::{env, fs};

thread_local! {
    /// The last file, and the result for it. Most derives of a crate follow each other in one file.
    static LAST: RefCell<Option<(PathBuf, bool)>> = const { RefCell::new(None) };
}

/// Returns `false` if the source file of the declaration, or the file of a module around it, contains the attribute `no_implicit_prelude`.
pub(super) fn is_available() -> bool {
    let Some(file) = file() else { return true };
    LAST.with_borrow_mut(|last| match last {
        Some((known, result)) if *known == file => *result,
        _ => {
            let root = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
            let result = !modules(&file, &root).iter().any(|file| is_without_prelude(file));
            *last = Some((file, result));
            result
        }
    })
}

/// Returns the file and the possible files of the modules around it, up to the folder of the package. In each folder on the way, these are the files of the crate
/// root, the `mod.rs` file of the folder, and the file next to the folder with the same name.
fn modules(file: &Path, root: &Path) -> Vec<PathBuf> {
    let mut files = vec![file.to_owned()];
    for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(root)) {
        files.extend(["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name)));
        files.push(folder.with_extension("rs"));
    }
    files
}

/// Returns `true` if a file contains the attribute, in brackets or as the last word of a `cfg_attr`.
fn is_without_prelude(file: &Path) -> bool {
    let source = fs::read_to_string(file).unwrap_or_default();
    source.contains("no_implicit_prelude]") || source.contains("no_implicit_prelude)")
}

#[cfg(not(test))]
fn file() -> Option<PathBuf> {
    std::path::absolute(proc_macro::Span::call_site().local_file()?).ok()
}

/// Tests expand declarations outside the compiler, which have no file.
#[cfg(test)]
const fn file() -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::modules;

    #[test]
    fn the_files_around_a_module_are_searched_up_to_the_package() {
        let files = modules(Path::new("/p/src/a/b.rs"), Path::new("/p"));
        for file in ["/p/src/a/b.rs", "/p/src/a/mod.rs", "/p/src/a.rs", "/p/src/lib.rs", "/p/src/main.rs"] {
            assert!(files.iter().any(|found| found == Path::new(file)), "{file} is not in {files:?}");
        }
        assert!(files.iter().all(|found| found.starts_with("/p") || found == Path::new("/p.rs")));
        assert_eq!(modules(Path::new("/elsewhere/a.rs"), Path::new("/p")), [Path::new("/elsewhere/a.rs")]);
    }
}
