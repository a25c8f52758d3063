"""Delimiters, line ends, quotes, widths and names."""

from __future__ import annotations

from tests.table.corpus.cases import AB, PLAIN, Good, bad, good, lines, named, text

SHAPES = [
    good("plain", PLAIN, AB, quiet=True),
    good("semicolon", PLAIN.replace(",", ";"), AB, notes=["separated by ';'"]),
    named("t.tsv", good("tab", PLAIN.replace(",", "\t"), AB, notes=["separated by tab"])),
    named("t.txt", good("bar", PLAIN.replace(",", "|"), AB)),
    named("t.txt", good("colon", PLAIN.replace(",", ":"), AB)),
    named("t.dat", good("blanks", "a   b\n 1  x \n 3    y\n", AB, notes=["separated by blank"])),
    text("odd delimiter on request", PLAIN.replace(",", "^"), Good(AB), delimiter="^"),
    good("comma followed by a blank", "a, b\n1, x\n3, y\n", AB),
    good("blank before a quote", 'a, "b"\n1, "x"\n3, "y"\n', AB),
    good("crlf", PLAIN.replace("\n", "\r\n"), AB, quiet=True),
    good("crlf and quotes", '"a","b"\r\n"1","x"\r\n"3","y"\r\n', AB, quiet=True),
    good("cr alone", PLAIN.replace("\n", "\r"), AB, quiet=True),
    good("cr, lf and crlf mixed", "a,b\r\n1,x\r3,y\n", AB, quiet=True),
    good("no final newline", PLAIN[:-1], AB, quiet=True),
    good("blank lines everywhere", "\na,b\n\n1,x\n  \n3,y\n\n\n", AB, blank=5),
    good("blank crlf lines", "a,b\r\n1,x\r\n\r\n3,y\r\n\r\n", AB, blank=2),
    good("quoted delimiter", 'a,b\n1,"x,z"\n3,y\n', {"a": [1, 3], "b": ["x,z", "y"]}),
    good("quoted newline", 'a,b\n1,"x\nz"\n3,y\n', {"a": [1, 3], "b": ["x\nz", "y"]}),
    good("quoted crlf", 'a,b\r\n1,"x\r\nz"\r\n3,y\r\n', {"a": [1, 3], "b": ["x\r\nz", "y"]}),
    good("doubled quotes", 'a,b\n1,"say ""x"""\n3,y\n', {"a": [1, 3], "b": ['say "x"', "y"]}),
    good(
        "inch marks in plain cells", 'a,b\n1,5" pipe\n3,y\n', {"a": [1, 3], "b": ['5" pipe', "y"]}
    ),
    good("quoted empty cells", 'a,b\n"",x\n3,""\n', {"a": [None, 3], "b": ["x", None]}),
    good("quoted names", '"a","b"\n1,x\n3,y\n', AB, quiet=True),
    good("single quotes are text", "a,b\n1,'x'\n3,y\n", {"a": [1, 3], "b": ["'x'", "y"]}),
    bad("unbalanced quote", 'a,b\n1,"x\n3,y\n', "t.csv, line 2", "not closed"),
    bad(
        "unbalanced quote late",
        lines("a,b", ["1,x"] * 500) + '2,"y\n3,z\n',
        "line 502",
        "not closed",
    ),
    bad("text after a closing quote", 'a,b\n1,"x"z\n3,y\n', "t.csv, line 2", "closing quote"),
    good("one column", "a\n1\n2\n", {"a": [1, 2]}, quiet=True),
    good("one row", "a,b\n1,x\n", {"a": [1], "b": ["x"]}, quiet=True),
    good(
        "2000 columns",
        ",".join(f"c{j}" for j in range(2000)) + "\n" + ",".join(["1"] * 2000),
        None,
        shape=(1, 2000),
    ),
    good("cell of 1 MB", "a,b\n1," + "x" * 1_000_000 + "\n", None, shape=(1, 2)),
    good(
        "cell of 1 MB with a stray quote", 'a,b\n1,y"' + "x" * 1_000_000 + "\n", None, shape=(1, 2)
    ),
    bad(
        "short row", "a,b,c\n1,2,3\n4,5\n", "t.csv, line 3: 2 cells where the header (line 1) has 3"
    ),
    bad("long row", "a,b\n1,2\n3,4,5\n", "t.csv, line 3: 3 cells", "quote the cells"),
    bad("ragged row at 20,001", lines("a,b", ["1,2"] * 20_000) + "1\n", "line 20002: 1 cell "),
    bad("growing width", "a,b\n1,2\n1,2,3\n1,2,3,4\n", "line 3: 3 cells", "(2 rows differ"),
    bad("ragged after a quoted newline", 'a,b\n"x\ny",1\n2\n', "t.csv, line 4: 1 cell "),
    bad("rows one cell longer than the header", "a,b\n1,2,3\n4,5,6\n", "name the first column"),
    bad("delimiter at the end of the rows", "a,b\n1,2,\n4,5,\n", "delimiter at the end"),
    bad(
        "preamble before the header",
        "Report\n\na,b\n1,2\n3,4\n",
        "line 3",
        "remove the lines before",
    ),
    bad("footer after the rows", "a,b\n1,2\n3,4\nTotal\n", "t.csv, line 4: 1 cell ", "'Total'"),
    bad("ragged in stray quotes", 'a,b\n1,5" x\n2\n', "t.csv, line 3: 1 cell "),
]

NAMES = [
    bad("name twice", "a,b,a\n1,2,3\n", "line 1", "'a' appears twice (columns 1, 3)", "own name"),
    bad("name twice after trimming", "a,b, a\n1,2,3\n", "'a' appears twice"),
    good("empty name", ",b\n7,x\n9,y\n", {"column_1": [7, 9], "b": ["x", "y"]}, notes=["column_1"]),
    good("two empty names", "a,,\n1,2,3\n", {"a": [1], "column_2": [2], "column_3": [3]}),
    good(
        "hostile names",
        "<script>alert(1)</script>,=cmd()\n1,2\n",
        {"<script>alert(1)</script>": [1], "=cmd()": [2]},
    ),
    good("newline in a name", '"a\nb",c\n1,2\n', {"a\nb": [1], "c": [2]}),
    good("name of 10,000 letters", "x" * 10_000 + ",b\n1,2\n", {"x" * 10_000: [1], "b": [2]}),
    good(
        "numbers as names", "1,2\n3,4\n", {"1": [3], "2": [4]}, notes=["first line holds numbers"]
    ),
    good(
        "names that polars makes itself",
        "column_1,column_2\n3,4\n",
        {"column_1": [3], "column_2": [4]},
    ),
    good("names with braces", "a{},b{0}\n 1,None\n", {"a{}": [1], "b{0}": [None]}),
]
