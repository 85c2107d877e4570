//! Tests table layouts whose keys are names joined with separators, or escaped in a program-specific way. Each comment cites the class or function from which
//! the layout was taken.

#![expect(clippy::struct_field_names, reason = "the names are those of the published programs")]

use pollster::block_on;
use table_core::{Engine, Entity, ErrorCode, TableStoreExt};
use uuid::Uuid;

use super::{both_ways, stored};

const ID: Uuid = Uuid::from_u128(0xABC);

/// The state of a Bot Framework conversation. In the `RowKey`, each of the characters `/`, `\`, `#` and `?` is replaced with a letter between bars
/// (`BotBuilder-Azure`, functions `BotDataEntity.GetEntityKey` and `StringExtensions.SanitizeForAzureKeys`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "BotData")]
#[partition_key(channel_id, ":conversation")]
#[row_key(bars(conversation_id))]
struct ConversationData {
    #[property(also)]
    channel_id: String,
    #[property(also)]
    conversation_id: String,
    data: Vec<u8>,
}

/// The state of a user in a conversation. The `RowKey` contains the identifiers of both. Each identifier may contain the separator `:`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "BotData", allow(ambiguous_row_key, reason = "the layout of another program"))]
#[partition_key(channel_id, ":private")]
#[row_key(bars(conversation_id), ":", bars(user_id))]
struct PrivateConversationData {
    channel_id: String,
    conversation_id: String,
    user_id: String,
    data: Vec<u8>,
}

#[test]
fn letters_between_bars() {
    let of = |conversation: &str| ConversationData {
        channel_id: "msteams".to_owned(),
        conversation_id: conversation.to_owned(),
        data: vec![1],
    };
    both_ways(&of("19:abc/thread#7"), ("msteams:conversation", "19:abc|s|thread|h|7"));
    let private = PrivateConversationData {
        channel_id: "emulator".to_owned(),
        conversation_id: "a/b".to_owned(),
        user_id: "29:x?".to_owned(),
        data: vec![2],
    };
    both_ways(&private, ("emulator:private", "a|s|b:29:x|q|"));
    block_on(async {
        let bots = stored!(ConversationData, [of("a/b")]);
        let found = bots.get(ConversationData::key("msteams", "a/b")).await.unwrap().unwrap();
        assert_eq!(found.value(), &of("a/b"));
        // The original program would store both conversations under the same key.
        assert_eq!(bots.insert(&of("a|s|b")).await.unwrap_err().code(), ErrorCode::KeyEncoding);
    });
}

/// A member of an Orleans cluster. The `RowKey` is `{address}-{port}-{generation}` (function `SiloInstanceTableEntry.ConstructRowKey`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansSiloInstances")]
#[partition_key(deployment_id)]
#[row_key(without('-', address), "-", without('-', port), "-", generation)]
struct SiloInstance {
    #[property(also)]
    deployment_id: String,
    #[property(also)]
    address: String,
    #[property(also)]
    port: String,
    #[property(also)]
    generation: String,
    status: String,
}

/// The version of the cluster membership, in the same partition as the members (`TABLE_VERSION_ROW`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "OrleansSiloInstances")]
#[partition_key(deployment_id)]
#[row_key("VersionRow")]
struct MembershipVersion {
    #[property(also)]
    deployment_id: String,
    membership_version: String,
}

#[test]
fn members_of_a_cluster() {
    let of = |port: &str| SiloInstance {
        deployment_id: "shop".to_owned(),
        address: "10.0.0.4".to_owned(),
        port: port.to_owned(),
        generation: "252461387".to_owned(),
        status: "Active".to_owned(),
    };
    both_ways(&of("11111"), ("shop", "10.0.0.4-11111-252461387"));
    let version = MembershipVersion { deployment_id: "shop".to_owned(), membership_version: "7".to_owned() };
    both_ways(&version, ("shop", "VersionRow"));
    block_on(async {
        let silos = stored!(SiloInstance, [of("11111"), of("11112")]);
        silos.store().table::<MembershipVersion>().insert(&version).await.unwrap();
        let on_host = SiloInstance::rows("shop").address_is("10.0.0.4");
        assert_eq!(silos.query(on_host).collect().await.unwrap(), [of("11111"), of("11112")]);
    });
}

/// An answer to a quiz question. The `RowKey` consists of the question number, without leading zeros, and the user (class `AnswerEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Answers")]
#[partition_key(game_id)]
#[row_key(unpadded(question_index), "_", username)]
struct Answer {
    #[property(also)]
    game_id: String,
    #[property(also)]
    question_index: i32,
    #[property(also)]
    username: String,
    answer: i32,
}

/// The role of a person at an event. The `PartitionKey` is the person, and the `RowKey` contains the event and the role (class `EventRoleEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "EventRoles")]
#[partition_key(person_id)]
#[row_key(without('|', event_id), "|", role_id)]
struct EventRole {
    person_id: String,
    event_id: String,
    role_id: String,
    role: String,
}

