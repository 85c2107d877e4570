//! Patches through `Entities` of properties that the key depends on. Every other property can be set, also if an index depends on it.

use table_patterns::{Engine, Entities, Entity};

#[derive(Entity)]
#[partition_key(device)]
#[row_key(first(3, serial))]
struct Sample {
    device: String,
    serial: String,
    value: f64,
}

#[derive(Entity)]
#[partition_key("login_", bucket(user, 16))]
#[row_key("email_", hash(crc32, 8, email), "_", id)]
#[index(ByCount, unique, row_key("count_", count), when = Login::is_active)]
struct Login {
    user: String,
    email: String,
    #[property(also)]
    id: u32,
    count: i32,
    active: bool,
}

impl Login {
    fn is_active(&self) -> bool {
        self.active
    }
}

async fn writes(
    samples: &Entities<Sample, Engine>,
    logins: &Entities<Login, Engine>,
) -> table_patterns::Result<()> {
    samples.patch(Sample::key("pump", "abc1")).set(Sample::VALUE, 1.0).send().await?;
    samples.patch(Sample::key("pump", "abc1")).set(Sample::SERIAL, "abd2").send().await?; //~ T131
    let key = || Login::key("ada", "ada@contoso.com", 7_u32);
    logins.patch(key()).set(Login::COUNT, 2).set(Login::ACTIVE, false).send().await?;
    logins.patch(key()).set(Login::USER, "eve").send().await?; //~ T131
    logins.patch(key()).set(Login::ID, 8_u32).send().await?; //~ T131
    Ok(())
}

// rustc reports columns of equal types once for each function.
async fn writes_email(logins: &Entities<Login, Engine>) -> table_patterns::Result<()> {
    let key = Login::key("ada", "ada@contoso.com", 7_u32);
    logins.patch(key).set(Login::EMAIL, "eve@contoso.com").send().await?; //~ T131
    Ok(())
}

fn main() {}
