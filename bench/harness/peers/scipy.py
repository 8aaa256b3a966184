# SPDX-License-Identifier: Apache-2.0
"""SciPy: products of a sparse matrix, whose rows are those of the output."""

from __future__ import annotations

import numpy as np
import scipy
from scipy import sparse

from ..contestants import Contestant, on_output
from ..gather import GatherScatter
from ..scatter import Scatter
from . import System


class Peer(System):
    """Always one thread. The matrix is made before, as a plan is."""

    name = "SciPy"
    version = scipy.__version__

    def gather_scatter(self, work: GatherScatter) -> list[Contestant]:
        if not work.is_matrix_product:
            return []
        weights, sources, starts = work.csr
        shape = (len(work.output), len(work.source))
        matrix = sparse.csr_array((weights, sources, starts), shape)
        source, data, output = work.flattened

        def call() -> None:
            np.add(data, matrix @ source, out=output)

        return [on_output(self.name, "CSR @ x", call, work)]

    def order(self, scatter: Scatter) -> list[Contestant]:
        keys = scatter.row_indices
        if keys is None:
            return []
        entries = np.arange(keys.size, dtype=np.int32)
        ones, shape = np.ones(keys.size, np.int8), (len(scatter.data), keys.size)

        def sort() -> sparse.csr_array:
            return sparse.coo_array((ones, (keys, entries)), shape).tocsr()

        return [self.ordering("COO to CSR", sort, lambda matrix: matrix.indices, scatter)]
