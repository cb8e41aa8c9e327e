"""Text that speaks as a participant of the conversation, or to the model that reads it.

A table has classes of words, and the orders in which they make such text. A class is a pattern for
one of its words. Gaps between classes are bounded, so that no text makes the search slow. Quoting
an ordinary sentence by mistake does no harm: it reads the same. So the classes are wide for orders,
and narrow for claims.
"""

from __future__ import annotations

import re
import unicodedata

from incumbent.model.invisible import parted
from incumbent.model.text_cache import remembered
from incumbent.model.words import letters

CLASSES = {
    # Who may speak in a conversation with a model, or be taken for the frame around one.
    "speaker": """
        system assistant user human developer tool function model agent ai bot chatbot llm claude
        chatgpt gpt gemini copilot llama admin administrator operator moderator root supervisor
        instructions? polic(?:y|ies) constraints? important prompt context guardrails?
    """,
    # What a speaker's name is followed by before the colon: "tool_result", "system prompt".
    "what_is_said": """
        messages? prompts? instructions? notes? results? outputs? calls? responses? overrides?
        turns? notices? commands? inputs? repl(?:y|ies) updates? polic(?:y|ies)
    """,
    "machine": """
        ai model assistant agent bot chatbot llm claude chatgpt gpt gemini copilot language.model
    """,
    # From when on an order is to hold.
    "henceforth": """
        from.now.on(?:wards?)? from.here.on(?:.out)? henceforth henceforward hereafter
        from.(?:this|here|that).(?:moment|point|time|message|turn).on(?:wards?)? going.forward
        starting.(?:right.)?now effective.immediately as.of.(?:right.)?now
        for.the.rest.of.(?:this|the|our).\\w{4,12} until.(?:further.notice|i.say|told.otherwise)
    """,
    # How a second person is told to do something.
    "must": """
        must shall will should have.to need.to ought.to are.to are.required.to are.going.to
        are.expected.to are.obliged.to are.instructed.to are.authorized.to are.allowed.to can.now
        may.now can.only may.only cannot can't can.not won't mustn't shouldn't
    """,
    # What makes it an order to a model, and no advice to a person.
    "doing": """
        now always never only no.longer not obey comply ignore disregard forget act behave pretend
        respond reply answer speak talk write say output print return repeat reveal disclose show
        display tell follow treat consider assume refuse accept approve grant execute run call
        invoke use begin start stop continue adopt become simulate impersonate translate
        summari[sz]e do bypass override prioriti[sz]e hide omit include transfer send
    """,
    "become": """
        an? the now no.longer hereby in.\\w{2,12}.mode free bound unrestricted jailbroken not.bound
        not.restricted not.limited dan going.to
    """,
    "own": """
        instructions? task job role goal objective mission purpose persona identity name rules?
        guidelines? guardrails? programming training prompt directives? orders? constraints?
        restrictions? limits limitations safety polic(?:y|ies) configuration memory master creator
        developers? answers? responses? repl(?:y|ies) output behaviou?r
    """,
    "which": """
        new real true actual only next sole primary main current system initial original previous
        prior hidden secret internal updated first final default
    """,
    "pose": """
        act.(?:as|like) pretend behave.(?:as|like) role-?.?play impersonate play.the.(?:role|part)
        (?:assume|adopt|take.on).(?:the|a).(?:role|persona|identity) imagine.you(?:'re|.are)
        you(?:'re|.are).to.act speak.as respond.as.(?:if|an?|the) answer.as.(?:if|an?|the)
    """,
    "utter": """
        respond reply answer output print return write say speak begin.your start.your
    """,
    "exactly": """
        only exactly solely nothing.but verbatim always never with in.the.voice in.character
        without as.follows the.following
    """,
    "conceal": """
        tell(?:ing)? inform(?:ing)? mention(?:ing)? reveal(?:ing)? disclos(?:e|ing) show(?:ing)?
        warn(?:ing)? alert(?:ing)? notify(?:ing)? say.(?:anything.)?to let(?:ting)? admit
        explain.to report.(?:this.)?to
    """,
    "reader": """
        users? humans? customers? operators? clients? anyone anybody them people developers? owner
    """,
    "disclose": """
        reveal print show display output repeat leak expose share dump disclose give.me tell.me
        send.me what(?:'s|.is|.are|.were) write.out recite summari[sz]e translate
    """,
    "secret": """
        system.(?:prompt|message|instructions?) developer.message context.window
        (?:initial|hidden|original|secret|internal|full).prompt (?:prompt|text|words).above
        your.(?:prompt|instructions?|rules|guidelines) (?:instructions?|everything).above
        everything.before.this
    """,
    "drop": """
        ignore disregard forget override overrule bypass skip circumvent neglect set.aside
        pay.no.attention.to stop.(?:following|obeying) (?:do.not|don't|never).(?:follow|obey|apply)
        no.longer.(?:follow|obey|apply) cancel.all void
    """,
    "order": """
        previous prior above earlier preceding instructions? rules? polic(?:y|ies) constraints?
        guidelines? guardrails? restrictions? directives? system.prompt safety
        everything.(?:you|before|above) what.you.(?:were|have.been).told (?:the|this|your).context
    """,
    "obey": """
        obey.(?:me|this|these|the|my|only|every|all) comply.with.(?:this|these|the.following|my)
        follow.(?:these|this|my|the.following|only.these|the.new).(?:new.)?(?:instructions?|orders?)
        follow.(?:these|this|my|the.following|only.these|the.new).(?:new.)?(?:commands?|rules?)
        (?:execute|run|perform).the.following do.(?:exactly.)?(?:as|what).i.(?:say|tell)
        you.have.been you.have.no.(?:rules|restrictions|limits|choice)
    """,
    "mode": """
        (?:developer|god|dan|debug|admin|jailbreak|root|sudo|maintenance|unrestricted|unfiltered).mode
        jailbreak(?:ed|en|ing)? (?:prompt|system).(?:injection|override) new.instructions?
        (?:begin|start|end).of.(?:the.)?(?:system|prompt|instructions?|context|data|conversation|input)
    """,
}


