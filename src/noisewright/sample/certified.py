"""A mechanism with its certificate: all that can be drawn, released or saved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from noisewright.door import Reported
from noisewright.explain.errors import describe_error
from noisewright.explain.summary import explained
from noisewright.mechanisms.base import MECHANISMS, Mechanism
from noisewright.mechanisms.half_widths import half_width
from noisewright.mechanisms.renewed import mechanism_from_dict, renewed
from noisewright.numerics.remembered import Remembered
from noisewright.problem.errors import (
    InvalidInputError,
    InvalidNumberError,
    MechanismFileError,
    NoisewrightError,
    UncertifiedError,
)
from noisewright.problem.fields import exact_text
from noisewright.problem.matrices import Unchanging
from noisewright.problem.numbers import Number, show
from noisewright.problem.privacy import REQUIREMENTS, Requirement, adjacency
from noisewright.problem.records import digest, load_package
from noisewright.problem.untrusted import READING_SECONDS, plain_of, text_in, within
from noisewright.proof.certify import Certificate, certificate_matches, certify
from noisewright.proof.costs import MechanismCosts
from noisewright.sample.containers import release_in_kind, release_many_in_kind
from noisewright.sample.drawers import Drawer, drawer_for
from noisewright.sample.entropy import Entropy, SystemEntropy
from noisewright.sample.stream import RowStream

FORMAT = "noisewright mechanism, version 1"
STREAM_FORMAT = "noisewright stream, version 1"
_MOST_DRAWS = 10**9
_LAST_PLACE = Fraction(1, 2**80)
_DRAWERS: Remembered[Drawer] = Remembered()
load_package("noisewright.sample")


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, init=False)
class Certified(Reported, Unchanging):
    """A mechanism and the certificate that was proven for it.

    Guarantees: drawing has exactly the certified law; the randomness comes from the operating
    system. Used by itself nothing keeps a budget: the caller accounts for each release.

    >>> noise = nw.mechanisms.Additive(nw.Scalar(1), nw.laws.Laplace(1), nw.laws.Lattice.cells("0.01"))
    >>> certified = nw.Certified(noise, nw.certify(noise, nw.PureDP(1)))
    >>> float(certified.half_width(0.95))
    3.001
    >>> isinstance(certified.release(42), float)
    True
    """

    mechanism: Any
    certificate: Certificate

    def __init__(self, mechanism: Any, certificate: Certificate) -> None:
        if hasattr(self, "mechanism"):
            raise UncertifiedError("a certified mechanism does not change; make another.")
        if mechanism not in MECHANISMS or type(certificate) is not Certificate:
            raise UncertifiedError(
                "only a mechanism of this package with a certificate made by `certify` can be drawn."
            )
        if getattr(certificate, "mechanism", None) != mechanism.digest:
            raise UncertifiedError("this certificate was made for another mechanism; call certify on this one.")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "certificate", certificate)

    def __reduce__(self) -> tuple[Any, ...]:
        return verified, (self.to_dict(),)

    def __setstate__(self, state: Any) -> NoReturn:
        raise UncertifiedError("a certified mechanism is proven when it is read; use load, from_dict or pickle.")

    def release(self, answer: Any, *, entropy: Entropy | None = None) -> Any:
        """One private answer: an int for integer queries, else the float nearest to the lattice point.

        Several numbers come back in the container they were given in, with its labels and shape: an array of any
        shape, a dict, a Series or DataFrame of pandas or polars; for a list an array. Where the question names its
        numbers, labels say which is which, and their order does not matter.
        """
        return release_in_kind(self.mechanism, self._drawer(), answer, entropy or SystemEntropy())

    def draw(self, count: int, *, entropy: Entropy | None = None) -> NDArray[Any]:
        """An array of independent noise values (not answers), each with exactly the certified law."""
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= _MOST_DRAWS:
            raise InvalidNumberError(f"n is {count!r}; give how many values to draw, 0 to 1e9.", given=count)
        return self._drawer().draw(int(count), entropy or SystemEntropy())

    def release_many(self, answers: Any, *, entropy: Entropy | None = None) -> Any:
        """One independent private answer for each of many answers, such as one for each person in the local model.

        Each is a release of its own: answers that one person can change together add up their costs. They come back
        in the container they were given in, as those of `release`; answers of several numbers are the rows of a
        table, or a list of answers.
        """
        return release_many_in_kind(self.mechanism, self._drawer(), answers, entropy or SystemEntropy())

    def stream(self, *, entropy: Entropy | None = None) -> CountStream:
        """For prefix sums: a stream that takes one count at a time (`CountStream`); all of it costs one budget."""
        return CountStream(self, entropy=entropy)

    def half_width(self, confidence: Number, *, joint: bool = False) -> Any:
        """How far from the truth an answer is with a confidence such as 0.95: a number for one number.

        For several numbers a tuple with the half-width of each by itself; with `joint=True` one number that all
        errors stay within at once. Guarantees: an upper end that was checked, rounded up to four digits.
        Raises InvalidUtilityError for a confidence outside of 0 to 1, and for what is no number or has no rule.
        """
        return half_width(self.mechanism, confidence, joint=joint)

    def explain(self, *, html: bool = False) -> str:
        """Half a page for a person who has never heard of epsilon; with `html=True` as a fragment of a page."""
        return explained(self.mechanism, self.certificate, html=html)

    def describe(self) -> str:
        """What is guaranteed and how large the error will be, in words."""
        requirement = self.certificate.requirement
        lines = [
            f"Answers {self.mechanism.query} under {requirement}.",
            f"Guarantee: whatever one person's data are, {requirement.promise()}; proven with bound"
            f" {show(self.certificate.bound)} (rule {self.certificate.rule}), for exactly the noise that is drawn.",
            f"Adjacency: {adjacency(self.certificate.neighbours)}.",
            *describe_error(self.mechanism),
        ]
        return "\n".join(lines)

    def costs(self) -> MechanismCosts:
        """What one release costs in each sum that a ledger may keep, proven."""
        return MechanismCosts(self.mechanism, self.certificate)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with a digest of the whole content."""
        content = {
            "format": FORMAT,
            "mechanism": self.mechanism.to_dict(),
            "certificate": self.certificate.to_dict(),
        }
        return {**content, "digest": digest(content)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, seconds: Number = READING_SECONDS) -> Certified:
        """Read back what `to_dict` wrote, and prove it again.

        Guarantees: returns only if the digest fits and `certify` proves every claim anew, within so many seconds.
        """
        return verified(data, seconds=seconds)

    def save(self, path: str | Path) -> None:
        """Write the mechanism to a JSON file."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path, *, seconds: Number = READING_SECONDS) -> Certified:
        """Read a JSON file written by `save`, and prove it again within so many seconds."""
        with within(seconds):
            return verified(read_file(path))

    def _drawer(self) -> Drawer:
        kept = _DRAWERS.of(self)
        if "drawer" not in kept:
            if self.certificate.mechanism != self.mechanism.digest:
                raise UncertifiedError("the mechanism is not the one that was certified; nothing is drawn.")
            kept["drawer"] = drawer_for(self.mechanism)
        return kept["drawer"]


class CountStream(RowStream):
    """Releases the sum of all counts so far after each one, for a stream of known length or without an end.

    `certified` is a strategy for `Workload.prefixes(n)` whose rows are known in the order of time: the optimal Gaussian
    one, each cell by itself, blocks, or `EndlessRows`, whose noise does not depend on how long the stream goes on. Its
    state holds true counts and is as private as they are.
    Guarantees: every row gets its noise once, however often the state is saved; going back to an older state and
    on from there again would release rows twice, which nothing here can notice.
    """

    def __init__(self, certified: Certified, *, entropy: Entropy | None = None) -> None:
        super().__init__(certified.mechanism, entropy or SystemEntropy())
        self._certified = certified

    def to_dict(self) -> dict[str, Any]:
        """The state: plain data, private, to go on from later."""
        content = {"format": STREAM_FORMAT, "certified": self._certified.to_dict(), **self.state}
        return {**content, "digest": digest(content)}

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], *, entropy: Entropy | None = None, seconds: Number = READING_SECONDS
    ) -> CountStream:
        """A stream that goes on where another stopped; its strategy is proven again, and nothing is drawn again.

        All of it within so many seconds.
        """
        check_seal(data, "stream", STREAM_FORMAT, {"certified", "counts", "measured"})
        with within(seconds), reading("stream"):
            stream = cls(Certified.from_dict(data["certified"]), entropy=entropy)
            stream.restore(data["counts"], data["measured"])
        return stream


def make_certified(mechanism: Mechanism, requirement: Requirement) -> Certified:
    """Certify a mechanism and keep the two together."""
    return Certified(mechanism, certify(mechanism, requirement))


def read_file(path: str | Path) -> dict[str, Any]:
    """The JSON object in a mechanism file."""
    try:
        text = text_in(path)
    except (OSError, ValueError) as error:
        raise MechanismFileError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}.") from None
    try:
        data = plain_of(text)
    except ValueError as error:
        raise MechanismFileError(f"{path} is not JSON ({error}); give a file written by `design --save`.") from None
    if not isinstance(data, dict):
        raise MechanismFileError(f"{path} holds no JSON object; give a file written by `design --save`.")
    return data


def check_seal(data: Mapping[str, Any], what: str, form: str, fields: set[str]) -> None:
    """Refuse plain data that are not of this format, or whose content does not fit their digest."""
    if not isinstance(data, Mapping):
        raise MechanismFileError(f"a {what} is a mapping as `to_dict` writes it.")
    if data.get("format", form) != form:
        raise MechanismFileError(f'the format is {data["format"]!r}; give a {what}, which is "{form}" in this version.')
    wanted = fields | {"format", "digest"}
    if missing := wanted - set(data):
        raise MechanismFileError(f"the {what} misses {', '.join(sorted(missing))}; save it again.")
    if extra := set(data) - wanted:
        raise MechanismFileError(f"the {what} has unknown fields {', '.join(sorted(map(str, extra)))}.")
    try:
        actual = digest({key: data[key] for key in wanted - {"digest"}})
    except (TypeError, ValueError, RecursionError):
        raise MechanismFileError(f"the {what} holds values that JSON cannot carry.") from None
    if data["digest"] != actual:
        raise MechanismFileError("the content does not match its digest: the file was edited or damaged; refused.")


@contextmanager
def reading(what: str, *, proving: bool = False) -> Iterator[None]:
    """Say of whatever goes wrong while plain data are read that the file is no such thing.

    While a mechanism that was read is proven, what the verifier says is left as it is.
    """
    try:
        yield
    except MechanismFileError:
        raise
    except NoisewrightError as error:
        if proving:
            raise
        kind = f"makes no {what}" if isinstance(error, InvalidInputError) else "cannot be used"
        raise MechanismFileError(f"the file {kind}: {error}") from None
    except MemoryError:
        raise MechanismFileError(f"the {what} in the file needs more memory than there is; refused.") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise MechanismFileError(f"the file does not describe a {what} ({type(error).__name__}: {error}).") from None


def verified(data: Mapping[str, Any], *, seconds: Number = READING_SECONDS) -> Certified:
    """The certified mechanism in plain data, if its digest fits and every claim can be proven again in so long."""
    check_seal(data, "mechanism", FORMAT, {"mechanism", "certificate"})
    with within(seconds), reading("mechanism", proving=True):
        with reading("mechanism"):
            described = renewed(data["mechanism"])
            mechanism = mechanism_from_dict(described)
            requirement = REQUIREMENTS.from_dict(data["certificate"]["requirement"])
        certificate = certify(mechanism, requirement)
        claim = data["certificate"] if described is data["mechanism"] else _renewed_claim(certificate, data)
        if mechanism.to_dict() != described or not certificate_matches(certificate, claim):
            raise MechanismFileError("the certificate in the file is not what the verifier proves for this mechanism.")
        return Certified(mechanism, certificate)


def _renewed_claim(certificate: Certificate, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The claim of a file of an older kind: in today's words if its seal fits and its bound is met, else as it is."""
    claim: Mapping[str, Any] = data["certificate"]
    try:
        met = certificate.bound <= exact_text(claim["bound"]) + _LAST_PLACE
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return claim
    named = claim.get("neighbours", certificate.neighbours)
    if not met or claim.get("mechanism") != digest(data["mechanism"]) or named != certificate.neighbours:
        return claim
    return {**claim, **certificate.to_dict(), "requirement": claim["requirement"]}
