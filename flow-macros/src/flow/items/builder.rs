//! Builders of inputs and flows, with their own errors for fields that are not set, or set twice.
//!
//! A builder has a type parameter for its state: a tuple with `()` for each field that is not set,
//! and with a tuple of the field's type for each that is. With one long tuple, each method would
//! name all other fields, so the tuple has at most eight parts, which are tuples in turn.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::{Index, Visibility};

use crate::names::{here, ident, plain};
use crate::runtime::Runtime;

/// The maximum number of parts of a tuple.
const PARTS: usize = 8;

/// A type that a builder makes.
pub(super) struct Built<'a> {
    pub(super) vis: &'a Visibility,
    pub(super) name: &'a Ident,
    /// The documentation of the builder.
    pub(super) doc: String,
    pub(super) fields: Vec<Field<'a>>,
    /// The fields that cannot be set, each with its value.
    pub(super) others: Vec<TokenStream>,
    pub(super) runtime: &'a Runtime,
}

/// A field that the builder sets.
pub(super) struct Field<'a> {
    pub(super) name: &'a Ident,
    pub(super) ty: TokenStream,
    /// The documentation of its method.
    pub(super) doc: TokenStream,
    /// The type that its method takes.
    pub(super) taken: TokenStream,
    /// The value of the field, computed from the argument [`VALUE`].
    pub(super) made: TokenStream,
    pub(super) unset: Unset,
}

/// The parameter of the method that sets a field.
pub(super) const VALUE: &str = "__value";

/// The value of a field that is not set.
pub(super) enum Unset {
    /// A mistake.
    Refused,
    /// This value.
    Value(TokenStream),
    /// The default of its type, or a mistake if the type has none.
    DefaultOfType,
}

