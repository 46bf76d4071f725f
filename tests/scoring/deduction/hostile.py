"""Programs that cost as much as the limits let them, by name."""

from __future__ import annotations

NAMES = [f"a{i}" for i in range(190)]
ALL = "+".join(NAMES)
LONG, LONGER = "7" * 90 + "e-290", "9" * 91 + "e-291"

COSTLY: dict[str, str] = {
    "digits": "x=" + "9" * 7998,
    "many numbers": "x=" + "+".join(["9" * 99] * 80),
    "many names": " ".join(["a" * 99] * 80),
    "blanks": " " * 8000,
    "line ends": "\n" * 8000,
    "comment": "#" * 8000,
    "comments": "#\n" * 4000,
    "underscores": "x=" + "1_" * 3999,
    "points": "x=" + "1." * 3999,
    "exponents": "x=" + "1e" * 3999,
    "huge": "x = 1\n" * 5_000_000,
    "calls in calls": "x=" + "abs(" * 19 + "1" + ")" * 19,
    "ladder of ifs": "".join(" " * i + "if 1:\n" for i in range(40)) + " " * 40 + "x=1",
    "ladder of whiles": "".join(" " * i + "while 1:\n" for i in range(39)) + " " * 39 + "x=1",
    "ladder of fors": "".join(" " * i + f"for i{i} in range(9):\n" for i in range(20))
    + " " * 20
    + "x=1",
    "list that grows": "x=[]\nwhile True:\n x.append(x)",
    "comprehension": "x=[[j for j in range(10**6)] for i in range(10**6)]",
    "generator": "x=sum(i for i in range(10**9))",
    "text that grows": "x='a'*10**9",
    "sum": "x=0\nwhile 1:\n x=x+1",
    "nothing": "while 1:pass",
    "long range": "for i in range(9**99):pass",
    "backward range": "for i in range(9e299,-9e299,-1):pass",
    "long remainders": "a=2**1000+1\nb=a+2\nwhile 1:\n x=a%b",
    "long comparisons": "a=1/(2**1000+1)\nb=1/(3**640+2)\nwhile 1:\n x=a<b",
    "long differences": "a=1/(2**500+1)\nb=1/(3**300+2)\nwhile 1:\n x=a-b",
    "long quotients": "a=(2**1000+1)/3**630\nb=(2**999+3)/7**350\nwhile 1:\n x=a//b",
    "long literals": "while 1:\n x=" + "+".join([f"{LONG}//{LONGER}"] * 30),
    "literals compared": "while 1:\n x=" + "+".join([f"({LONG}<{LONGER})"] * 30),
    "least of many": f"while 1:\n x=min({','.join([LONG, LONGER] * 20)})",
    "rounding": f"while 1:\n x=round({LONG},100)",
    "powers": "while 1:\n x=(2/3)**640",
    "power of a sign": "while 1:\n x=(-1)**9e299",
    "chain of comparisons": "while 1:\n x=" + "<=".join(["1"] * 190),
    "names in a condition": f"while 1:\n if 1 or {ALL}:\n" + "  x=1\n" * 70,
    "names in conditions": f"while 1:\n if 1 or {ALL}:\n  if 1 or "
    + "+".join(f"b{i}" for i in range(150))
    + ":\n"
    + "   x=1\n" * 25,
    "names on both sides": f"while 1:\n if 1 or {ALL}:\n  "
    + "=".join(f"c{i}" for i in range(180))
    + "=1\n",
    "many assignments": "while 1:\n" + "".join(f" {name}=1\n" for name in NAMES),
    "factorial": "x=1\nfor i in range(1,10**6):\n x=x*i",
    "doubling": "x0=2\n" + "\n".join(f"x{i + 1}=x{i}*x{i}" for i in range(60)),
    "roots": "x=2\nwhile 1:\n x=(x+2/x)/2",
    "chaos": "x=1/3\nwhile 1:\n x=x*(1-x)*3.99",
}
"""What the guards let through, and what they must stop early."""
