"""Episodes of change: made from what is right, told in two ways, played and scored."""

from __future__ import annotations

import json
from functools import partial

from typer.testing import CliRunner

import incumbent
from incumbent.cli.app import app
from incumbent_eval.ours import IncumbentSystem
from incumbent_eval.repair import EpisodeForm, Half, RepairEpisode, Task, episodes, play, run
from incumbent_eval.repair.episodes import EpisodeQuestion, Retract, Say, Write
from incumbent_eval.repair.phrasings import forms, phrasings
from incumbent_eval.systems import Ability, Entry

_SETTINGS = incumbent.Settings(embedder=None)
_MAKER = partial(IncumbentSystem, _SETTINGS)


class Hoarder(IncumbentSystem):
    """Shows every turn and every value that there ever was."""

    name = "hoarder"

    def __init__(self) -> None:
        super().__init__(_SETTINGS)
        self._all: list[str] = []

    def write(self, who: object, entry: Entry) -> str:
        self._all.append(f"{entry.subject} {entry.key}: {entry.value}")
        return f"w{len(self._all)}"

    def retract(self, who: object, written: str) -> None:
        return

    def undo(self, who: object, written: str) -> None:
        return

    def observe(self, who: object, text: str, speaker: str = "user") -> None:
        self._all.append(text)

    def context(self, *args: object, **options: object) -> str:
        return "\n".join(self._all)


class Mute(Hoarder):
    """Says nothing, and so nothing stale either."""

    name = "mute"

    def context(self, *args: object, **options: object) -> str:
        return ""


class Forgetful(IncumbentSystem):
    """Knows of no dependencies."""

    name = "forgetful"
    can = IncumbentSystem.can - {Ability.DEPEND}


def _shares(maker: object, form: EpisodeForm, count: int = 4) -> dict[Task, float | None]:
    made = episodes(count, 5, forms=[form], halves=[Half.KNOWN])
    report = run("x", maker, made)  # type: ignore[arg-type]
    return {task: report.share(form, Half.KNOWN, [task]).value for task in Task}


def test_structured_episodes_all_come_out_right() -> None:
    """Incumbent repairs every structured episode, to a depth of eight."""
    made = episodes(8, 11, forms=[EpisodeForm.STRUCTURED])
    report = run("incumbent", _MAKER, made)
    assert [score.episode.id for score in report.failures] == []
    assert max(episode.size for episode in made if episode.task is Task.DEPTH) == 8


def test_what_is_said_in_plain_language_is_repaired() -> None:
    """Of a few episodes in phrasings that were worked with, nearly all come out right."""
    tasks = (Task.RECALL, Task.DELETION, Task.CASCADE, Task.ABSENCE)
    made = episodes(4, 11, tasks=tasks, forms=[EpisodeForm.PLAIN], halves=[Half.KNOWN])
    report = run("incumbent", _MAKER, made)
    assert len(report.failures) <= 2


def test_showing_everything_scores_nothing_where_something_changes() -> None:
    """A system that shows all there ever was is right about what never changed, and else wrong."""
    for form in EpisodeForm:
        shares = _shares(Hoarder, form)
        assert shares.pop(Task.RECALL) == 1.0
        assert set(shares.values()) == {0.0}


def test_saying_nothing_scores_nothing() -> None:
    """Each question needs something to be said, so that silence is never right."""
    for form in EpisodeForm:
        assert set(_shares(Mute, form).values()) == {0.0}


def test_what_a_system_cannot_do_is_named_and_not_scored() -> None:
    """Without dependencies there is no absence to score, and the report says why."""
    made = episodes(1, 3, tasks=[Task.ABSENCE, Task.RECALL], forms=[EpisodeForm.STRUCTURED])
    report = run("forgetful", partial(Forgetful, _SETTINGS), made)
    assert report.share(EpisodeForm.STRUCTURED, Half.KNOWN, [Task.ABSENCE]).of == 0
    assert report.cannot == {(EpisodeForm.STRUCTURED, Task.ABSENCE): ("depend",)}
    assert report.share(EpisodeForm.STRUCTURED, Half.KNOWN, [Task.RECALL]).of == 1


def test_the_same_seed_makes_the_same_episodes() -> None:
    """Episodes hang on the seed alone, and another seed makes others."""
    assert episodes(2, 7) == episodes(2, 7)
    assert episodes(2, 7) != episodes(2, 8)


def test_more_episodes_begin_with_the_same_ones() -> None:
    """The first episodes of a larger run are those of a smaller one."""
    few = {episode.id: episode for episode in episodes(1, 7)}
    many = {episode.id: episode for episode in episodes(3, 7)}
    assert few.items() <= many.items()


def test_every_form_has_phrasings_in_both_halves() -> None:
    """Whatever can be said can be said in both halves, and no phrasing is in both."""
    for form in forms():
        known, held_out = phrasings(form, Half.KNOWN), phrasings(form, Half.HELD_OUT)
        assert known
        assert held_out
        assert not set(known) & set(held_out)


def test_an_episode_in_plain_language_is_a_long_conversation() -> None:
    """There are at least two dozen turns about other things, and only turns."""
    for episode in episodes(2, 1, forms=[EpisodeForm.PLAIN]):
        assert all(isinstance(step, Say) for step in episode.steps)
        assert len(episode.steps) > 24


def test_values_of_an_episode_are_told_apart_by_their_words() -> None:
    """What must be said is never a part of what must not, nor the other way round."""
    for episode in episodes(6, 2):
        for question in episode.questions:
            for right in question.must:
                for wrong in question.must_not:
                    assert right not in wrong
                    assert wrong not in right


def test_a_context_is_scored_by_what_it_misses_and_what_is_stale() -> None:
    """An answer names what is missing and what is stale in it."""
    steps = (
        Write("one", Entry("city", "Turin")),
        Write("two", Entry("landlord", "Osterman")),
        Retract("two"),
    )
    question = EpisodeQuestion("Where?", ("Graz",), ("Turin", "Osterman"))
    needs = frozenset({Ability.WRITE})
    episode = RepairEpisode(
        "x", Task.RECALL, EpisodeForm.STRUCTURED, Half.KNOWN, steps, (question,), needs
    )
    answer = play(episode, _MAKER).answers[0]
    assert answer.missing == ("Graz",)
    assert answer.stale == ("Turin",)
    assert not answer.is_right


def test_the_command_prints_all_figures_as_json() -> None:
    """`incumbent eval repair --json` gives each task of each form and half, with the seed."""
    done = CliRunner().invoke(
        app, ["eval", "repair", "--episodes", "1", "--seed", "3", "--workers", "1", "--json"]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["seed"] == 3
    tasks = told["systems"][0]["tasks"]
    assert set(tasks) == {"structured", "plain, worked with", "plain, held out"}
    assert all(set(of) == {task.value for task in Task} for of in tasks.values())
    assert tasks["structured"]["cascade"] == {"share": 1.0, "hits": 1, "of": 1}


def test_the_command_prints_a_table() -> None:
    """For people there is a table with a row for each task."""
    done = CliRunner().invoke(
        app, ["eval", "repair", "--episodes", "1", "--seed", "3", "--workers", "1"]
    )
    assert done.exit_code == 0, done.output
    assert all(task.value in done.stdout for task in Task)
