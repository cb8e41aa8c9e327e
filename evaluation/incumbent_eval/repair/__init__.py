"""Repair: the fate of a value when its base changes, in episodes that are made up.

Each episode is played into a fresh system, in structured writes or in plain language, and then the
system is asked. The right answer is known exactly, because the episode was made from it.
"""

from incumbent_eval.repair.episodes import EpisodeForm, Half, RepairEpisode, Task
from incumbent_eval.repair.making import episodes
from incumbent_eval.repair.running import RepairReport, Score, play, run

__all__ = [
    "EpisodeForm",
    "Half",
    "RepairEpisode",
    "RepairReport",
    "Score",
    "Task",
    "episodes",
    "play",
    "run",
]
