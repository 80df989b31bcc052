//! `#[node]` on an `impl` block: `prep`, `exec`, `exec_fallback` and `post`, as in PocketFlow.
//!
//! Only `exec` is tried again, and with a `prep` it sees nothing but what `prep` returned.

use flow_spec::Code;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, FnArg, Generics, Pat, ReceiverKind, Signature, Token, Type, Visibility, WhereClause,
    braced,
};

use crate::contract::{Contract, Kind};
use crate::names::{here, is_name, snake_case};
use crate::report::Report;

use super::attribute::NodeAttribute;
use super::outcome::Returned;
use super::parameter::{Parameter, ParameterKind, local, parameters, used_name};
use super::step::{Attempted, Step, argument};

/// An `impl` block as far as we read it.
struct Steps {
    generics: Generics,
    self_ty: Type,
    methods: Vec<Signature>,
}

impl Parse for Steps {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Attribute::parse_outer)?;
        input.parse::<Option<Token![unsafe]>>()?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics = if input.peek(Token![<]) {
            input.parse()?
        } else {
            Generics::default()
        };
        let self_ty: Type = input.parse()?;
        if input.peek(Token![for]) {
            let text = "a node is an `impl` block of the type itself, not of a trait";
            return Err(input.error(text));
        }
        generics.where_clause = input.parse::<Option<WhereClause>>()?;
        let content;
        braced!(content in input);
        let mut methods = Vec::new();
        while !content.is_empty() {
            content.call(Attribute::parse_outer)?;
            content.parse::<Visibility>()?;
            let ahead = content.fork();
            if let Ok(method) = ahead.parse::<Signature>() {
                content.advance_to(&ahead);
                methods.push(method);
            }
            super::skip_item(&content)?;
        }
        Ok(Steps {
            generics,
            self_ty,
            methods,
        })
    }
}

impl Steps {
    /// The name of the type, which a keyword such as `Self` is not.
    fn name(&self) -> Option<&Ident> {
        super::parameter::last_segment(&self.self_ty).filter(|name| is_name(&name.to_string()))
    }
}

/// One of the four methods.
struct Phase {
    sig: Signature,
    /// Those that are reads or the context. Of an `exec` after a `prep`, and of `exec_fallback`, only the context.
    parameters: Vec<Parameter>,
    returned: Returned,
}

