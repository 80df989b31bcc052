//! The syntax between the braces of `flow!`, as written.

use std::ops::Index;
use std::rc::Rc;
use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, Ident, LitStr, Path, Type, Visibility};

use crate::names::{plain, snake_case};
use crate::runtime::Runtime;
use crate::settings::Settings;

/// A whole `flow!`.
pub(crate) struct FlowSyntax {
    pub(crate) runtime: Runtime,
    pub(crate) attributes: Vec<Attribute>,
    /// Everything after the attributes, as tokens.
    pub(crate) after_attributes: TokenStream,
    pub(crate) vis: Visibility,
    pub(crate) name: Ident,
    pub(crate) inputs: Vec<Parameter>,
    pub(crate) outputs: Vec<Parameter>,
    pub(crate) namespace: Option<LitStr>,
    pub(crate) nodes: Vec<NodeSyntax>,
    pub(crate) branches: Vec<BranchSyntax>,
    pub(crate) edges: Vec<EdgeSyntax>,
    /// The number of waits, and of the words `undo` and `commit`.
    pub(crate) waits: usize,
    /// The names of nodes whose declaration could not be read.
    pub(crate) unread: Vec<Ident>,
    /// The ends in statements that could not be read.
    pub(crate) unread_ends: Vec<(Span, Option<LitStr>)>,
}

/// A declaration in [`FlowSyntax::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DeclarationIndex(usize);

/// A branch in [`FlowSyntax::branches`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BranchIndex(usize);

/// A wait, an `undo` or a `commit`: those of a flow are numbered in the order written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WaitIndex(pub(crate) usize);

impl FlowSyntax {
    /// The declared nodes, in the order written.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = (DeclarationIndex, &NodeSyntax)> {
        let numbered = self.nodes.iter().enumerate();
        numbered.map(|(index, node)| (DeclarationIndex(index), node))
    }

    /// The branches, in the order written.
    pub(crate) fn branches(&self) -> impl Iterator<Item = (BranchIndex, &BranchSyntax)> {
        let numbered = self.branches.iter().enumerate();
        numbered.map(|(index, branch)| (BranchIndex(index), branch))
    }

    /// The first segment of the paths of its nodes: as declared, or else its name in snake case.
    pub(crate) fn namespace(&self) -> String {
        match &self.namespace {
            Some(declared) => declared.value(),
            None => snake_case(&self.name.to_string()),
        }
    }

    /// The keys that mappings of edges write.
    pub(crate) fn mapped_keys(&self) -> impl Iterator<Item = String> + '_ {
        let mappings = self.edges.iter().flat_map(|edge| &edge.mappings);
        mappings.map(|mapping| plain(&mapping.key))
    }
}

impl Index<DeclarationIndex> for FlowSyntax {
    type Output = NodeSyntax;

    fn index(&self, DeclarationIndex(index): DeclarationIndex) -> &NodeSyntax {
        &self.nodes[index]
    }
}

impl Index<BranchIndex> for FlowSyntax {
    type Output = BranchSyntax;

    fn index(&self, BranchIndex(index): BranchIndex) -> &BranchSyntax {
        &self.branches[index]
    }
}

/// An input or an output.
pub(crate) struct Parameter {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) name: Ident,
    /// The type, without the `Option` if it is optional.
    pub(crate) ty: Type,
    /// True if it is an `Option`.
    pub(crate) optional: bool,
    /// The value of an input that is left out.
    pub(crate) default: Option<Expr>,
}

impl Parameter {
    /// Returns true if the caller may leave it out.
    pub(crate) fn may_be_left_out(&self) -> bool {
        self.optional || self.default.is_some()
    }
}

/// `node name: … ;`
pub(crate) struct NodeSyntax {
    pub(crate) name: Ident,
    pub(crate) source: NodeSource,
    pub(crate) settings: Settings,
}

/// The word that says that the value of a node comes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum External {
    /// `human`
    Human,
    /// `signal`
    Signal,
}

impl External {
    /// The word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            External::Human => "human",
            External::Signal => "signal",
        }
    }
}

