#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tests::fuzz::run("request", bytes));
