"""Bar charts with a logarithmic scale, as SVG. They bring their background, for light pages and dark ones."""

import math
from html import escape

WIDTH = 760
LABEL_WIDTH = 190
VALUE_WIDTH = 170
BAR, GAP, TOP, BOTTOM = 16, 8, 40, 30

STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de; }
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; }
  .small { fill: #59636e; font-size: 11px; }
  .grid { stroke: #d0d7de; stroke-dasharray: 2 3; }
  .ours { fill: #0969da; }
  .hand { fill: #8c959f; }
  .rust { fill: #bf8700; }
  .python { fill: #8250df; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d; }
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .ours { fill: #4493f8; }
    .hand { fill: #7d8590; }
    .rust { fill: #d29922; }
    .python { fill: #ab7df8; }
  }
"""


def bars(title, rows, tick_label):
    """`rows` are of a label, a value, how the value is written, and the class of the bar. `tick_label` writes a power
    of ten.
    """
    values = [value for _, value, _, _ in rows if value > 0]
    lowest = math.floor(math.log10(min(values)))
    highest = math.ceil(math.log10(max(values)))
    highest = max(highest, lowest + 1)
    room = WIDTH - LABEL_WIDTH - VALUE_WIDTH
    height = TOP + len(rows) * (BAR + GAP) + BOTTOM

    def x(value):
        share = (math.log10(value) - lowest) / (highest - lowest)
        return LABEL_WIDTH + max(2.0, share * room)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>',
        f'<text class="title" x="14" y="22">{escape(title)}</text>',
        f'<text class="small" x="{WIDTH - 14}" y="22" text-anchor="end">logarithmic scale</text>',
    ]
    bottom = height - BOTTOM
    every = max(1, math.ceil((highest - lowest) / 6))
    for power in range(lowest, highest + 1, every):
        at = LABEL_WIDTH + (power - lowest) / (highest - lowest) * room
        parts.append(
            f'<line class="grid" x1="{at:.1f}" y1="{TOP - 6}" x2="{at:.1f}" y2="{bottom}"/>'
            f'<text class="small" x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{escape(tick_label(10.0**power))}</text>"
        )
    for row, (label, value, written, kind) in enumerate(rows):
        y = TOP + row * (BAR + GAP)
        end = x(value) if value > 0 else LABEL_WIDTH + 2
        parts.append(
            f'<text x="{LABEL_WIDTH - 8}" y="{y + 12}" text-anchor="end">{escape(label)}</text>'
            f'<rect class="{kind}" x="{LABEL_WIDTH}" y="{y}" width="{end - LABEL_WIDTH:.1f}" '
            f'height="{BAR}" rx="2"/>'
            f'<text class="small" x="{end + 6:.1f}" y="{y + 12}">{escape(written)}</text>'
        )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
