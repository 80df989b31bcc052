//! The drawn picture: everything is there, nothing lies on anything else.

use flow_render as render;
use flow_render::Direction;
use flow_spec::FlowDocument;
use proptest::prelude::*;
use roxmltree::{Document, Node};

use crate::flows::{DIRECTIONS, any_flow, fulfilment, node, order, research_desk, subscription};

#[derive(Debug, Clone, Copy)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn overlaps(self, other: Rect) -> bool {
        let across = self.left < other.right && other.left < self.right;
        across && self.top < other.bottom && other.top < self.bottom
    }

    fn contains(self, other: Rect) -> bool {
        let across = self.left <= other.left && other.right <= self.right;
        across && self.top <= other.top && other.bottom <= self.bottom
    }

    fn around(self, other: Rect) -> Rect {
        Rect {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Something with a place: its classes, its path if it is a node, and its texts.
#[derive(Debug)]
struct Drawn {
    class: String,
    path: Option<String>,
    texts: Vec<String>,
    place: Rect,
}

impl Drawn {
    fn holds_others(&self) -> bool {
        ["flow", "fork", "race", "each"]
            .iter()
            .any(|class| self.class == format!("tile {class}"))
    }
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    let text = node
        .attribute(name)
        .unwrap_or_else(|| panic!("no `{name}` in {node:?}"));
    text.parse()
        .unwrap_or_else(|_| panic!("`{text}` is no number"))
}

/// The place of the shape itself, within its group.
fn place(node: Node<'_, '_>) -> Option<Rect> {
    match node.tag_name().name() {
        "rect" => {
            let (left, top) = (number(node, "x"), number(node, "y"));
            Some(Rect {
                left,
                top,
                right: left + number(node, "width"),
                bottom: top + number(node, "height"),
            })
        }
        "polygon" => {
            let points = node.attribute("points")?.split(' ');
            let rects = points.map(|point| {
                let (x, y) = point.split_once(',').expect("two numbers");
                let (x, y) = (x.parse().expect("a number"), y.parse().expect("a number"));
                Rect {
                    left: x,
                    top: y,
                    right: x,
                    bottom: y,
                }
            });
            rects.reduce(Rect::around)
        }
        _ => None,
    }
}

/// How far the groups around a node move it.
fn moved(node: Node<'_, '_>) -> (f64, f64) {
    let moves = node
        .ancestors()
        .filter_map(|group| group.attribute("transform"));
    moves.fold((0.0, 0.0), |(x, y), text| {
        let inner = text.trim_start_matches("translate(").trim_end_matches(')');
        let (left, top) = inner.split_once(' ').expect("two numbers");
        (
            x + left.parse::<f64>().expect("a number"),
            y + top.parse::<f64>().expect("a number"),
        )
    })
}

fn drawn(document: &Document<'_>) -> Vec<Drawn> {
    let groups = document.descendants().filter(|node| {
        let class = node.attribute("class").unwrap_or_default();
        class.starts_with("tile") || class == "label"
    });
    groups
        .map(|group| {
            let (x, y) = moved(group);
            let shapes = group.children().filter_map(place);
            let place = shapes.reduce(Rect::around).expect("a shape");
            let texts = group.children().filter(|node| node.has_tag_name("text"));
            Drawn {
                class: group.attribute("class").unwrap_or_default().to_owned(),
                path: group.attribute("data-path").map(str::to_owned),
                texts: texts
                    .filter_map(|node| node.text())
                    .map(str::to_owned)
                    .collect(),
                place: Rect {
                    left: place.left + x,
                    top: place.top + y,
                    right: place.right + x,
                    bottom: place.bottom + y,
                },
            }
        })
        .collect()
}

/// What lies on something else, or outside the image.
pub(crate) fn misplaced(picture: &str) -> Vec<String> {
    let document = Document::parse(picture).expect("well-formed XML");
    let root = document.root_element();
    let image = Rect {
        left: 0.0,
        top: 0.0,
        right: number(root, "width"),
        bottom: number(root, "height"),
    };
    let drawn = drawn(&document);
    let mut found = Vec::new();
    for (index, one) in drawn.iter().enumerate() {
        if !image.contains(one.place) {
            found.push(format!("{one:?} is outside {image:?}"));
        }
        for other in &drawn[index + 1..] {
            let within = |inner: &Drawn, outer: &Drawn| {
                outer.holds_others() && outer.place.contains(inner.place)
            };
            if one.place.overlaps(other.place) && !within(one, other) && !within(other, one) {
                found.push(format!("{one:?} lies on {other:?}"));
            }
        }
    }
    found
}

#[test]
fn every_node_is_drawn_once_with_its_name() {
    let flow = research_desk();
    let picture = render::svg(&flow);
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let mut paths: Vec<&String> = drawn.iter().filter_map(|one| one.path.as_ref()).collect();
    paths.sort();
    let nodes = flow.flatten_nodes();
    let mut expected: Vec<&String> = nodes.iter().map(|at| &at.path).collect();
    expected.sort();
    assert_eq!(paths, expected);
    for at in &nodes {
        let tile = drawn.iter().find(|one| one.path.as_ref() == Some(&at.path));
        assert_eq!(tile.expect("it is drawn").texts.first(), Some(&at.node.id));
    }
}

#[test]
fn actions_conditions_and_keys_are_written_at_the_arrows_and_labels_in_the_ends() {
    let picture = render::svg(&research_desk());
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let texts = |class: &str| -> Vec<String> {
        let of_class = drawn.iter().filter(|one| one.class == class);
        let mut texts: Vec<String> = of_class.map(|one| one.texts.join("|")).collect();
        texts.sort();
        texts
    };
    assert_eq!(
        texts("label"),
        [
            "approved|{report}",
            "ask_again",
            "else",
            "enough|{findings}",
            "error",
            "error",
            "error",
            "error",
            "found|{passage}",
            "hopeless",
            "long|draft.words > 4000",
            "needs_revision|{feedback}",
            "nothing",
            "nothing_found",
            "rejected",
            "short|draft.words < 50 && !draft.urgent",
            "{answers}",
            "{answer}",
            "{answer}",
            "{answer}",
            "{draft}",
            "{draft}",
            "{draft}",
            "{findings}",
            "{outline}",
            "{outline}",
            "{passage}",
            "{place}",
            "{questions}",
            "{question}",
            "{topic, policy}",
            "{translation}",
        ]
    );
    assert_eq!(
        texts("tile end"),
        [
            "end",
            "end",
            "end",
            "end",
            "failed",
            "nothing_found",
            "nothing_found",
            "rejected"
        ]
    );
    assert_eq!(texts("tile start").len(), 4, "one in each flow");
}

#[test]
fn what_a_node_is_and_how_it_runs_stands_below_its_name() {
    let picture = render::svg(&research_desk());
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let lines = |path: &str| -> (String, Vec<String>) {
        let one = drawn.iter().find(|one| one.path.as_deref() == Some(path));
        let one = one.unwrap_or_else(|| panic!("no `{path}`"));
        (one.class.clone(), one.texts.clone())
    };
    let shown = [
        "plan",
        "research",
        "research.answers",
        "research.answer_one.lookup",
        "enrich",
        "size",
        "end",
        "approve",
    ]
    .map(|path| {
        let (class, texts) = lines(path);
        format!("{class}: {}", texts.join(" | "))
    });
    insta::assert_snapshot!(shown.join("\n"), @r#"
    tile step: plan | desk::plan | 3 attempts if desk::is_busy, at most 30s
    tile flow: research | Research
    tile each: answers | for question in questions, 8 at once | collects errors
    tile step: lookup | asks every 1s, at most 10s
    tile fork: enrich | in parallel, 2 at once
    tile branch: size
    tile wait: end | wait 5s
    tile human: approve | asks: Publish "{draft}" <now>? | at most 2days
    "#);
}

/// What the legend of a picture says.
fn legend(picture: &str) -> Vec<String> {
    let document = Document::parse(picture).expect("well-formed XML");
    let mut all = document.descendants();
    let legend = all.find(|node| node.attribute("class") == Some("legend"));
    let texts = legend.expect("a legend").descendants();
    let texts = texts.filter(|node| node.has_tag_name("text"));
    texts
        .filter_map(|node| node.text())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_legend_explains_what_the_picture_has() {
    insta::assert_snapshot!(legend(&render::svg(&research_desk())).join("\n"), @r"
    a node
    chooses by conditions
    a pause
    asks a person
    a flow
    runs its branches at the same time
    runs once for each item
    taken on an error
    leads back
    action
    the action that takes the arrow
    condition
    its condition
    {keys}
    keys that are written before it and read after it
    ");
    let mut small = FlowDocument::new("Small", "small");
    small.nodes = vec![node("only", "only", serde_json::json!({}))];
    assert_eq!(legend(&render::svg(&small)), ["a node"]);
}

#[test]
fn a_race_is_drawn_like_a_fork_with_its_actions_where_its_branches_join() {
    let flow = order();
    for direction in DIRECTIONS {
        let picture = render::svg_in(&flow, direction);
        assert_eq!(misplaced(&picture), [] as [String; 0], "{direction:?}");
        assert_eq!(crossings(&picture), [] as [String; 0], "{direction:?}");
    }
    let picture = render::svg(&flow);
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let race = drawn.iter().find(|one| one.class == "tile race");
    let race = race.expect("a race");
    let inside = drawn.iter().filter(|one| race.place.contains(one.place));
    let mut inside: Vec<String> = inside
        .map(|one| [std::slice::from_ref(&one.class), &one.texts[..]].concat())
        .map(|lines| lines.join(" | "))
        .collect();
    inside.sort();
    insta::assert_snapshot!(inside.join("\n"), @"
    label | late
    label | shipped
    label | {parcel}
    tile bar
    tile bar
    tile human | approval | asks: Cancel it?
    tile race | outcome | first of
    tile step | fulfil
    tile step | pack
    tile wait | wait | wait 2days
    ");
    insta::assert_snapshot!(legend(&picture).join("\n"), @"
    a node
    a pause
    asks a person
    runs its branches until the first one is done, which decides
    action
    the action that takes the arrow
    {keys}
    keys that are written before it and read after it
    ");
    let style = ".race .body { stroke-dasharray";
    let page = render::html(&flow);
    for part in [style, ">first of</text>", ">shipped</text>"] {
        assert!(picture.contains(part), "{part}: {picture}");
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn a_signal_has_a_mark_of_its_own() {
    let flow = subscription();
    for direction in DIRECTIONS {
        let picture = render::svg_in(&flow, direction);
        assert_eq!(misplaced(&picture), [] as [String; 0], "{direction:?}");
        assert_eq!(crossings(&picture), [] as [String; 0], "{direction:?}");
        assert!(begun_and_ended(&picture) > 10, "{direction:?}");
    }
    let picture = render::svg(&flow);
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let signals = drawn.iter().filter(|one| one.class == "tile signal");
    let signals: Vec<String> = signals.map(|one| one.texts.join(" | ")).collect();
    insta::assert_snapshot!(signals.join("\n"), @"
    start_it | waits for: Start | at most 2days
    cancel_request | waits for: CancelRequest
    Why? | reason: waits for: survey
    ");
    insta::assert_snapshot!(legend(&picture).join("\n"), @"
    a node
    a pause
    waits for a signal
    runs its branches until the first one is done, which decides
    leads back
    action
    the action that takes the arrow
    ");
    for text in [render::svg(&flow), render::html(&flow)] {
        let styles = text.matches(".signal .body { fill").count();
        assert_eq!(styles, 2, "light and dark: {text}");
    }
}

#[test]
fn dashed_arrows_lead_to_undo_nodes() {
    let flow = fulfilment();
    for direction in DIRECTIONS {
        let picture = render::svg_in(&flow, direction);
        assert_eq!(misplaced(&picture), [] as [String; 0], "{direction:?}");
        assert_eq!(crossings(&picture), [] as [String; 0], "{direction:?}");
        assert!(begun_and_ended(&picture) > 20, "{direction:?}");
        let count = |class: &str| picture.matches(&format!("<path class=\"{class}\"")).count();
        // The one to `refund` from `bill`, which is in a fork, would leave the box of the fork.
        assert_eq!(count("wire undo"), 3, "{direction:?}");
        assert_eq!(count("tip wire undo"), 3, "{direction:?}");
    }
    let picture = render::svg(&flow);
    let document = Document::parse(&picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let fork = drawn.iter().find(|one| one.class == "tile fork");
    let fork = fork.expect("a fork").place;
    let of_undo = drawn.iter().filter(|one| {
        let text = one.texts.join(" | ");
        ["undo", "done", "Give back"]
            .iter()
            .any(|part| text.contains(part))
            || one.path.as_deref() == Some("call_back")
    });
    let of_undo: Vec<String> = of_undo
        .map(|one| {
            let inside = if fork.contains(one.place) {
                "in the fork: "
            } else {
                ""
            };
            format!("{inside}{} | {}", one.class, one.texts.join(" | "))
        })
        .collect();
    insta::assert_snapshot!(of_undo.join("\n"), @"
    tile step | reserve | undone by release
    tile step | charge | Charge | undone by refund, 5 attempts
    in the fork: tile step | ship | undone by call_back
    in the fork: tile step | bill | undone by refund
    in the fork: tile step | call_back
    in the fork: label | undo
    tile commit | commit | keeps what was done
    tile undo | undo | undoes what was done
    tile step | Give back | refund: Refund | 3 attempts
    label | undo
    label | undo
    ");
    insta::assert_snapshot!(legend(&picture).join("\n"), @"
    a node
    undoes what was done
    keeps what was done
    runs its branches at the same time
    taken on an error
    leads to the undo node
    action
    the action that takes the arrow
    {keys}
    keys that are written before it and read after it
    ");
    for text in [render::svg(&flow), render::html(&flow)] {
        for style in [
            ".undo .body {",
            ".commit .body {",
            ".wire.undo {",
            ".tip.undo {",
        ] {
            assert_eq!(
                text.matches(style).count(),
                2,
                "light and dark: {style} {text}"
            );
        }
    }
}

#[test]
fn the_legend_is_within_the_picture() {
    for flow in [
        research_desk(),
        order(),
        subscription(),
        fulfilment(),
        FlowDocument::new("", ""),
    ] {
        let picture = render::svg(&flow);
        let document = Document::parse(&picture).expect("well-formed XML");
        let (width, height) = (
            number(document.root_element(), "width"),
            number(document.root_element(), "height"),
        );
        for text in document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
        {
            let beside = text.parent().and_then(|group| group.attribute("class"));
            if beside == Some("legend") {
                let letters = u32::try_from(text.text().unwrap_or_default().len()).expect("short");
                let right = number(text, "x") + f64::from(letters) * 0.6 * 11.0 / 2.0;
                assert!(right < width && number(text, "y") < height, "{text:?}");
            }
        }
    }
}

/// Letters are 0.6 of their size wide in the fonts that the picture asks for.
#[test]
fn every_text_has_the_room_it_needs() {
    let picture = render::svg(&research_desk());
    let document = Document::parse(&picture).expect("well-formed XML");
    for one in drawn(&document) {
        for (index, text) in one.texts.iter().enumerate() {
            let named = index == 0 && one.path.is_some();
            let size = if named { 13.0 } else { 11.0 };
            let letters = u32::try_from(text.chars().count()).expect("a short text");
            let needed = f64::from(letters) * 0.6 * size;
            let room = one.place.right - one.place.left;
            assert!(needed + 4.0 < room, "{text} needs {needed} of {room}");
        }
    }
}

#[test]
fn nothing_lies_on_anything_else() {
    for direction in DIRECTIONS {
        let picture = render::svg_in(&research_desk(), direction);
        assert_eq!(misplaced(&picture), [] as [String; 0], "{direction:?}");
    }
}

/// The points of an arrow or a polygon, in its group.
fn points_of(path: &str) -> Vec<(f64, f64)> {
    let numbers = path.split(|letter: char| letter.is_ascii_alphabetic() || " ,".contains(letter));
    let numbers = numbers.filter(|text| !text.is_empty());
    let numbers: Vec<f64> = numbers
        .map(|text| text.parse().expect("a number"))
        .collect();
    numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Arrows that cross a box or the text at another arrow, of those in the same flow, fork, race or loop.
pub(crate) fn crossings(picture: &str) -> Vec<String> {
    let document = Document::parse(picture).expect("well-formed XML");
    let class = |node: &Node<'_, '_>| node.attribute("class").unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for wire in document
        .descendants()
        .filter(|node| class(node).starts_with("wire"))
    {
        let way = points_of(wire.attribute("d").expect("a path"));
        let beside = wire.parent().expect("a group").children();
        for tile in beside.filter(|node| class(node).starts_with("tile")) {
            let place = tile
                .children()
                .filter_map(place)
                .reduce(Rect::around)
                .expect("a shape");
            // Only the middle of a diamond, and what is between slanted sides, is sure to be inside.
            let margin = match class(&tile).as_str() {
                "tile branch" => (place.bottom - place.top) / 2.0 - 4.0,
                "tile human" | "tile signal" | "tile undo" => 9.5,
                _ => 1.5,
            };
            let crossed = way.windows(2).any(|ends| {
                (0..=100).map(f64::from).any(|step| {
                    let part = step / 100.0;
                    let x = ends[0].0 + (ends[1].0 - ends[0].0) * part;
                    let y = ends[0].1 + (ends[1].1 - ends[0].1) * part;
                    let across = place.left + margin < x && x < place.right - margin;
                    across && place.top + margin < y && y < place.bottom - margin
                })
            });
            if crossed {
                found.push(format!("{way:?} crosses {:?}", tile.attribute("data-path")));
            }
        }
    }
    found
}

#[test]
fn no_arrow_crosses_a_box() {
    for direction in DIRECTIONS {
        let picture = render::svg_in(&research_desk(), direction);
        assert_eq!(crossings(&picture), [] as [String; 0], "{direction:?}");
    }
}

/// The sides of a shape.
fn sides(node: Node<'_, '_>) -> Vec<[(f64, f64); 2]> {
    let corners = match node.tag_name().name() {
        "polygon" => {
            let points = node.attribute("points").unwrap_or_default();
            points_of(points)
        }
        "rect" => {
            let place = place(node).expect("a shape");
            let (left, right) = (place.left, place.right);
            vec![
                (left, place.top),
                (right, place.top),
                (right, place.bottom),
                (left, place.bottom),
            ]
        }
        _ => Vec::new(),
    };
    let next = corners.iter().cycle().skip(1);
    corners.iter().zip(next).map(|(a, b)| [*a, *b]).collect()
}

/// The distance of a point from a line.
fn distance((x, y): (f64, f64), [(ax, ay), (bx, by)]: [(f64, f64); 2]) -> f64 {
    let (dx, dy) = (bx - ax, by - ay);
    let part = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy);
    let part = part.clamp(0.0, 1.0);
    (x - ax - part * dx).hypot(y - ay - part * dy)
}

/// Also those that are slanted.
#[test]
fn every_arrow_begins_and_ends_at_the_side_of_a_box() {
    for direction in DIRECTIONS {
        let picture = render::svg_in(&research_desk(), direction);
        let count = begun_and_ended(&picture);
        assert!(count > 60, "{direction:?}: {count}");
    }
}

/// The number of lines and tips, each of which begins at the side of a box.
fn begun_and_ended(picture: &str) -> usize {
    let document = Document::parse(picture).expect("well-formed XML");
    let class = |node: &Node<'_, '_>| node.attribute("class").unwrap_or_default().to_owned();
    let arrows = document.descendants().filter(|node| {
        let class = class(node);
        class.starts_with("wire") || class.starts_with("tip wire")
    });
    let mut count = 0;
    for arrow in arrows {
        let end = points_of(arrow.attribute("d").expect("a path"))[0];
        let beside = arrow.parent().expect("a group").children();
        let tiles = beside.filter(|node| class(node).starts_with("tile"));
        let sides = tiles.flat_map(|tile| tile.children().flat_map(sides));
        let nearest = sides
            .map(|side| distance(end, side))
            .fold(f64::MAX, f64::min);
        assert!(nearest < 1.5, "{end:?} is {nearest} away: {picture}");
        count += 1;
    }
    count
}

/// The centre of the box of a node.
fn center(picture: &str, path: &str) -> (f64, f64) {
    let document = Document::parse(picture).expect("well-formed XML");
    let drawn = drawn(&document);
    let one = drawn.iter().find(|one| one.path.as_deref() == Some(path));
    let place = one.unwrap_or_else(|| panic!("no `{path}`")).place;
    (
        f64::midpoint(place.left, place.right),
        f64::midpoint(place.top, place.bottom),
    )
}

#[test]
fn the_nodes_follow_each_other_in_the_direction_of_the_picture() {
    let chains: [&[&str]; 4] = [
        &[
            "plan", "research", "write_up", "enrich", "size", "end", "approve",
        ],
        &["research.ask", "research.answers", "research.weigh"],
        &["translate", "proofread"],
        &[
            "research.answer_one.cite.locate",
            "research.answer_one.cite.quote",
        ],
    ];
    for direction in DIRECTIONS {
        let picture = render::svg_in(&research_desk(), direction);
        for chain in chains {
            for pair in chain.windows(2) {
                let (before, after) = (center(&picture, pair[0]), center(&picture, pair[1]));
                let follows = match direction {
                    Direction::TopToBottom => before.1 < after.1,
                    Direction::LeftToRight => before.0 < after.0,
                };
                assert!(follows, "{direction:?}: {pair:?} {before:?} {after:?}");
            }
        }
        let (one, other) = (
            center(&picture, "translate"),
            center(&picture, "illustrate"),
        );
        let are_beside = match direction {
            Direction::TopToBottom => one.0 != other.0,
            Direction::LeftToRight => one.1 != other.1,
        };
        assert!(are_beside, "{direction:?}: the branches of a fork");
    }
}

/// The boxes keep their form, and their texts.
#[test]
fn only_the_places_depend_on_the_direction() {
    let [one, other] = DIRECTIONS.map(|direction| {
        let picture = render::svg_in(&research_desk(), direction);
        let document = Document::parse(&picture).expect("well-formed XML");
        let mut texts: Vec<String> = drawn(&document)
            .iter()
            .map(|one| format!("{}: {:?} {:?}", one.class, one.path, one.texts))
            .collect();
        texts.sort();
        (texts, legend(&picture))
    });
    assert_eq!(one, other);
    let down = render::svg(&research_desk());
    assert_eq!(
        down,
        render::svg_in(&research_desk(), Direction::TopToBottom)
    );
}

#[test]
fn arrows_for_errors_and_arrows_back_look_different() {
    let picture = render::svg(&research_desk());
    let document = Document::parse(&picture).expect("well-formed XML");
    let count = |class: &str| {
        let all = document.descendants();
        all.filter(|node| node.attribute("class") == Some(class))
            .count()
    };
    assert_eq!(count("wire error"), 3);
    assert_eq!(count("wire error back"), 1, "`write_up` on an error again");
    assert_eq!(
        count("wire back"),
        3,
        "`ask_again`, and from `shorten` and `revise`"
    );
}

#[test]
fn the_doc_comment_is_the_title_of_the_box_whatever_it_contains() {
    let flow = research_desk();
    let picture = render::svg(&flow);
    let document = Document::parse(&picture).expect("well-formed XML");
    let plan = document
        .descendants()
        .find(|node| node.attribute("data-path") == Some("plan"));
    let title = plan.and_then(|plan| plan.children().find(|node| node.has_tag_name("title")));
    assert_eq!(
        title.and_then(|title| title.text()).map(str::to_owned),
        flow.nodes[0].description
    );
}

#[test]
fn characters_that_xml_does_not_have_are_replaced_or_made_visible() {
    let mut flow = research_desk();
    flow.nodes[0].description = Some("a\u{0}b\u{8}c\u{ffff}d\u{1b}e\u{85}".to_owned());
    flow.nodes[0].r#type = "a\u{0}b".to_owned();
    let picture = render::svg(&flow);
    Document::parse(&picture).expect("well-formed XML");
    let title = r"<title>a\u{0}b\u{8}c�d\u{1b}e\u{85}</title>";
    assert!(picture.contains(title), "{picture}");
}

/// The layout crate keeps its graph in hash maps, whose order is another one each time.
#[test]
fn the_same_flow_is_always_drawn_the_same() {
    let flow = research_desk();
    let first = render::svg(&flow);
    for _ in 0..20 {
        assert_eq!(render::svg(&flow), first);
    }
}

#[test]
fn an_empty_flow_is_a_picture_as_well() {
    assert_eq!(
        misplaced(&render::svg(&FlowDocument::new("", ""))),
        [] as [String; 0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn nothing_lies_on_anything_else_in_any_flow(flow in any_flow()) {
        for direction in DIRECTIONS {
            let picture = render::svg_in(&flow, direction);
            prop_assert_eq!(misplaced(&picture), Vec::<String>::new());
            prop_assert_eq!(crossings(&picture), Vec::<String>::new());
            prop_assert_eq!(&render::svg_in(&flow, direction), &picture);
            let tiles = flow.flatten_nodes().len();
            prop_assert_eq!(picture.matches("data-path=").count(), tiles);
        }
    }
}
