"""What a definition may say in Spark SQL: a condition or a value over one row's columns, read by a grammar of our own.

All is by inclusion: what is not named here is refused before Spark sees it, so that a definition can neither read files
nor call Java, and means the same in every run. Whether types fit is for Spark to say: `skyarchive.pipeline.analysing`.
"""

import re
from collections.abc import Callable, Iterable

from skyarchive.definition.expression_tokens import ALLOWED, END, ExpressionError, Token, is_sign, tokens_of

_DEEPEST = 50
"""Parentheses, functions and cases within one another."""
_LONGEST_CHAIN = 200
"""Arithmetic in a row, which is as deep for Spark."""

_FUNCTIONS = {
    "numbers": """abs ceil ceiling floor round bround rint sign signum sqrt cbrt exp expm1 ln log log10 log1p log2 pow
        power mod pmod greatest least sin cos tan asin acos atan atan2 hypot degrees radians isnan nanvl negative
        try_add try_subtract try_multiply try_divide try_mod""",
    "missing values": "coalesce if ifnull nvl nvl2 nullif isnull isnotnull nullifzero zeroifnull",
    "times": """year quarter month day dayofmonth dayofweek dayofyear weekday weekofyear hour minute second date_part
        extract to_date to_timestamp try_to_date try_to_timestamp date_trunc trunc date_add date_sub datediff date_diff
        add_months months_between last_day next_day make_date date_format from_unixtime unix_timestamp unix_date
        unix_seconds unix_millis unix_micros timestamp_seconds timestamp_millis timestamp_micros""",
    "texts": """concat concat_ws substring substr substring_index left right upper ucase lower lcase trim ltrim rtrim
        btrim length char_length character_length split_part regexp_extract regexp_replace regexp_like replace translate
        contains startswith endswith instr locate lpad rpad reverse initcap""",
    "types": "boolean int bigint double string date timestamp",
}
FUNCTIONS = frozenset(name for names in _FUNCTIONS.values() for name in names.split())
"""Plain functions: of one row, the same in every run, of nothing but their arguments."""
_NEEDS_ARGUMENTS = frozenset({"unix_timestamp"})
"""Without any, it is the time now."""


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TYPES = _set_of("boolean tinyint smallint int integer bigint float real double decimal numeric string date timestamp")
_SIZED_TYPES = frozenset({"decimal", "numeric"})
_TYPED_LITERALS = frozenset({"date", "timestamp"})
_UNITS = _set_of("year years month months week weeks day days hour hours minute minutes second seconds")
_FIELDS = _UNITS | {"quarter", "dayofweek", "dow", "doy", "dayofyear"}
_WORDS = _set_of(
    """and or not in between like ilike rlike regexp escape is null true false distinct from case when then else end
    cast try_cast as div"""
)
"""Words of the grammar: a column of such a name needs backticks."""
_COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "||"})

_A_TIME = re.compile(r"'[0-9][^\\]*'|\"[0-9][^\\]*\"", re.ASCII)
"""Not 'today', which is another day tomorrow."""
_ANOTHER_TOMORROW = re.compile(r"""['"]\s*(now|today|tomorrow|yesterday)(\s+[^\s'"]+)?\s*['"]""", re.IGNORECASE)
"""A text that Spark takes for a time wherever it wants one: in a cast, in a comparison with a date, in a function."""
_ESCAPE = re.compile(r"'[^'\\]'|\"[^\"\\]\"")
_WHOLE = re.compile(r"[0-9]+|'[0-9]+'|\"[0-9]+\"", re.ASCII)


def columns_in(text: str, columns: Iterable[str]) -> frozenset[str]:
    """Those of the columns that an expression names; one that is not made of them and of what is allowed is refused."""
    return _Reader(tokens_of(text), list(columns)).read()


