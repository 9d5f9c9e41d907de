//! What an image shows, in which format, and the path that follows from both.

/// What a flag stands for.
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
pub(super) fn media_type(path: &str) -> &'static str {
    if path.ends_with(Format::Svg.ending()) { "image/svg+xml" } else { "image/png" }
}
