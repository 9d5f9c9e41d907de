//! The archive that holds all images. An SVG in it is compressed, a PNG as it is; each is read without
//! the others.

use std::{
    borrow::Cow,
    io::{Cursor, Read},
    sync::LazyLock,
};

use zip::ZipArchive;

use crate::image::{Image, media_type};

/// What the images are called as a whole, as eight hexadecimal digits: the beginning of their hash. It
/// is a part of their addresses, so that caches may keep an image forever.
pub const VERSION: &str = include_str!("version.txt");

type Archive = ZipArchive<Cursor<&'static [u8]>>;

/// The archive with its index read. A clone shares the index.
static ARCHIVE: LazyLock<Archive> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!("images.zip");
    ZipArchive::new(Cursor::new(bytes)).expect("a test reads every image of this archive")
});

/// The image with this path, such as `countries/US-48x32.png`; `None` if there is none.
pub fn image(path: &str) -> Option<Image> {
    let mut archive = ARCHIVE.clone();
    let mut entry = archive.by_name(path).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(entry.size()).ok()?);
    entry.read_to_end(&mut bytes).ok()?;
    Some(Image { media_type: media_type(path), bytes })
}

/// Every image with its path, in the order of the paths.
pub fn images() -> impl ExactSizeIterator<Item = (String, Image)> {
    let names = ARCHIVE.file_names().filter_map(Result::ok);
    let paths: Vec<String> = names.map(Cow::into_owned).collect();
    paths.into_iter().map(|path| {
        let image = image(&path).expect("the path is one of the archive");
        (path, image)
    })
}
