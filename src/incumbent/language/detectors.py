"""The detectors that ship with Incumbent, by name."""

from __future__ import annotations

from incumbent.language.detection import Detector, RuleDetector


def detector(name: str) -> Detector:
    """The detector of a name; the model is read from the package once per process."""
    if name in ("rules", "reading"):  # a reader of whole statements asks no detector
        return RuleDetector()
    from incumbent.language.learned.combined import CombinedDetector
    from incumbent.language.learned.detector import LearnedDetector

    return LearnedDetector() if name == "learned" else CombinedDetector()
