"""Cases that are not shown by a test, and why. Every case is one of faults and attacks known from such services.

`field-N` is a fault seen in other memory stores, `security-N` an attack or a leak, `behaviour-N` what a request
comes to. A case leaves this list when what it needs arrives; `test_cases` refuses a case that is both here and
tested, and one that is neither.
"""

from __future__ import annotations

LEFT_OUT = {
    # Isolation and reads across users and tenants
    "field-10": "no documents to ingest",
    "security-189": "no retention or Galaxy routes",
    "security-191": "a measurement of time, which belongs to the benchmarks",
    # Saving
    "behaviour-81": "the wire contract has a field of its own for the category; in metadata it is inert data",
    "field-67": "no gate yet: nothing is published into a shared tier",
    "field-81": "no consolidation yet",
    # Recall
    "behaviour-94": "a recall fills its limit, and what is least near comes last; a search is what ends where nothing is near",
    "behaviour-114": "access counts are not kept yet",
    "field-90": "duplicates are told by vectors alone; no tokens are compared",
    "field-99": "memories have no tags",
    "field-110": "near-duplicates merge as they are saved; what stays apart below the threshold says something else",
    "field-117": "nobody asks for a least score; min_confidence narrows by confidence",
    "field-118": "no extension but vector is used, and the migrations do not run without it",
    "field-119": "no time phrases are parsed",
    # Authorization
    "security-217": "each surface's own tests hold its roles; that no operation answers a stranger is tested for all",
    # Consent, expiry, erasure
    "security-301": "no gate yet: nobody's evidence stands behind a shared memory",
    "security-302": "no consolidation yet: no summary is drawn from several persons' memories",
    "security-314": "the wire contract names the user in the path of an erasure; logs hold neither paths nor queries",
}
