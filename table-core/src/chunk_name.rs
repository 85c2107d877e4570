//! Names of the properties that store a chunked value.

/// The maximum number of chunks per value. It follows from the maximum entity size, 1 MiB (SIZE-1).
pub const MOST_CHUNKS: usize = 16;

/// Returns the name of the property that stores chunk number `at`, counted from zero.
pub(crate) fn chunk_name(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("{name}{at}") }
}
