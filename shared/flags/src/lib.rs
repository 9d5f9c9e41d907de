//! The flags of countries and US states: the images, their paths and their bytes.
//!
//! `.ci/flags/draw.mjs` draws the images in advance. They are compiled into each program that reads one
//! (docs/decisions/0014-flags.md); a program that only links to them contains none.

use std::{
    borrow::Cow,
    io::{Cursor, Read},
    sync::LazyLock,
};

use zip::ZipArchive;

/// The subject of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A country, by ISO 3166-1 alpha-2 code, or `AC`, `TA` or `XK`.
    Country,
    /// A US state, district or territory, by postal code.
    State,
}

/// Format and size of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An SVG in the flag's own proportions.
    Svg,
    /// A 48x32 pixel PNG.
    Small,
    /// A 240x160 pixel PNG.
    Medium,
    /// A 480x320 pixel PNG.
    Large,
}

/// One image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    pub media_type: &'static str,
    pub bytes: Vec<u8>,
}

impl Subject {
    const fn folder(self) -> &'static str {
        match self {
            Self::Country => "countries",
            Self::State => "states",
        }
    }
}

impl Format {
    /// Every format of a flag.
    pub const ALL: [Self; 4] = [Self::Svg, Self::Small, Self::Medium, Self::Large];

    const fn ending(self) -> &'static str {
        match self {
            Self::Svg => ".svg",
            Self::Small => "-48x32.png",
            Self::Medium => "-240x160.png",
            Self::Large => "-480x320.png",
        }
    }
}

/// The path of an image relative to the base address, such as `countries/US-48x32.png`.
pub fn path(subject: Subject, code: &str, format: Format) -> String {
    format!("{}/{code}{}", subject.folder(), format.ending())
}

/// The media type of the image at this path.
fn media_type(path: &str) -> &'static str {
    if path.ends_with(Format::Svg.ending()) { "image/svg+xml" } else { "image/png" }
}

/// The version of the images: the first eight hex digits of their hash. It is part of their addresses, so
/// caches may keep an image forever.
pub const VERSION: &str = include_str!("version.txt");

type Archive = ZipArchive<Cursor<&'static [u8]>>;

/// The archive with its parsed index, shared by clones. SVGs in it are compressed, and PNGs are not.
static ARCHIVE: LazyLock<Archive> = LazyLock::new(|| {
    let bytes: &[u8] = include_bytes!("images.zip");
    ZipArchive::new(Cursor::new(bytes)).expect("a test reads every image of this archive")
});

/// The image at this path, such as `countries/US-48x32.png`; `None` if it does not exist.
pub fn image(path: &str) -> Option<Image> {
    let mut archive = ARCHIVE.clone();
    let mut entry = archive.by_name(path).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(entry.size()).ok()?);
    entry.read_to_end(&mut bytes).ok()?;
    Some(Image { media_type: media_type(path), bytes })
}

/// Every image with its path, in path order.
pub fn images() -> impl ExactSizeIterator<Item = (String, Image)> {
    let names = ARCHIVE.file_names().filter_map(Result::ok);
    let paths: Vec<String> = names.map(Cow::into_owned).collect();
    paths.into_iter().map(|path| {
        let image = image(&path).expect("the path is one of the archive");
        (path, image)
    })
}
