//! Queue and message paths.

/// The resource named by a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The empty path: all queues.
    Names,
    /// `work` or `work/`.
    Queue(&'a str),
    /// `work/messages`.
    Messages(&'a str),
    /// `work/messages/id`: a queue name and a message identifier, which is empty in `work/messages/`.
    Message(&'a str, &'a str),
    /// Any other path below a queue.
    Below(&'a str),
}

/// Parses a decoded path below the account.
///
/// A trailing slash is ignored only after a queue name: `messages/` addresses a message with an empty identifier, not all messages.
pub(crate) fn read(path: &str) -> Target<'_> {
    let mut parts = path.splitn(3, '/');
    let name = parts.next().unwrap_or_default();
    match (parts.next(), parts.next()) {
        _ if name.is_empty() => Target::Names,
        (None | Some(""), None) => Target::Queue(name),
        (Some("messages"), None) => Target::Messages(name),
        (Some("messages"), Some(id)) => Target::Message(name, id),
        _ => Target::Below(name),
    }
}
