//! The flags of countries and US states: the images, their paths and their bytes.
//!
//! The images are drawn ahead, by `.ci/flags/draw.mjs`, and are a part of each program that asks for
//! one (docs/decisions/0014-flags.md). A program that only links to them has none of their bytes.

use std::{
    borrow::Cow,
    io::{Cursor, Read},
    sync::LazyLock,
};

use zip::ZipArchive;

/// The subject of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A country, by its ISO 3166-1 alpha-2 code, or `AC`, `TA` or `XK`.
    Country,
    /// A state, district or territory of the US, by its postal code.
    State,
}

/// Format and size of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A drawing in the flag's own proportions.
    Svg,
    /// A PNG of 48x32 pixels.
    Small,
    /// A PNG of 240x160 pixels.
    Medium,
    /// A PNG of 480x320 pixels.
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
    /// Every format that a flag has.
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

/// The path of an image below the address of all images, such as `countries/US-48x32.png`.
pub fn path(subject: Subject, code: &str, format: Format) -> String {
    format!("{}/{code}{}", subject.folder(), format.ending())
}

/// The media type of the image with this path.
fn media_type(path: &str) -> &'static str {
    if path.ends_with(Format::Svg.ending()) { "image/svg+xml" } else { "image/png" }
}

/// The version of the images: the first eight hexadecimal digits of their hash. It is a part of their
/// addresses, so that caches may keep an image forever.
pub const VERSION: &str = include_str!("version.txt");

type Archive = ZipArchive<Cursor<&'static [u8]>>;

/// The archive with its index read, which clones share. An SVG in it is compressed, a PNG as it is.
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
