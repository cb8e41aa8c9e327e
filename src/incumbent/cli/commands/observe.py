"""The command that takes in conversations: observe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os.path import exists
from typing import Any, Literal

import incumbent
from incumbent.cli.advice import Second, opinion_document
from incumbent.cli.declaring import argument, command, flag, option, options
from incumbent.cli.observations import (
    Tally,
    observation_document,
    print_single,
    print_tallies,
    print_turn,
    total_of,
)
from incumbent.cli.options import (
    ASK_BEFORE_KEEPING,
    DEFAULT_SESSION,
    DRY_RUN,
    Asker,
    Common,
    parse_moment,
)
from incumbent.cli.root import FirstWarnings
from incumbent.cli.servers import is_address
from incumbent.cli.transcripts import (
    TranscriptConversation,
    TranscriptFile,
    TranscriptRecord,
    arguments_of,
    check_readable,
    opened,
)
from incumbent.cli.trials import opened_or_tried
from incumbent.model.errors import InvalidInput, NotPermitted

_ALONE = "A single turn"


@options("Who is asking")
class TranscriptOwner(Asker):
    """The identity whose conversations they are, and the session that they go to."""

    session: str = option(
        "ID",
        "The session the turns belong to.",
        "--session",
        "--session-id",
        default="",
        env="INCUMBENT_SESSION",
        shown=f"one for each conversation of a FILE; {DEFAULT_SESSION} for --text",
    )

    def into(self, session_id: str) -> TranscriptOwner:
        """The same, in that session unless another was asked for."""
        return replace(self, session=self.session or session_id)


@options(_ALONE)
class Single:
    """The details of a turn that is given on the command line."""

    text: str | None = option("TEXT", "What was said.")
    at: str | None = option("TIME", "When it was said: ISO 8601 with a zone.", shown="now")
    ref: str | None = option("REF", "What you call it; the same turn again changes nothing.")
    as_authority: str | None = option(
        "TITLE",
        "Whose word it is; above your own it takes --permission authority:RUNG.",
        "--as",
        shown="your own",
    )

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments for `session.observe`."""
        return {
            "at": parse_moment(self.at, "--at"),
            "ref": self.ref,
            "authority": self.as_authority,
        }


@dataclass
class _Clerk:
    """Takes conversations into a memory, and keeps count."""

    memory: incumbent.Memory
    who: TranscriptOwner
    speaker: str
    skip_bad: bool
    verbose: bool
    as_json: bool
    tallies: list[Tally] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    opinions: list[tuple[Tally, incumbent.Opinion, dict[str, Any]]] = field(default_factory=list)
    """Opinions that are awaited, with the tally that counts them."""
    read: int = 0
    warnings: FirstWarnings = field(default_factory=FirstWarnings)

    def take(self, source: TranscriptFile, *, is_only: bool) -> None:
        for conversation in source.conversations():
            who = self.who.into(conversation.session_id)
            tally = Tally(file=conversation.file, session=who.session)
            self.tallies.append(tally)
            session = who.at(self.memory)
            for found in conversation.records:
                self._turn(session, conversation, found, tally)
                self._tell(source.total if is_only else None)

    def _turn(
        self,
        session: incumbent.Session,
        conversation: TranscriptConversation,
        found: TranscriptRecord,
        tally: Tally,
    ) -> None:
        try:
            if found.trouble is not None:
                raise InvalidInput(found.trouble)
            arguments = arguments_of(found, conversation.file, self.speaker)
            made = session.observe(**arguments)
        except (InvalidInput, NotPermitted) as error:
            where = f"{conversation.file}, {found.place}"
            if not self.skip_bad:
                taken = total_of(self.tallies).turns
                before = f"The {taken:,} turn(s) before it were" if taken else "Nothing was"
                raise type(error)(
                    f"{where}: {error}. {before} observed; mend it and run this again, or pass "
                    f"over such turns with --skip-bad"
                ) from None
            tally.skipped += 1
            self.warnings.add(f"{where} passed over: {error}")
            return
        tally.add(made)
        document: dict[str, Any] = {}
        if self.verbose and self.as_json:
            document = observation_document(made, tally.session, tally.file)
            self.documents.append(document)
        elif self.verbose:
            print_turn(session, made, arguments["text"])
        if made.opinion is not None:
            self.opinions.append((tally, made.opinion, document))

    def finish(self) -> list[incumbent.Opinion]:
        """Wait for the opinions that are under way, and count their results."""
        if self.opinions and self.memory.progress is not None:
            self.memory.progress("waiting for second opinions", 0, None)
        if self.memory.settings.llm is not None:
            self.memory.flush()
        for tally, opinion, document in self.opinions:
            tally.hear(opinion)
            if document:
                document["opinion"] = opinion_document(opinion)
        return [opinion for _, opinion, _ in self.opinions]

    def _tell(self, total: int | None) -> None:
        self.read += 1
        # Where every turn is printed, that tells how far it is.
        if self.memory.progress is not None and not self.verbose:
            self.memory.progress("observing turns", self.read, total)


