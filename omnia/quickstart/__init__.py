"""`make run`: everything Omnia Memory needs, started from a bare checkout and stopped together.

One process watches over all others. What it makes (data, logs, credentials) lies in `.omnia/`.
"""
