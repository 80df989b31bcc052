//! The part of a contract that is only for the flow's JSON and does not affect how a flow runs.

use flow_spec::document::SettingsDocument;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, bracketed, token};

/// A node's doc comment, appearance in viewers and settings, and what it gets from outside.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) description: Option<String>,
    pub(crate) shown: Shown,
    pub(crate) settings: SettingsDocument,
    pub(crate) external: Option<External>,
}

/// The appearance of a node in viewers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Shown {
    pub(crate) title: Option<String>,
    pub(crate) icon: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) tags: Vec<String>,
}

/// The value that a node gets from outside: an answer to its question, or a signal.
#[derive(Debug, Clone)]
pub(crate) struct External {
    /// The name of the type.
    pub(crate) expects: String,
    /// The prompt with its `{keys}`, as written. `None` for a signal.
    pub(crate) prompt: Option<String>,
}

impl ToTokens for About {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let description = self.description.as_deref().unwrap_or_default();
        let settings = settings_text(&self.settings);
        tokens.extend(quote!(#description #settings));
        if self.shown != Shown::default() {
            let Shown {
                title,
                icon,
                group,
                tags,
            } = &self.shown;
            let [title, icon, group] =
                [title, icon, group].map(|text| text.as_deref().unwrap_or_default());
            tokens.extend(quote!([#title #icon #group #(#tags)*]));
        }
        if let Some(External { expects, prompt }) = &self.external {
            tokens.extend(quote!(#expects #prompt));
        }
    }
}

/// Settings as JSON, or `""` if there are none.
pub(crate) fn settings_text(settings: &SettingsDocument) -> String {
    if settings.is_empty() {
        return String::new();
    }
    serde_json::to_string(settings)
        .unwrap_or_else(|error| unreachable!("settings are numbers and text: {error}"))
}

impl Parse for About {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let description = input.parse::<LitStr>()?.value();
        let settings = input.parse::<LitStr>()?;
        Ok(About {
            description: (!description.is_empty()).then_some(description),
            settings: match settings.value().as_str() {
                "" => SettingsDocument::default(),
                text => serde_json::from_str(text)
                    .map_err(|_| syn::Error::new(settings.span(), "malformed contract"))?,
            },
            shown: if input.peek(token::Bracket) {
                let content;
                bracketed!(content in input);
                content.parse()?
            } else {
                Shown::default()
            },
            external: if input.peek(LitStr) {
                Some(External {
                    expects: input.parse::<LitStr>()?.value(),
                    prompt: input.parse::<Option<LitStr>>()?.map(|text| text.value()),
                })
            } else {
                None
            },
        })
    }
}

impl Parse for Shown {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = || {
            let text = input.parse::<LitStr>()?.value();
            syn::Result::Ok((!text.is_empty()).then_some(text))
        };
        let (title, icon, group) = (text()?, text()?, text()?);
        let mut tags = Vec::new();
        while !input.is_empty() {
            tags.push(input.parse::<LitStr>()?.value());
        }
        Ok(Shown {
            title,
            icon,
            group,
            tags,
        })
    }
}
