//! Tests backup images. The files of an image must stay readable while the engine merges, until the engine is closed.

use std::path::Path;
use std::sync::Arc;

use rand::RngExt;
use table_core::Error;
use table_core::embedded::{BackupImage, Engine, EngineOptions};

use super::History;
use super::asks::Told;
use super::backups::{is_in, tables};
use crate::power::SimulatedDisk;
use crate::sim::model::{State, Wrong};

/// The folder into which an image is restored. Each restore uses a new disk.
const RESTORED: &str = "/restored-image";
/// The number of bytes read at a time.
const PIECE: u64 = 100_000;

/// An image, and the states it may represent.
pub(super) struct Image {
    pub(super) image: BackupImage,
    pub(super) states: Vec<Arc<State>>,
}

impl History {
    /// Requests an image, or checks the existing image and possibly drops it.
    pub(super) fn use_image(&mut self, engine: &Engine) -> Result<(), Wrong> {
        if let Some(image) = self.image.take() {
            self.check_image(&image)?;
            self.image = self.neighbours.random.random::<bool>().then_some(image);
        } else if self.backups.under_way.is_none() && self.backups.image_under_way.is_none() {
            let id = u64::from(self.next / super::NUMBERS);
            self.log.add(format!("{id}: asks for an image"));
            self.backups.image_under_way = Some(id);
            self.model.begin_to_note();
            let engine = engine.clone();
            self.ask(None, Box::pin(async move { engine.backup_image().await.map(Told::Image) }));
        }
        Ok(())
    }

    /// Restores an image to a new disk. Compares its rows with the states that existed while the image was taken.
    pub(super) fn check_image(&self, image: &Image) -> Result<(), Wrong> {
        let found = match restored(&image.image).and_then(|engine| tables(&engine, self.shape)) {
            Ok(found) => found.map_err(Wrong)?,
            Err(error) if self.may_fail(&error) => return Ok(()),
            Err(error) => return Err(Wrong(format!("an image received {error}"))),
        };
        if image.states.iter().any(|state| is_in(state, &found)) {
            return Ok(());
        }
        Err(Wrong(format!("an image contains what there never was while it was taken: {found:?}")))
    }

    /// Checks that an image keeps the folder open after all handles to the engine have been dropped.
    pub(super) fn outlive_engine(&mut self, image: &Image) -> Result<(), Wrong> {
        self.log.add("an image outlives the handles".to_owned());
        self.second_engine()?;
        self.check_image(image)
    }
}

/// Copies an image to a new disk, restores it there, and opens the folder.
fn restored(image: &BackupImage) -> Result<Engine, Error> {
    let disk = Arc::new(SimulatedDisk::new());
    let options = || EngineOptions::new().disk(disk.clone());
    let restoration = options().restoration(&image.manifest(), &image.base(), RESTORED)?;
    for file in image.files(None, "the image")? {
        image.check(&file)?;
        let mut offset = 0;
        while offset < file.bytes {
            let length = usize::try_from((file.bytes - offset).min(PIECE)).unwrap_or_default();
            let mut piece = vec![0; length];
            image.read(&file, offset, &mut piece)?;
            restoration.write(&file, offset, &piece)?;
            offset += length as u64;
        }
    }
    restoration.finish()?;
    options().open_read_only(Path::new(RESTORED))
}
