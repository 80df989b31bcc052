//! How documents are split.

use flow_agents::rag::{Passage, Split};
use flow_runtime::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

flow! {
    OnlySplit(source: String, text: String) -> (batches: Vec<Vec<Passage>>, number: usize) {
        node split: Split;
        start >> split >> end;
    }
}

async fn batches(split: Split, text: &str) -> Vec<Vec<Passage>> {
    let flow = OnlySplit::builder().split(split).build();
    let input = OnlySplitInput {
        source: "a".to_owned(),
        text: text.to_owned(),
    };
    let output = flow.run(input).await.unwrap();
    assert_eq!(
        output.batches.iter().map(Vec::len).sum::<usize>(),
        output.number
    );
    let passages = output.batches.iter().flatten();
    assert!(passages.map(|it| it.place).eq(0..output.number));
    output.batches
}

async fn texts(split: Split, text: &str) -> Vec<String> {
    let passages = batches(split, text).await.into_iter().flatten();
    passages.map(|it| it.text).collect()
}

#[tokio::test]
async fn a_passage_ends_where_a_paragraph_or_a_sentence_ends() {
    let text = "One two. Three four.\n\nFive six seven.";
    assert_eq!(texts(Split::new(), text).await, [text]);
    let split = Split::new().longest(22);
    assert_eq!(
        texts(split, text).await,
        ["One two. Three four.", "Five six seven."]
    );
    let split = Split::new().longest(12);
    assert_eq!(
        texts(split, text).await,
        ["One two.", "Three four.", "Five six", "seven."]
    );
    assert_eq!(texts(Split::new(), " \n ").await, [""; 0]);
}

#[tokio::test]
async fn markdown_is_split_before_headings() {
    let text = "# Trains\n\nSecond class.\n\n# Flights\n\nFrom 800 km on.";
    let split = Split::new().longest(40).markdown();
    assert_eq!(
        texts(split, text).await,
        ["# Trains\n\nSecond class.", "# Flights\n\nFrom 800 km on."]
    );
}

#[tokio::test]
async fn passages_overlap_as_far_as_they_may() {
    let split = Split::new().longest(11).overlap(6);
    assert_eq!(
        texts(split, "one two three four").await,
        ["one two", "two three", "three four"]
    );
    // An overlap that is too long is shortened.
    assert!(
        texts(Split::new().longest(4).overlap(9), "one two three")
            .await
            .len()
            > 2
    );
}

#[tokio::test]
async fn many_passages_are_in_groups_of_a_hundred() {
    let found = batches(Split::new().longest(1), &"a ".repeat(250)).await;
    assert_eq!(
        found.iter().map(Vec::len).collect::<Vec<_>>(),
        [100, 100, 50]
    );
}

/// Whatever the text is, no passage is longer than it may be, and nothing but space is left out.
#[test]
fn nothing_is_lost() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(200));
    let text = prop_oneof!["[ a-c.\n#`é猫👩‍👩‍👧-]{0,120}", "\\PC{0,120}"];
    let held = runner.run(
        &(text, 1..30_usize, any::<bool>()),
        |(text, longest, markdown)| {
            let split = Split::new().longest(longest);
            let split = if markdown { split.markdown() } else { split };
            let texts = runtime.block_on(texts(split, &text));
            for passage in &texts {
                prop_assert!(passage.chars().count() <= longest, "{passage:?}");
                prop_assert!(!passage.trim().is_empty());
                prop_assert_eq!(passage.trim_end(), passage);
                prop_assert!(markdown || passage.trim() == passage, "{passage:?}");
            }
            let plain = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(plain(&texts.concat()), plain(&text));
            Ok(())
        },
    );
    held.unwrap();
}

/// What has no borders is split in a time linear in its length: otherwise, this takes minutes.
#[tokio::test]
async fn a_long_text_without_spaces_is_split() {
    let text = format!("A picture: {}\n\nAnd more.", "QUJD".repeat(250_000));
    let found = texts(Split::new(), &text).await;
    assert_eq!(found.first().map(String::as_str), Some("A picture:"));
    assert!(found.last().is_some_and(|it| it.ends_with("And more.")));
    assert!((834..840).contains(&found.len()), "{}", found.len());
}

/// Where a long text is cut before it is split, a paragraph ends.
#[tokio::test]
async fn a_long_text_is_cut_between_paragraphs() {
    let paragraphs: Vec<String> = (0..400).map(|it| format!("Paragraph {it}.")).collect();
    let found = texts(Split::new().longest(20), &paragraphs.join("\n\n")).await;
    assert_eq!(found, paragraphs);
}
