//! Undo nodes of all kinds, and `undo` and `commit` wherever they may stand.

use std::sync::{Arc, Mutex};

use flow_runtime::prelude::*;

/// What was done, and what of it was taken back.
#[derive(Clone, Default)]
pub struct Books(Arc<Mutex<Vec<String>>>);

impl Books {
    fn write(&self, entry: &str) {
        self.0.lock().unwrap().push(entry.to_owned());
    }
}

#[derive(Action)]
enum Paid {
    Charged { receipt: String },
    Declined,
}

#[node(actions = Paid)]
async fn charge(books: &Books, price: &u64) -> Paid {
    if *price > 99 {
        return Paid::Declined;
    }
    books.write("charge");
    Paid::Charged { receipt: "r1".into() }
}

/// Its key is mapped, and its settings are its own.
#[node]
async fn refund(books: &Books, paper: Option<&str>) -> Result<(), String> {
    books.write(if paper.is_some() { "refund" } else { "nothing" });
    Ok(())
}

mod stock {
    use super::*;

    pub struct Reserve {
        pub shelf: &'static str,
    }

    #[node(writes = shelf)]
    impl Reserve {
        fn exec(&self, books: &Books) -> String {
            books.write(self.shelf);
            self.shelf.into()
        }
    }

    /// What it returns is not kept.
    #[node]
    pub fn release(books: &Books, shelf: String) -> String {
        books.write(&format!("-{shelf}"));
        shelf
    }

    #[derive(Default)]
    pub struct Recall;

    #[node]
    impl Recall {
        async fn exec(&self, books: &Books, parcel: &u64) {
            books.write(&format!("-{parcel}"));
        }
    }
}

#[node(writes = parcel)]
async fn pack(books: &Books, item: &u64) -> u64 {
    books.write(&item.to_string());
    *item
}

#[node]
fn weigh(parcel: u64, price: &u64) -> Result<(), String> {
    if parcel > *price { Err(format!("{parcel} is too heavy")) } else { Ok(()) }
}

flow! {
    Parcel(books: Books, item: u64, price: u64) -> (parcel: u64) {
        node packed: pack with undo = stock::Recall;
        node weighed: weigh;
        start >> packed >> weighed >> end;
    }
}

flow! {
    /// A part of the work is done before an inner flow, another one in it.
    Order(books: Books, items: Vec<u64>, price: u64) {
        node refund: refund { paper <- receipt } with retry(attempts = 2, wait = "1s");
        node pay: charge with undo = refund, retry(attempts = 3), timeout = "1m";
        node reserve: stock::Reserve = stock::Reserve { shelf: "left" } with undo = stock::release;
        node again: stock::Reserve { shelf -> other } = stock::Reserve { shelf: "right" } with undo = give_back;
        node give_back: stock::release { shelf <- other, release -> released };
        node either: first { again >> wait(1h), wait(5ms) => "late" };
        node parcels: for item in items { Parcel };

        start >> [reserve, wait(1ms)] >> pay - "charged" >> either >> parcels >> undo >> end("early");
        pay - "declined" >> undo >> commit >> undo >> end("declined");
        either - "late" >> parcels;
        parcels - "error" >> undo >> end("refused");
    }
}

fn main() {
    let ordered = |items: &[u64], price| {
        let books = Books::default();
        let input = OrderInput { books: books.clone(), items: items.to_vec(), price };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let output = runtime.unwrap().block_on(Order::new().run(input)).unwrap();
        let entries = books.0.lock().unwrap().join(" ");
        (output.end, entries)
    };
    assert_eq!(ordered(&[], 100), (OrderEnd::Declined, "left nothing -left".into()));
    let refused = "left charge right 3 4 9 -9 -4 -3 -right refund -left";
    assert_eq!(ordered(&[3, 4, 9, 5], 5), (OrderEnd::Refused, refused.into()));
    let early = "left charge right 3 -3 -right refund -left";
    assert_eq!(ordered(&[3], 5), (OrderEnd::Early, early.into()));
}
