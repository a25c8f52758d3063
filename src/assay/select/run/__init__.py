"""Units of work: families, paths, workers and the ledger of finished units."""

from __future__ import annotations

from assay.select.run._clock import Progress
from assay.select.run._dask import connected
from assay.select.run._deadline import Deadline, seconds_of
from assay.select.run._encode import encoded
from assay.select.run._equality import assert_path_equals_single_fits
from assay.select.run._family import Family
from assay.select.run._ledger import Ledger
from assay.select.run._memory import bytes_of, workers_within
from assay.select.run._notes import collected, listening
from assay.select.run._path import (
    DefaultPath,
    count_fits,
    fit,
    path_of,
    predict,
    queries_for,
    weight_parameter,
)
from assay.select.run._record import Entry
from assay.select.run._run import Runner
from assay.select.run._seeds import fit_seed, seed_of, seeded, seeded_candidate
from assay.select.run._unit import Unit

__all__ = [
    "Deadline",
    "DefaultPath",
    "Entry",
    "Family",
    "Ledger",
    "Progress",
    "Runner",
    "Unit",
    "assert_path_equals_single_fits",
    "bytes_of",
    "collected",
    "connected",
    "count_fits",
    "encoded",
    "fit",
    "fit_seed",
    "listening",
    "path_of",
    "predict",
    "queries_for",
    "seconds_of",
    "seed_of",
    "seeded",
    "seeded_candidate",
    "weight_parameter",
    "workers_within",
]
