//! Tests queue names, paths and metadata at their limits.

use tests::ask::Ask;

use crate::SERVER;

#[test]
fn que_2_and_3_names_and_paths_are_checked() {
    for name in ["ab", &"a".repeat(64)] {
        assert_eq!(Ask::queue("PUT", name).of(&SERVER).code(), (400, "OutOfRangeInput"), "{name}");
    }
    for name in
        ["Upper", "a_b", "a.b", "-ab", "ab-", "a--b", "a%20b", "%C3%A9aa", "a%00b", "a'b", "$logs", "a+b"]
    {
        assert_eq!(Ask::queue("PUT", name).of(&SERVER).code(), (400, "InvalidResourceName"), "{name}");
    }
    for name in ["abc", "a-b", "123", &"a".repeat(63)] {
        assert_eq!(Ask::queue("PUT", name).of(&SERVER).status, 201, "{name}");
    }
    for (verb, target) in [
        ("GET", "no-queue/messages"),
        ("GET", "no-queue/messages?peekonly=true"),
        ("DELETE", "no-queue/messages"),
        ("GET", "no-queue?comp=metadata"),
        ("PUT", "no-queue?comp=metadata"),
        ("GET", "no-queue?comp=acl"),
        ("DELETE", "no-queue"),
    ] {
        assert_eq!(Ask::queue(verb, target).of(&SERVER).code(), (404, "QueueNotFound"), "{verb} {target}");
    }
    let message = "<QueueMessage><MessageText>a</MessageText></QueueMessage>";
    let put = Ask::queue("POST", "no-queue/messages").body("application/xml", message).of(&SERVER);
    assert_eq!(put.code(), (404, "QueueNotFound"));
    for (verb, target) in [
        ("GET", "abc"),
        ("POST", "abc"),
        ("PATCH", "abc/messages"),
        ("POST", "abc/messages/id"),
        ("GET", "abc/messages/id"),
    ] {
        let answer = Ask::queue(verb, target).of(&SERVER);
        assert!((400..500).contains(&answer.status), "{verb} {target}: {}", answer.status);
    }
}

#[test]
fn que_17_names_of_metadata_are_identifiers_and_are_given_once() {
    let create = |name: &str, metadata: &[(&'static str, &str)]| {
        let ask = metadata.iter().fold(Ask::queue("PUT", name), |ask, (name, value)| ask.also(name, *value));
        ask.of(&SERVER)
    };
    assert_eq!(create("described", &[("x-ms-meta-owner", "Sales"), ("x-ms-meta-_1", " a  b ")]).status, 201);
    assert_eq!(create("described", &[("x-ms-meta-_1", "a  b"), ("x-ms-meta-owner", "Sales")]).status, 204);
    for other in
        [&[][..], &[("x-ms-meta-owner", "Sales")], &[("x-ms-meta-owner", "sales"), ("x-ms-meta-_1", "a  b")]]
    {
        assert_eq!(create("described", other).code(), (409, "QueueAlreadyExists"), "{other:?}");
    }
    let read = Ask::queue("GET", "described?comp=metadata").of(&SERVER);
    assert_eq!((read.header("x-ms-meta-owner"), read.header("x-ms-meta-_1")), (Some("Sales"), Some("a  b")));
    assert_eq!(read.header("x-ms-approximate-messages-count"), Some("0"));
    for target in ["twice", "described?comp=metadata"] {
        for second in ["x-ms-meta-a", "x-ms-meta-A"] {
            let set = Ask::queue("PUT", target).also("x-ms-meta-a", "1").also(second, "2").of(&SERVER);
            assert_eq!(set.code(), (400, "InvalidMetadata"), "{target} {second}: {}", set.body);
        }
    }
    let read = Ask::queue("GET", "described?comp=metadata").of(&SERVER);
    assert_eq!((read.header("x-ms-meta-a"), read.header("x-ms-meta-owner")), (None, Some("Sales")));
    for name in ["x-ms-meta-", "x-ms-meta-1a", "x-ms-meta-a-b", "x-ms-meta-a.b"] {
        assert_eq!(create("not-described", &[(name, "v")]).code(), (400, "InvalidMetadata"), "{name}");
    }
    assert_eq!(create("not-described", &[("x-ms-meta-a", "\u{e9}")]).code(), (400, "InvalidMetadata"));
    assert_eq!(
        create("not-described", &[("x-ms-meta-a", &"x".repeat(8_192))]).code(),
        (400, "MetadataTooLarge")
    );
    assert_eq!(create("large-metadata", &[("x-ms-meta-a", &"x".repeat(8_191))]).status, 201);
    assert_eq!(Ask::queue("GET", "not-described?comp=metadata").of(&SERVER).code(), (404, "QueueNotFound"));
    // In the list of queues, markup in metadata appears as text.
    assert_eq!(create("marked-up", &[("x-ms-meta-a", "<b>&</b>")]).status, 201);
    let list = Ask::queue("GET", "?comp=list&prefix=marked-up&include=metadata").of(&SERVER);
    assert!(list.body.contains("<Metadata><a>&lt;b&gt;&amp;&lt;/b&gt;</a></Metadata>"), "{}", list.body);
}
