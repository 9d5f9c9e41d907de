//! Who serves the images of flags, to which answers link.

use std::sync::Arc;

/// Who serves the images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagImages {
    /// The service, at the address that the client has reached.
    Own,
    /// A host of the operator's choice: its address, without a slash at the end.
    At(Arc<str>),
}

impl FlagImages {
    /// What the setting `FLAGS_BASE_URL` says; nothing in it stands for the service itself.
    pub fn of(setting: &str) -> Self {
        match setting.trim().trim_end_matches('/') {
            "" => Self::Own,
            base_url => Self::At(base_url.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_serves_the_images_unless_another_host_is_named() {
        for nobody in ["", " ", "/"] {
            assert_eq!(FlagImages::of(nobody), FlagImages::Own, "'{nobody}'");
        }
        let host = FlagImages::At("https://cdn.example/flags".into());
        for named in ["https://cdn.example/flags", " https://cdn.example/flags/ "] {
            assert_eq!(FlagImages::of(named), host, "'{named}'");
        }
    }
}
