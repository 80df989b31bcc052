//! The return type of a node, and the values that are written from it.

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, ReturnType, Type};

use crate::contract::WritePort;
use crate::report::Report;
use crate::runtime::runtime;

use super::attribute::NodeAttribute;
use crate::text::{Owned, last_segment, option_of, owned, type_text};

/// The return type of a function.
#[derive(Clone)]
pub(super) struct Returned {
    pub(super) span: Span,
    /// True if it is a `Result`.
    pub(super) fallible: bool,
    /// The type of the value. For a `Result`, that of its `Ok`.
    pub(super) value: TokenStream,
    /// The same type, if the `Result` shows it.
    value_type: Option<Type>,
}

/// What `flow!` and the store have to know about a node's return type.
pub(super) struct Outcome {
    /// The type of `Step::Outcome`.
    pub(super) ty: TokenStream,
    pub(super) writes: Vec<WritePort>,
    /// The types of the writes, by their index.
    pub(super) types: Vec<TokenStream>,
    /// The returned type, if it may be an alias of a `Result`.
    pub(super) alias: Option<Type>,
}

impl Returned {
    pub(super) fn new(output: &ReturnType, fallback_span: Span, report: &mut Report) -> Self {
        let ReturnType::Type(_, ty) = output else {
            let unit: Type = syn::parse_quote!(());
            return Returned {
                span: fallback_span,
                fallible: false,
                value: quote!(()),
                value_type: Some(unit),
            };
        };
        if last_segment(ty).is_none_or(|name| name != "Result") {
            refuse_unowned(ty, report);
            let value_type = Some((**ty).clone());
            return Returned {
                span: ty.span(),
                fallible: false,
                value: ty.to_token_stream(),
                value_type,
            };
        }
        let value_type = result_value(ty);
        if let Some(ty) = &value_type {
            refuse_unowned(ty, report);
        }
        let rt = runtime();
        let value = match &value_type {
            Some(value) => value.to_token_stream(),
            None => quote!(<#ty as #rt::Fallible>::Ok),
        };
        Returned {
            span: ty.span(),
            fallible: true,
            value,
            value_type,
        }
    }

    /// The answer of a poll that returns this, without the `Option` around it.
    pub(super) fn answer(&self, report: &mut Report) -> Self {
        let answer = self.value_type.as_ref().and_then(option_of).cloned();
        match answer {
            Some(ty) => Returned {
                span: self.span,
                fallible: self.fallible,
                value: ty.to_token_stream(),
                value_type: Some(ty),
            },
            None => {
                let text = self.text();
                let message = "a poll returns an `Option`: `None` means to ask again later";
                let help = format!("return `Option<{text}>`, or `Result<Option<{text}>, E>`");
                report.error(Code::Malformed, self.span, message, help);
                self.clone()
            }
        }
    }

    /// Returns true if there is no value.
    pub(super) fn is_unit(&self) -> bool {
        matches!(&self.value_type, Some(Type::Tuple(tuple)) if tuple.elems.is_empty())
    }

    /// The writes of a node that returns this.
    pub(super) fn outcome(
        &self,
        name: &str,
        attribute: &NodeAttribute,
        report: &mut Report,
    ) -> Outcome {
        let keys = self.keys(name, attribute, report);
        let types = match (&keys[..], &attribute.actions) {
            ([], _) => Vec::new(),
            ([_], None) => vec![(self.value.clone(), self.text())],
            (keys, actions) => self.elements(keys.len(), actions.is_some(), report),
        };
        let writes = keys
            .iter()
            .zip(&types)
            .enumerate()
            .map(|(index, (key, (_, rust_type)))| WritePort {
                name: key.clone(),
                index,
                optional: false,
                rust_type: rust_type.clone(),
            });
        let writes = writes.collect();
        let ty = match &attribute.actions {
            // Named as in the attribute, so that returning something else is an error at the return
            // type.
            Some(actions) if keys.is_empty() => actions.to_token_stream(),
            _ => self.value.clone(),
        };
        Outcome {
            ty,
            writes,
            types: types.into_iter().map(|(ty, _)| ty).collect(),
            alias: self
                .alias()
                .filter(|_| attribute.actions.is_none())
                .cloned(),
        }
    }

    /// The type, if it may be an alias of a `Result`.
    fn alias(&self) -> Option<&Type> {
        const KNOWN: [&str; 26] = [
            "bool", "char", "String", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
            "i32", "i64", "i128", "isize", "f32", "f64", "Vec", "Option", "Box", "Arc", "HashMap",
            "BTreeMap", "HashSet", "BTreeSet", "Cow",
        ];
        let ty = self.value_type.as_ref().filter(|_| !self.fallible)?;
        let name = last_segment(ty)?.to_string();
        let of_self = type_text(ty)
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| word == "Self");
        (!of_self && !KNOWN.contains(&name.as_str())).then_some(ty)
    }

    fn keys(&self, name: &str, attribute: &NodeAttribute, report: &mut Report) -> Vec<Ident> {
        match &attribute.writes {
            Some(keys) if self.is_unit() => {
                if let Some(key) = keys.first() {
                    let help = "return the value, or remove `writes`";
                    report.error(
                        Code::NamesNothing,
                        key.span(),
                        format!("nothing is returned to write as `{key}`"),
                        help,
                    );
                }
                Vec::new()
            }
            Some(keys) => keys.clone(),
            None if self.is_unit() || attribute.actions.is_some() => Vec::new(),
            None => vec![crate::names::ident(name, self.span)],
        }
    }

    /// The types of the returned tuple: one for each key, and the actions last.
    fn elements(
        &self,
        keys: usize,
        actions: bool,
        report: &mut Report,
    ) -> Vec<(TokenStream, String)> {
        let wanted = keys + usize::from(actions);
        match &self.value_type {
            Some(Type::Tuple(tuple)) if tuple.elems.len() == wanted => tuple
                .elems
                .iter()
                .take(keys)
                .map(|ty| (ty.to_token_stream(), type_text(ty)))
                .collect(),
            _ => {
                let (what, help) = match actions {
                    true => (
                        "a value for each key of `writes` and an action",
                        "return a tuple, with the action last, such as `(A, B, Verdict)`",
                    ),
                    false => (
                        "a value for each key of `writes`",
                        "return a tuple, such as `(A, B)`",
                    ),
                };
                let message = format!(
                    "{what} has to be returned, {wanted} in all, and this is `{}`",
                    self.text()
                );
                report.error(Code::Malformed, self.span, message, help);
                Vec::new()
            }
        }
    }

    fn text(&self) -> String {
        self.value_type.as_ref().map(type_text).unwrap_or_default()
    }
}

/// `T` of `Result<T, E>`.
fn result_value(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(ty) => Some(ty.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Refuses a borrowed or unnamed type: the flow stores what a node returns, so it has to be owned
/// and have a name.
fn refuse_unowned(ty: &Type, report: &mut Report) {
    match ty {
        Type::ImplTrait(_) => {
            let help = "name the type: every key of a flow has one";
            report.error(
                Code::Malformed,
                ty.span(),
                "the returned type is not named",
                help,
            );
        }
        _ => {
            if let Some(Owned { ty, borrow }) = owned(ty) {
                let message = "a node returns a value of its own, for the flow to keep";
                let help = format!("return `{}`", type_text(&ty));
                report.error(Code::Malformed, borrow, message, help);
            }
        }
    }
}
