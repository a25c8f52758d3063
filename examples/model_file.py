"""Read what a model file contains, without trusting it."""

from pathlib import Path

from safetensors import safe_open

import assay
from assay import store
from assay.base import DataError

assay.fit(assay.datasets.path("penguins"), target="species", effort="quick").save("penguins.assay")

# The manifest: how the model was chosen and measured. Nothing is executed to read it.
manifest, parts = store.load("penguins.assay")
record = manifest["record"]
print("rows   ", record["rows"]["read"])
print("score  ", record["score"]["value"], record["metric"]["name"])
print("parts  ", ", ".join(sorted(parts)))

# The arrays: any reader of safetensors reads them.
with safe_open("penguins.assay", framework="numpy") as file:
    for name in sorted(file.keys())[:3]:
        print(f"array   {name} {file.get_tensor(name).shape}")

# One changed byte is found, and so is a file that only pretends.
damaged = bytearray(Path("penguins.assay").read_bytes())
damaged[-1] ^= 1
Path("damaged.assay").write_bytes(damaged)
Path("pickle.assay").write_bytes(b"\x80\x04\x95 not a model")
for name in ("damaged.assay", "pickle.assay"):
    try:
        assay.load(name)
    except DataError as error:
        print("refused", error)
