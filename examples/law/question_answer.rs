//! The flow of the example, under the law of loaded flows.

use super::*;

flow_law::law! {
    nodes: [Answer<Echo> = Answer { model: Echo }],
    flows: [QuestionAnswer(QuestionAnswer::builder().answer(Answer { model: Echo }).build())],
}
