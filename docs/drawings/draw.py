#!/usr/bin/env python3
"""Draws the pictures of docs/how-it-works.md: docs/drawings/draw.py writes the SVG files beside itself.

Times run to the right. Colours mean the same everywhere: blue holds, grey waits, green is the store, orange is trouble.
"""
import os
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = 760

STYLE = """
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1d2430; }
  .title { font-size: 16px; font-weight: 600; } .small { font-size: 11.5px; fill: #5c6675; } .strong { font-weight: 600; }
  .in { fill: #ffffff; font-size: 12px; font-weight: 600; } .code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 12px; }
  .bad { fill: #c2410c; } .good { fill: #15803d; }
  .card { fill: #ffffff; stroke: #d9dee6; } .blank { fill: #ffffff; } .lane { stroke: #e4e8ee; stroke-width: 2; } .axis { stroke: #9aa5b4; stroke-width: 1.2; }
  .hold { fill: #2f7de1; } .held { fill: #8fb9ee; } .wait { fill: #cfd7e3; } .store { fill: #d8f0e3; stroke: #4fae7f; }
  .trouble { fill: #fdeadb; stroke: #e8743b; } .ask { stroke: #e8743b; stroke-width: 2; } .process { fill: #f3f6fa; stroke: #c3ccd8; }
  .arrow { stroke: #3c4858; stroke-width: 1.5; fill: none; } .arrow-good { stroke: #15803d; stroke-width: 1.8; fill: none; }
  .arrow-bad { stroke: #c2410c; stroke-width: 1.8; fill: none; } .mark { stroke: #5c6675; stroke-dasharray: 4 4; }
  .mark-bad { stroke: #c2410c; stroke-width: 1.5; stroke-dasharray: 4 4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6ebf2; } .small { fill: #9aa7b8; } .in { fill: #ffffff; } .bad { fill: #fb923c; } .good { fill: #4ade80; }
    .card { fill: #161b22; stroke: #30363d; } .blank { fill: #161b22; } .lane { stroke: #2a313b; } .axis { stroke: #6b7788; } .wait { fill: #414c5b; }
    .held { fill: #2b5a97; } .store { fill: #163325; } .trouble { fill: #3d2413; } .process { fill: #1d242e; stroke: #39434f; }
    .arrow { stroke: #b4bfcd; } .arrow-good { stroke: #4ade80; } .arrow-bad { stroke: #fb923c; } .mark { stroke: #8793a3; }
  }
"""


class Drawing:
    def __init__(self, name, title, height):
        self.name, self.height = name, height
        self.parts = []
        self.rect(1, 1, WIDTH - 2, height - 2, "card", 10)
        self.text(22, 32, title, "title")

    def rect(self, x, y, w, h, kind, radius=4):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}" class="{kind}"/>')

    def text(self, x, y, words, kind="", anchor="start"):
        for i, line in enumerate(words.split("\n")):
            self.parts.append(f'<text x="{x}" y="{y + 15 * i}" class="{kind}" text-anchor="{anchor}">{escape(line)}</text>')

    def line(self, x1, y1, x2, y2, kind):
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" class="{kind}"/>')

    def arrow(self, x1, y1, x2, y2, kind="arrow", cut=False):
        end = {"arrow": "head", "arrow-good": "head-good", "arrow-bad": "head-bad"}[kind]
        marker = "" if cut else f' marker-end="url(#{end})"'
        self.parts.append(f'<path d="M{x1} {y1}L{x2} {y2}" class="{kind}"{marker}/>')
        if cut:
            self.parts.append(f'<path d="M{x2 - 5} {y2 - 5}l10 10m0 -10l-10 10" class="{kind}"/>')

    def bar(self, x, y, w, words, kind="hold", h=22):
        self.rect(x, y, w, h, kind)
        if words:
            self.text(x + w / 2, y + h / 2 + 4.5, words, "in" if kind == "hold" else "small", "middle")

    def lane(self, y, name, left=104, right=WIDTH - 24):
        self.text(left - 12, y + 5, name, "", "end")
        self.line(left, y, right, y, "lane")

    def time(self, y, left=104, right=WIDTH - 24):
        self.arrow(left, y, right, y)
        self.text(right, y + 16, "time", "small", "end")

    def save(self):
        heads = "".join(
            f'<marker id="{n}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse"'
            f' orient="auto"><path d="M0 0L8 4L0 8z" fill="{c}"/></marker>'
            for n, c in (("head", "#5c6675"), ("head-good", "#15803d"), ("head-bad", "#c2410c")))
        svg = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img">'
               f"<style>{STYLE}</style><defs>{heads}</defs>\n" + "\n".join(self.parts) + "\n</svg>\n")
        with open(os.path.join(HERE, self.name + ".svg"), "w", encoding="utf-8") as file:
            file.write(svg)


