"""Isolation cases that cannot be shown yet, and why: what they speak of is not there to leak.

`field-N` is a fault seen in other memory stores, `security-N` a case about reads across users and tenants.
A case leaves this list when the surface it needs arrives; the tests beside it refuse a case that is
both here and tested, and one that is neither.
"""

from __future__ import annotations

FIELD = (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26, 27)
SECURITY = (185, 186, 187, 189, 190, 191, 193, 194, 195, 197, 198, 199, 201, 202, 203)

LEFT_OUT = {
    "field-10": "no documents to ingest",
    "security-189": "no aggregate, retention or Galaxy routes",
    "security-191": "a measurement of time, which belongs to the benchmarks",
}
