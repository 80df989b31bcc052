//! `#[derive(Params)]`: the settings of a node as JSON, field by field.

use flow_spec::{Code, did_you_mean};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Field, Fields, Member};

use crate::names::{camel_case, here, plain};
use crate::protocol::{runtime, runtime_at};
use crate::report::Report;

/// The expansion of the derive.
pub(crate) fn derive(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut report = Report::default();
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
        .map(|(member, field)| write(&member, field, &mut report))
        .collect();
    let rt = runtime();
    let name = &item.ident;
    let (generics, arguments, bounds) = item.generics.split_for_impl();
    let errors = report.into_tokens();
    quote! {
        #errors
        #[allow(non_local_definitions)]
        const _: () = {
            impl #generics ::flow_runtime::Params for #name #arguments #bounds {
                #[allow(unused_variables, unused_imports)]
                fn params(&self, params: &mut ::flow_runtime::ParamsWriter) {
                    use #rt::export_values::*;
                    #(#fields)*
                }
            }
        };
    }
}

/// The line that writes one field.
fn write(member: &Member, field: &Field, report: &mut Report) -> TokenStream {
    let site = here(field.ty.span());
    let rt = runtime_at(site);
    let secret = is_secret(field, report);
    let name = match member {
        Member::Named(name) => lower_camel_case(&plain(name)),
        Member::Unnamed(index) => index.index.to_string(),
    };
    quote_spanned! {site=>
        (&&&#rt::export_values::ParamOf { value: &self.#member, secret: #secret }).write(#name, params);
    }
}

/// `api_key` → `apiKey`
fn lower_camel_case(name: &str) -> String {
    let camel = camel_case(name);
    let mut letters = camel.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => name.to_owned(),
    }
}

/// Whether the field is marked `#[param(secret)]`.
fn is_secret(field: &Field, report: &mut Report) -> bool {
    let mut secret = false;
    for attribute in &field.attrs {
        if !attribute.path().is_ident("param") {
            continue;
        }
        let mut settings = 0;
        let parsed = attribute.parse_nested_meta(|meta| {
            settings += 1;
            match meta.path.is_ident("secret") {
                true => secret = true,
                false => {
                    let unknown = meta.path.to_token_stream().to_string();
                    unknown_setting(&unknown, meta.path.span(), report);
                }
            }
            Ok(())
        });
        if report.ok(parsed).is_some() && settings == 0 {
            let help = "write `#[param(secret)]`, or remove it";
            report.error(
                Code::NamesNothing,
                attribute.path().span(),
                "this `param` says nothing",
                help,
            );
        }
    }
    secret
}

fn unknown_setting(unknown: &str, span: Span, report: &mut Report) {
    let help = did_you_mean(unknown, ["secret"])
        .unwrap_or_default()
        .replace('"', "`");
    let message = format!("`param` has no setting `{unknown}`");
    report.error(Code::NamesNothing, span, message, help);
}
