"""The words and signs of an expression in a definition; what is none is refused before anything is read."""

import re
from dataclasses import dataclass

_LONGEST = 20_000
"""Characters of an expression."""

ALLOWED = (
    "allowed are columns, numbers, texts, dates, + - * / % ||, comparisons, and, or, not, in (...), between, like, "
    "rlike, is null, case, cast, and plain functions of one row"
)

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
      (?P<comment>--|/\*|\*/)
    | (?P<number>(?:[0-9]+[Ll]|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[Dd]|[Bb][Dd])?)(?![A-Za-z0-9_.]))
    | (?P<text>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<quoted>`[^`]*`)
    | (?P<sign><=>|<>|!=|==|<=|>=|\|\||[-+*/%=<>(),])
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


class ExpressionError(ValueError):
    """What is wrong with an expression, for a sentence that begins with its field."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str

    @property
    def word(self) -> str:
        """A word in lower case, as it counts; '' for anything else, a quoted name too."""
        return self.text.lower() if self.kind == "word" else ""


END = Token("end", "")


def tokens_of(text: str) -> list[Token]:
    """The text's tokens."""
    if len(text) > _LONGEST:
        raise ExpressionError(f"is longer than {_LONGEST} characters")
    if "${" in text:  # Spark puts settings and variables of the environment in its place, before it reads the rest
        raise ExpressionError(f"'${{' cannot be in an expression, in a text neither; {ALLOWED}")
    found = []
    end = len(text.rstrip(" \t\r\n"))
    if not end:
        raise ExpressionError("is empty")
    place = 0
    while place < end:
        match = _TOKEN.match(text, place, end)
        if match is None:
            rest = text[place:end].lstrip(" \t\r\n")
            word = re.match(r"[A-Za-z0-9_.]+|.", rest, re.DOTALL)
            raise ExpressionError(f"{word[0] if word else rest!r} cannot be in an expression; {ALLOWED}")
        if match.lastgroup == "comment":
            raise ExpressionError(f"a comment ({match['comment']}) cannot be in an expression; {ALLOWED}")
        found.append(Token(str(match.lastgroup), match[str(match.lastgroup)]))
        place = match.end()
    return found


def is_sign(token: Token, text: str) -> bool:
    """Whether it is that sign."""
    return token.kind == "sign" and token.text == text
