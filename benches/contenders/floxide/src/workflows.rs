//! The workflows.

use floxide::{BatchNode, CompositeNode, Node, Transition, WorkflowCtx, workflow};

use crate::nodes::*;

/// Ten nodes of one kind, in a module, since `workflow!` generates names from the fields.
macro_rules! chain {
    ($module:ident, $node:ident) => {
        pub mod $module {
            use super::*;

            workflow! {
                pub struct Chain {
                    one: $node,
                    two: $node,
                    three: $node,
                    four: $node,
                    five: $node,
                    six: $node,
                    seven: $node,
                    eight: $node,
                    nine: $node,
                    ten: $node,
                }
                start = one;
                context = ();
                edges {
                    one => { [two] };
                    two => { [three] };
                    three => { [four] };
                    four => { [five] };
                    five => { [six] };
                    six => { [seven] };
                    seven => { [eight] };
                    eight => { [nine] };
                    nine => { [ten] };
                    ten => {};
                }
            }

            pub fn chain() -> Chain {
                Chain {
                    one: $node {},
                    two: $node {},
                    three: $node {},
                    four: $node {},
                    five: $node {},
                    six: $node {},
                    seven: $node {},
                    eight: $node {},
                    nine: $node {},
                    ten: $node {},
                }
            }
        }
    };
}

workflow! {
    pub struct Single {
        one: Add,
    }
    start = one;
    context = ();
    edges {
        one => {};
    }
}

chain!(plain, Add);
chain!(can_fail, TryAdd);
chain!(waiting, WaitingAdd);
chain!(large, Touch);

workflow! {
    pub struct Rounds {
        add: LimitedAdd,
        check: Check,
        done: Done,
    }
    start = add;
    context = Limit;
    edges {
        add => { [check] };
        check => {
            Round::Again(total) => [add];
            Round::Enough(total) => [done];
        };
        done => {};
    }
}

workflow! {
    pub struct Branch {
        choose: Choose,
        left: Plus,
        middle: Plus,
        right: Plus,
        meet: Double,
    }
    start = choose;
    context = ();
    edges {
        choose => {
            Way::Left(value) => [left];
            Way::Middle(value) => [middle];
            Way::Right(value) => [right];
        };
        left => { [meet] };
        middle => { [meet] };
        right => { [meet] };
        meet => {};
    }
}

workflow! {
    pub struct Innermost {
        four: Add,
        five: Add,
        six: Add,
        seven: Add,
    }
    start = four;
    context = ();
    edges {
        four => { [five] };
        five => { [six] };
        six => { [seven] };
        seven => {};
    }
}

workflow! {
    pub struct Inner {
        two: Add,
        three: Add,
        innermost: CompositeNode<(), Innermost>,
        eight: Add,
        nine: Add,
    }
    start = two;
    context = ();
    edges {
        two => { [three] };
        three => { [innermost] };
        innermost => { [eight] };
        eight => { [nine] };
        nine => {};
    }
}

workflow! {
    pub struct Nested {
        one: Add,
        inner: CompositeNode<(), Inner>,
        ten: Add,
    }
    start = one;
    context = ();
    edges {
        one => { [inner] };
        inner => { [ten] };
        ten => {};
    }
}

pub fn nested() -> Nested {
    let context = WorkflowCtx::new(());
    let innermost = Innermost {
        four: Add {},
        five: Add {},
        six: Add {},
        seven: Add {},
    };
    let inner = Inner {
        two: Add {},
        three: Add {},
        innermost: CompositeNode::new(innermost, &context),
        eight: Add {},
        nine: Add {},
    };
    Nested {
        one: Add {},
        inner: CompositeNode::new(inner, &context),
        ten: Add {},
    }
}

workflow! {
    pub struct Batch {
        results: BatchNode<(), Double>,
    }
    start = results;
    context = ();
    edges {
        results => {};
    }
}

workflow! {
    pub struct WaitingBatch {
        results: BatchNode<(), SlowDouble>,
    }
    start = results;
    context = ();
    edges {
        results => {};
    }
}