impl Field<'_> {
    /// The lifetime of its trait if rustc has to check at each use if its type has a default. It
    /// has no meaning: a bound without one would have to hold at the definition.
    fn lifetime(&self) -> Option<TokenStream> {
        let site = here(self.name.span());
        matches!(self.unset, Unset::DefaultOfType).then(|| quote_spanned!(site=> <'__a>))
    }

    /// The trait of its parameter if the field is set, or if it has a default.
    fn is_set(&self) -> Ident {
        self.trait_name("is_set")
    }

    /// The trait of its parameter if the field is not set.
    fn is_not_set(&self) -> Ident {
        self.trait_name("is_not_set")
    }

    /// A readable name, because rustc shows the trait next to the message.
    fn trait_name(&self, state: &str) -> Ident {
        format_ident!(
            "{}_{state}",
            plain(self.name),
            span = here(self.name.span())
        )
    }
}

/// The parts of the tuple.
enum Part {
    /// The parameter for the field of this number.
    Field(usize),
    Tuple(Vec<Part>),
}

impl Part {
    /// The tuple for this many fields.
    fn all(fields: usize) -> Part {
        let mut parts: Vec<Part> = (0..fields).map(Part::Field).collect();
        while parts.len() > PARTS {
            let mut rest = parts.into_iter().peekable();
            parts = Vec::new();
            while rest.peek().is_some() {
                parts.push(Part::Tuple(rest.by_ref().take(PARTS).collect()));
            }
        }
        Part::Tuple(parts)
    }

    /// The numbers of its fields.
    fn fields(&self) -> Vec<usize> {
        match self {
            Part::Field(field) => vec![*field],
            Part::Tuple(parts) => parts.iter().flat_map(Part::fields).collect(),
        }
    }

    /// The type or the expression that has the given tokens for each field.
    fn of_fields(&self, of_field: &impl Fn(usize) -> TokenStream) -> TokenStream {
        match self {
            Part::Field(field) => of_field(*field),
            Part::Tuple(parts) => {
                let parts = parts.iter().map(|part| part.of_fields(of_field));
                quote!((#(#parts,)*))
            }
        }
    }

    /// Like `of_fields`, with other tokens for tuples without the fields. `path` leads to the part.
    fn along(
        &self,
        fields: &[usize],
        path: &[usize],
        of_field: &impl Fn(usize, &[usize]) -> TokenStream,
        of_other: &mut impl FnMut(&[usize]) -> TokenStream,
    ) -> TokenStream {
        match self {
            Part::Field(field) => of_field(*field, path),
            Part::Tuple(_) if !self.fields().iter().any(|field| fields.contains(field)) => {
                of_other(path)
            }
            Part::Tuple(parts) => {
                let parts = parts.iter().enumerate().map(|(index, part)| {
                    let path: Vec<usize> = path.iter().copied().chain([index]).collect();
                    part.along(fields, &path, of_field, of_other)
                });
                let parts: Vec<TokenStream> = parts.collect();
                quote!((#(#parts,)*))
            }
        }
    }
}

/// The builder.
struct Builder<'a> {
    built: &'a Built<'a>,
    /// Its own name.
    name: Ident,
    /// The parameter of each field.
    parameters: Vec<Ident>,
    all: Part,
}

/// The builder of a type.
pub(super) fn builder(built: &Built<'_>) -> TokenStream {
    let builder = Builder {
        built,
        name: format_ident!("{}Builder", built.name, span = here(built.name.span())),
        parameters: parameters(&built.fields),
        all: Part::all(built.fields.len()),
    };
    builder.expand()
}

/// The parameters of the fields. rustc shows them, so each has the name of its field, unless
/// another type has that name.
fn parameters(fields: &[Field<'_>]) -> Vec<Ident> {
    let mut mentioned = HashSet::new();
    for field in fields {
        mention(&field.ty, &mut mentioned);
        mention(&field.taken, &mut mentioned);
    }
    let parameter = |field: &Field<'_>| {
        let (name, span) = (plain(field.name), field.name.span());
        if mentioned.contains(&name)
            || name.ends_with("_set")
            || name.starts_with(char::is_uppercase)
        {
            ident(&format!("{name}_value"), span)
        } else {
            ident(&name, span)
        }
    };
    fields.iter().map(parameter).collect()
}

fn mention(tokens: &TokenStream, names: &mut HashSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => {
                names.insert(plain(&ident));
            }
            TokenTree::Group(group) => mention(&group.stream(), names),
            _ => {}
        }
    }
}

impl Builder<'_> {
    /// The struct, `builder()`, and its methods.
    fn expand(&self) -> TokenStream {
        let Builder { built, name, .. } = self;
        let Built { vis, doc, .. } = built;
        let (its_type, site) = (built.name, here(built.name.span()));
        let (rt, text) = (built.runtime.hidden_at(site), plain(name));
        let nothing = self.all.of_fields(&|_| quote!(()));
        let definitions = built.fields.iter().map(|field| self.definition(field));
        let fields: Vec<usize> = (0..built.fields.len()).collect();
        let setters = fields.chunks(PARTS).map(|fields| self.setters(fields));
        let build = self.build();
        quote_spanned! {site=>
            #rt::builder! {
                #doc { #vis struct #name<Set = #nothing> { __set: Set } } #name #text for #its_type #nothing
                { #(#definitions)* #(#setters)* #build }
            }
        }
    }

    /// The methods of the fields of one tuple. All other tuples stay as they are.
    fn setters(&self, fields: &[usize]) -> TokenStream {
        let Builder { name, all, .. } = self;
        let mut others = Vec::new();
        let mut other = |path: &[usize]| {
            let other = other(path);
            others.push(other.clone());
            quote!(#other)
        };
        let parameters = &self.parameters;
        let before = all.along(
            fields,
            &[],
            &|field, _| {
                let parameter = &parameters[field];
                quote!(#parameter)
            },
            &mut other,
        );
        let own = fields.iter().map(|&field| &parameters[field]);
        let setters = fields.iter().map(|&field| self.setter(fields, field));
        let site = here(self.built.name.span());
        quote_spanned! {site=>
            impl<#(#own,)* #(#others,)*> #name<#before> { #(#setters)* }
        }
    }

    /// The method that sets a field.
    fn setter(&self, fields: &[usize], own: usize) -> TokenStream {
        let Builder {
            built,
            name: builder,
            parameters,
            all,
        } = self;
        let field = &built.fields[own];
        let Field {
            name,
            doc,
            ty,
            taken,
            made,
            ..
        } = field;
        let site = here(name.span());
        let after = |field: usize, _: &[usize]| {
            let parameter = &parameters[field];
            if field == own {
                quote_spanned!(site=> (#ty,))
            } else {
                quote!(#parameter)
            }
        };
        let after = all.along(fields, &[], &after, &mut |path| {
            let other = other(path);
            quote!(#other)
        });
        let value = |field: usize, path: &[usize]| {
            if field == own {
                quote_spanned!(site=> (#made,))
            } else {
                place(path)
            }
        };
        let values = all.along(fields, &[], &value, &mut place);
        let parameter = &parameters[own];
        // Shown as the user's code, so that rustc does not mention the macro.
        let unset = Ident::new(&field.is_not_set().to_string(), name.span());
        let argument = Ident::new(VALUE, site);
        quote_spanned! {site=>
            #doc
            pub fn #name(self, #argument: #taken) -> #builder<#after>
            where
                #parameter: #unset,
            {
                #builder { __set: #values }
            }
        }
    }

    /// `build`.
    fn build(&self) -> TokenStream {
        let Builder {
            built,
            name: builder,
            parameters,
            all,
        } = self;
        let Built {
            name,
            fields,
            others,
            ..
        } = built;
        let doc = format!("Makes `{name}` of what is set.");
        let lifetimes = fields.iter().filter_map(Field::lifetime);
        let lifetime = lifetimes.map(|_| quote!('__a,)).next();
        let site = here(name.span());
        // Shown as the user's code, so that rustc does not mention the macro.
        let bounds = fields.iter().map(|field| {
            let user = field.name.span();
            let name = Ident::new(&field.is_set().to_string(), user);
            let is_default = matches!(field.unset, Unset::DefaultOfType);
            let lifetime = is_default.then(|| quote_spanned!(user=> <'__a>));
            quote_spanned!(user=> #name #lifetime)
        });
        let set = all.of_fields(&|field| {
            let parameter = &parameters[field];
            quote!(#parameter)
        });
        let mut places = Vec::new();
        places_of(all, &mut Vec::new(), &mut places);
        let values = fields.iter().zip(places).map(|(field, place)| {
            let (name, its_trait) = (field.name, field.is_set());
            quote_spanned!(site=> #name: #its_trait::completed(#place))
        });
        quote_spanned! {site=>
            impl<#lifetime #(#parameters),*> #builder<#set> {
                #[doc = #doc]
                pub fn build(self) -> #name
                where
                    #(#parameters: #bounds,)*
                {
                    #name { #(#values,)* #(#others,)* }
                }
            }
        }
    }

    /// The traits of a field.
    fn definition(&self, field: &Field<'_>) -> TokenStream {
        let (rt, built) = (self.built.runtime.hidden(), plain(self.built.name));
        let Field {
            name, ty, unset, ..
        } = field;
        let (is_set, is_not_set) = (field.is_set(), field.is_not_set());
        let lifetime = field.lifetime();
        let message = format!("`{}` of `{built}` is not set", plain(name));
        let label = format!("needs `{}`", plain(name));
        let mut note = format!("add `.{name}(…)` before `.build()`");
        let default = match unset {
            Unset::Refused => None,
            Unset::Value(value) => Some((TokenStream::new(), value.clone())),
            Unset::DefaultOfType => {
                note.push_str(", or implement `Default` for its type");
                let bound = quote!(where #ty: #rt::HasDefault<'__a>);
                Some((bound, quote!(<#ty as #rt::HasDefault<'__a>>::value())))
            }
        };
        let default = default.map(|(bound, value)| quote!({ #bound } { #value }));
        let twice = format!("`{}` of `{built}` is set twice", plain(name));
        let remove = format!("remove one `.{name}(…)`");
        quote! {
            #rt::field! {
                #is_set {#lifetime} {#ty} #message #label #note #default; #is_not_set #twice #remove
            }
        }
    }
}

/// The parameter of a tuple whose fields do not matter.
fn other(path: &[usize]) -> Ident {
    let path: Vec<String> = path.iter().map(usize::to_string).collect();
    format_ident!("__Set{}", path.join("_"))
}

/// The parameter at the end of a path.
fn place(path: &[usize]) -> TokenStream {
    let path = path.iter().map(|&part| Index::from(part));
    quote!(self.__set #(.#path)*)
}

/// The places of the fields, in their order.
fn places_of(part: &Part, path: &mut Vec<usize>, places: &mut Vec<TokenStream>) {
    match part {
        Part::Field(_) => places.push(place(path)),
        Part::Tuple(parts) => {
            for (index, part) in parts.iter().enumerate() {
                path.push(index);
                places_of(part, path, places);
                path.pop();
            }
        }
    }
}
