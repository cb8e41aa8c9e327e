"""A conversation on the command line: lines go in, and the changes of facts, verdicts and context
come out. No model takes part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from rich.text import Text

import incumbent
from incumbent.cli.commands.read import print_explanation
from incumbent.cli.erasure import erase_own
from incumbent.cli.observations import kinds_of
from incumbent.cli.root import complain, exit_code
from incumbent.cli.tables import account_lines, fact_table, show, word
from incumbent.context.rendering import ENVIRONMENT, IDENTITY, WORKING_SET
from incumbent.model.errors import IncumbentError, InvalidInput, NothingToUndo
from incumbent.words import account, cut, left_out, shown, told, why

_ALWAYS = (IDENTITY, ENVIRONMENT, WORKING_SET)
"""Sections whose lines differ from turn to turn without any fact having changed."""
_LONGEST = 100
_YES = ("y", "yes")
ME = "user"

Ask = Callable[[str], str]
"""Asks the person at the keyboard and returns the answer."""
Aside = Callable[[], incumbent.Session]
"""Opens a session of the same person with nothing on its desk."""


class Chat:
    """One conversation. The answer to each line is a report of its results."""

    def __init__(
        self,
        memory: incumbent.Memory,
        session: incumbent.Session,
        aside: Aside,
        ask: Ask,
        budget: int,
    ) -> None:
        self._memory = memory
        self._session = session
        self._aside = aside
        self._ask = ask
        self._budget = budget
        self._question: str | None = None
        self._seen: list[str] = []
        self._turns: list[tuple[incumbent.Verdict, ...]] = []
        self.speaker = ME
        self.over = False
        self.failure = 0
        """The exit code of the first line that failed; a script is told at the end."""

    def take(self, line: str) -> None:
        """Take a line. An error in it is reported, and the conversation goes on."""
        text = line.strip()
        if not text:
            return
        try:
            if text.startswith("/") and not text.startswith("//"):
                self._obey(text)
            else:
                self._observe(text[1:] if text.startswith("//") else text)
        except IncumbentError as error:
            complain(str(error))
            self.failure = self.failure or exit_code(error)

    def _obey(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        known = COMMANDS.get(name.lower())
        if known is None:
            raise InvalidInput(f"there is no /{shown(name)}; /help lists what there is")
        wanted, _, call = known
        if wanted and not wanted.startswith("[") and not rest.strip():
            raise InvalidInput(f"/{name} takes {wanted}")
        call(self, rest.strip())

    # turns

    def _observe(self, text: str) -> None:
        made = self._session.observe(text, speaker=self.speaker)
        self._print(made, self._session)
        if made.verdicts:
            self._turns.append(made.verdicts)
        if made.erasure_requested is not None:
            self._erase_everything(made.erasure_requested)
        self._print_change()

    def _erase_everything(self, asked: incumbent.ErasureRequest) -> None:
        """Erase everything of the speaker's own, after a second confirmation."""
        if not asked.permitted:
            show(f"  nothing was erased; it takes {asked.how}")
            return
        answer = self._ask(f"Erase for good everything that is {shown(asked.user_id)}'s? [y/N] ")
        if answer.strip().lower() not in _YES:
            show("  nothing was erased")
            return
        who = asked.user_id
        proof = self._memory.forget(organization=asked.organization, user_id=who, by=who)
        show(Text.assemble("  ", word("erased"), f"  {len(proof.fact_ids)} fact(s) for good"))
        self._turns.clear()

    def _print(self, made: incumbent.Observation, session: incumbent.Session) -> None:
        for verdict in made.verdicts:
            _print_verdict(verdict, session)
        for erasure in made.erasures:
            show(Text.assemble("  ", word("erased"), f"  {len(erasure.fact_ids)} fact(s) for good"))
        if not made.verdicts and not made.erasures and made.erasure_requested is None:
            said = ", ".join(dict.fromkeys(kind for kind, _ in kinds_of(made)))
            show(Text(f"  nothing to remember{f' ({said})' if said else ''}", style="dim"))

    def undo(self, _: str) -> None:
        """Undo the consequences of the last turn."""
        if not self._turns:
            raise NothingToUndo("nothing that was said in this conversation is left to undo")
        for verdict in reversed(self._turns.pop()):
            _print_verdict(self._session.undo(verdict), self._session)
        self._print_change()

    def speak_as(self, name: str) -> None:
        """Set the speaker of the next lines."""
        self.speaker = name or ME
        show(f"  the next lines are said by {'you' if self.speaker == ME else shown(name)}")

    # looking

    def context(self, question: str) -> None:
        """Show a context, and from now on how it changes."""
        self._question = question or self._question
        if self._question is None:
            raise InvalidInput("/context takes QUESTION")
        made = self._session.context(self._question, budget=self._budget)
        self._seen = _lines(made)
        show(made.text)
        note = f"{made.tokens:,} of {made.budget:,} tokens; left out: {left_out(made.omissions)}"
        show(Text(note, style="dim"))

    def _print_change(self) -> None:
        """Print the changes that the last line made to the watched context."""
        if self._question is None:
            return
        before = self._seen
        self._seen = _lines(self._session.context(self._question, budget=self._budget))
        _print_difference(before, self._seen, f"context for {shown(self._question)!r}")

    def facts(self, _: str) -> None:
        found = self._session.facts()
        show(fact_table(found, keys=True) if found else "  no facts")

    def history(self, key: str) -> None:
        chain = self._session.history(key)
        listed = [*chain.facts, *chain.overruled]
        keys = len({fact.key for fact in listed}) > 1
        show(fact_table(listed, keys=keys) if listed else f"  {shown(key)} has no history")

    def why(self, key: str) -> None:
        print_explanation(self._session, self._session.explain(key))

    def what_if(self, text: str) -> None:
        """Show the consequences that a line would have, and keep none of them."""
        question = self._question or text
        with self._aside() as aside:
            before = _lines(aside.context(question, budget=self._budget))
            branch = aside.hypothetical()
            try:
                self._print(branch.observe(text), branch)
                after = _lines(branch.context(question, budget=self._budget))
            finally:
                branch.discard()
        _print_difference(before, after, "context, if it were so")
        show(Text("  nothing of this was kept", style="dim"))

    # the end

    def forget(self, key: str) -> None:
        answer = self._ask(f"Erase for good all that {shown(key)} ever said? [y/N] ")
        if answer.strip().lower() not in _YES:
            show("  nothing was erased")
            return
        proofs = erase_own(self._memory, self._session, key)
        count = sum(len(proof.fact_ids) for proof in proofs)
        show(Text.assemble("  ", word("erased"), f"  {count} fact(s) for good"))
        # Verdicts on them could not be undone in any case.
        self._turns.clear()
        self._print_change()

    def help(self, _: str) -> None:
        show("What you type is observed, and you see what came of it. Besides that there are:")
        show(account_lines((f"/{name} {wanted}", text) for name, (wanted, text, _) in _LISTED))
        show("A line that begins with // is observed with one slash.")

    def quit(self, _: str) -> None:
        self.over = True


