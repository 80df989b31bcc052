use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use flow_agents::{
    AboutModel, Account, BagOfWords, Budget, BudgetError, Budgeted, Charged, Day, Embedded,
    Embedding, Ledger as _, Limit, Limited, MemoryLedger, ModelError, Price, Prices, Retrying,
    Usage,
};
use tokio::time::Instant;

async fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<String> = texts.iter().map(|&it| it.to_owned()).collect();
    BagOfWords::new(512).embed(&texts).await.unwrap().vectors
}

fn near(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn texts_with_the_same_words_are_nearer_than_others() {
    let vectors = vectors(&[
        "The cat sleeps!",
        "a cat SLEEPS",
        "Rates rose again",
        "Žižek, the cat",
    ])
    .await;
    let same = near(&vectors[0], &vectors[1]);
    assert!(same > 0.6 && same < 0.7, "{same}"); // two of three words
    assert!(near(&vectors[0], &vectors[2]).abs() < 0.1);
    assert!((near(&vectors[3], &vectors[3]) - 1.0).abs() < 1e-6);
}

#[tokio::test]
async fn a_text_has_the_same_vector_always() {
    let [first, empty] = &vectors(&["flow", " -- "]).await[..] else {
        panic!("two texts have two vectors");
    };
    // From another implementation of FNV-1a.
    assert_eq!(first.iter().position(|it| *it != 0.0), Some(85));
    assert_eq!(first[85], -1.0);
    assert!(empty.iter().all(|it| *it == 0.0));
}

#[tokio::test]
async fn what_embeds_can_be_chosen_when_the_program_runs() {
    let embedding: Arc<dyn Embedding> = Arc::new(BagOfWords::new(0));
    let embedded = embedding
        .embed(&["one two".to_owned(), "three".to_owned()])
        .await
        .unwrap();
    assert_eq!(
        embedded.vectors.iter().map(Vec::len).collect::<Vec<_>>(),
        [1, 1]
    );
    assert_eq!(embedded.usage, Usage::new(3, 0));
    assert!(embedding.embed(&[]).await.unwrap().vectors.is_empty());
    assert_eq!(embedding.about().name, "bag-of-words");
}

/// An embedding that answers with what is written down: what each request used, or its failure.
#[derive(Default)]
struct Written(Mutex<VecDeque<Result<u64, ModelError>>>);

impl Written {
    fn new(answers: impl IntoIterator<Item = Result<u64, ModelError>>) -> Written {
        Written(Mutex::new(answers.into_iter().collect()))
    }
}

#[async_trait]
impl Embedding for Written {
    fn about(&self) -> AboutModel {
        AboutModel::new("someone", "vectors")
    }

    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        if texts.is_empty() {
            return Ok(Embedded::default());
        }
        let answer = self.0.lock().unwrap().pop_front();
        let used = answer.expect("it is not asked more often")?;
        let vectors = texts.iter().map(|_| vec![1.0]).collect();
        Ok(Embedded::new(vectors, Usage::new(used, 0)))
    }
}

fn two() -> Vec<String> {
    vec!["a text".to_owned(), "another one".to_owned()]
}

fn busy() -> ModelError {
    ModelError::RateLimited {
        retry_after: Some(Duration::from_secs(7)),
        message: "busy".into(),
    }
}

#[tokio::test]
async fn an_embedding_has_a_budget() {
    let prices = Prices::new().with(
        AboutModel::new("someone", "vectors"),
        Price::new("2".parse().unwrap(), "0".parse().unwrap()),
    );
    let written = Written::new([Ok(900), Err(busy()), Ok(200)]);
    let budgeted = Budgeted::new(&written, Budget::new().tokens(1000)).prices(prices);
    assert_eq!(budgeted.embed(&two()).await.unwrap().vectors.len(), 2);
    budgeted.embed(&two()).await.unwrap_err();
    assert_eq!(budgeted.embed(&[]).await.unwrap(), Embedded::default());
    budgeted.embed(&two()).await.unwrap();
    let spent = budgeted.spent();
    assert_eq!((spent.calls, spent.usage.input_tokens), (3, 1100));
    assert_eq!(spent.money.to_string(), "0.0022");
    let error = budgeted.embed(&two()).await.unwrap_err();
    assert_eq!(error.over_budget().unwrap().limit, Limit::Tokens(1000));
}

#[tokio::test]
async fn one_that_does_not_say_what_it_used_is_refused_where_that_is_limited() {
    let written = Written::new([Ok(0), Ok(0)]);
    let error = Budgeted::new(&written, Budget::new().tokens(10))
        .embed(&two())
        .await;
    assert!(matches!(
        error,
        Err(ModelError::Budget(BudgetError::NoUsage { .. }))
    ));
    Budgeted::new(&written, Budget::new().calls(1))
        .embed(&two())
        .await
        .unwrap();
}

#[tokio::test]
async fn an_owner_pays_for_an_embedding() {
    let ledger = Arc::new(MemoryLedger::new());
    let budget = Budget::new().calls(1);
    let clock = std::time::UNIX_EPOCH;
    let charged =
        Charged::new(Written::new([Ok(5)]), ledger.clone(), "ann", budget).clock(move || clock);
    charged.embed(&two()).await.unwrap();
    let error = charged.embed(&two()).await.unwrap_err();
    assert_eq!(error.over_budget().unwrap().limit, Limit::Calls(1));
    let spent = ledger.spent(&Account::new("ann", Day(0))).await.unwrap();
    assert_eq!((spent.calls, spent.usage.input_tokens), (1, 5));
}

#[tokio::test(start_paused = true)]
async fn an_embedding_waits_for_its_turn_and_is_asked_again() {
    let began = Instant::now();
    let retrying = Retrying::new(Written::new([Err(busy()), Ok(5)])).jitter(0.0);
    retrying.embed(&two()).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 7);

    let began = Instant::now();
    let limited = Limited::new(Written::new([Ok(100), Ok(5)])).tokens_per_minute(100);
    limited.embed(&two()).await.unwrap();
    limited.embed(&[]).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 0);
    limited.embed(&two()).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 60);
}
