# SPDX-License-Identifier: Apache-2.0
"""Shared by the benchmarks of this folder: the library, the clock, the machine."""
