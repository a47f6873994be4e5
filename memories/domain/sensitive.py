"""What a text gives away about a person, told by its words: health, identity or whereabouts (reference: Consent).

A writer may call a text less than it is. The rules here only ever raise its category. They look for words and
numbers that hardly stand in a text of another kind, because a text taken for what it is not may be refused.
Every pattern is a plain alternation or a bounded repetition: none can be made to backtrack.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from memories.domain.consent import upward

LONGEST_READ = 65_536
"""Characters of each text that are read."""


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


_HEALTH = _words(
    r"diagnos(?:ed|is|es)", r"prescri(?:bed|ption|ptions)", r"medications?", r"antidepressants?", r"insulin",
    r"chemotherap(?:y|ies)", r"radiotherapy", r"dialysis", r"psychiatrists?", r"psychotherap(?:y|ist|ists)",
    r"oncolog(?:y|ist|ists)", r"cardiolog(?:y|ist|ists)", r"dermatologists?", r"gynecologists?", r"urologists?",
    r"diabet(?:es|ic)", r"asthma(?:tic)?", r"epilep(?:sy|tic)", r"cancer", r"tumou?rs?", r"leukemia", r"lymphoma",
    r"hiv", r"hepatitis", r"herpes", r"chlamydia", r"syphilis", r"tuberculosis", r"covid(?:-19)?",
    r"hypertension", r"high blood pressure", r"cholesterol", r"arthritis", r"osteoporosis", r"migraines?",
    r"depression", r"anxiety disorder", r"bipolar", r"schizophrenia", r"ptsd", r"adhd", r"autis(?:m|tic)", r"dementia",
    r"alzheimer'?s", r"parkinson'?s", r"multiple sclerosis", r"crohn'?s", r"c(?:o|oe)eliac", r"lupus", r"endometriosis",
    r"pregnan(?:t|cy)", r"miscarriage", r"abortion", r"ivf", r"menopause", r"infertil(?:e|ity)",
    r"allergic to", r"allerg(?:y|ies)", r"anaphyla(?:xis|ctic)", r"epipen", r"blood type", r"blood sugar", r"surgery",
    r"in ?rehab", r"alcoholi(?:c|sm)", r"sobriety", r"suicid(?:e|al)", r"self-harm", r"eating disorder", r"anorexi[ac]",
    r"disabilit(?:y|ies)", r"wheelchair", r"prosthe(?:sis|tic)", r"hearing aids?", r"pacemaker", r"medical records?",
    r"hospitali[sz]ed", r"symptoms? of", r"side effects?", r"mental health", r"(?:my|his|her|their|the) doctor said",
    r"physiotherap(?:y|ist)", r"metformin", r"ibuprofen", r"sertraline", r"prozac", r"lithium tablets",
)  # fmt: skip
_IDENTITY = _words(
    r"passport (?:number|no|id)", r"social security", r"ssn", r"national insurance number", r"tax (?:id|number)",
    r"(?:driver'?s|driving) licen[cs]e", r"national id", r"identity card", r"date of birth", r"born on", r"birthday is",
    r"maiden name", r"ethnicity", r"sexual orientation", r"religio(?:n|us beliefs?)", r"immigration status",
    r"credit card", r"bank account", r"iban", r"sort code", r"biometric", r"fingerprints?",
)  # fmt: skip
_IDENTITY_NUMBERS = re.compile(
    r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"  # United States social security
    r"|\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){3,7}(?: ?[a-z0-9]{1,3})?\b"  # IBAN
    r"|(?<!\d)(?:\d{4}[ -]?){3}\d{4}(?!\d)"  # payment card
)
_LOCATION = re.compile(
    r"(?:\A|\b(?:i|you|he|she|they|we|user|who|currently) )(?:lives?|living|resides?|residing) (?:at|in|near|on)\b"
    r"|\b(?:home address|address is|zip ?code|post ?code|postal code|gps|current location|commutes from|staying at"
    r"|whereabouts)\b"
)
_COORDINATES = re.compile(r"(?<![\d.])-?\d{1,3}\.\d{4,8}, ?-?\d{1,3}\.\d{4,8}(?![\d.])")

_RULES = (
    ("memory:location", (_LOCATION, _COORDINATES)),
    ("memory:identity", (_IDENTITY, _IDENTITY_NUMBERS)),
    ("memory:health", (_HEALTH,)),
)


def classified(stated: str | None, texts: Iterable[str]) -> str | None:
    """The category of a memory that says `texts`: the one its writer stated, or a more sensitive one."""
    found = stated
    for text in texts:
        folded = _folded(text)
        for category, patterns in _RULES:
            if any(pattern.search(folded) for pattern in patterns):
                found = upward(found, category)
    return found


def _folded(text: str) -> str:
    """Widths, letter shapes, case and invisible characters make no difference."""
    plain = unicodedata.normalize("NFKC", text[:LONGEST_READ])
    return "".join(char for char in plain if unicodedata.category(char) != "Cf").casefold().replace("\u2019", "'")
