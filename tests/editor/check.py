"""Checks what rust-analyzer makes of flows: definitions, references, renaming, completion, and text that is being typed.

    python3 tests/editor/check.py [PROGRAM]     # rust-analyzer, from the PATH unless it is given

A place in `sample/src` is written as some of its text, with `|` before the word that is meant: `main.rs start >> |review`.
Needs Python and rust-analyzer: `rustup component add rust-analyzer` for that of the toolchain, or `cargo install --locked
ra_ap_rust-analyzer@0.0.322`, which takes a quarter of an hour and is what the page `docs/editor.md` was measured with.
"""
import os
import re
import subprocess
import sys

from lsp import Server

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "sample")
FILES = ["src/main.rs", "src/nodes.rs"]

# From a word to where it leads.
DEFINITIONS = [
    ("a node in an edge", "main.rs start >> |review;", ["nodes.rs pub fn |review"]),
    ("a node at the start of an edge", 'main.rs |review - "revise"', ["nodes.rs pub fn |review"]),
    ("a node by its path", "main.rs nodes::|revise >>", ["nodes.rs pub fn |revise"]),
    ("the module of a path", "main.rs >> |nodes::revise", ["nodes.rs |use flow_runtime"]),
    ("a type that is a node", "main.rs start >> |Printer", ["nodes.rs pub struct |Printer"]),
    ("a flow that is a node", "main.rs node receipts: |Receipt {", ["main.rs |Receipt(text"]),
    ("a declared node", "main.rs |receipts >> end", ["main.rs node |receipts"]),
    ("a declared loop", "main.rs |loud >> receipts", ["main.rs node |loud"]),
    ("the node in a loop", "main.rs nodes::|shout {", ["nodes.rs pub fn |shout"]),
    ("an undo node", "main.rs undo = nodes::|shred", ["nodes.rs pub fn |shred"]),
    ("a branch", 'main.rs |size - "small"', ["main.rs branch |size"]),
    ("an action", 'main.rs review - |"approved"', ["nodes.rs |Approved { amount: u64"]),
    ("an action with a name of its own", 'main.rs review - |"revise"', ["nodes.rs |NeedsRevision { feedback: String"]),
    ("the actions of a node", "nodes.rs #[node(actions = |Verdict)]", ["nodes.rs pub enum |Verdict"]),
    ("an input in a program", "main.rs .|limit(50)", ["main.rs Expense(claim: u64, |limit"]),
    ("an output in a program", "main.rs output.|receipt", ["main.rs limit: u64) -> (|receipt"]),
    ("the flow in a program", "main.rs |Expense::builder", ["main.rs |Expense(claim"]),
    ("the inputs' type in a program", "main.rs |ExpenseInput::builder", ["main.rs |Expense(claim"]),
    ("an end in a program", "main.rs ExpenseEnd::|Default", ["main.rs receipts >> |end"]),
    ("a key that a node writes", "main.rs text <- |paid", ["main.rs writes(|paid"]),
    ("the key that a loop is over", "main.rs one in |words", ["main.rs paid, |words)"]),
    ("the item of a loop", "main.rs word <- |one", ["main.rs for |one in"]),
    ("a port in a mapping", "main.rs { |word <- one", ["nodes.rs pub fn shout(|word"]),
    ("the input of an inner flow", "main.rs Receipt { |text <-", ["main.rs Receipt(|text"]),
    ("a key that an action writes", "main.rs branch size(|amount", ["nodes.rs Approved { |amount: u64"]),
    ("a key in a condition", "main.rs *|amount >", ["nodes.rs Approved { |amount: u64"]),
    ("a type that is a node in an import", "main.rs {|Printer, review}", ["nodes.rs pub struct |Printer"]),
    ("a node in an import", "main.rs {Printer, |review}", ["nodes.rs pub fn |review"]),
    ("an input in a condition", "main.rs > |limit /", ["main.rs Expense(claim: u64, |limit"]),
    ("the value of a node", "main.rs = |Receipt::new()", ["main.rs |Receipt(text"]),
]

# From a word to a text that the editor shows.
HOVERS = [
    ("a node", "main.rs start >> |review;", ["pub fn review(claim: &u64, limit: &u64) -> Verdict", "Reads `claim`"]),
    ("a type that is a node", "main.rs start >> |Printer", ["pub struct Printer", "A printer of receipts."]),
    ("a declared node", "main.rs |receipts >> end", ["receipts: Receipt"]),
    ("an undo node", "main.rs undo = nodes::|shred", ["pub fn shred(receipt: &str)", "Takes back"]),
    ("an action", 'main.rs review - |"approved"', ["Approved", "amount: u64"]),
    ("a flow in a program", "main.rs |Expense::builder", ["struct Expense", "Pays a claim that is within the limit."]),
    ("a key", "main.rs text <- |paid", ["paid: &String"]),
    ("an output in a program", "main.rs output.|receipt", ["receipt: Option<String>"]),
]