def polling():
    d = Drawing("polling", "Polling: whoever waits asks again and again", 568)
    y = 84
    for i, name in enumerate(["holder", "A, first", "B, second", "C, third"]):
        d.lane(y + 38 * i, name)
    d.bar(110, y - 11, 190, "holds")
    for lane, start, asks in ((1, 140, (140, 190, 258, 350, 470)), (2, 165, (165, 220, 284, 352 + 60, 520)), (3, 205, (205, 262, 330))):
        end = 330 if lane == 3 else 610
        d.rect(start, y + 38 * lane - 4, end - start, 8, "wait", 3)
        for x in asks:
            d.line(x, y + 38 * lane - 10, x, y + 38 * lane + 10, "ask")
    d.bar(330, y + 38 * 3 - 11, 170, "holds")
    d.rect(301, y - 14, 28, 38 * 3 + 6, "trouble", 3)
    d.text(315, y - 22, "free, and nobody knows", "small bad", "middle")
    for lane in (1, 2):
        d.rect(614, y + 38 * lane - 8, 68, 16, "blank", 0)
        d.text(620, y + 38 * lane + 4, "still waits", "small bad")
    d.text(110, y + 150, "Every orange tick is a request that the store must answer, mostly with “no”. Who comes next is luck:\n"
           "C came last. Asking less often costs less and wastes more time; asking more often the other way round.", "small")
    d.line(22, 272, WIDTH - 22, 272, "lane")
    d.text(22, 304, "Watching: whoever waits stands in a queue and is told", "title")
    y = 342
    for i, name in enumerate(["holder", "A, first", "B, second", "C, third"]):
        d.lane(y + 38 * i, name)
    d.bar(110, y - 11, 190, "holds")
    d.rect(140, y + 34, 166, 8, "wait", 3)
    d.rect(165, y + 72, 292, 8, "wait", 3)
    d.rect(205, y + 110, 402, 8, "wait", 3)
    for lane, x in ((1, 140), (2, 165), (3, 205)):
        d.line(x, y + 38 * lane - 10, x, y + 38 * lane + 10, "ask")
    d.arrow(300, y + 12, 306, y + 25, "arrow-good")
    d.bar(306, y + 27, 144, "holds")
    d.arrow(450, y + 50, 457, y + 63, "arrow-good")
    d.bar(457, y + 65, 144, "holds")
    d.arrow(601, y + 88, 607, y + 101, "arrow-good")
    d.bar(607, y + 103, 110, "holds")
    d.text(110, y + 150, "One request each to stand in line; a release tells the next one and nobody else. The lock is free for the time\n"
           "of one message, and it goes to whoever came first. A thousand more behind C cost nothing.", "small")
    d.time(y + 192)
    d.save()