/// An event caused by a user. The `PartitionKey` is `{name}|{user}`, and the `RowKey` is `{event}|{guid}` (interface `IEventRecord` in a TypeScript client).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Events")]
#[partition_key(without('|', name), "|", user_id)]
#[row_key(without('|', event), "|", id)]
struct UserEvent {
    name: String,
    user_id: String,
    event: String,
    id: Uuid,
    session_id: String,
}

/// A matter handled by a law firm. The `RowKey` consists of a GUID, `$` and the matter identifier (class `MatterInformation`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Matters")]
#[partition_key(name)]
#[row_key(id, "$", matter_id)]
struct Matter {
    name: String,
    id: Uuid,
    matter_id: String,
    status: String,
}

/// A reminder of a bot. The `RowKey` consists of the conversation, which may contain the separator `_`, and a GUID (class `ReminderEntity`).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Reminders")]
#[partition_key(user_id)]
#[row_key(conversation, "_", id)]
struct BotReminder {
    user_id: String,
    conversation: String,
    id: Uuid,
    text: String,
}

/// A resource of an Azure custom provider. The `PartitionKey` is `{subscription}:{group}:{provider}` (function `CreateCustomResource` in a sample of
/// Azure Custom Providers).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "CustomResource")]
#[partition_key(without(':', subscription), ":", without(':', group), ":", provider)]
#[row_key(name)]
struct CustomResource {
    subscription: String,
    group: String,
    provider: String,
    name: String,
}

/// A shortened URL. The `PartitionKey` is the first letter of the short name (class `ShortUrl` in the URL shortener for Azure Functions).
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "urls")]
#[partition_key(first(1, short_url))]
#[row_key(short_url)]
struct ShortUrl {
    short_url: String,
    url: String,
}

/// A step of a workflow, as written by the function `saveStep` in a published JavaScript store. The `PartitionKey` is `{tenant}_{workflow}`.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Steps")]
#[partition_key(without('_', tenant_id), "_", workflow_id)]
#[row_key(step_id)]
struct WorkflowStep {
    #[property(also)]
    tenant_id: String,
    #[property(also)]
    workflow_id: String,
    step_id: String,
    step_name: String,
}

#[test]
fn names_with_a_separator() {
    let answer =
        Answer { game_id: "g1".to_owned(), question_index: 7, username: "ada_l".to_owned(), answer: 2 };
    both_ways(&answer, ("g1", "7_ada_l"));
    let role = EventRole {
        person_id: "p1".to_owned(),
        event_id: "e1".to_owned(),
        role_id: "role-1".to_owned(),
        role: "EventAdmin".to_owned(),
    };
    both_ways(&role, ("p1", "e1|role-1"));
    let event = UserEvent {
        name: "chat".to_owned(),
        user_id: "u|1".to_owned(),
        event: "error".to_owned(),
        id: ID,
        session_id: "s".to_owned(),
    };
    both_ways(&event, ("chat|u|1", "error|00000000-0000-0000-0000-000000000abc"));
    let matter =
        Matter { name: "Will".to_owned(), id: ID, matter_id: "M$7".to_owned(), status: "Pending".to_owned() };
    both_ways(&matter, ("Will", "00000000-0000-0000-0000-000000000abc$M$7"));
    let reminder = BotReminder {
        user_id: "u1".to_owned(),
        conversation: "a_b".to_owned(),
        id: ID,
        text: "tea".to_owned(),
    };
    both_ways(&reminder, ("u1", "a_b_00000000-0000-0000-0000-000000000abc"));
    let resource = CustomResource {
        subscription: "s1".to_owned(),
        group: "rg".to_owned(),
        provider: "contoso".to_owned(),
        name: "r1".to_owned(),
    };
    both_ways(&resource, ("s1:rg:contoso", "r1"));
    both_ways(
        &ShortUrl { short_url: "docs".to_owned(), url: "https://contoso.com".to_owned() },
        ("d", "docs"),
    );
    let step = WorkflowStep {
        tenant_id: "t1".to_owned(),
        workflow_id: "w_1".to_owned(),
        step_id: "step-1".to_owned(),
        step_name: "send".to_owned(),
    };
    both_ways(&step, ("t1_w_1", "step-1"));
    block_on(async {
        let roles = stored!(EventRole, [role.clone()]);
        let at_event = roles.query(EventRole::rows("p1").event_id_is("e1")).collect().await.unwrap();
        assert_eq!(at_event, [role]);
        let urls = stored!(ShortUrl, [ShortUrl { short_url: "docs".to_owned(), url: "x".to_owned() }]);
        assert!(urls.get(ShortUrl::key("docs")).await.unwrap().is_some());
    });
}
