"""Cases that are not shown by a test, and why. Every case is one of faults and attacks known from such services.

`field-N` is a fault seen in other memory stores, `security-N` an attack or a leak, `behaviour-N` what a request
comes to. A case leaves this list when what it needs arrives; `test_cases` refuses a case that is both here and
tested, and one that is neither.
"""

from __future__ import annotations

LEFT_OUT = {
    # Isolation and reads across users and tenants
    "field-10": "no documents to ingest",
    "security-191": "a measurement of time, which belongs to the benchmarks",
    # Saving
    "behaviour-81": "the wire contract has a field of its own for the category; in metadata it is inert data",
    "field-67": "no gate yet: nothing is published into a shared tier",
    "field-81": "no consolidation yet",
    # Recall
    "field-90": "duplicates are told by vectors alone; no tokens are compared",
    "field-99": "memories have no tags",
    "field-117": "nobody asks for a least score; min_confidence narrows by confidence",
    "field-118": "no extension but vector is used, and the migrations do not run without it",
    "field-119": "no time phrases are parsed",
    # Caches
    "behaviour-137": "no answer is cached: what was deleted is read by nobody",
    "behaviour-138": "no answer is cached",
    # Wiring
    "behaviour-179": "no consolidation and no Galaxy yet, whose workers Core would not start",
    "behaviour-181": "no events are published beside the audit trail, which knows persons by their pseudonyms",
    "behaviour-186": "a header names the user for MCP alone; over REST the user stands in body or query",
    "behaviour-187": "there is no client library of ours",
    "behaviour-189": "the wire contract has the audit route in both editions",
    "behaviour-190": "no consolidation yet",
    # Deletion
    "field-34": "no consolidation yet: no summary is drawn from other memories",
    "field-43": "nothing is forgotten by a text: an id is named",
    "field-47": "no gate yet: nobody's evidence stands behind a shared memory",
    "behaviour-122": "an identity that is too long is refused: cut to 253 characters two people could become one",
    "behaviour-146": "history is kept until its memory goes; no tombstones are thinned out",
    "behaviour-147": "no compaction yet",
    # Privacy
    "behaviour-154": "nothing is redacted on its way in; what is shared is de-identified at the gate, which is not there yet",
    "behaviour-155": "nothing is redacted on its way in",
    # Logs
    "security-315": "the server's log settings are tested with the embedded database; a server of one's own has its own",
    "security-321": "a property of PostgreSQL, whose checksums initdb switches on",
    # Authorization
    "security-217": "each surface's own tests hold its roles; that no operation answers a stranger is tested for all",
    # Consent, expiry, erasure
    "security-301": "no gate yet: nobody's evidence stands behind a shared memory",
    "security-302": "no consolidation yet: no summary is drawn from several persons' memories",
    "security-314": "the wire contract names the user in the path of an erasure; logs hold neither paths nor queries",
}
