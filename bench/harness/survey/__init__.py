# SPDX-License-Identifier: Apache-2.0
"""The parts of survey.py: random calls, their operands, the contest and the report."""
