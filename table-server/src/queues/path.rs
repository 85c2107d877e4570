//! Paths of queues and messages.

/// The resource that a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target<'a> {
    /// The empty path: all queues.
    Names,
    /// `work` or `work/`.
    Queue(&'a str),
    /// `work/messages`.
    Messages(&'a str),
    /// `work/messages/id`: the name of the queue and the identifier of a message, which is empty in `work/messages/`.
    Message(&'a str, &'a str),
    /// Another path below a queue.
    Below(&'a str),
}

/// Parses a decoded path below the account.
///
/// A slash at the end is ignored only after the name of a queue: after `messages/`, it is followed by an empty identifier, not by all messages.
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
