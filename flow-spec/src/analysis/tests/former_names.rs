//! Former names of nodes: the setting `was`.

use super::notation::report;

fn of(was: &str) -> String {
    report(&format!(
        "
        node price writes price was={was}
        node order price
        start >> price >> order >> end
    "
    ))
}

#[test]
fn a_renamed_node_is_sound() {
    assert_eq!(of("quote"), "sound");
    assert_eq!(of("get-quote"), "sound", "documents have such ids");
}

#[test]
fn it_is_a_name_that_a_node_can_have_had() {
    let help = "help: write the name that the node had in the flow, such as `was = \"quote\"`, or remove it";
    let cases = [
        ("", "the former name of `price` is empty [F016]"),
        (
            "start",
            "no node was called `start`, which is a word of the language [F017]",
        ),
        (
            "shop.quote",
            "no node was called `shop.quote`, which is not a name [F016]",
        ),
    ];
    for (was, expected) in cases {
        assert_eq!(of(was), format!("was of price: {expected}\n{help}"));
    }
}

#[test]
fn it_is_not_the_name_that_a_node_has() {
    let expected = "was of price: `price` has this name now, so it was not renamed [F017]
help: remove `was`, or write the name that the node had before";
    assert_eq!(of("price"), expected);
    let expected = "was of price: `price` cannot have been `order`, which another node is called [F017]
help: steps that are stored under `order` belong to that node: remove `was`, or name that node otherwise
see node order: `order` is here";
    assert_eq!(of("order"), expected);
}

#[test]
fn two_nodes_cannot_have_been_one() {
    let flow = "
        node price writes price was=quote
        node order price was=quote
        start >> price >> order >> end
    ";
    let expected = "was of order: `order` and `price` cannot both have been `quote` [F017]
help: keep `was` at the one that does what `quote` did, and remove the other
see was of price: the first one is here";
    assert_eq!(report(flow), expected);
}

#[test]
fn nodes_without_a_name_in_the_journal_have_no_former_one() {
    let flow = "
        in items
        node pack item was=wrap
        each packed item pack items
        node refund receipt was=give_back
        node charge writes receipt undo refund
        undo undo
        start >> packed >> charge >> undo >> end
    ";
    let expected = "was of pack: `was` does nothing for `pack`: its steps have the name of the loop `packed` [F015]
help: remove it, or give it to `packed` if the loop had another name

was of refund: `was` does nothing for `refund`: its steps have the name of `charge`, which it takes back [F015]
help: remove it";
    assert_eq!(report(flow), expected);
}
