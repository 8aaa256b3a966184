# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of this folder share: the library, the clock, the machine."""
