//! Seals for intents. They ensure that a worker writes to other partitions only for programs that have the outbox's key.
//!
//! An outbox row is in the partition of its change, where the bearer of a SAS may also be able to write. A worker has more permissions than this bearer.
//! Therefore, each intent has a seal: an HMAC-SHA256 of its table, key and JSON, computed with a secret key of the program (the *seal key*). Workers perform no
//! step of an intent without a valid seal. The only exceptions are steps of patterns that update derived rows, if the rows must match entities in the partition
//! of the intent.
//!
//! The default key is a random key in the registry table, which a SAS for another table cannot access. The first program that needs the key creates it.
//! [`Outbox::sealed_by`] uses other keys. If intents are copied to another store, the programs there accept them only if they use the same key. To achieve
//! this, use `sealed_by`, or also copy the registry table.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use table_core::etag::IfMatch;
use table_core::key::{EntityKey, PartitionKey};
use table_core::name::TableName;
use table_core::operation::OperationKind;
use table_core::query::{KeyRange, TextRange};
use table_core::row::RowWriter;
use table_core::store::TableStore;
use table_core::{Error, ErrorCode, Result, ValueRef};
use uuid::Uuid;

use crate::outbox::fault::OutboxFault;
use crate::outbox::registry::{self, KEYS, REGISTRY};
use crate::outbox::rows::alone;

/// The minimum length of a key that a program sets, in bytes. A shorter key could be guessed.
const KEY_BYTES: usize = 16;

/// A seal key. Each seal identifies its key by the first digits of the key's hash.
#[derive(Clone)]
struct Key {
    id: String,
    secret: Vec<u8>,
}

impl Key {
    fn new(secret: &[u8]) -> Self {
        let hash = Sha256::digest(secret);
        let front = hash.first_chunk().map_or(0, |front| u32::from_be_bytes(*front));
        Self { id: format!("{front:08x}"), secret: secret.to_vec() }
    }

    fn mac(&self, place: Place<'_>, text: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        // No key contains U+0000. It can therefore separate the parts.
        for part in [place.table.folded(), place.partition_key.as_str(), place.row_key] {
            mac.update(part.as_bytes());
            mac.update(&[0]);
        }
        mac.update(text);
        Some(mac)
    }
}

/// The location of an intent's JSON, which the seal covers as well.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) table: &'a TableName,
    pub(crate) partition_key: &'a PartitionKey,
    pub(crate) row_key: &'a str,
}

/// The seal keys of an outbox. New seals use the first key.
#[derive(Default)]
pub(crate) struct Seals(Mutex<Known>);

#[derive(Clone, Default)]
struct Known {
    keys: Option<Arc<[Key]>>,
    /// `true` if the program has set the keys itself.
    are_given: bool,
    /// `true` if the program has a [grant](crate::grant) for one partition. It may then not be permitted to read the keys.
    is_granted: bool,
}