impl Phase {
    fn call(&self, arguments: &[TokenStream]) -> TokenStream {
        let name = &self.sig.ident;
        match self.sig.inputs.first() {
            Some(FnArg::Receiver(_)) => quote!(self.#name(#(#arguments),*)),
            _ => quote!(Self::#name(#(#arguments),*)),
        }
    }

    fn awaited(&self, arguments: &[TokenStream]) -> TokenStream {
        let call = self.call(arguments);
        if self.sig.asyncness.is_some() {
            quote!(#call.await)
        } else {
            call
        }
    }

    fn has_context(&self) -> bool {
        self.parameters
            .iter()
            .any(|parameter| parameter.kind == ParameterKind::Context)
    }

    /// The parameters but for `self`.
    fn typed(&self) -> impl Iterator<Item = &syn::PatType> {
        self.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        })
    }
}

/// What comes beside the block.
pub(super) fn expand(
    attribute: &NodeAttribute,
    item: TokenStream,
    report: &mut Report,
) -> syn::Result<TokenStream> {
    let steps: Steps = syn::parse2(item)?;
    let name = match steps.name() {
        Some(name) => name.clone(),
        None => {
            return Err(syn::Error::new(
                steps.self_ty.span(),
                "a node is a named type",
            ));
        }
    };
    let phase = |wanted: &str| {
        steps
            .methods
            .iter()
            .find(|method| method.ident == wanted)
            .cloned()
    };
    let Some(exec) = phase("exec") else {
        let help = "add `fn exec(&self, …)`: it does the work, and `prep`, `exec_fallback` and `post` go with it";
        report.error(
            Code::Malformed,
            name.span(),
            format!("the node `{name}` has no `exec`"),
            help,
        );
        return Ok(TokenStream::new());
    };
    let others = ["prep", "exec_fallback", "post"]
        .into_iter()
        .filter_map(phase);
    for method in others.chain([exec.clone()]) {
        refuse_unusual(&method, report);
    }
    if let (None, Some(post)) = (phase("prep"), phase("post")) {
        refuse_prep_res(&post, report);
    }
    for (span, setting) in [
        (attribute.poll.as_ref().map(|poll| poll.span), "poll"),
        (attribute.blocking, "blocking"),
    ] {
        if let Some(span) = span {
            let message = format!("`{setting}` is a setting of a function");
            report.error(
                Code::NamesNothing,
                span,
                message,
                "make this node a function, or remove it",
            );
        }
    }
    let node = Node::new(&name, attribute, exec, &phase, report);
    let body = node.body(report);
    let contract = node.contract();
    let vis: Visibility = syn::parse_quote!(pub);
    let self_ty = &steps.self_ty;
    let lifetimes = node.lifetimes();
    let step = Step {
        name: &name,
        self_ty: quote!(#self_ty),
        generics: &steps.generics,
        lifetimes: Some(&lifetimes),
        actions: attribute.actions.as_ref(),
        receiver: Some(quote!(&self)),
        settings: &attribute.settings,
        reads: node.reads.iter().collect(),
        outcome_span: node.last().returned.span,
        outcome: node.outcome,
        visit: contract.visit,
        body,
    }
    .expand();
    let contract = super::contract(&name, &vis, attribute, &contract);
    Ok(quote!(#step #contract))
}

/// What comes beside a block with mistakes.
pub(super) fn stub(item: TokenStream) -> syn::Result<TokenStream> {
    let steps: Steps = syn::parse2(item)?;
    let (generics, self_ty) = (&steps.generics, &steps.self_ty);
    let vis: Visibility = syn::parse_quote!(pub);
    Ok(steps
        .name()
        .map(|name| super::stub(name, &vis, generics, &quote!(#self_ty)))
        .unwrap_or_default())
}

struct Node<'a> {
    attribute: &'a NodeAttribute,
    prep: Option<Phase>,
    exec: Phase,
    fallback: Option<Phase>,
    post: Option<Phase>,
    /// The reads of all phases, each once.
    reads: Vec<Parameter>,
    outcome: super::outcome::Outcome,
}

impl<'a> Node<'a> {
    fn new(
        name: &Ident,
        attribute: &'a NodeAttribute,
        exec: Signature,
        phase: &dyn Fn(&str) -> Option<Signature>,
        report: &mut Report,
    ) -> Self {
        let mut read_phase = |sig: Signature, inputs: Vec<FnArg>| Phase {
            parameters: parameters(inputs.iter(), report),
            returned: Returned::new(&sig.output, sig.ident.span(), report),
            sig,
        };
        let all = |sig: &Signature| sig.inputs.iter().cloned().collect::<Vec<_>>();
        let only_context =
            |sig: &Signature| all(sig).into_iter().filter(is_context).collect::<Vec<_>>();
        let prep = phase("prep").map(|sig| {
            let inputs = all(&sig);
            read_phase(sig, inputs)
        });
        let inputs = if prep.is_some() {
            only_context(&exec)
        } else {
            all(&exec)
        };
        let exec = read_phase(exec, inputs);
        let fallback = phase("exec_fallback").map(|sig| {
            let inputs = only_context(&sig);
            read_phase(sig, inputs)
        });
        let post = phase("post").map(|sig| {
            let inputs = all(&sig)
                .into_iter()
                .filter(|input| !is_result_of_phase(input))
                .collect();
            read_phase(sig, inputs)
        });
        let mut reads: Vec<Parameter> = Vec::new();
        let phases = [prep.as_ref(), Some(&exec), post.as_ref()];
        for parameter in phases
            .into_iter()
            .flatten()
            .flat_map(|phase| &phase.parameters)
        {
            if parameter.kind == ParameterKind::Context {
                continue;
            }
            match reads.iter().find(|read| read.name == parameter.name) {
                None => reads.push(parameter.clone()),
                Some(earlier) if earlier.takes() || parameter.takes() => {
                    let message = format!(
                        "`{name}` takes `{0}` in one method and reads it in another",
                        parameter.name
                    );
                    report.error(
                        Code::TakenTooEarly,
                        parameter.name.span(),
                        message,
                        "read it by reference in both",
                    );
                }
                Some(_) => {}
            }
        }
        let last = post.as_ref().unwrap_or(&exec);
        let outcome = last
            .returned
            .outcome(&snake_case(&name.to_string()), attribute, report);
        let node = Node {
            attribute,
            prep,
            exec,
            fallback,
            post,
            reads,
            outcome,
        };
        node.refuse_settings_without_failure(name, report);
        node
    }

    /// The lifetimes that its methods name.
    fn lifetimes(&self) -> Generics {
        let mut all = Generics::default();
        let phases = [self.prep.as_ref(), Some(&self.exec), self.post.as_ref()];
        for lifetime in phases
            .into_iter()
            .flatten()
            .flat_map(|phase| phase.sig.generics.lifetimes())
        {
            if all
                .lifetimes()
                .all(|other| other.lifetime != lifetime.lifetime)
            {
                all.params
                    .push(syn::GenericParam::Lifetime(lifetime.clone()));
            }
        }
        all
    }

    /// The phase whose value is the node's outcome.
    fn last(&self) -> &Phase {
        self.post.as_ref().unwrap_or(&self.exec)
    }

    fn exec_can_fail(&self) -> bool {
        self.exec.returned.fallible || self.attribute.settings.timeout.is_some()
    }

    fn repeats(&self) -> bool {
        self.attribute
            .settings
            .retry
            .as_ref()
            .is_some_and(|(_, retry)| retry.repeats())
    }

    fn refuse_settings_without_failure(&self, name: &Ident, report: &mut Report) {
        const HELP: &str = "let `exec` return a `Result`, give the node a `timeout`, or remove it";
        if self.exec_can_fail() {
            return;
        }
        if let Some((span, _)) = &self.attribute.settings.retry {
            let message = format!("`exec` of `{name}` cannot fail, so there is nothing to retry");
            report.error(Code::CannotFail, *span, message, HELP);
        }
        if let Some(fallback) = &self.fallback {
            let message = format!("`exec` of `{name}` cannot fail, so this is never called");
            report.error(Code::CannotFail, fallback.sig.ident.span(), message, HELP);
        }
    }

    fn contract(&self) -> Contract {
        let fails =
            |phase: &Option<Phase>| phase.as_ref().is_some_and(|phase| phase.returned.fallible);
        let saved = self.fallback.is_some() && !fails(&self.fallback);
        let context = [
            self.prep.as_ref(),
            Some(&self.exec),
            self.fallback.as_ref(),
            self.post.as_ref(),
        ];
        let context = context.into_iter().flatten().any(Phase::has_context);
        let any_fails = fails(&self.prep) || self.exec_can_fail() || fails(&self.post);
        Contract {
            kind: Kind::Type,
            visit: any_fails || context,
            fallible: fails(&self.prep) || fails(&self.post) || (self.exec_can_fail() && !saved),
            attempts: self.exec_can_fail(),
            once: self.once() && self.exec_can_fail(),
            reads: self
                .reads
                .iter()
                .filter_map(|parameter| parameter.port())
                .collect(),
            writes: self.outcome.writes.clone(),
            ..Contract::empty()
        }
    }

    /// Whether an attempt uses up what `exec` takes.
    fn once(&self) -> bool {
        !self.repeats() && self.exec_takes() && !self.exec_clones()
    }

    fn exec_takes(&self) -> bool {
        match &self.prep {
            Some(_) => self
                .exec
                .typed()
                .any(|typed| !is_context_type(&typed.ty) && !is_reference(&typed.ty)),
            None => self.exec.parameters.iter().any(Parameter::takes),
        }
    }

    /// Whether `exec` is handed clones of what it takes: for another attempt, or for a later phase.
    fn exec_clones(&self) -> bool {
        let later = [self.fallback.as_ref(), self.post.as_ref()]
            .into_iter()
            .flatten();
        self.repeats()
            || later
                .flat_map(Phase::typed)
                .any(|typed| self.is_prep_res(typed))
            || self.fallback.is_some()
    }

    /// The name under which `exec` takes what `prep` returned.
    fn prep_name(&self) -> Option<Ident> {
        let typed = self
            .exec
            .typed()
            .find(|typed| !is_context_type(&typed.ty))?;
        pattern_name(&typed.pat)
    }

    fn is_prep_res(&self, typed: &syn::PatType) -> bool {
        self.prep.is_some()
            && pattern_name(&typed.pat).is_some_and(|name| {
                let name = used_name(&name);
                name == "prep_res"
                    || self
                        .prep_name()
                        .is_some_and(|prep| used_name(&prep) == name)
            })
    }

    fn body(&self, report: &mut Report) -> TokenStream {
        let contract = self.contract();
        let can_fail = self.exec_can_fail();
        let attempts = contract.visit.then(|| {
            let mutable = (can_fail && !self.once()).then(|| quote!(mut));
            quote!(let #mutable __attempts = __visit.attempts();)
        });
        let prep = self.prep.as_ref().map(|prep| {
            let arguments: Vec<_> = prep
                .parameters
                .iter()
                .map(|parameter| argument(parameter, false))
                .collect();
            let value = self.checked(prep, &arguments);
            quote!(let __prep = #value;)
        });
        let attempted = Attempted {
            call: self.exec.call(&self.exec_arguments(report)),
            is_async: self.exec.sig.asyncness.is_some(),
            fallible: self.exec.returned.fallible,
            can_fail,
            context: self.exec.has_context(),
            once: self.once(),
            returned: self.exec.returned.span,
            give_up: self.give_up(report),
        };
        let exec = attempted.value();
        let Some(post) = &self.post else {
            return quote!(#attempts #prep #exec);
        };
        let arguments = self.post_arguments(post);
        let value = self.checked(post, &arguments);
        quote!(#attempts #prep let __exec = #exec; #value)
    }

    /// The value of a phase that is not tried again.
    fn checked(&self, phase: &Phase, arguments: &[TokenStream]) -> TokenStream {
        let call = phase.awaited(arguments);
        let context = phase
            .has_context()
            .then(|| quote!(let __context = __attempts.context();));
        match phase.returned.fallible {
            true => quote!({ #context __attempts.once(#call)? }),
            false => quote!({ #context #call }),
        }
    }

    fn exec_arguments(&self, report: &mut Report) -> Vec<TokenStream> {
        if self.prep.is_none() {
            let cloned = self.exec_clones();
            return self
                .exec
                .parameters
                .iter()
                .map(|parameter| argument(parameter, cloned))
                .collect();
        }
        let mut taken = false;
        let mut arguments = Vec::new();
        for typed in self.exec.typed() {
            if is_context_type(&typed.ty) {
                arguments.push(quote!(&__context));
                continue;
            }
            if taken {
                let message = "`exec` sees nothing but what `prep` returned";
                let help = "read it in `prep`, and return a tuple or a struct from there";
                report.error(Code::Malformed, typed.pat.span(), message, help);
            }
            taken = true;
            arguments.push(self.prep_argument(&typed.ty, self.exec_clones()));
        }
        arguments
    }

    fn prep_argument(&self, ty: &Type, cloned: bool) -> TokenStream {
        let site = here(ty.span());
        let rt = crate::protocol::runtime_at(site);
        match (is_reference(ty), cloned) {
            (true, _) => quote_spanned!(site=> &__prep),
            (false, true) => quote_spanned!(site=> #rt::CloneForAttempt::for_attempt(&__prep)),
            (false, false) => quote_spanned!(site=> __prep),
        }
    }

    fn post_arguments(&self, post: &Phase) -> Vec<TokenStream> {
        let argument_of = |typed: &syn::PatType| {
            let site = here(typed.ty.span());
            match result_name(&typed.pat) {
                Some("prep_res") if is_reference(&typed.ty) => quote_spanned!(site=> &__prep),
                Some("prep_res") => quote_spanned!(site=> __prep),
                Some(_) if is_reference(&typed.ty) => quote_spanned!(site=> &__exec),
                Some(_) => quote_spanned!(site=> __exec),
                None if is_context_type(&typed.ty) => quote!(&__context),
                None => {
                    let name = pattern_name(&typed.pat).unwrap_or_else(|| format_ident!("_"));
                    let name = local(&name);
                    quote!(#name)
                }
            }
        };
        post.typed().map(argument_of).collect()
    }

    /// The fallback's value, if there is a fallback.
    fn give_up(&self, report: &mut Report) -> Option<TokenStream> {
        let fallback = self.fallback.as_ref()?;
        let mut arguments = Vec::new();
        for typed in fallback.typed() {
            match self.fallback_argument(typed) {
                Some(argument) => arguments.push(argument),
                None => {
                    let mut names = vec!["`error: &NodeError`".to_owned(), "`&Context`".to_owned()];
                    match &self.prep {
                        Some(_) => names.push("`prep_res`".to_owned()),
                        None => names.extend(
                            self.exec
                                .parameters
                                .iter()
                                .map(|read| format!("`{}`", read.name)),
                        ),
                    }
                    let message = "`exec_fallback` sees only what `exec` has seen, and the error";
                    let help = format!("it can take {}", names.join(", "));
                    report.error(Code::Malformed, typed.pat.span(), message, help);
                }
            }
        }
        let context = fallback
            .has_context()
            .then(|| quote!(let __context = __attempts.context();));
        let value = fallback.awaited(&arguments);
        Some(match fallback.returned.fallible {
            true => quote!({
                #context
                let __fallback = #value;
                __attempts.fallback(__fallback, __error)?
            }),
            // Bound where its type is written, which is the place for an error if `exec` has another.
            false => {
                let given = quote_spanned!(here(fallback.returned.span)=> __given);
                quote!({ #context let #given = #value; #given })
            }
        })
    }

    fn fallback_argument(&self, typed: &syn::PatType) -> Option<TokenStream> {
        if is_context_type(&typed.ty) {
            return Some(quote!(&__context));
        }
        let name = pattern_name(&typed.pat)?;
        if used_name(&name) == "error" && is_reference(&typed.ty) {
            return Some(quote!(&__error));
        }
        if self.is_prep_res(typed) {
            return Some(self.prep_argument(&typed.ty, true));
        }
        if self.prep.is_some() {
            return None;
        }
        let read = self
            .exec
            .parameters
            .iter()
            .find(|read| used_name(&read.name) == used_name(&name))?;
        let wanted = Parameter {
            ty: (*typed.ty).clone(),
            ..read.clone()
        };
        Some(match (is_reference(&typed.ty), read.takes()) {
            (true, true) => {
                let name = local(&read.name);
                quote!(&#name)
            }
            _ => argument(&wanted, read.takes()),
        })
    }
}

fn refuse_prep_res(post: &Signature, report: &mut Report) {
    let prep_res = post.inputs.iter().find_map(|input| match input {
        FnArg::Typed(typed) if result_name(&typed.pat) == Some("prep_res") => Some(typed),
        _ => None,
    });
    if let Some(typed) = prep_res {
        let message = "there is no `prep`, and so no `prep_res`";
        let help = "add `fn prep(&self, …)`, or read the values themselves";
        report.error(Code::Malformed, typed.pat.span(), message, help);
    }
}

fn refuse_unusual(method: &Signature, report: &mut Report) {
    if let Some(FnArg::Receiver(receiver)) = method.inputs.first() {
        let shared = matches!(&receiver.kind, ReceiverKind::Reference(_, _, mutability) if mutability.is_none());
        if !shared {
            let message = format!("`{}` has to take `&self`", method.ident);
            let help = "a node keeps nothing from one visit to the next: return what changes, and the flow keeps it";
            report.error(Code::Malformed, receiver.span(), message, help);
        }
    }
    if let Some(parameter) = method
        .generics
        .params
        .iter()
        .find(|parameter| !matches!(parameter, syn::GenericParam::Lifetime(_)))
    {
        let message = format!("`{}` cannot be generic by itself", method.ident);
        report.error(
            Code::Malformed,
            parameter.span(),
            message,
            "make the type generic instead",
        );
    }
}

fn pattern_name(pattern: &Pat) -> Option<Ident> {
    match pattern {
        Pat::Ident(pattern) => Some(pattern.ident.clone()),
        _ => None,
    }
}

fn result_name(pattern: &Pat) -> Option<&'static str> {
    let name = pattern_name(pattern)?;
    let name = used_name(&name);
    ["prep_res", "exec_res"]
        .into_iter()
        .find(|result| name == *result)
}

fn is_result_of_phase(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if result_name(&typed.pat).is_some())
}

fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(_))
}

fn is_context_type(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if super::parameter::last_segment(&reference.elem).is_some_and(|name| name == "Context"))
}

fn is_context(input: &FnArg) -> bool {
    matches!(input, FnArg::Typed(typed) if is_context_type(&typed.ty))
}
