"""Fit a table, look at the score, write the model and the report."""

import assay

# A bundled table of 344 penguins; the path of a CSV, Parquet or Excel file of yours works as well.
table = assay.datasets.path("penguins")
study = assay.fit(table, target="species", effort="quick")

print("score   ", study.score)
print("baseline", study.baseline)
print("verdict ", study.verdict)
print("chosen  ", study.chosen)

# The same predictions by other metrics, each with its interval.
for row in study.scores().head(4).iter_rows(named=True):
    print(f"{row['metric']:20} {row['value']:.3f}  ({row['low']:.3f} to {row['high']:.3f})")

study.save("penguins.assay")  # arrays and JSON; it cannot run code
study.report("penguins.html")  # one page, for a browser, that needs no network

# Somebody else, later:
loaded = assay.load("penguins.assay")
print("first predictions:", *loaded.predict(table)[:3])
