"""The whole beat schedule: what is swept, and how often (seconds).

Maintenance is asked after often, and runs when `OMNIA_MAINTENANCE_SCHEDULE` says so: the database knows its last run.
"""

from typing import Any

SCHEDULE: dict[str, dict[str, Any]] = {
    "embed-pending": {"task": "memories.tasks.embed_pending", "schedule": 15.0, "options": {"expires": 15}},
    "carry-on-reembedding": {
        "task": "memories.tasks.carry_on_reembedding",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "measure-embeddings": {
        "task": "memories.tasks.measure_embeddings",
        "schedule": 120.0,
        "options": {"expires": 120},
    },
    "carry-out-erasures": {"task": "memories.tasks.carry_out_erasures", "schedule": 5.0, "options": {"expires": 5}},
    "seal-audit": {"task": "omnia.audit.tasks.seal_audit", "schedule": 60.0, "options": {"expires": 60}},
    "maintain": {"task": "memories.tasks.maintain", "schedule": 15.0, "options": {"expires": 15}},
    "sweep-idempotency": {
        "task": "omnia.api.tasks.sweep_idempotency_records",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
}