def _class(name: str) -> str:
    """A pattern for one of the words of a class; a dot in it stands for a gap between words."""
    words = "|".join(CLASSES[name].split())
    return rf"(?:{words.replace('.', '[ _-]')})(?![^\W_])"


_CLAUSE = r"(?:^|[.!?;:,\"'(\[{*_>\-] ?|\b(?:please|now|and|then|so|just|you) )"
_NEAR, _FAR = r"[^.!?]{0,40}", r"[^.!?]{0,80}"
_YOU = "you your yourself"
_WHAT_MODES_HAVE = "mode jailbreak jailbreaked jailbreaken jailbreaking injection override of "
_WHAT_MODES_HAVE += "instruction instructions"
# The orders in which words of the classes make text that is addressed to a model, or speaks as one.
# Before each stand the classes, or words, of which it must have a word. Most texts have not, which
# is seen before anything is searched.
_ORDERS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        # a speaker, in bold or with other marks around: "System:", "**Tool result** :"
        ("speaker",),
        r"(?:^|[\"'(\[{*_>.;!?#~-] ?)[*_~#\"'\[(<]{0,4} ?{speaker}(?:[ _-]{0,2}{what_is_said})?"
        r"(?: ?#?[0-9]{1,3})?[*_~\"'\])>]{0,4} ?(?:[:=\u2236\ua789\u02d0]|->)",
    ),
    (
        (_YOU, "henceforth"),
        r"\b{henceforth},? " + _FAR + r"\b(?:you(?:'re|'ll)?|your|yourself)\b",
    ),
    ((_YOU, "doing"), r"\byou(?:'ll| {must}) (?:\w{1,12} )?{doing}\b"),
    ((_YOU, "must"), r"\byou must\b"),
    ((_YOU, "become"), r"\byou(?:'re| are) {become}\b"),
    ((_YOU, "which", "own"), r"\byour {which} (?:\w{1,12} )?{own}\b"),
    (
        (_YOU,),
        r"\byour (?:instructions?|guidelines|programming|guardrails|system prompt|directives?)\b",
    ),
)
# The same of a text with a gap. A single word, or several joined by other signs, is a name.
_ORDERS_WITH_GAPS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("machine",),
        r"\b(?:note|message|attention|instructions?|dear|hey|hello|hi|to)[ ,:]{1,2}(?:to )?"
        r"(?:the |all |any )?{machine}\b",
    ),
    (("machine",), r"(?:^|[.!?;] )(?:{machine}, ?{doing}|as an? {machine})\b"),
    (("doing", "henceforth"), r"\b{henceforth},? (?:please |only |just )?{doing}\b"),
    (("pose",), _CLAUSE + r"{pose}\b"),
    (("utter", "exactly"), _CLAUSE + r"{utter}\b[^.!?]{0,24}\b{exactly}\b"),
    (
        ("conceal", "reader"),
        r"\b(?:do not|don't|never|without|must not|cannot) (?:ever )?{conceal} "
        + _NEAR
        + r"\b{reader}\b",
    ),
    (("disclose", "secret"), r"\b{disclose}\b" + _NEAR + r"\b{secret}\b"),
    (("drop", "order"), r"\b{drop}\b" + _NEAR + r"\b{order}\b"),
    (("obey",), r"\b{obey}\b"),
    (("mode", _WHAT_MODES_HAVE), r"\b{mode}\b"),
    (("repeat",), r"\brepeat (?:after me|the (?:words|text|above))\b"),
)


