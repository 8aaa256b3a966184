# SPDX-License-Identifier: Apache-2.0
"""The same examples in every run; --hypothesis-profile=default --hypothesis-seed=N for others."""

try:
    from hypothesis import settings
except ImportError:
    pass  # run.py has made sure of it for the files that need it
else:
    settings.register_profile(
        "strew", max_examples=500, deadline=None, database=None, derandomize=True, print_blob=True
    )
    settings.load_profile("strew")
