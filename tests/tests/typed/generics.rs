//! Tests generic entities. The schema of the keys is the same for all type arguments, and type parameters are the types of properties.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use table_core::embedded::Engine;
use table_core::{
    EdmType, Entity, ErrorCode, IfMatch, Projection, Property, Result, TableEntity, TableStoreExt,
};

/// An event. One of its type parameters is a property, and another is stored as JSON. It also has a const parameter in a type, levels, and two row key parts.
#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Events")]
#[partition_key(tenant, device)]
#[row_key("e_", at, "_", digits(4, number))]
struct Event<T: Property, D, const N: usize = 2>
where
    D: Serialize + DeserializeOwned,
{
    tenant: String,
    device: u32,
    at: u64,
    number: u16,
    payload: T,
    #[property(json)]
    details: D,
    #[property(json)]
    window: Window<N>,
    note: Option<T>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Window<const N: usize>(Vec<f64>);

type Reading = Event<f64, String>;
type Notice = Event<String, Vec<u8>, 3>;
type Listed = Event<f64, Vec<u8>>;

#[derive(Debug, PartialEq, Projection)]
#[projection(of = Reading)]
struct PayloadOnly {
    number: u16,
    payload: f64,
}

fn reading(number: u16) -> Reading {
    let payload = f64::from(number) / 2.0;
    Event {
        tenant: "contoso".to_owned(),
        device: 7,
        at: 1_000,
        number,
        payload,
        details: format!("number {number}"),
        window: Window(vec![payload; 2]),
        note: (number > 2).then_some(payload),
    }
}

#[test]
fn each_type_has_its_own_properties_and_all_have_one_key() {
    let edm = |schema: &table_core::schema::EntitySchema| {
        schema.properties.iter().map(|it| (it.name, it.edm, it.optional)).collect::<Vec<_>>()
    };
    assert_eq!(edm(Reading::SCHEMA)[0], ("Payload", EdmType::Double, false));
    assert_eq!(edm(Notice::SCHEMA)[0], ("Payload", EdmType::String, false));
    assert_eq!(edm(Notice::SCHEMA)[3], ("Note", EdmType::String, true));
    assert_eq!(Reading::SCHEMA.row_key, Notice::SCHEMA.row_key);
    assert_eq!(Reading::SCHEMA.entity, "Event");
}

#[test]
fn rows_of_a_generic_entity_are_written_found_and_read_back() -> Result<()> {
    pollster::block_on(async {
        let table = Engine::in_memory().table::<Reading>().create_if_missing().await?;
        for number in 1..=4 {
            table.insert(&reading(number)).await?;
        }
        let key = || Reading::key("contoso", 7, 1_000, 3);
        assert_eq!(table.get(key()).await?.map(table_core::Versioned::into_value), Some(reading(3)));

        let rows = || Reading::rows("contoso", 7).at_is(1_000);
        let numbers = |found: Vec<Reading>| found.iter().map(|it| it.number).collect::<Vec<_>>();
        assert_eq!(numbers(table.query(rows().number(2..=3)).collect().await?), [2, 3]);
        assert_eq!(numbers(table.query(rows().clone()).collect().await?), [1, 2, 3, 4]);
        let within = Reading::within("contoso");
        assert!(format!("{within:?} {:?}", rows()).starts_with("EventWithoutDevice"));
        assert_eq!(table.query(within.clone().device(..8)).collect().await?.len(), 4);
        assert_eq!(table.query(within.device_is(8)).collect().await?.len(), 0);

        let large = table.query(rows()).filter(Reading::PAYLOAD.ge(1.5)).project::<PayloadOnly>();
        assert_eq!(
            large.collect().await?,
            [3, 4].map(|number| PayloadOnly { number, payload: f64::from(number) / 2.0 })
        );

        table.patch(key()).set(Reading::PAYLOAD, 9.0).if_match(IfMatch::Any).send().await?;
        assert_eq!(table.get(key()).await?.unwrap().payload.to_string(), "9");
        Ok(())
    })
}

#[test]
fn evo_8_types_of_one_table_have_one_layout() -> Result<()> {
    pollster::block_on(async {
        let engine = Engine::in_memory();
        let readings = engine.table::<Reading>().create_if_missing().await?;
        readings.insert(&reading(1)).await?;

        // `Notice` declares a string in the place where `Reading` declares a number.
        let error = engine.table::<Notice>().open().await.unwrap_err();
        assert_eq!((error.code(), error.rule()), (ErrorCode::SchemaMismatch, Some("EVO-8")));
        assert!(format!("{error:?}").contains("`Payload`: Edm.Double becomes Edm.String"), "{error:?}");

        // All types that are stored as JSON have the same schema. A row of the wrong type is therefore rejected only when it is read.
        let listed = engine.table::<Listed>().open().await?;
        let error = listed.get(Listed::key("contoso", 7, 1_000, 1)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::EntityMismatch);
        assert!(error.to_string().contains("property `Details`"), "{error}");
        let bags = listed.query(Listed::rows("contoso", 7)).project::<TableEntity>();
        assert_eq!(bags.collect().await?.len(), 1);
        Ok(())
    })
}
