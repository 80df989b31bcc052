//! `#[derive(Params)]`: the settings of a node as JSON, field by field.

use flow_spec::{Code, did_you_mean};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Field, Fields, Member, Meta, Path, Token};

use crate::fragments::ungrouped;
use crate::names::{here, path_text, plain};
use crate::report::Report;
use crate::runtime::{self, Runtime};

/// The expansion of the derive.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(ungrouped(item)) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut report = Report::default();
    let runtime = runtime::of_item(&item.attrs, "param", &mut report);
    expand(&item, &runtime, report)
}

fn expand(item: &DeriveInput, runtime: &Runtime, mut report: Report) -> TokenStream {
    let fields = match &item.data {
        Data::Struct(data) => &data.fields,
        _ => {
            let message = "settings are the fields of a struct";
            let help = "derive `Params` for a struct, or implement `Serialize` for this type";
            report.error(Code::Malformed, item.ident.span(), message, help);
            &Fields::Unit
        }
    };
    let fields: Vec<TokenStream> = fields
        .members()
        .zip(fields)
        .map(|(member, field)| write(&member, field, runtime, &mut report))
        .collect();
    let (rt, runtime) = (runtime.hidden(), runtime.root());
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let errors = report.into_tokens();
    quote! {
        #errors
        const _: () = {
            impl #generics #runtime::Params for #name #arguments #bounds {
                fn params(&self, __params: &mut #runtime::ParamsWriter) {
                    use #rt::export_values::traits::*;
                    #(#fields)*
                }
            }
        };
    }
}

/// The line that writes one field.
fn write(member: &Member, field: &Field, runtime: &Runtime, report: &mut Report) -> TokenStream {
    let site = here(field.ty.span());
    let rt = runtime.hidden_at(site);
    let secret = is_secret(field, report);
    let name = match member {
        Member::Named(name) => plain(name),
        Member::Unnamed(index) => index.index.to_string(),
    };
    quote_spanned! {site=>
        (&&&&#rt::export_values::ParamOf { value: &self.#member, secret: #secret }).__write(#name, __params);
    }
}

/// Returns true if the field is marked `#[param(secret)]`.
fn is_secret(field: &Field, report: &mut Report) -> bool {
    let marks = field
        .attrs
        .iter()
        .filter(|mark| mark.path().is_ident("param"));
    let mut secret = false;
    for mark in marks {
        let settings = match &mark.meta {
            Meta::List(list) => {
                let list = list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
                match report.ok(list) {
                    Some(settings) => settings,
                    None => continue,
                }
            }
            _ => Punctuated::new(),
        };
        if settings.is_empty() {
            let help = "write `#[param(secret)]`, or remove it";
            let span = mark.path().span();
            report.error(Code::NamesNothing, span, "this `param` says nothing", help);
        }
        for setting in settings {
            if setting.is_ident("secret") {
                secret = true
            } else {
                unknown_setting(&setting, report)
            }
        }
    }
    secret
}

fn unknown_setting(setting: &Path, report: &mut Report) {
    let unknown = path_text(setting);
    let help = did_you_mean(&unknown, ["secret"]).unwrap_or_default();
    let message = format!("`param` has no setting `{unknown}`");
    report.error(Code::NamesNothing, setting.span(), message, help);
}
