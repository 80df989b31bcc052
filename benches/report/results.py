"""The figures of the last two runs of each part, in `results/<part>.json`."""

import json

from report.contenders import BENCHES

DIRECTORY = BENCHES / "results"
PARTS = ["times", "allocations", "instructions", "durable", "compile"]
# Measured only if they are named.
NAMED_PARTS = ["server", "stores", "agents"]


def runs(part):
    """The newest first."""
    file = DIRECTORY / f"{part}.json"
    if not file.exists():
        return []
    return json.loads(file.read_text(encoding="utf-8"))["runs"]


def keep(part, machine, contenders, figures, seconds):
    """Beside the newest run, one in which no contender is missing is worth most, then one of another day, then the
    newest: so a run that misses some does not cost the figures that they had.
    """
    newest = {
        **machine,
        "took_seconds": round(seconds),
        "contenders": {
            contender.name: {
                "label": contender.label,
                "language": contender.language,
                "version": contender.version,
                "source": contender.source,
                **({"missing": contender.missing} if contender.missing else {}),
            }
            for contender in contenders
        },
        "figures": figures,
    }
    earlier = sorted(runs(part), key=lambda run: (misses_some(run), run["date"] == newest["date"]))
    kept = [newest, *earlier[:1]]
    DIRECTORY.mkdir(exist_ok=True)
    text = json.dumps({"runs": kept}, indent=1)
    (DIRECTORY / f"{part}.json").write_text(text + "\n", encoding="utf-8")


def misses_some(run):
    return any("missing" in contender for contender in run["contenders"].values())