_Call = Callable[[Chat, str], None]
COMMANDS: Mapping[str, tuple[str, str, _Call]] = MappingProxyType(
    {
        "context": (
            "[QUESTION]",
            "what a model would read for it; from then on, how that changes",
            Chat.context,
        ),
        "facts": ("", "what holds", Chat.facts),
        "history": ("KEY", "the values that a key has had", Chat.history),
        "why": ("KEY", "why a fact stands as it does", Chat.why),
        "what-if": ("TEXT", "what a line would lead to; nothing is kept", Chat.what_if),
        "undo": ("", "let the last turn have had no consequences", Chat.undo),
        "forget": ("KEY", "erase all that a key ever said, for good", Chat.forget),
        "as": (
            "[NAME]",
            "the next lines are said by NAME, or by assistant; alone: by you",
            Chat.speak_as,
        ),
        "help": ("", "this", Chat.help),
        "quit": ("", "leave; so does the end of the input", Chat.quit),
    }
)
_LISTED = COMMANDS.items()


def _print_verdict(verdict: incumbent.Verdict, session: incumbent.Session) -> None:
    about = told(verdict.fact) if verdict.fact is not None else verdict.fact_id
    show(Text.assemble("  ", word(verdict.outcome.value), f"  {about}"))
    lines = [("why", why(verdict)), *account(verdict, session.get)]
    show(account_lines(lines, indent=4))


def _lines(made: incumbent.Context) -> list[str]:
    """The lines of a context that come from facts."""
    return [f"{line.section}: {line.text}" for line in made.lines if line.section not in _ALWAYS]


def _print_difference(before: list[str], after: list[str], title: str) -> None:
    changes = list(_difference(before, after))
    if not changes:
        return
    show(Text(f"  {title}", style="dim"))
    for sign, line in changes:
        show(Text(f"    {sign} {line}", style="green" if sign == "+" else "red"))


def _difference(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    for sign, these, those in (("-", before, after), ("+", after, before)):
        for line in these:
            if line not in those:
                yield sign, cut(line.partition(": ")[2], _LONGEST)
