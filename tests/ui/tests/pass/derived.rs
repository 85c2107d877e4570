//! Computed key parts are written, selected, compared with their property when an entity is read, and listed in the stored schema.

use table_core::key::codec::{Alphabet, DerivedPart, Form, Text, TextCodec, laws};
use table_core::{
    BlockOn, Engine, Entity, EntityKey, ErrorCode, IfMatch, Result, TableEntity, TableStoreExt,
};

/// The domain of an email address, in lower case.
enum Domain {}

impl DerivedPart<String> for Domain {
    const NAME: &'static str = "domain";
    const FORM: Form = Form { min: 0, max: 255, ordered: false, alphabet: Alphabet::LEGAL };

    fn encode(email: &String, out: &mut String) -> Result<()> {
        let domain = email.rsplit_once('@').map_or(email.as_str(), |(_, domain)| domain);
        Text::encode_str(&domain.to_lowercase(), out)
    }
}

/// The sign of a temperature, whose type cannot be a key part by itself.
enum Sign {}

impl DerivedPart<f64> for Sign {
    const NAME: &'static str = "sign";
    const FORM: Form = Form::fixed(1, true, Alphabet::of("01"));

    fn encode(value: &f64, out: &mut String) -> Result<()> {
        out.push(if *value < 0.0 { '0' } else { '1' });
        Ok(())
    }
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[partition_key(derived(Domain, email))]
#[row_key(derived(Sign, celsius), "_", hash(crc32, 6, base64url, email))]
struct Account {
    email: String,
    celsius: f64,
}

pub fn main() {
    let emails = ["ada@contoso.com", "Ada@Contoso.com", "ben@fabrikam.com", "nobody"];
    assert_eq!(laws::check_derived::<Domain, String>(&emails.map(str::to_owned)), Ok(()));
    let schema = table_core::schema::StoredSchema::of(Account::SCHEMA).to_string();
    assert!(schema.contains("domain") && schema.contains("hash(crc32,6,base64url,text)"), "{schema}");

    async {
        let accounts = Engine::in_memory().table::<Account>().create_if_missing().await.unwrap();
        let ada = Account { email: "123456789".to_owned(), celsius: -1.5 };
        accounts.insert(&ada).await.unwrap();
        assert_eq!(ada.key_of().unwrap(), EntityKey::new("123456789", "0_y_Q5Jg").unwrap());
        let key = || Account::key("123456789", -273.0);
        assert_eq!(accounts.get(key()).await.unwrap().unwrap().into_value(), ada);
        let found = accounts.query(Account::rows("123456789").celsius(..0.0)).await.unwrap();
        assert_eq!(found, [ada]);

        // Another program changes the property but not the key.
        let untyped = accounts.store().untyped("Account").unwrap();
        let stored: TableEntity = untyped.get(&key().key().unwrap()).await.unwrap().unwrap().into_value();
        untyped.replace(&stored.with("Celsius", 20.0), IfMatch::Any).await.unwrap();
        assert_eq!(accounts.get(key()).await.unwrap_err().code(), ErrorCode::EntityMismatch);
    }
    .block_on();
}
