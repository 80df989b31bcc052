use flow_runtime::prelude::*;

macro_rules! step {
    ($name:ident($($arg:ident: $t:ty),*) -> $ret:ty $body:block) => { #[node] async fn $name($($arg: $t),*) -> $ret $body };
}
step!(charge(amount: &u64) -> Result<u64, std::io::Error> {
    if *amount > 9 { Err(std::io::Error::other("card declined")) } else { Ok(*amount) }
});
step!(ship(charge: u64, cx: &Context) -> (u64, u64) { (charge, cx.attempt().into()) });

macro_rules! own {
    ($ty:ty, $sum:expr, $wait:literal, $key:path, $read:ty, $condition:expr) => {
        #[derive(Default)]
        pub struct Add;
        #[node(writes = sum, retry(attempts = 2, wait = $wait))]
        impl $ty {
            fn exec(&self, ship: &(u64, u64), more: Option<&$read>) -> Result<u64, String> {
                let two = 2;
                Ok(ship.0 + more.copied().unwrap_or_default() + two * $sum)
            }
        }
        flow! {
            Order(amount: u64, more: $read = $sum * 2) -> (sum: u64) {
                node add: $ty;
                branch large(sum) { $condition && *sum > 1 => "large", else => "small" }
                start >> $key >> ship >> add >> large;
                large - "large" >> end;
                large - "small" >> end("small");
            }
        }
    };
}
own!(Add, 1 + 2, "1ms", self::charge, u64, true || false);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let order = Order::new();
    let run = |amount| order.run(OrderInput::builder().amount(amount).build());
    assert_eq!(run(5).await.unwrap().sum, 5 + 6 + 6);
    assert!(format!("{:?}", run(10).await.unwrap_err()).contains("card declined"));
}
