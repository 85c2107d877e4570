//! Sets the compiler flags for the UI cases. trybuild requests a different message width for the cases than for their dependencies. If the flags are the same
//! everywhere, cargo does not compile the dependencies twice.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let flags = ["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];
    println!("cargo::rustc-env=CARGO_ENCODED_RUSTFLAGS={}", flags.join("\u{1f}"));
}
