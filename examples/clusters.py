"""Find groups of rows, how many there are, and what they have in common."""

import numpy as np

from assay.cluster import KMeans, choose_n_clusters
from assay.datasets import load_penguins, path
from assay.study import find_clusters

# The whole way: columns of any kind, the number of groups, traits of each, a page with maps.
found = find_clusters(path("penguins"), drop=["species"], method="kmeans", max_clusters=6)
print(f"{found.n_clusters} clusters by {found.method}")
found.report("penguins.clusters.html")

# Which species is in which group? The method did not see this column.
species = load_penguins()["species"].to_numpy()
for cluster in range(found.n_clusters):
    names, counts = np.unique(species[found.labels == cluster], return_counts=True)
    shown = [f"{name} {count}" for name, count in zip(names, counts, strict=True)]
    print(f"cluster {cluster}: {', '.join(shown)}")

# Or one method at a time, with scikit-learn's manners.
columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
X = load_penguins().drop_nulls(columns)[columns].to_numpy()
X = (X - X.mean(axis=0)) / X.std(axis=0)
model = KMeans(3, random_state=0).fit(X)
print("rows per cluster:", np.bincount(model.labels_).tolist())
print("suggested number:", choose_n_clusters(X, k_range=range(1, 7)).n_clusters)
