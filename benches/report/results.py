"""The figures of the last two runs of each part, in `results/<part>.json`."""

import json

from report.contenders import BENCHES

DIRECTORY = BENCHES / "results"
PARTS = ["times", "allocations", "instructions", "durable", "compile"]


def runs(part):
    """The newest first."""
    file = DIRECTORY / f"{part}.json"
    if not file.exists():
        return []
    return json.loads(file.read_text(encoding="utf-8"))["runs"]


def keep(part, machine, contenders, figures, seconds):
    """Beside the newest run, the newest of another day is worth more than another one of the same day."""
    newest = {
        **machine,
        "took_seconds": round(seconds),
        "contenders": {
            contender.name: {
                "label": contender.label,
                "language": contender.language,
                "version": contender.version,
                "source": contender.source,
            }
            for contender in contenders
        },
        "figures": figures,
    }
    earlier = runs(part)
    other_days = [run for run in earlier if run["date"] != newest["date"]]
    kept = [newest, *(other_days or earlier)[:1]]
    DIRECTORY.mkdir(exist_ok=True)
    text = json.dumps({"runs": kept}, indent=1)
    (DIRECTORY / f"{part}.json").write_text(text + "\n", encoding="utf-8")
