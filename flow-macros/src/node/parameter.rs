//! The parameters of a node. Each is a read, named after its key.

use flow_spec::Code;
use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{FnArg, Pat, Signature, Type};

use crate::configured::Part;
use crate::contract::{Mode, ReadPort};
use crate::documentation::{documentation, refuse_unknown};
use crate::flow::printed::printed;
use crate::names::{ident, plain};
use crate::report::Report;

use crate::text::{last_segment, option_of, type_text};

/// A parameter of a node.
#[derive(Clone)]
pub(super) struct Parameter {
    pub(super) name: Ident,
    pub(super) ty: Type,
    pub(super) kind: ParameterKind,
    /// Its doc comment.
    pub(super) description: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    /// `&Context`: information about the run. Not a read.
    Context,
    /// `&mut T`: the transaction of a node that has the setting. Not a read.
    Transaction,
    /// A value, passed in this mode.
    Value(Mode),
}

impl Parameter {
    /// The key that it reads: its name, without the `_` of a parameter that is not used yet.
    fn key(&self) -> Ident {
        match used_name(&self.name) {
            key if key.is_empty() || key == plain(&self.name) => self.name.clone(),
            key => ident(&key, self.name.span()),
        }
    }

    /// The facts that `flow!` needs about it, if it is a read.
    pub(super) fn port(&self) -> Option<ReadPort> {
        match self.kind {
            ParameterKind::Context | ParameterKind::Transaction => None,
            ParameterKind::Value(mode) => Some(ReadPort {
                name: self.key(),
                mode,
                rust_type: type_text(value_type(&self.ty, mode)),
                description: self.description.clone(),
            }),
        }
    }

    /// The type of the value in the state: without the reference and the `Option`, and for a slice
    /// the type of the items. `None` if the read does not show it.
    pub(super) fn sized_type(&self) -> Option<TokenStream> {
        match self.kind {
            ParameterKind::Context | ParameterKind::Transaction => None,
            ParameterKind::Value(mode) => {
                let ty = value_type(&self.ty, mode);
                match ty {
                    Type::Slice(slice) => Some(slice.elem.to_token_stream()),
                    ty if is_unsized(ty) => None,
                    ty => Some(ty.to_token_stream()),
                }
            }
        }
    }

    /// Returns true if it is a value of the flow.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.kind, ParameterKind::Value(_))
    }

    /// Returns true if it takes its value.
    pub(super) fn takes(&self) -> bool {
        matches!(self.kind, ParameterKind::Value(mode) if mode.takes())
    }
}

/// The access of a function to a transaction, as `&mut T`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GetsTransaction {
    /// Yes: its node has the setting `transaction`.
    Yes,
    /// No: another method of the node gets it.
    OnlyExec,
    /// No: its node does not have the setting.
    No,
}

/// A name without the `_` of an unused variable, which does not change its meaning.
pub(super) fn used_name(name: &Ident) -> String {
    plain(name).trim_start_matches('_').to_owned()
}

/// The name of the value in generated code, where it shadows nothing: a function may read a key
/// with its own name.
pub(super) fn local(name: &Ident) -> Ident {
    let mut local = name.clone();
    local.set_span(Span::mixed_site().located_at(name.span()));
    local
}

/// Reports conditions of the parameters, and documentation that cannot be read here. `whole` names
/// their container.
pub(super) fn refuse_attributes(sig: &Signature, whole: &str, report: &mut Report) {
    for input in &sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let part = Part {
            attributes: &typed.attrs,
            what: format!("the parameter `{}`", printed(typed.pat.to_token_stream())),
            whole,
            read: &["doc"],
        };
        part.refuse_conditions(report);
        refuse_unknown(&typed.attrs, report);
    }
}

