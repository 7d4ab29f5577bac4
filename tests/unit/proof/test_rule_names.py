"""Rules that were called otherwise at first: their files load and verify, and plans keep their digests."""

from __future__ import annotations

import json

import pytest

import noisewright as nw
from noisewright.accounting.releases import CertifiedRelease
from noisewright.ledger.idempotence import _text
from noisewright.problem.records import digest
from noisewright.proof.provers import FIRST_RULES, current_rule, first_rule
from tests.tree import ROOT, tracked

CORPUS = ROOT / "tests" / "fixtures" / "corpus"


def corpus():
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in tracked(CORPUS, ".json")}


def test_names_go_both_ways_and_nothing_else_is_touched():
    for now, first in FIRST_RULES.items():
        assert current_rule(f"renyi/pure/{first}, mean") == f"renyi/pure/{now}, mean"
        assert first_rule(current_rule(f"pure/{first}")) == f"pure/{first}"
        assert current_rule(f"pure/{now}") == f"pure/{now}"
    assert current_rule("pure/laplace") == first_rule("pure/laplace") == "pure/laplace"


@pytest.mark.parametrize("first", [first for first in FIRST_RULES.values() if first.endswith("reach")])
def test_files_that_name_a_rule_as_at_first_are_verified_and_saved_under_its_name_now(first: str):
    named = {name: data for name, data in corpus().items() if first in data["certificate"]["rule"]}
    assert named
    for data in named.values():
        read = nw.Certified.from_dict(data)
        again = read.to_dict()
        assert again["certificate"]["rule"] == current_rule(data["certificate"]["rule"]) != data["certificate"]["rule"]
        assert type(read).from_dict(again).certificate.rule == read.certificate.rule


@pytest.mark.parametrize("name", ["law-piecewise-uneven", "rows-by-hand", "law-piecewise-renyi"])
def test_a_plan_has_the_digest_that_it_had_when_its_rules_were_called_as_at_first(name: str):
    data = corpus()[name]
    release = CertifiedRelease(nw.Certified.from_dict(data))
    said = {"neighbours": release.neighbours, **data["certificate"]}
    content = {"format": data["format"], "mechanism": data["mechanism"], "certificate": said}
    assert release.digest == digest({"kind": "certified", "certified": {**content, "digest": digest(content)}})
    assert nw.compose(release).certificate.parts[0].digest == release.digest


def test_a_rule_that_was_never_called_otherwise_is_in_the_digest_as_it_is():
    release = CertifiedRelease(nw.Certified.from_dict(corpus()["alike-pure"]))
    assert release.digest == digest(release.to_dict())


@pytest.mark.parametrize("wrong", ["pure/levels-within-breach", "levels-within-reach", "", None, 3, ["pure"]])
def test_any_other_name_is_refused(wrong: object):
    data = corpus()["law-piecewise-uneven"]
    content = {"format": data["format"], "mechanism": data["mechanism"]}
    content["certificate"] = {**data["certificate"], "rule": wrong}
    with pytest.raises(nw.errors.MechanismFileError, match="not what the verifier proves"):
        nw.Certified.from_dict({**content, "digest": digest(content)})


def test_a_charge_whose_certificate_names_a_rule_as_at_first_is_that_of_the_same_release():
    said = {"bound": "1", "rule": "pure/levels-within-reach"}
    again = {"bound": "1", "rule": "pure/levels-within-sensitivity"}
    assert _text(said) == _text(again) != _text({**again, "bound": "2"})
    assert _text([said, again]) == _text([again, again])
