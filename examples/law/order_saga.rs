//! The flows of the example, under the law of loaded flows.

use super::*;

flow_law::law! {
    nodes: [],
    flows: [],
    left_out: [Fulfil, Parcel],
}