class _Reader:
    """Reads tokens by the grammar; refuses at the first that does not fit."""

    def __init__(self, tokens: list[Token], columns: list[str]):
        self._tokens = tokens
        self._columns = columns
        self._known = {column.lower(): column for column in columns}
        self._named: set[str] = set()
        self._place = 0
        self._depth = 0

    def read(self) -> frozenset[str]:
        self._condition()
        if self._next is not END:
            self._refuse()
        return frozenset(self._named)

    @property
    def _next(self) -> Token:
        return self._ahead(0)

    def _ahead(self, count: int) -> Token:
        place = self._place + count
        return self._tokens[place] if place < len(self._tokens) else END

    def _take(self) -> Token:
        token = self._next
        self._place += 1
        return token

    def _takes(self, *words: str) -> bool:
        """Whether the next tokens are these, which are taken then."""
        if any((token := self._ahead(n)).word != word and not is_sign(token, word) for n, word in enumerate(words)):
            return False
        self._place += len(words)
        return True

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            self._refuse(f", where {word!r} is expected")

    def _refuse(self, expected: str = "") -> None:
        if self._next is END:
            raise ExpressionError(f"ends too early{expected}")
        raise ExpressionError(f"{self._next.text!r} cannot stand where it stands{expected}; {ALLOWED}")

    def _condition(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError(f"is nested deeper than {_DEEPEST} levels")
        self._negatable()
        while self._takes("and") or self._takes("or"):
            self._negatable()
        self._depth -= 1

    def _negatable(self) -> None:
        self._takes("not")
        self._value()
        if self._next.kind == "sign" and self._next.text in _COMPARISONS:
            self._take()
            self._value()
        self._predicate()

    def _predicate(self) -> None:
        if self._takes("is"):
            self._takes("not")
            if self._takes("distinct"):
                self._expect("from")
                self._value()
            elif not any(self._takes(word) for word in ("null", "true", "false")):
                self._refuse(", where 'null' is expected")
            return
        denied = self._takes("not")
        if self._takes("in"):
            self._expect("(")
            self._listed(self._condition)
            self._expect(")")
        elif self._takes("between"):
            self._value()
            self._expect("and")
            self._value()
        elif self._takes("like") or self._takes("ilike"):
            self._value()
            if self._takes("escape"):
                if not _ESCAPE.fullmatch(self._next.text):
                    self._refuse(", where a text of one character is expected")
                self._take()
        elif self._takes("rlike") or self._takes("regexp"):
            self._value()
        elif denied:
            self._refuse(", where 'in', 'between', 'like' or 'rlike' is expected")

    def _value(self) -> None:
        self._operand()
        count = 0
        while (self._next.kind == "sign" and self._next.text in _ARITHMETIC) or self._next.word == "div":
            self._take()
            self._operand()
            count += 1
            if count > _LONGEST_CHAIN:
                raise ExpressionError(f"has more than {_LONGEST_CHAIN} arithmetic signs in a row")

    def _operand(self) -> None:
        if not self._takes("-"):
            self._takes("+")
        token = self._next
        if self._takes("("):
            self._condition()
            self._expect(")")
        elif token.kind in ("number", "text", "quoted"):
            self._take()
            if token.kind == "text" and _ANOTHER_TOMORROW.fullmatch(token.text):
                raise ExpressionError(f"{token.text} can be a time, and another one in every run; write it in figures")
            if token.kind == "quoted":
                self._check_column(token.text[1:-1])
        elif token.kind != "word":
            self._refuse(", where a value is expected")
        else:
            self._worded(token)

    def _worded(self, token: Token) -> None:
        """What begins with a word: a column, a function, a literal or a case."""
        after = self._ahead(1)
        if self._takes("case"):
            self._case()
        elif self._takes("cast", "(") or self._takes("try_cast", "("):
            self._cast()
        elif any(self._takes(word) for word in ("null", "true", "false")):
            pass
        elif token.word in _WORDS:
            self._refuse(", where a value is expected (a column of this name needs backticks)")
        elif is_sign(after, "("):
            self._place += 2
            self._function(token)
        elif after.kind == "text" and token.word in _TYPED_LITERALS:
            if not _A_TIME.fullmatch(after.text):
                raise ExpressionError(f"{after.text} is not a {token.word} in figures, such as '2014-06-15'")
            self._place += 2
        elif after.kind in ("text", "number") and token.word == "interval":
            self._interval()
        else:
            self._take()
            self._check_column(token.text)

    def _case(self) -> None:
        if self._next.word != "when":
            self._condition()
        self._expect("when")
        while True:
            self._condition()
            self._expect("then")
            self._condition()
            if not self._takes("when"):
                break
        if self._takes("else"):
            self._condition()
        self._expect("end")

    def _cast(self) -> None:
        self._condition()
        self._expect("as")
        kind = self._take()
        if kind.word not in _TYPES:
            raise ExpressionError(f"{kind.text!r} is not a type to cast to; types are {', '.join(sorted(_TYPES))}")
        if kind.word in _SIZED_TYPES and self._takes("("):
            self._listed(self._number)
            self._expect(")")
        self._expect(")")

    def _function(self, token: Token) -> None:
        if token.word not in FUNCTIONS:
            raise ExpressionError(
                f"{token.text!r} is not a function here; functions are {', '.join(sorted(FUNCTIONS))}"
            )
        if token.word == "extract":
            if self._take().word not in _FIELDS:
                raise ExpressionError(f"extract takes one of {', '.join(sorted(_FIELDS))}, then from and a time")
            self._expect("from")
            self._condition()
        elif not is_sign(self._next, ")"):
            self._listed(self._condition)
        elif token.word in _NEEDS_ARGUMENTS:
            raise ExpressionError(f"{token.text!r} needs an argument here: without one it is the time now")
        self._expect(")")

    def _interval(self) -> None:
        """`interval 2 days` or `interval '2 days'`."""
        self._place += 1
        if _WHOLE.fullmatch(self._next.text):
            self._take()
            if self._next.word not in _UNITS:
                self._refuse(f", where one of {', '.join(sorted(_UNITS))} is expected")
        elif self._next.kind == "number":
            self._refuse(", where a whole number is expected")
        self._take()

    def _listed(self, one: Callable[[], None]) -> None:
        one()
        while self._takes(","):
            one()

    def _number(self) -> None:
        if self._next.kind != "number":
            self._refuse(", where a number is expected")
        self._take()

    def _check_column(self, name: str) -> None:
        if name.lower() not in self._known:
            raise ExpressionError(f"there is no column {name!r}; columns are {', '.join(self._columns)}")
        self._named.add(self._known[name.lower()])