/// The parameters except `self`. Those that cannot be reads are reported and left out.
pub(super) fn parameters<'a>(
    inputs: impl Iterator<Item = &'a FnArg>,
    gets: GetsTransaction,
    report: &mut Report,
) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for input in inputs {
        let FnArg::Typed(typed) = input else { continue };
        let name = match &*typed.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
                pattern.ident.clone()
            }
            other => {
                let help = "give it a name and take it apart in the body";
                let message = "a parameter of a node is named by the key it reads";
                report.error(Code::Malformed, other.span(), message, help);
                continue;
            }
        };
        let Some(kind) = kind(&name, &typed.ty, gets, report) else {
            continue;
        };
        let is_transaction = kind == ParameterKind::Transaction;
        if is_transaction && parameters.iter().any(|other| other.kind == kind) {
            let message = "a node runs in one transaction";
            let help =
                format!("remove `{name}`: an attempt commits in one database, or not at all");
            report.error(Code::Malformed, typed.ty.span(), message, help);
            continue;
        }
        parameters.push(Parameter {
            name,
            ty: (*typed.ty).clone(),
            kind,
            description: documentation(&typed.attrs),
        });
    }
    parameters
}

fn kind(
    name: &Ident,
    ty: &Type,
    gets: GetsTransaction,
    report: &mut Report,
) -> Option<ParameterKind> {
    let mut refuse = |span: Span, message: String, help: String| {
        report.error(Code::Malformed, span, message, help);
        None
    };
    match ty {
        Type::Reference(_) if is_mutable(ty) && gets == GetsTransaction::Yes => {
            Some(ParameterKind::Transaction)
        }
        Type::Reference(reference) if reference.mutability.is_some() => {
            let elem = type_text(&reference.elem);
            let message = format!("a node cannot change `{name}` in place");
            let is_transaction = last_segment(&reference.elem)
                .is_some_and(|name| name.to_string().ends_with("Transaction"));
            let help = match gets {
                GetsTransaction::OnlyExec => {
                    "the transaction is that of `exec`: read or write in it there".to_owned()
                }
                _ if is_transaction => {
                    "for a transaction of the run's database, write `#[node(transaction)]`"
                        .to_owned()
                }
                _ => {
                    format!(
                        "read it as `&{elem}`; or take it as `{elem}`, return the new value, and write that under the same \
                         key: `#[node(writes = {name})]`"
                    )
                }
            };
            refuse(ty.span(), message, help)
        }
        _ if is_context(ty) => Some(ParameterKind::Context),
        _ if is_named_context(ty) => refuse(
            ty.span(),
            format!("`{name}` takes the run's context by value"),
            format!("read it by reference: `{name}: &{}`", type_text(ty)),
        ),
        Type::Reference(_) => Some(ParameterKind::Value(Mode::Borrow)),
        Type::ImplTrait(_) => {
            let help = "name the type: every key of a flow has one";
            refuse(
                ty.span(),
                format!("the type of `{name}` is not named"),
                help.to_owned(),
            )
        }
        _ => Some(ParameterKind::Value(match option_of(ty) {
            None => Mode::Take,
            Some(Type::Reference(reference)) if is_unsized(&reference.elem) => Mode::MaybeDeref,
            Some(Type::Reference(_)) => Mode::MaybeBorrow,
            Some(_) => Mode::MaybeTake,
        })),
    }
}

/// Returns true if the type is `&mut T`.
pub(super) fn is_mutable(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some())
}

/// Returns true if the type is `&Context`.
pub(super) fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if is_named_context(&reference.elem))
}

fn is_named_context(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|name| name == "Context")
}

/// The type of the value that is read, without the reference and the `Option`.
fn value_type(ty: &Type, mode: Mode) -> &Type {
    let ty = if mode.optional() {
        option_of(ty).unwrap_or(ty)
    } else {
        ty
    };
    match ty {
        Type::Reference(reference) if !mode.takes() => &reference.elem,
        other => other,
    }
}

/// Returns true if the state holds another type, which dereferences to this one: `str`, `[T]`,
/// `Path`, `dyn Trait`.
fn is_unsized(ty: &Type) -> bool {
    let ty = match ty {
        Type::Paren(paren) => &paren.elem,
        ty => ty,
    };
    matches!(ty, Type::Slice(_) | Type::TraitObject(_))
        || last_segment(ty).is_some_and(|name| {
            ["str", "Path", "OsStr", "CStr"]
                .iter()
                .any(|text| name == text)
        })
}