# From a definition to all words that mean it.
REFERENCES = [
    ("a node", "nodes.rs pub fn |review", [
        "main.rs {Printer, |review}", "main.rs start >> |review;", 'main.rs |review - "approved"',
        'main.rs |review - "revise"', "main.rs nodes::revise >> |review", 'main.rs |review - "rejected"',
    ]),
    ("an input", "main.rs Expense(claim: u64, |limit", [
        "main.rs (amount, |limit)", "main.rs > |limit /", "main.rs .|limit(50)",
    ]),
    ("a flow", "main.rs |Receipt(text", [
        "main.rs node receipts: |Receipt", "main.rs = |Receipt::new()", "main.rs .receipts(|Receipt",
    ]),
    ("a declared node", "main.rs node |receipts", [
        'main.rs "small" >> |receipts', "main.rs loud >> |receipts", "main.rs |receipts >> end",
        "main.rs .|receipts(Receipt",
    ]),
]

# From a word to all words that change with it.
RENAMES = [
    ("a node", "nodes.rs pub fn |review", ["nodes.rs pub fn |review", *REFERENCES[0][2]]),
    ("a node, from an edge", "main.rs start >> |review;", ["nodes.rs pub fn |review", *REFERENCES[0][2]]),
    ("a declared node", "main.rs node |receipts", ["main.rs node |receipts", *REFERENCES[3][2]]),
    # Without the method of the builder, which is a definition of its own.
    ("a declared node, from an edge", "main.rs |receipts >> end", ["main.rs node |receipts", *REFERENCES[3][2][:-1]]),
    ("an undo node, where it is named", "main.rs undo = nodes::|shred", ["nodes.rs pub fn |shred", "main.rs undo = nodes::|shred"]),
    ("a flow", "main.rs |Expense(claim", [
        "main.rs |Expense(claim", "main.rs |Expense::builder", "main.rs |ExpenseInput::builder", "main.rs |ExpenseEnd::Default",
    ]),
    ("an input", "main.rs Expense(claim: u64, |limit", [
        "main.rs Expense(claim: u64, |limit", "main.rs (amount, |limit)", "main.rs .|limit(50)", "main.rs > |limit /",
    ]),
    ("an output", "main.rs limit: u64) -> (|receipt", ["main.rs limit: u64) -> (|receipt", "main.rs output.|receipt"]),
    ("a node's parameter", "nodes.rs pub fn shout(|word", ["nodes.rs pub fn shout(|word", "nodes.rs |word.to_upper"]),
]

# In half-typed text: the old text, the new one with the caret, and what has to be offered.
COMPLETIONS = [
    ("a node after an arrow", "start >> review;", "start >> |", ["review", "pay", "nodes", "receipts", "loud", "size"]),
    ("a node that is begun", ">> pay >> size;", ">> pa|", ["pay"]),
    ("a node of a module", ">> nodes::revise >>", ">> nodes::re| >>", ["revise", "review"]),
    ("a node in a fork", "start >> review;", "start >> [pay, re|] >> review;", ["review"]),
    ("a node after an arrow without `;`", "receipts >> end;", "receipts >> |", ["review", "pay"]),
    ("a node at the start of a statement", "receipts >> end;", "re|", ["review", "receipts"]),
    ("the node of a declaration", "node receipts: Receipt {", "node x: Rec|; node receipts: Receipt {", ["Receipt"]),
    ("an input in a program", "builder().claim(30)", "builder().|", ["claim", "limit"]),
    ("an output in a program", "output.receipt", "output.|", ["receipt", "end"]),
]

# In half-typed text: the old text, the new one, and all errors that are shown, each with the word that it is at.
MISTAKES = [
    ("nothing", "", "", []),
    ("an unknown action", 'review - "approved"', 'review - "aproved"', [("no action \"aproved\" [F001]", '"aproved"')]),
    ("no action yet", 'review - "rejected" >> end("rejected");', "review - ", [("an action is written in quotes", "size")]),
    ("no node yet", "start >> review;", "start >> ;", [("expected a step after `>>`", ">")]),
]


def main(program):
    # Away from what `cargo` builds of the project, which rust-analyzer would build again each time.
    os.environ["CARGO_TARGET_DIR"] = os.path.join(HERE, "../../target/editor")
    subprocess.run(["cargo", "check", "--quiet"], cwd=SAMPLE, check=True)
    texts = {}
    for path in FILES:
        with open(os.path.join(SAMPLE, path), encoding="utf-8") as file:
            texts[path] = file.read()
    server = Server(program, SAMPLE)
    try:
        return Checks(server, texts).all()
    finally:
        server.close()