def _pattern(order: str) -> re.Pattern[str]:
    """A pattern for an order, in lower case: matching either case would take twice as long."""
    return re.compile(re.sub(r"\{([a-z_]+)\}", lambda found: _class(found[1]), order))


_SIGNS = re.compile(r"\(\?:|\\w\{\d+,\d+\}|\[\w+\]|.")


def first_words(listed: str) -> frozenset[str]:
    """The letters with which the words of a class begin: "from" for "from now on", "instruction"
    and "instructions" for one of these."""
    return frozenset(letters(said)[0] for word in listed.split() for said in _sayings(word))


def _sayings(pattern: str) -> set[str]:
    """Everything that a pattern of a class matches, with gaps and any words left as they are."""
    return _said_by(_SIGNS.findall(pattern))


def _said_by(signs: list[str]) -> set[str]:
    """The same of signs up to a closing bracket. They are used up."""
    found, said = set[str](), {""}
    while signs and (sign := signs.pop(0)) != ")":
        if sign == "|":
            found, said = found | said, {""}
            continue
        if sign == "(?:":
            either = _said_by(signs)
        else:
            either = set(sign[1:-1]) if sign[0] == "[" else {sign}
        if signs and signs[0] == "?":
            signs.pop(0)
            either = {*either, ""}
        said = {f"{before}{after}" for before in said for after in either}
    return found | said


_FIRST_WORDS = {name: first_words(listed) for name, listed in CLASSES.items()}
_PATTERNS = [
    (
        [_FIRST_WORDS.get(name) or frozenset(name.split()) for name in needed],
        _pattern(order),
        " " if orders is _ORDERS_WITH_GAPS else "",
    )
    for orders in (_ORDERS, _ORDERS_WITH_GAPS)
    for needed, order in orders
]
"""What each order needs, its pattern, and what a text must have besides."""
_NEEDED_WITH = {
    word: [needed for needed, *_ in _PATTERNS if word in needed[0]]
    for needed, *_ in _PATTERNS
    for word in needed[0]
}
_TELLING = frozenset(_NEEDED_WITH)
_GAPS = re.compile(r"\s+")
_APOSTROPHES = str.maketrans("’ʼ‘`", "''''")


@remembered
def is_addressed(text: str) -> bool:
    """True if a text could be taken for a turn of somebody, or for an order to its reader.

    The text is compared as it reads: any gap counts as one, wide letters as plain ones.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", parted(text))
    said = set(letters(plain))
    if not may_address(said):
        return False
    shown = _GAPS.sub(" ", plain).translate(_APOSTROPHES).lower()
    return any(
        pattern.search(shown) is not None
        for needed, pattern, sign in _PATTERNS
        if sign in shown and _has(said, needed)
    )


def may_address(said: set[str]) -> bool:
    """Whether a text of these words could be addressed to a model; most texts surely are not."""
    telling = _TELLING.intersection(said)
    return any(_has(said, needed) for word in telling for needed in _NEEDED_WITH[word])


def _has(said: set[str], needed: list[frozenset[str]]) -> bool:
    return not any(map(said.isdisjoint, needed))
