"""What a file says is checked field by field, also where the digest is right."""

from __future__ import annotations

import copy

import pytest

from noisewright.problem.errors import MechanismFileError
from noisewright.problem.records import digest
from noisewright.sample.certified import Certified, make_certified
from tests.mechanisms_by_hand import GEOMETRIC, ONE_EPSILON

SAVED = make_certified(GEOMETRIC, ONE_EPSILON).to_dict()


def sealed(**changes: object) -> dict[str, object]:
    """The saved mechanism with other fields, under the digest that belongs to them."""
    content = {**copy.deepcopy(SAVED), **changes}
    content.pop("digest")
    return {**content, "digest": digest(content)}


def test_the_saved_mechanism_itself_is_read():
    assert Certified.from_dict(sealed()).to_dict() == SAVED


def test_fields_that_no_version_wrote_are_refused_though_the_digest_does_not_cover_them():
    """The digest of what is known still fits: only the name of the field gives it away."""
    data = {**copy.deepcopy(SAVED), "approved_by": "somebody"}
    with pytest.raises(MechanismFileError, match="unknown fields approved_by"):
        Certified.from_dict(data)


def test_fields_under_a_digest_of_their_own_are_refused_too():
    with pytest.raises(MechanismFileError, match="unknown fields"):
        Certified.from_dict(sealed(approved_by="somebody"))


@pytest.mark.parametrize("form", ["noisewright mechanism, version 2", "", None, 1], ids=repr)
def test_another_format_is_refused_under_its_own_digest(form: object):
    with pytest.raises(MechanismFileError, match="format"):
        Certified.from_dict(sealed(format=form))


def test_a_digest_of_something_else_is_refused():
    with pytest.raises(MechanismFileError, match="edited or damaged"):
        Certified.from_dict({**SAVED, "digest": digest({"other": 1})})


@pytest.mark.parametrize(
    ("field", "value"),
    [("bound", "1/2"), ("rule", "pure/other"), ("mechanism", "0" * 64), ("remark", "trust me")],
)
def test_a_certificate_that_says_something_else_is_refused_under_its_own_digest(field: str, value: str):
    certificate = {**copy.deepcopy(SAVED["certificate"]), field: value}
    with pytest.raises(MechanismFileError, match="verifier"):
        Certified.from_dict(sealed(certificate=certificate))


def test_a_mechanism_with_more_than_was_written_is_refused_under_its_own_digest():
    mechanism = {**copy.deepcopy(SAVED["mechanism"]), "remark": "trust me"}
    certificate = {**copy.deepcopy(SAVED["certificate"]), "mechanism": digest(mechanism)}
    with pytest.raises(MechanismFileError):
        Certified.from_dict(sealed(mechanism=mechanism, certificate=certificate))