impl Seals {
    fn known(&self) -> Known {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks the keys that the program has set.
    ///
    /// # Errors
    /// `InvalidInput` if the list passed to `sealed_by` is empty, or if one of its keys is too short.
    pub(crate) fn check(&self) -> Result<()> {
        let Known { keys, are_given, .. } = self.known();
        let are_usable =
            |keys: Arc<[Key]>| !keys.is_empty() && keys.iter().all(|key: &Key| key.secret.len() >= KEY_BYTES);
        if are_given && !keys.is_some_and(are_usable) {
            return Err(Error::of(OutboxFault::SealKeys(KEY_BYTES)));
        }
        Ok(())
    }

    pub(crate) fn give(&self, secrets: &[Vec<u8>]) {
        let keys = secrets.iter().map(|secret| Key::new(secret)).collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (known.keys, known.are_given) = (Some(keys), true);
    }

    /// Allows the program to continue without keys if it is not permitted to read them.
    pub(crate) fn grant(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_granted = true;
    }

    /// Adds a new key to the keys in the store. New seals use this key.
    pub(super) async fn rotate<S: TableStore>(&self, store: &S, now: u64) -> Result<()> {
        // The new key's number must be larger than all others. The time alone does not ensure this, because the clock of an earlier rotation may have been
        // fast.
        let newest = keys_in(store).await?.last().map_or(0, |(row_key, _)| number_of(row_key));
        add(store, now.max(newest.saturating_add(1))).await?;
        self.load(store, true).await.map(drop)
    }

    /// Deletes all keys in the store except the newest. Returns the number of deleted keys.
    pub(super) async fn remove_old<S: TableStore>(&self, store: &S) -> Result<u64> {
        let (table, limits) = (TableName::new(REGISTRY)?, store.capabilities().limits);
        let mut keys = keys_in(store).await?;
        keys.pop();
        let mut removed = 0;
        for (row_key, _) in keys {
            let delete = alone(&EntityKey::new(KEYS, row_key)?, OperationKind::Delete(IfMatch::Any), limits)?;
            match store.submit(&table, delete).await {
                Err(error) if error.is_not_found() => {}
                outcome => {
                    outcome?;
                    removed += 1;
                }
            }
        }
        self.load(store, true).await?;
        Ok(removed)
    }

    /// Returns the seal keys. Reads them from the store on the first call, or if `again` is `true`. Returns an empty list if the program's grant does not
    /// permit reading them.
    async fn load<S: TableStore>(&self, store: &S, again: bool) -> Result<Arc<[Key]>> {
        self.check()?;
        let Known { keys: known, are_given, is_granted } = self.known();
        if let Some(keys) = known.clone().filter(|_| are_given || !again) {
            return Ok(keys);
        }
        // IMPORTANT: the store reports an expired signature or a wrong clock in the same way as a missing permission. If the store refuses the read, known keys
        // are therefore kept. A program that should have keys fails instead of recording an intent without a seal, which would become poison.
        let keys: Arc<[Key]> = match stored(store).await {
            Err(error) if is_denied(error.code()) && (known.is_some() || is_granted) => {
                known.unwrap_or_default()
            }
            keys => keys?.into(),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys = Some(Arc::clone(&keys));
        Ok(keys)
    }

    /// Returns the seal for JSON stored at a location. Returns `None` if the program has a grant and no keys.
    pub(crate) async fn seal<S: TableStore>(
        &self,
        store: &S,
        place: Place<'_>,
        text: &[u8],
    ) -> Result<Option<String>> {
        let keys = self.load(store, false).await?;
        Ok(keys.first().and_then(|key| {
            let mac = key.mac(place, text)?.finalize().into_bytes();
            Some(format!("{}.{}", key.id, URL_SAFE_NO_PAD.encode(mac)))
        }))
    }

    /// Returns `true` if a seal is valid: one of the keys was used to create it for this JSON and this location.
    pub(crate) async fn is_genuine<S: TableStore>(
        &self,
        store: &S,
        place: Place<'_>,
        (text, seal): (&[u8], Option<&str>),
    ) -> Result<bool> {
        let Some((id, mac)) = seal.and_then(|seal| seal.split_once('.')) else { return Ok(false) };
        let Ok(mac) = URL_SAFE_NO_PAD.decode(mac) else { return Ok(false) };
        let is_of = |key: &&Key| key.id == id;
        let mut keys = self.load(store, false).await?;
        if !keys.iter().any(|key| is_of(&key)) {
            keys = self.load(store, true).await?;
        }
        let check = |key: &Key| key.mac(place, text).is_some_and(|own| own.verify_slice(&mac).is_ok());
        Ok(keys.iter().filter(is_of).any(check))
    }
}

/// Reads the keys from the store, newest first. Creates a key if none exists.
async fn stored<S: TableStore>(store: &S) -> Result<Vec<Key>> {
    for _ in 0..2 {
        let keys = keys_in(store).await?;
        if !keys.is_empty() {
            return Ok(keys.into_iter().rev().map(|(_, key)| key).collect());
        }
        add(store, 0).await?;
    }
    Ok(Vec::new())
}

/// Reads the keys from the store with their `RowKey`s, oldest first.
async fn keys_in<S: TableStore>(store: &S) -> Result<Vec<(String, Key)>> {
    let range = KeyRange { partition_key: TextRange::exactly(KEYS), row_key: TextRange::ALL };
    let mut keys = Vec::new();
    registry::each(store, &TableName::new(REGISTRY)?, range, |row| {
        if let Ok(Some(ValueRef::Binary(secret))) = row.row.find("Secret", &mut 0) {
            keys.push((row.row_key.to_owned(), Key::new(secret)));
        }
    })
    .await?;
    in_order(&mut keys);
    Ok(keys)
}

/// Sorts keys by their number. A store may return rows in any order, and the numbers may have different lengths, so the order of their strings is not numeric.
fn in_order(keys: &mut [(String, Key)]) {
    keys.sort_by(|(one, _), (other, _)| (number_of(one), one).cmp(&(number_of(other), other)));
}

/// Returns the number in a key's `RowKey`. Later keys have larger numbers.
fn number_of(row_key: &str) -> u64 {
    row_key.split('_').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Adds a random key under the given number. If several processes add keys concurrently, all of these keys are valid.
async fn add<S: TableStore>(store: &S, number: u64) -> Result<()> {
    let secret: Vec<u8> = [Uuid::new_v4(), Uuid::new_v4()].iter().flat_map(|part| *part.as_bytes()).collect();
    let mut writer = RowWriter::with_capacity(1);
    writer.property("Secret", ValueRef::Binary(&secret));
    let key = EntityKey::new(KEYS, format!("{number:010}_{}", Uuid::new_v4().simple()))?;
    registry::put(store, REGISTRY, &key, OperationKind::Insert(writer.finish())).await
}

/// Returns `true` if an error may mean that the credential does not permit reading the keys.
const fn is_denied(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::AuthenticationFailed
            | ErrorCode::AuthorizationFailure
            | ErrorCode::AuthorizationPermissionMismatch
            | ErrorCode::AuthorizationResourceTypeMismatch
            | ErrorCode::AuthorizationServiceMismatch
    )
}
