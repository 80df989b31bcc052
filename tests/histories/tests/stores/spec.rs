//! The store in memory, as what says which answers there may be.

use flow_histories::{Call, World};
use flow_store::MemoryStore;
use futures_executor::block_on;
use stateright::semantics::SequentialSpec;

/// A store in memory that can be copied: the copy is asked all that this one was asked.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) world: World,
    pub(crate) store: MemoryStore,
    asked: Vec<Call>,
}

impl Spec {
    pub(crate) fn new(world: World) -> Self {
        Spec {
            world,
            store: MemoryStore::new(),
            asked: Vec::new(),
        }
    }
}

impl Clone for Spec {
    fn clone(&self) -> Self {
        let mut copy = Spec::new(self.world);
        for call in &self.asked {
            copy.invoke(call);
        }
        copy
    }
}

impl SequentialSpec for Spec {
    type Op = Call;
    type Ret = String;

    fn invoke(&mut self, call: &Call) -> String {
        self.asked.push(call.clone());
        block_on(call.ask(&self.store, self.world)).text
    }
}
