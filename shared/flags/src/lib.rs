//! Flag images for countries and US states, and their paths.
//!
//! `.ci/flags/draw.mjs` draws the images. They are compiled into each program that calls [`image`]
//! (docs/decisions/0014-flags.md), but not into programs that only use paths.

use std::{
    borrow::Cow,
    io::{Cursor, Read},
    sync::LazyLock,
};

use zip::ZipArchive;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagKind {
    /// A country, by ISO 3166-1 alpha-2 code, or `AC`, `TA` or `XK`.
    Country,
    /// A US state, district or territory, by postal code.
    State,
}

/// The endings of a flag's images: an SVG in its official proportions, and PNGs from small to large.
const ENDINGS: [&str; 4] = [".svg", "-48x32.png", "-240x160.png", "-480x320.png"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl FlagKind {
    const fn folder(self) -> &'static str {
        match self {
            Self::Country => "countries",
            Self::State => "states",
        }
    }
}

/// The URLs of a flag's images: the base URL, which has no trailing slash, then a path such as
/// `/countries/US-48x32.png`.
pub fn urls(base_url: &str, kind: FlagKind, code: &str) -> [String; ENDINGS.len()] {
    ENDINGS.map(|ending| [base_url, "/", kind.folder(), "/", code, ending].concat())
}

/// The version of the images: the first eight hex digits of the archive's hash. It is part of image URLs, so
/// caches may store an image forever.
pub const VERSION: &str = include_str!("version.txt");

type Archive = ZipArchive<Cursor<&'static [u8]>>;

/// The archive with its parsed index. Clones share both.
static ARCHIVE: LazyLock<Archive> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!("images.zip");
    ZipArchive::new(Cursor::new(bytes)).expect("a test reads every image in this archive")
});

/// Reads the image at this path, such as `countries/US-48x32.png`; `None` if it does not exist.
pub fn image(path: &str) -> Option<Image> {
    let mut archive = ARCHIVE.clone();
    let mut entry = archive.by_name(path).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(entry.size()).ok()?);
    entry.read_to_end(&mut bytes).ok()?;
    let is_svg = path.ends_with(".svg");
    Some(Image { media_type: if is_svg { "image/svg+xml" } else { "image/png" }, bytes })
}

/// Reads every image with its path, in path order.
pub fn images() -> impl ExactSizeIterator<Item = (String, Image)> {
    let names = ARCHIVE.file_names().filter_map(Result::ok);
    let paths: Vec<String> = names.map(Cow::into_owned).collect();
    paths.into_iter().map(|path| {
        let image = image(&path).expect("the path comes from the archive");
        (path, image)
    })
}
