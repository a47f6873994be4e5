"""Measuring what the service costs and how well it finds: `make bench`, never a test.

Every figure is CPU time or a ratio inside one run, because wall time says more about the machine than
about us. Nothing here asserts a time.
"""