/// The source of a declared node.
pub(crate) enum NodeSource {
    /// `human path { mapping } = value`
    Path {
        /// The word `human` or `signal`.
        external: Option<(External, Span)>,
        path: Path,
        mapping: Vec<Mapping>,
        value: Option<Expr>,
    },
    /// `for item in key { path { mapping } }`
    Each {
        item: Ident,
        over: Ident,
        path: Path,
        mapping: Vec<Mapping>,
    },
    /// `[a, b]`
    Fork(Rc<ForkSyntax>),
    /// `first { a => "action", b }`
    Race(Vec<RaceBranchSyntax>),
}

/// `a >> b => "action"`: a branch of a race.
pub(crate) struct RaceBranchSyntax {
    pub(crate) chain: Vec<StepSyntax>,
    /// `None` if the branch takes the actions of its last step.
    pub(crate) action: Option<LitStr>,
}

/// `[a >> b, c]`
pub(crate) struct ForkSyntax {
    pub(crate) span: Span,
    /// The branches, each of them a chain.
    pub(crate) branches: Vec<Vec<StepSyntax>>,
}

/// `wait(5s)`
#[derive(Clone)]
pub(crate) struct WaitSyntax {
    pub(crate) index: WaitIndex,
    pub(crate) span: Span,
    /// `5s`
    pub(crate) text: String,
    pub(crate) duration: Duration,
}

/// `undo` or `commit`
#[derive(Clone, Copy)]
pub(crate) struct UndoSyntax {
    pub(crate) index: WaitIndex,
    pub(crate) span: Span,
    /// True for `commit`.
    pub(crate) commits: bool,
}

impl UndoSyntax {
    /// The word.
    pub(crate) fn word(self) -> &'static str {
        if self.commits { "commit" } else { "undo" }
    }
}

/// `port <- key`, `port -> key` or `port -> +key`
pub(crate) struct Mapping {
    pub(crate) port: Ident,
    pub(crate) reads: bool,
    /// True if the value is added to the key's.
    pub(crate) adds: bool,
    pub(crate) key: Ident,
}

/// `branch name(reads) { condition => "action", else => "action" }`
pub(crate) struct BranchSyntax {
    pub(crate) name: Ident,
    pub(crate) reads: Vec<Ident>,
    pub(crate) cases: Vec<(Expr, LitStr)>,
    /// `None` if the `else` is missing, which is reported.
    pub(crate) otherwise: Option<LitStr>,
}

/// One `from - "action" >> to` of a chain.
pub(crate) struct EdgeSyntax {
    pub(crate) from: StepSyntax,
    pub(crate) action: Option<LitStr>,
    /// The place of the `>>`.
    pub(crate) arrow: Span,
    pub(crate) to: StepSyntax,
    /// `{ key <- source }`
    pub(crate) mappings: Vec<EdgeMappingSyntax>,
}

/// `key <- source`
pub(crate) struct EdgeMappingSyntax {
    pub(crate) key: Ident,
    pub(crate) source: Ident,
}

/// A step of a chain.
#[derive(Clone)]
pub(crate) enum StepSyntax {
    /// `start`
    Start(Span),
    /// `end` or `end("label")`
    End(Span, Option<LitStr>),
    /// A node, by its name or by its path.
    Node(Path),
    /// `wait(5s)`
    Wait(WaitSyntax),
    /// `undo` or `commit`
    Undo(UndoSyntax),
    /// `[a, b]`
    Fork(Rc<ForkSyntax>),
}

impl StepSyntax {
    /// The place where it is written. For a path, the place of its last word.
    pub(crate) fn span(&self) -> Span {
        match self {
            StepSyntax::Start(span) | StepSyntax::End(span, _) => *span,
            StepSyntax::Wait(wait) => wait.span,
            StepSyntax::Undo(undo) => undo.span,
            StepSyntax::Fork(fork) => fork.span,
            StepSyntax::Node(path) => path
                .segments
                .last()
                .map_or_else(Span::call_site, |segment| segment.ident.span()),
        }
    }
}

/// The result of parsing `flow!`, as far as it could be read.
pub(crate) struct Parsed {
    /// `None` if not even the signature could be read.
    pub(crate) flow: Option<FlowSyntax>,
    /// The tokens, to be passed on.
    pub(crate) tokens: TokenStream,
}