@command(
    "observe chat.jsonl",
    "observe --text 'My address is 123 Main St.'",
    "observe --text 'I moved to 456 Oak Ave.' --dry-run",
    "observe chats/*.jsonl --user alice --org acme --skip-bad",
    "observe chat.json --dry-run -v",
    "observe chat.jsonl --llm openai:gpt-5-mini --llm-calls 100",
)
def observe(
    files: list[str] | None = argument(
        "FILE", "Transcripts; - is stdin.", default=None, show_default=False
    ),
    *,
    speaker: str = option(
        "NAME",
        "Who speaks, where a turn does not say: user is you, assistant the model.",
        default="user",
    ),
    skip_bad: bool = flag("Pass over what cannot be read, and go on."),
    dry_run: bool = DRY_RUN,
    verbose: bool = flag("Tell what came of each turn.", "--verbose", "-v"),
    ask_before_keeping: bool = ASK_BEFORE_KEEPING,
    single: Single,
    second: Second,
    who: TranscriptOwner,
    common: Common,
) -> None:
    """Take in a conversation: what is said in it becomes facts.

    A FILE has one turn on each line (JSON Lines), or is a JSON array of turns, or an object with
    messages; where each line has messages, each is a conversation of its own. A turn has role and
    content, or speaker and text; a time (at, time, timestamp, created_at), as ISO 8601 or in
    seconds, and an id (id, ref) if there is one.

    Each turn is durable before the next one is read. The same file again changes nothing: after an
    interruption, or when it has grown, that goes on where it stopped. What a turn is called is its
    id, or else made of the name of the file, its place in it and what it says.

    With --llm a model looks at the turns again, several at a time, and what it proposes is decided
    by the same rules; `incumbent usage` tells what that took. A trial with --dry-run asks no model.
    """
    named = files or []
    _check(named, single)
    check_readable(named)
    mode: Literal["background", "inline"] = "inline" if single.text is not None else "background"
    # One turn is rehearsed. What comes after another has to find that one, in a copy.
    rehearsed = single.text is not None and (is_address(common.path) or exists(common.path))
    copied = who.organization if dry_run and not rehearsed else None
    asking = replace(common.settings, ask_before_keeping=ask_before_keeping)
    settings = asking if copied else second.settings(asking, mode)
    with opened_or_tried(common, copied, settings) as memory:
        if single.text is not None:
            session = who.into(DEFAULT_SESSION).at(memory)
            session = session.rehearsal() if dry_run else session
            made = session.observe(single.text, speaker=speaker, **single.arguments())
            print_single(session, made, as_json=common.json, dry_run=dry_run)
            return
        clerk = _Clerk(memory, who, speaker, skip_bad, verbose, common.json)
        for file in named:
            with opened(file) as stream:
                clerk.take(TranscriptFile(file, stream), is_only=len(named) == 1)
        opinions = clerk.finish()
    observations = clerk.documents if verbose else None
    print_tallies(
        clerk.tallies, observations, dry_run=dry_run, as_json=common.json, opinions=opinions
    )


def _check(files: list[str], single: Single) -> None:
    if (single.text is None) is not bool(files):
        raise InvalidInput("name a FILE (- is stdin), or give a single turn with --text; not both")
    if files and (single.at, single.ref, single.as_authority) != (None, None, None):
        raise InvalidInput(
            "--at, --ref and --as go with --text; the turns of a FILE bring their own"
        )
