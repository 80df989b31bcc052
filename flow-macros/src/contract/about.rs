//! The part of a contract that is only for the flow's JSON: it does not change how a flow runs.

use flow_spec::document::SettingsDocument;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// A node's doc comment, its own settings, and the question of a human node.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    pub(crate) description: Option<String>,
    pub(crate) settings: SettingsDocument,
    pub(crate) question: Option<Question>,
}

/// The question of a human node.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// With its `{keys}`, as written.
    pub(crate) prompt: String,
    /// The name of the type of the answer.
    pub(crate) expects: String,
}

impl ToTokens for About {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let description = self.description.as_deref().unwrap_or_default();
        let settings = match self.settings.is_empty() {
            true => String::new(),
            false => serde_json::to_string(&self.settings)
                .unwrap_or_else(|error| unreachable!("settings are numbers and text: {error}")),
        };
        tokens.extend(quote!(#description #settings));
        if let Some(Question { prompt, expects }) = &self.question {
            tokens.extend(quote!(#prompt #expects));
        }
    }
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
            question: match input.peek(LitStr) {
                true => Some(Question {
                    prompt: input.parse::<LitStr>()?.value(),
                    expects: input.parse::<LitStr>()?.value(),
                }),
                false => None,
            },
        })
    }
}

/// The doc comment among these attributes, as a reader sees it: without the space after each `///`.
pub(crate) fn documentation(attributes: &[Attribute]) -> Option<String> {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let texts: Vec<String> = attributes.iter().filter_map(text).collect();
    let lines = texts.iter().flat_map(|text| text.split('\n'));
    let lines: Vec<&str> = lines
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
