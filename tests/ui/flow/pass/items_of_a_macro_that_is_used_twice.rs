//! Names that stand in a `macro_rules!` are at the same place in each of its expansions.

macro_rules! module {
    ($module:ident, $type:ty) => {
        pub mod $module {
            use flow_runtime::prelude::*;

            #[node(writes = doubled)]
            pub fn double(number: &$type) -> $type {
                *number * 2
            }

            #[derive(Debug, Clone, Copy, PartialEq, Action)]
            pub enum Parity {
                Even,
                Odd,
            }

            #[node(actions = Parity)]
            pub fn parity(doubled: &$type) -> Parity {
                if *doubled % 2 == 0 { Parity::Even } else { Parity::Odd }
            }

            #[derive(Default)]
            struct Add;

            #[node(writes = sum)]
            impl Add {
                fn exec(&self, doubled: &$type) -> $type {
                    *doubled + 1
                }
            }

            flow! {
                pub Sum(number: $type) -> (sum: $type) {
                    node add: Add = Add;
                    start >> double >> parity;
                    parity - "even" >> add;
                    parity - "odd" >> add;
                    add >> end;
                }
            }
        }
    };
}

module!(large, u64);
module!(small, u8);
module!(again, u8);

fn main() {
    use flow_runtime::prelude::*;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let large = large::Sum::new().run(large::SumInput { number: 300 }).await;
        assert_eq!(large.unwrap().sum, 601);
        let small = small::Sum::new().run(small::SumInput { number: 3 }).await;
        assert_eq!(small.unwrap().sum, 7);
        let again = again::Sum::new().run(again::SumInput { number: 4 }).await;
        assert_eq!(again.unwrap().sum, 9);
    });
}