class Checks:
    def __init__(self, server, texts):
        self.server, self.texts, self.made, self.failed = server, texts, 0, 0
        for path, text in texts.items():
            server.open(path, text)

    def all(self):
        for what, at, leads_to in DEFINITIONS:
            found = self.server.ask("textDocument/definition", self.at(at))
            self.compare("definition", what, self.shown(leads_to), sorted({self.place(one) for one in found or []}))
        for what, at, texts in HOVERS:
            found = self.server.ask("textDocument/hover", self.at(at))
            text = found["contents"]["value"] if found else ""
            lacks = [text for one in texts if one not in text] + ["macro_rules"] * ("macro_rules" in text)
            self.compare("hover", what, [], lacks)
        for what, at, words in REFERENCES:
            query = {**self.at(at), "context": {"includeDeclaration": False}}
            found = self.server.ask("textDocument/references", query)
            self.compare("references", what, self.shown(words), sorted({self.place(one) for one in found or []}))
        for what, at, words in RENAMES:
            found = self.server.ask("textDocument/rename", {**self.at(at), "newName": "renamed"})
            edits = [found] if isinstance(found, str) else sorted(set(self.edits(found)))
            self.compare("rename", what, self.shown(words), edits)
        for case in COMPLETIONS:
            self.completion(*case)
        for what, old, new, errors in MISTAKES:
            self.mistake(what, old, new, errors)
        print(f"{self.made - self.failed} of {self.made} as they should be")
        return self.failed

    def completion(self, what, old, new, offered):
        text, _, caret = self.typed(old, new)
        found = self.server.ask("textDocument/completion", {**self.document("src/main.rs"), "position": caret})
        items = (found or {}).get("items", found) if isinstance(found, dict) else found or []
        labels = {re.split(r"[(!…]", item["label"])[0] for item in items}
        self.compare("completion", what, [], [one for one in offered if one not in labels])

    def mistake(self, what, old, new, errors):
        text, *_ = self.typed(old, new)
        found = self.server.errors("src/main.rs")
        lines = text.splitlines()
        word = lambda place: lines[place["start"]["line"]][place["start"]["character"]:place["end"]["character"]]
        shown = [(one["message"], word(one["range"])) for one in found]
        right = len(shown) == len(errors) and all(
            part in message and at == expected for (part, expected), (message, at) in zip(errors, shown)
        )
        self.compare("errors", what, errors, errors if right else shown)

    def typed(self, old, new):
        """Replaces a part of the program. Returns the text, and the place of the caret."""
        before, after = self.texts["src/main.rs"].split(old, 1) if old else (self.texts["src/main.rs"], "")
        begun, _, rest = new.partition("|")
        text = before + begun + rest + after
        self.server.open("src/main.rs", text)
        return text, new, position(text, len(before + begun))

    def compare(self, feature, what, expected, found):
        right = expected == found
        self.made += 1
        self.failed += not right
        print(f"{'ok' if right else 'WRONG':6}{feature:12}{what}")
        if not right:
            print(f"      expected {expected}\n      found    {found}")

    def at(self, place):
        path, offset = self.find(place)
        return {**self.document(path), "position": position(self.texts[path], offset)}

    def document(self, path):
        return {"textDocument": {"uri": self.server.uri(path)}}

    def find(self, place):
        """The file and the offset of a place. Its text has to occur once."""
        name, _, text = place.partition(" ")
        path = "src/" + name
        before, after = text.split("|")
        if (times := self.texts[path].count(before + after)) != 1:
            raise SystemExit(f"`{before + after}` is {times} times in {path}")
        return path, self.texts[path].index(before + after) + len(before)

    def shown(self, places):
        found = [self.find(place) for place in places]
        return sorted(line(path, position(self.texts[path], offset)) for path, offset in found)

    def place(self, found):
        uri = found.get("targetUri") or found["uri"]
        start = (found.get("targetSelectionRange") or found["range"])["start"]
        return line(os.path.relpath(uri.removeprefix("file://"), SAMPLE), start)

    def edits(self, found):
        for change in found["documentChanges"]:
            for edit in change["edits"]:
                yield self.place({"uri": change["textDocument"]["uri"], "range": edit["range"]})


def position(text, offset):
    before = text[:offset]
    return {"line": before.count("\n"), "character": offset - (before.rfind("\n") + 1)}


def line(path, place):
    return f"{path}:{place['line'] + 1}:{place['character'] + 1}"


if __name__ == "__main__":
    sys.exit("some checks failed" if main(*(sys.argv[1:] or ["rust-analyzer"])) else None)
