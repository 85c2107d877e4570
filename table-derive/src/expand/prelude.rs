//! Determines whether a module may have the attribute `no_implicit_prelude`.
//!
//! The bounds with the messages of a struct have the attribute `#[diagnostic::on_unimplemented]`. In a module without the prelude, rustc does not resolve the
//! name `diagnostic`, and the bounds would not compile, so they are not generated there. A derive cannot see the attributes of a module, so it looks for the
//! name in the source file. A file whose parent module has the attribute repeats it.

use std::cell::RefCell;
use std::path::PathBuf;

thread_local! {
    /// The last file, and the result for it. Most derives of a crate follow each other in one file.
    static LAST: RefCell<Option<(PathBuf, bool)>> = const { RefCell::new(None) };
}

/// Returns `false` if the source file of the declaration contains `no_implicit_prelude`.
pub(super) fn is_available() -> bool {
    let Some(file) = file() else { return true };
    LAST.with_borrow_mut(|last| match last {
        Some((known, result)) if *known == file => *result,
        _ => {
            let source = std::fs::read_to_string(&file).unwrap_or_default();
            let result = !source.contains("no_implicit_prelude");
            *last = Some((file, result));
            result
        }
    })
}

#[cfg(not(test))]
fn file() -> Option<PathBuf> {
    proc_macro::Span::call_site().local_file()
}

/// Tests expand declarations outside the compiler, which have no file.
#[cfg(test)]
const fn file() -> Option<PathBuf> {
    None
}