def queue():
    d = Drawing("queue", "One client is one ticket, however many threads it has", 330)
    for i, (name, threads) in enumerate((("process 1", 4), ("process 2", 2), ("process 3", 3))):
        y = 58 + 88 * i
        d.rect(22, y, 250, 72, "process", 8)
        d.text(34, y + 20, name, "strong")
        for t in range(threads):
            first = i == 0 and t == 0
            d.rect(34 + 36 * t, y + 34, 30, 24, "hold" if first else "wait", 4)
            d.text(49 + 36 * t, y + 50, f"T{t + 1}", "in" if first else "small", "middle")
        d.rect(196, y + 26, 62, 38, "card", 6)
        d.text(227, y + 50, "gate", "", "middle")
        d.arrow(34 + 36 * threads, y + 46, 194, y + 46)
        d.arrow(260, y + 46, 420, 122 + 66 * i if i else 122, "arrow")
    d.rect(420, 58, 318, 248, "store", 8)
    d.text(436, 82, "the store: Redis, etcd, ZooKeeper …", "strong")
    for i, (words, kind) in enumerate((("ticket of process 1: holds, token 7", "hold"), ("ticket of process 2: waits", "wait"),
                                       ("ticket of process 3: waits", "wait"))):
        d.rect(436, 104 + 66 * i, 286, 38, kind, 6)
        d.text(579, 128 + 66 * i, words, "in" if kind == "hold" else "", "middle")
        if i < 2:
            d.arrow(579, 168 + 66 * i, 579, 145 + 66 * i)
    d.save()


def grant():
    d = Drawing("pushed-grant", "A pushed grant: the next holder is told, and need not ask", 400)
    lanes = {"process 1": 90, "the store": 190, "process 2": 290}
    for name, y in lanes.items():
        d.lane(y, name)
    d.rect(104, 178, WIDTH - 128, 24, "store", 3)
    d.bar(110, 79, 330, "holds, token 7")
    d.rect(164, 286, 306, 8, "wait", 3)
    d.text(170, 316, "waits; nobody asks again", "small")
    d.arrow(150, 284, 162, 206)
    d.arrow(166, 206, 178, 284)
    d.text(184, 226, "“I want it”:\nnumber 2 in the\nqueue", "small")
    for x in (300, 400):
        d.arrow(x, 284, x + 8, 206)
        d.arrow(x + 10, 206, x + 18, 284)
    d.text(359, 226, "heartbeat,\nevery third\nof the ttl", "small", "middle")
    d.arrow(440, 103, 452, 174)
    d.text(462, 132, "release. In one step the store passes the\nlock to process 2 and sends the news", "small")
    d.arrow(456, 206, 470, 276, "arrow-good")
    d.text(474, 232, "“yours, token 8”", "good")
    d.bar(472, 279, 264, "holds, token 8")
    d.line(400, 290, 400, 340, "mark")
    d.text(110, 356, "The lease counts from here: from when the last answered heartbeat was sent, not from when the\n"
           "news arrived. That may have lain in a socket while the process was paused.", "small")
    d.save()


def fencing():
    d = Drawing("fencing", "Fencing: the protected system refuses whoever was too slow", 400)
    for name, y in (("process 1", 90), ("the lock", 165), ("process 2", 240), ("database", 330)):
        d.lane(y, name)
    d.bar(110, 79, 92, "token 33")
    d.rect(204, 77, 330, 26, "trouble", 4)
    d.text(369, 94, "stopped: garbage collection, a moved VM, swap …", "small bad", "middle")
    d.bar(536, 79, 60, "33 ?")
    d.bar(110, 154, 217, "33", "held")
    d.bar(348, 154, 388, "34", "held")
    d.text(328, 146, "ttl over", "small bad", "middle")
    d.line(328, 150, 328, 182, "mark-bad")
    d.arrow(340, 228, 348, 180)
    d.bar(344, 229, 190, "token 34")
    d.rect(104, 310, WIDTH - 128, 40, "store", 4)
    d.arrow(440, 253, 448, 306, "arrow-good")
    d.text(456, 276, "write, 34", "good")
    d.text(448, 335, "remembers 34", "small", "middle")
    d.arrow(584, 103, 606, 302, "arrow-bad", cut=True)
    d.text(616, 286, "write, 33: refused", "bad")
    d.text(110, 380, "No lock service can keep process 1 from waking up and writing. The database can, by one comparison.", "small")
    d.save()


