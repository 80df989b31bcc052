//! The return type of a node, and the values that are written from it.

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, Generics, Lifetime, Path, PathArguments, ReturnType, Type, TypeTuple};

use crate::contract::WritePort;
use crate::report::Report;
use crate::runtime::Runtime;

use super::attribute::{NodeAttribute, WrittenKey};
use crate::text::{Owned, is_of_std, last_segment, lifetimes, option_of, owned, type_text};

/// The return type of a function.
#[derive(Clone)]
pub(super) struct Returned {
    pub(super) span: Span,
    /// The place of the error's type, or of the `Result` if that does not show it.
    pub(super) error_span: Span,
    /// True if it is a `Result`.
    pub(super) fallible: bool,
    /// The type of the value. For a `Result`, that of its `Ok`.
    pub(super) value: TokenStream,
    /// The type of the value, if the `Result` shows it.
    value_type: Option<Type>,
    /// The type of the error of a `Result`.
    pub(super) error: Option<TokenStream>,
}

/// The facts about a node's return type that `flow!` and the state need.
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
    pub(super) fn new(
        output: &ReturnType,
        fallback_span: Span,
        runtime: &Runtime,
        report: &mut Report,
    ) -> Self {
        let ReturnType::Type(_, ty) = output else {
            let unit: Type = syn::parse_quote!(());
            return Returned {
                span: fallback_span,
                error_span: fallback_span,
                fallible: false,
                value: quote!(()),
                value_type: Some(unit),
                error: None,
            };
        };
        if last_segment(ty).is_none_or(|name| name != "Result") {
            refuse_unowned(ty, report);
            let value_type = Some((**ty).clone());
            return Returned {
                span: ty.span(),
                error_span: ty.span(),
                fallible: false,
                value: ty.to_token_stream(),
                value_type,
                error: None,
            };
        }
        let value_type = result_argument(ty, 0).cloned();
        if let Some(ty) = &value_type {
            refuse_unowned(ty, report);
        }
        let rt = runtime.hidden();
        let value = match &value_type {
            Some(value) => value.to_token_stream(),
            None => quote!(<#ty as #rt::Fallible>::Ok),
        };
        Returned {
            span: ty.span(),
            error_span: result_argument(ty, 1).unwrap_or(ty).span(),
            fallible: true,
            value,
            value_type,
            error: Some(quote!(<#ty as #rt::Fallible>::Error)),
        }
    }

    /// Reports a value that borrows for a lifetime of the function itself.
    pub(super) fn refuse_lifetimes_of(&self, generics: &Generics, report: &mut Report) {
        let Some(ty) = self.value_type.as_ref().filter(|ty| owned(ty).is_none()) else {
            return;
        };
        let named = lifetimes(ty).find(|lifetime| {
            let mut own = generics.lifetimes();
            own.any(|own| own.lifetime.ident == lifetime.ident)
        });
        if let Some(lifetime) = named {
            refuse_lifetime(ty, &lifetime, report);
        }
    }

    /// The answer of a poll that returns this, without the outer `Option`.
    pub(super) fn answer(&self, report: &mut Report) -> Self {
        let answer = self.value_type.as_ref().and_then(option_of).cloned();
        match answer {
            Some(ty) => Returned {
                span: self.span,
                error_span: self.error_span,
                fallible: self.fallible,
                value: ty.to_token_stream(),
                value_type: Some(ty),
                error: self.error.clone(),
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
        if let Some(actions) = &attribute.actions {
            self.refuse_option_of_actions(actions, report);
        }
        let types = match (&keys[..], &attribute.actions) {
            ([], _) => Vec::new(),
            ([_], None) => vec![(self.value.clone(), self.text())],
            (keys, actions) => {
                let actions = actions.as_ref().and_then(|path| path.segments.last());
                self.elements(keys.len(), actions.map(|last| &last.ident), report)
            }
        };
        let writes = keys
            .iter()
            .zip(&types)
            .enumerate()
            .map(|(index, (key, (_, rust_type)))| WritePort {
                name: key.name.clone(),
                index,
                optional: false,
                adds: key.adds,
                rust_type: rust_type.clone(),
            });
        let writes = writes.collect();
        let ty = match &attribute.actions {
            // Named as in the attribute, so that a different return value is an error at the return
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

    /// Reports an `Option` of the node's own actions.
    fn refuse_option_of_actions(&self, actions: &Path, report: &mut Report) {
        let inner = self.value_type.as_ref().and_then(option_of);
        let (Some(inner), Some(named)) = (inner.and_then(last_segment), actions.segments.last())
        else {
            return;
        };
        if *inner == named.ident {
            let message = "a node takes an action each time it is done, and this may be none";
            let help = format!("return `{inner}`, with a variant for when there is nothing to say");
            report.error(Code::Malformed, self.span, message, help);
        }
    }

    /// The type, if it may be an alias of a `Result`.
    fn alias(&self) -> Option<&Type> {
        let ty = self.value_type.as_ref().filter(|_| !self.fallible)?;
        let of_self = type_text(ty)
            .split(|letter: char| !letter.is_alphanumeric())
            .any(|word| word == "Self");
        (!of_self && !is_of_std(last_segment(ty)?)).then_some(ty)
    }

    fn keys(&self, name: &str, attribute: &NodeAttribute, report: &mut Report) -> Vec<WrittenKey> {
        match &attribute.writes {
            Some(keys) if self.is_unit() => {
                // A refused `&mut` parameter may have been meant to give the value.
                if let Some(key) = keys.first().filter(|_| report.is_empty()) {
                    let help = "return the value, or remove `writes`";
                    report.error(
                        Code::NamesNothing,
                        key.name.span(),
                        if key.adds {
                            format!("nothing is returned to add to `{}`", key.name)
                        } else {
                            format!("nothing is returned to write as `{}`", key.name)
                        },
                        help,
                    );
                }
                Vec::new()
            }
            Some(keys) => keys.clone(),
            None if self.is_unit() || attribute.actions.is_some() => Vec::new(),
            None => vec![WrittenKey {
                name: crate::names::ident(name, self.span),
                adds: false,
            }],
        }
    }

    /// The types of the returned tuple: one for each key, and the actions last.
    fn elements(
        &self,
        keys: usize,
        actions: Option<&Ident>,
        report: &mut Report,
    ) -> Vec<(TokenStream, String)> {
        let wanted = keys + usize::from(actions.is_some());
        match &self.value_type {
            Some(Type::Tuple(tuple)) if tuple.elems.len() == wanted => {
                if let Some(actions) = actions {
                    refuse_action_before_values(tuple, actions, report);
                }
                let keys = tuple.elems.iter().take(keys);
                keys.map(|ty| (ty.to_token_stream(), type_text(ty)))
                    .collect()
            }
            _ => {
                let (what, help) = if actions.is_some() {
                    (
                        "a value for each key of `writes` and an action",
                        "return a tuple, with the action last, such as `(A, B, Verdict)`",
                    )
                } else {
                    (
                        "a value for each key of `writes`",
                        "return a tuple, such as `(A, B)`",
                    )
                };
                let message = format!(
                    "{what} has to be returned, {wanted} in all, and this is `{}`",
                    self.text()
                );
                let help = match &self.value_type {
                    Some(Type::Tuple(tuple))
                        if tuple.elems.len() > usize::from(actions.is_some()) =>
                    {
                        let keys = tuple.elems.len() - usize::from(actions.is_some());
                        format!("return a tuple of {wanted}, or name {keys} in `writes`")
                    }
                    _ => help.to_owned(),
                };
                report.error(Code::Malformed, self.span, message, &help);
                Vec::new()
            }
        }
    }

    /// The type of the value, as text.
    pub(super) fn text(&self) -> String {
        self.value_type.as_ref().map(type_text).unwrap_or_default()
    }
}

/// Reports a tuple whose actions are not its last element.
fn refuse_action_before_values(tuple: &TypeTuple, actions: &Ident, report: &mut Report) {
    let is_action = |ty: &&Type| last_segment(ty) == Some(actions);
    if tuple.elems.last().as_ref().is_some_and(is_action) {
        return;
    }
    let Some(action) = tuple.elems.iter().find(is_action) else {
        return;
    };
    let values = tuple.elems.iter().filter(|ty| !is_action(ty));
    let in_order: Vec<String> = values.chain([action]).map(type_text).collect();
    let message = format!("the action comes last, after what is written, and `{actions}` does not");
    let help = format!("return `({})`", in_order.join(", "));
    report.error(Code::Malformed, action.span(), message, &help);
}

/// `T` of `Result<T, E>` at 0, and `E` at 1.
fn result_argument(ty: &Type, index: usize) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.get(index)? {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// Reports a type that borrows for this lifetime.
fn refuse_lifetime(ty: &Type, lifetime: &Lifetime, report: &mut Report) {
    let text = type_text(ty);
    let cow = text
        .strip_prefix("Cow<")
        .and_then(|rest| rest.strip_suffix('>'));
    let borrowed = cow.and_then(|inner| inner.split_once(','));
    let help = match borrowed.map(|(_, borrowed)| borrowed.trim()) {
        Some("str") => "return `String`".to_owned(),
        Some(slice) if slice.starts_with('[') => {
            format!("return `Vec<{}>`", slice.trim_matches(['[', ']']))
        }
        Some(borrowed) => format!("return `{borrowed}`"),
        None => format!(
            "let `{}` own its values, without a lifetime",
            text.split('<').next().unwrap_or_default()
        ),
    };
    let message = "a node returns a value of its own, for the flow to keep";
    report.error(Code::Malformed, lifetime.ident.span(), message, help);
}

/// Returns true if a future is returned, which is reported.
pub(super) fn returns_future(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if is_future(ty))
}

fn is_future(ty: &Type) -> bool {
    match ty {
        Type::ImplTrait(_) => type_text(ty).contains("Future<"),
        _ => {
            let boxed = last_segment(ty).is_some_and(|name| name == "Pin");
            boxed && type_text(ty).contains("Future<")
                || last_segment(ty).is_some_and(|name| name == "BoxFuture")
        }
    }
}

/// Refuses a borrowed or unnamed type: the flow keeps the returned value, so its type has to be
/// owned and have a name.
fn refuse_unowned(ty: &Type, report: &mut Report) {
    if is_future(ty) {
        let message = "a node returns its value, and this is a future";
        let help = "write `async fn`, and return what the future returns";
        report.error(Code::Malformed, ty.span(), message, help);
        return;
    }
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
            } else if let Some(lifetime) = lifetimes(ty).find(|lifetime| lifetime.ident == "_") {
                refuse_lifetime(ty, &lifetime, report);
            }
        }
    }
}
