"""Numbers, markers, truth values and what looks like them."""

from __future__ import annotations

import polars as pl

from tests.table.corpus.cases import Good, bad, good, lines, text

BIG = "9" * 25

VALUES = [
    good(
        "integers up to 2^63",
        f"a,b\n{2**63 - 1},1\n{-(2**63)},2\n",
        {"a": [2**63 - 1, -(2**63)], "b": [1, 2]},
    ),
    good(
        "integers beyond 2^63",
        f"a,b\n{BIG},1\n7,2\n",
        {"a": [BIG, "7"], "b": [1, 2]},
        notes=["beyond 64 bits", "'a'"],
    ),
    good(
        "integers beyond 2^53 among reals",
        f"a\n{2**53 + 1}\n0.5\n",
        {"a": [float(2**53), 0.5]},
        notes=["rounded to float64: 'a' (1 values)"],
    ),
    good(
        "largest and smallest numbers",
        "a\n1.7976931348623157e308\n5e-324\n-0.0\n",
        {"a": [1.7976931348623157e308, 5e-324, 0.0]},
    ),
    bad(
        "beyond the largest number",
        "a,b\n1,2\n3,1e400\n",
        "t.csv, line 3, column 'b': '1e400'",
        "1.8e308",
    ),
    good(
        "below the smallest number",
        "a\n1e-400\n2\n",
        {"a": [0.0, 2.0]},
        notes=["become 0: 'a' (1 values)"],
    ),
    good("infinity", "a\ninf\n-Infinity\n1\n", {"a": [float("inf"), float("-inf"), 1.0]}),
    good("number forms", "a\n+1\n-.5\n5.\n1E3\n2e-2\n", {"a": [1.0, -0.5, 5.0, 1000.0, 0.02]}),
    good("blanks around numbers", "a,b\n 1 , 2.5\n3,4\t\n", {"a": [1, 3], "b": [2.5, 4.0]}),
    good(
        "leading zeros",
        "zip,n\n01234,1\n90210,2\n",
        {"zip": ["01234", "90210"], "n": [1, 2]},
        notes=["leading zeros", "'zip'"],
    ),
    good("zero is no leading zero", "a,b\n0,0.5\n10,-0\n", {"a": [0, 10], "b": [0.5, 0.0]}),
    good(
        "decimal comma",
        "a;b\n1,5;x\n2,25;y\n",
        {"a": [1.5, 2.25], "b": ["x", "y"]},
        notes=["decimal sign is a comma"],
    ),
    good(
        "decimal comma with quotes", 'a,b\n"1,5",x\n"2,25",y\n', {"a": [1.5, 2.25], "b": ["x", "y"]}
    ),
    good(
        "decimal comma and thousands points",
        "a;b\n1.234,5;7\n2,5;8\n",
        {"a": [1234.5, 2.5], "b": [7, 8]},
    ),
    good(
        "thousands points beside a decimal comma",
        "a;b\n1.234;0,5\n2.500;0,25\n",
        {"a": [1234, 2500], "b": [0.5, 0.25]},
        notes=["points are thousands signs"],
    ),
    good(
        "thousands commas",
        'a,b\n"1,234",0.5\n"12,345,678",1.5\n',
        {"a": [1234, 12345678], "b": [0.5, 1.5]},
    ),
    good(
        "thousands commas and a point",
        'a,b\n"1,234.56",1\n7,2\n',
        {"a": [1234.56, 7.0], "b": [1, 2]},
    ),
    good(
        "thousands or decimals, commas",
        'a,b\n"1,234",x\n"5,678",y\n',
        {"a": [1234, 5678], "b": ["x", "y"]},
        notes=["comma as thousands sign"],
    ),
    good(
        "thousands or decimals, semicolons",
        "a;b\n1,234;x\n5,678;y\n",
        {"a": [1.234, 5.678], "b": ["x", "y"]},
        notes=["comma as decimal sign"],
    ),
    text("thousands on request", "a;b\n1,234;x\n", Good({"a": [1234], "b": ["x"]}), decimal="."),
    good(
        "thousands blanks and apostrophes",
        "a;b\n1 234,5;1'000\n7;2'500\n",
        {"a": [1234.5, 7.0], "b": [1000, 2500]},
    ),
    text(
        "decimal point though comma is asked",
        "a;b\n1.5;1\n2.5;2\n",
        Good({"a": ["1.5", "2.5"], "b": [1, 2]}, notes=["decimal is ','"]),
        decimal=",",
    ),
    good(
        "missing markers in numbers",
        "a,b\nNA,1\n?,2\n-,3\n.,4\nNone,5\nnull,6\n7,\n",
        {"a": [*[None] * 6, 7], "b": [1, 2, 3, 4, 5, 6, None]},
    ),
    good(
        "missing markers in text",
        "a,b\nx,1\nNA,2\n?,3\nNaN,4\nnan,5\nNULL,6\nN/A,7\n",
        {"a": ["x", *[None] * 6], "b": [1, 2, 3, 4, 5, 6, 7]},
    ),
    good(
        "words that are levels in text",
        "a,b\nSome,1\nNone,2\n-,3\n",
        {"a": ["Some", "None", "-"], "b": [1, 2, 3]},
        notes=["'None', '-' in 'a'"],
    ),
    text(
        "own markers",
        "a,b\n-999,none\n1,x\n",
        Good({"a": [None, 1], "b": [None, "x"]}),
        missing=("-999", "none"),
    ),
    text(
        "own number marker as a real",
        "a,b\n-999.0,y\n1.5,x\n",
        Good({"a": [None, 1.5], "b": ["y", "x"]}),
        missing=("-999",),
    ),
    good("all missing", "a,b\n,1\nNA,2\n", {"a": [None, None], "b": [1, 2]}),
    good(
        "text from row 20,001",
        lines("a,b", [f"{k},1" for k in range(20_000)] + ["oops,1"]),
        None,
        shape=(20_001, 2),
        notes=["20000 of 20001 values are numbers; the first other is 'oops' in line 20002"],
        types={"a": pl.String},
    ),
    good(
        "reals from row 20,001",
        lines("a,b", [f"{k},1" for k in range(20_000)] + ["0.5,1"]),
        None,
        shape=(20_001, 2),
        types={"a": pl.Float64},
    ),
    good(
        "truth values",
        "a,b\ntrue,TRUE\nfalse,False\nNA,true\n",
        {"a": [True, False, None], "b": [True, False, True]},
    ),
    good("yes and no are text", "a,b\nyes,1\nno,2\n", {"a": ["yes", "no"], "b": [1, 2]}),
    good(
        "versions are no dates",
        "a,b\n1.2.10,1\n1.3.11,2\n",
        {"a": ["1.2.10", "1.3.11"], "b": [1, 2]},
    ),
    good(
        "money and percent are text", "a,b\n$5,5%\n$6,6%\n", {"a": ["$5", "$6"], "b": ["5%", "6%"]}
    ),
    good(
        "digits of other scripts are text",
        "a,b\n１２,1\n１３,2\n",
        {"a": ["１２", "１３"], "b": [1, 2]},
    ),
    good("formulas are text", "a,b\n=1+1,1\n@x,2\n", {"a": ["=1+1", "@x"], "b": [1, 2]}),
]
