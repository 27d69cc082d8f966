"""The compared rows as a picture: a bar for each median and a mark for each p99, on a logarithmic axis."""

import math
from html import escape

WIDTH, LEFT, BAR, GAP = 960, 330, 18, 26
# The first alternative, the others in turns, and what they are compared with.
FIRST, OTHERS, BASE = "#2f6fde", ("#9aa5b1", "#b9c1ca"), "#5b6470"


def write_chart(path, document):
    path.write_text(chart(document), encoding="utf-8")


def chart(document):
    # A row without an alternative is in the table.
    rows = [row for row in document["rows"] if len(row["alternatives"]) > 1]
    measurements = [each[key] for row in rows for each in row["alternatives"] for key in ("median", "p99")]
    axis = Axis(min(measurements), max(measurements))
    lines, top = [], 48
    for row in rows:
        lines.append(text(16, top, row["name"], weight="bold"))
        top += 8
        for each, colour in zip(row["alternatives"], colours(len(row["alternatives"]))):
            lines += bar(axis, top, each, row["unit"], colour)
            top += BAR + 4
        top += GAP
    height = top + 16
    load = document["before"]["load"][0]
    where = f"load {load} on {document['before']['processors']} processors"
    title = f"lifed beside the baseline and others: median, and p99 as a mark (logarithmic; {where})"
    lines = [text(16, 22, title), *grid(axis, height), *lines]
    size = f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, f'<rect width="{WIDTH}" height="{height}" fill="white"/>', *lines, "</svg>", ""])


def colours(count):
    return [FIRST, *(OTHERS[each % len(OTHERS)] for each in range(count - 2)), BASE]


class Axis:
    """Decades from the one with the least measurement to the one with the greatest."""

    def __init__(self, least, most):
        self.first = math.floor(math.log10(least))
        self.last = max(self.first + 1, math.ceil(math.log10(most)))

    def position(self, measurement):
        share = (math.log10(measurement) - self.first) / (self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - 150)


def grid(axis, height):
    for decade in range(axis.first, axis.last + 1):
        x = axis.position(10**decade)
        yield f'<line x1="{x:.1f}" y1="36" x2="{x:.1f}" y2="{height - 16}" stroke="#e3e6ea"/>'
        yield text(x + 3, height - 6, f"{10**decade:,} µs", size=11)


def bar(axis, top, each, unit, colour):
    end, mark = axis.position(each["median"]), axis.position(each["p99"])
    ratio = f", {each['ratio']:.2f} ×" if each["ratio"] is not None else ""
    return [
        text(LEFT - 8, top + 14, each["name"], anchor="end"),
        f'<rect x="{LEFT}" y="{top}" width="{end - LEFT:.1f}" height="{BAR}" fill="{colour}"/>',
        f'<line x1="{mark:.1f}" y1="{top}" x2="{mark:.1f}" y2="{top + BAR}" stroke="black" stroke-width="2"/>',
        text(max(end, mark) + 6, top + 14, f"{each['median']:,.1f} {unit}{ratio}"),
    ]


def text(x, y, content, anchor="start", weight="normal", size=13):
    style = f'text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(content)}</text>'
