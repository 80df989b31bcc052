use flow_runtime::prelude::*;

struct Prices<'a>(&'a [u64]);

#[node(writes = cents)]
impl Prices<'_> {
    fn exec(&self, article: usize) -> u64 {
        self.0[article]
    }
}

flow! {
    Offer(article: usize) -> (cents: u64) {
        node prices: Prices<'static>;

        start >> prices >> end;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FlowError> {
    let offer = Offer::builder().prices(Prices(&[5, 8])).build();
    assert_eq!(offer.run(OfferInput { article: 1 }).await?.cents, 8);
    Ok(())
}
