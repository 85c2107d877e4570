//! Recipes for hierarchical partition keys. They run on the Azure SDK's in-memory emulator and require neither an account nor a server.
//!
//! ```text
//! cargo run -p table-cosmos --features emulator --example cookbook              # all recipes
//! cargo run -p table-cosmos --features emulator --example cookbook -- FOLDER    # also writes pictures to the folder
//! ```

#![expect(clippy::print_stdout, reason = "a recipe shows what it found")]

mod design;
mod devices;
mod documents;
mod ledger;
mod orders;
mod split;
mod tenants;

use std::path::Path;

use table_core::{Error, ErrorCode, Result};

/// The output of a recipe.
pub(crate) struct Shown {
    /// The name of the recipe, which is also the file name of its picture.
    pub(crate) name: &'static str,
    pub(crate) text: String,
    /// The picture, as SVG text.
    pub(crate) picture: Option<String>,
}

/// Runs all recipes in order and returns their outputs.
pub(crate) async fn recipes() -> Result<Vec<Shown>> {
    Ok(vec![
        tenants::run().await?,
        devices::run().await?,
        documents::run().await?,
        split::run().await?,
        orders::run().await?,
        design::run()?,
    ])
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = std::env::args().nth(1);
    for Shown { name, text, picture } in recipes().await? {
        println!("{text}");
        if let (Some(folder), Some(picture)) = (&folder, picture) {
            let path = Path::new(folder).join(name).with_extension("svg");
            std::fs::write(&path, picture).map_err(|error| {
                let message = format!("`{}` cannot be written", path.display());
                Error::new(ErrorCode::Io, message).with_source(error)
            })?;
            println!("  written: {}\n", path.display());
        }
    }
    Ok(())
}
