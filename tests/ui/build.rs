//! The compiler's flags for the cases, set where the tests run: trybuild asks for another width of messages than while it compiles the
//! cases' dependencies, which would be compiled a second time for it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let flags = ["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"];
    println!("cargo::rustc-env=CARGO_ENCODED_RUSTFLAGS={}", flags.join("\u{1f}"));
}