def handoff():
    d = Drawing("handoff", "Local handoff: threads of one process pass the lock on without asking the store", 396)
    d.lane(120, "process 1")
    d.lane(215, "the store")
    d.lane(300, "process 2")
    d.rect(104, 203, WIDTH - 128, 24, "store", 3)
    d.arrow(112, 203, 124, 136)
    d.text(132, 190, "grant 7", "good")
    x = 126
    for i in range(5):
        d.bar(x, 109, 62, f"T{i % 4 + 1}")
        d.text(x + 31, 100, f"7 + {i}", "small code", "middle")
        x += 64
        if i < 4:
            d.arrow(x - 6, 138, x + 4, 138)
    d.text(286, 160, "no trip to the store", "small", "middle")
    d.text(286, 82, "at most 64 times or 20 ms, then others have their turn", "small", "middle")
    d.arrow(x, 134, x + 12, 200)
    d.text(x + 20, 172, "release", "")
    d.rect(180, 296, x - 160, 8, "wait", 3)
    d.text(300, 324, "waits in the store's queue", "small", "middle")
    d.arrow(x + 14, 230, x + 24, 284, "arrow-good")
    d.bar(x + 26, 289, 62, "T1")
    d.text(x + 57, 328, "8 + 0", "small code", "middle")
    d.bar(x + 90, 289, 62, "T2")
    d.text(x + 121, 328, "8 + 1", "small code", "middle")
    d.text(110, 366, "Tokens are the store's number times 1,024 plus a local one, so every holder has a larger token than\n"
           "the one before it. Fairness.FIFO: no handoff, every thread has a ticket in the store's queue.", "small")
    d.save()


def pause():
    d = Drawing("pause", "What happens when the holder is paused", 420)
    d.lane(110, "holder")
    d.lane(215, "the store")
    d.lane(310, "next one")
    d.rect(104, 203, WIDTH - 128, 24, "store", 3)
    d.bar(126, 99, 150, "")
    d.text(168, 115, "valid", "in", "middle")
    d.rect(278, 97, 282, 26, "trouble", 4)
    d.text(358, 114, "paused for longer", "small bad", "middle")
    for x in (112, 212):
        d.arrow(x, 123, x + 10, 200)
        d.arrow(x + 12, 200, x + 24, 126)
    d.text(150, 178, "acquire", "small")
    d.text(250, 160, "renewal: the ttl counts\nfrom when it was sent", "small")
    d.line(212, 62, 212, 122, "mark")
    d.arrow(212, 72, 436, 72)
    d.text(324, 64, "ttl, less 1 % and 2 ms", "small", "middle")
    d.line(438, 62, 438, 132, "mark-bad")
    d.text(444, 68, "the holder's own deadline", "small bad")
    d.line(460, 196, 460, 234, "mark-bad")
    d.text(468, 192, "the store's, always later", "small bad")
    d.rect(240, 306, 226, 8, "wait", 3)
    d.arrow(462, 230, 474, 286, "arrow-good")
    d.bar(476, 299, 260, "holds, with a larger token")
    d.bar(562, 99, 174, "isValid(): false, at once", "held")
    d.text(562, 146, "and onLost(…) is called", "small")
    d.text(110, 356, "The deadline is counted from before the request was sent, by a clock that nobody sets: it passes here\n"
           "before it passes there, and nothing has to arrive for the holder to know. A write that was on its way\n"
           "when the pause began is what tokens are for.", "small")
    d.save()


for draw in (polling, queue, grant, fencing, handoff, pause):
    draw()
