//! What one line of `values.rs` becomes.

/// Makes of each section a struct, and of each line a field with its default, a row of the table
/// [`SETTINGS`](super::SETTINGS) and a key in [`keys`](super::keys).
macro_rules! declare_settings {
    ($(
        $(#[$about:meta])*
        $section:literal => $field:ident: $Section:ident {
            $($name:ident: $Type:ty = $default:expr $(, in $range:expr)?;)*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone)]
            pub struct $Section {
                $(
                    #[doc = concat!("`", $section, ".", stringify!($name), "`")]
                    pub $name: $Type,
                )*
            }
        )*

        /// The values of all settings, by section.
        #[derive(Debug, Clone)]
        pub struct SettingValues {
            $($(#[$about])* pub $field: $Section,)*
        }

        impl SettingValues {
            /// Every setting as it is unless somebody sets it.
            pub(super) fn defaults() -> Self {
                Self { $($field: $Section { $($name: default_value($default),)* },)* }
            }
        }

        /// Every setting that exists, in the order in which people are shown them.
        pub static SETTINGS: &[SettingSpec] = &[$($(
            SettingSpec {
                key: keys::$field::$name(),
                kind: <$Type as SettingValue>::KIND,
                range: declare_settings!(@range $($range)?),
                default: $default,
                accepts: |text, range| <$Type as SettingValue>::within(text, range).is_some(),
                assign: |values, text| {
                    if let Some(value) = <$Type as SettingValue>::from_text(text) {
                        values.$field.$name = value;
                    }
                },
                write: |values| values.$field.$name.write(),
                show: |values| values.$field.$name.show(),
            },
        )*)*];

        /// The keys of all settings, for code that speaks about a setting and not of its value.
        pub mod keys {
            $(
                $(#[$about])*
                pub mod $field {
                    use crate::settings::SettingKey;
                    $(
                        #[doc = concat!("`", $section, ".", stringify!($name), "`")]
                        #[must_use]
                        pub const fn $name() -> SettingKey {
                            SettingKey::declared(concat!($section, ".", stringify!($name)))
                        }
                    )*
                }
            )*
        }
    };
    (@range) => { None };
    (@range $range:expr) => { Some($range) };
}

pub(super) use declare_settings;
