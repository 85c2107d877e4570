//! The names of the properties that contain the chunks of a value.

/// The maximum number of chunks for one value. It follows from the maximum entity size, 1 MiB (SIZE-1).
pub const MOST_CHUNKS: usize = 16;

/// Returns the name of the property that contains the chunk with index `at`.
pub(crate) fn chunk_name(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("{name}{at}") }
}
