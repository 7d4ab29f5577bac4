"""A user's own second fold, given by its Laplace transform as a formula, and proven to be one.

A function of x is the Laplace transform of a positive rate if it is completely monotone, 1 at 0 and
vanishes at infinity. Whether a formula is completely monotone is read off its shape by the closure
rules of completely monotone (M) and Bernstein (B) functions; a formula the rules do not cover is
refused, so that no law is ever drawn on somebody's word.
"""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from noisewright.laws.two_fold import FOLDS, Fold
from noisewright.numerics.balls import ball, lower, precision
from noisewright.numerics.fields import BALLS, Field, Value
from noisewright.problem.errors import InvalidLawError
from noisewright.problem.fields import Rational, Text, rational, text
from noisewright.problem.records import record

_LONGEST = 300
_LARGEST_POWER = 1000
_MOST_BITS = 1023
_DEEPEST = 160


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a subformula: its kind, its sign, and how it behaves far out.

    kind "constant" (of this value), "bernstein" or "monotone"; negative means minus such a function. `extreme`: a
    Bernstein function grows without limit, a monotone one vanishes. A Bernstein function is at
    least `rate` x; a monotone one at most e^(-rate x) and at most constant x^(-order).
    """

    kind: str
    negative: bool = False
    value: Fraction = Fraction(0)
    extreme: bool = False
    rate: Fraction = Fraction(0)
    order: Fraction = Fraction(0)

    def __neg__(self) -> Shape:
        return replace(self, negative=not self.negative, value=-self.value)


@record("formula", FOLDS, error=InvalidLawError)
class FormulaFold(Fold):
    """The fold whose Laplace transform is `formula(scale x) / formula(0)`.

    The formula is text in x with numbers, + - * / **, exp and log, such as "(1 + x)**-3 * exp(-2*x)".
    Valid for: formulas that the closure rules prove to be Laplace transforms of a positive rate with
    a finite mean; raises InvalidLawError otherwise, and also for a formula nested more than 160 deep or
    with a number, typed or computed, whose numerator or denominator has more than 1,023 bits.
    """

    formula: Text = text()
    scale: Rational = rational(above=0, default=1)
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if len(self.formula) > _LONGEST:
            raise InvalidLawError(f"the formula of a fold is text of at most {_LONGEST} characters.")
        _prove(self.formula)

    @property
    def lowest(self) -> Fraction:
        return _prove(self.formula).rate * self.scale

    @property
    def inverse_reach(self) -> Fraction | None:
        shape = _prove(self.formula)
        return None if shape.rate else shape.order

    def transform(self, x: Value, field: Field) -> Value:
        return self._dual(x, field)[0] / self._dual(field.real(0), field)[0]

    def slope(self, x: Value, field: Field) -> Value:
        return -field.real(self.scale) * self._dual(x, field)[1] / self._dual(field.real(0), field)[0]

    def tail_bound(self, power: Fraction, field: Field) -> tuple[Fraction, Value]:
        """From the product of the formula's own power bounds."""
        node, order = _parse(self.formula), _prove(self.formula).order
        start = _evaluate(node, field.real(0), field)[0]
        return order, _power_bound(node, field) / (start * field.power(field.real(self.scale), order))

    def _dual(self, x: Value, field: Field) -> tuple[Value, Value]:
        return _evaluate(_parse(self.formula), field.real(self.scale) * x, field)


def _power_bound(node: ast.expr, field: Field) -> Value:
    """C with node(x) <= C x^(-order of its shape) for all x > 0; the shape's rules, with their constants."""
    if _shape(node).order == 0:
        return _evaluate(node, field.real(0), field)[0]
    assert isinstance(node, ast.BinOp)
    if isinstance(node.op, ast.Pow):
        inside, exponent = _shape(node.left), _constant(node.right)
        if inside.kind == "bernstein":
            return 1 / field.power(field.real(inside.rate), -exponent)
        return field.power(_power_bound(node.left, field), exponent)
    if isinstance(node.op, ast.Mult):
        return _power_bound(node.left, field) * _power_bound(node.right, field)
    assert isinstance(node.op, ast.Div)
    right = _shape(node.right)
    return _power_bound(node.left, field) / field.real(abs(right.value) or right.rate)


@lru_cache(maxsize=256)
def _prove(formula: str) -> Shape:
    """The shape of a formula that is a Laplace transform up to its value at 0, or a refusal."""
    shape = _shape(node := _parse(formula))
    if shape.kind != "monotone" or shape.negative:
        raise InvalidLawError(
            f'"{formula}" is not shown to be completely monotone by the closure rules; build it from exp(-B), B**-r,'
            " products and sums, where B is a Bernstein function such as x, 1 + x or log(1 + x).",
            formula=formula,
        )
    if not shape.extreme:
        raise InvalidLawError(f'"{formula}" is not shown to vanish at infinity: some rates would be zero.')
    with precision():
        value, derivative = _evaluate(node, ball(0), BALLS)
        if not (value.is_finite() and derivative.is_finite() and bool(value > 0) and bool(derivative < 0)):
            raise InvalidLawError(f'"{formula}" needs a positive value and a finite falling slope at x = 0.')
    return shape


@lru_cache(maxsize=256)
def _parse(formula: str) -> ast.expr:
    try:
        node = ast.parse(formula.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InvalidLawError(f'"{formula}" is not a formula; write for example "(1 + x)**-3".') from None
    level: list[ast.AST] = [node]
    # Level by level, since the walks that follow recurse.
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in ast.iter_child_nodes(parent) if isinstance(child, ast.expr)]
    if level:
        raise InvalidLawError(
            f'"{formula}" is nested more than {_DEEPEST} deep; write the formula of a fold with fewer terms.'
        )
    return node


def _unknown(node: ast.expr) -> InvalidLawError:
    return InvalidLawError(f'the closure rules do not cover "{ast.unparse(node)}" in a fold\'s formula.')


def _too_large(node: ast.expr) -> InvalidLawError:
    return InvalidLawError(
        f'the number "{ast.unparse(node)}" in a fold\'s formula is too large or too fine: its numerator and denominator'
        f" may have {_MOST_BITS} bits each (about 1e307)."
    )


def _constant(node: ast.expr) -> Fraction:
    shape = _shape(node)
    if shape.kind != "constant":
        raise _unknown(node)
    return shape.value


def _shape(node: ast.expr) -> Shape:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        if not math.isfinite(node.value):
            raise _too_large(node)
        return _number(node, Fraction(str(node.value)))
    if isinstance(node, ast.Name) and node.id == "x":
        return Shape("bernstein", extreme=True, rate=Fraction(1))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_shape(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        return _call(node, node.func.id, node.args[0])
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add | ast.Sub):
            right = _shape(node.right)
            return _sum(node, _shape(node.left), -right if isinstance(node.op, ast.Sub) else right)
        if isinstance(node.op, ast.Mult):
            return _product(node, _shape(node.left), _shape(node.right))
        if isinstance(node.op, ast.Div):
            return _product(node, _shape(node.left), _power(node, node.right, Fraction(-1)))
        if isinstance(node.op, ast.Pow):
            return _power(node, node.left, _constant(node.right))
    raise _unknown(node)


def _number(node: ast.expr, value: Fraction) -> Shape:
    # Kept within reach of a float, so that a formula that is proven can also be searched and drawn.
    if _bits(value) > _MOST_BITS:
        raise _too_large(node)
    return Shape("constant", negative=value < 0, value=value)


def _bits(value: Fraction) -> int:
    """The length of the longer of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _call(node: ast.expr, name: str, argument: ast.expr) -> Shape:
    inside = _shape(argument)
    if name == "exp" and inside.kind == "bernstein" and inside.negative:
        return Shape("monotone", extreme=inside.extreme, rate=inside.rate)
    if name == "log" and inside.kind == "bernstein" and not inside.negative and _at_zero(argument) >= 1:
        return Shape("bernstein", extreme=inside.extreme)
    raise _unknown(node)


def _sum(node: ast.BinOp, a: Shape, b: Shape) -> Shape:
    if a.kind == b.kind == "constant":
        return _number(node, a.value + b.value)
    if a.kind == "constant" or b.kind == "constant":
        constant, other = (a, b) if a.kind == "constant" else (b, a)
        if not constant.negative and not other.negative:
            extreme = other.extreme and (other.kind == "bernstein" or not constant.value)
            return Shape(other.kind, extreme=extreme, rate=other.rate if other.kind == "bernstein" else Fraction(0))
        if not constant.negative and other.kind == "monotone" and _at_zero(node) >= 0:
            return Shape("bernstein")
    elif a.kind == b.kind and a.negative == b.negative:
        if a.kind == "bernstein":
            return Shape("bernstein", a.negative, extreme=a.extreme or b.extreme, rate=a.rate + b.rate)
        return Shape("monotone", a.negative, extreme=a.extreme and b.extreme, rate=min(a.rate, b.rate))
    raise _unknown(node)


def _product(node: ast.expr, a: Shape, b: Shape) -> Shape:
    negative = a.negative != b.negative
    if a.kind == b.kind == "constant":
        return _number(node, a.value * b.value)
    if "constant" in (a.kind, b.kind):
        constant, other = (a, b) if a.kind == "constant" else (b, a)
        if constant.value:
            rate = other.rate * abs(constant.value) if other.kind == "bernstein" else other.rate
            return Shape(other.kind, negative, extreme=other.extreme, rate=rate, order=other.order)
    if a.kind == b.kind == "monotone":
        extreme = a.extreme or b.extreme
        return Shape("monotone", negative, extreme=extreme, rate=a.rate + b.rate, order=a.order + b.order)
    raise _unknown(node)


def _power(node: ast.expr, base: ast.expr, exponent: Fraction) -> Shape:
    inside = _shape(base)
    if abs(exponent) > _LARGEST_POWER or exponent == 0:
        raise _unknown(node)
    if inside.kind == "constant":
        if not inside.value or exponent != int(exponent):
            raise _unknown(node)
        # A power of b bits has at least (b - 1) times the exponent: refused before it is computed.
        if (_bits(inside.value) - 1) * abs(exponent) > _MOST_BITS:
            raise _too_large(node)
        return _number(node, inside.value ** int(exponent))
    if inside.kind == "bernstein" and not inside.negative:
        if 0 < exponent <= 1:
            return Shape("bernstein", extreme=inside.extreme, rate=inside.rate if exponent == 1 else Fraction(0))
        if exponent < 0 and _at_zero(base) > 0:
            return Shape("monotone", extreme=inside.extreme, order=-exponent if inside.rate else Fraction(0))
    if inside.kind == "monotone" and not inside.negative and exponent > 0 and exponent == int(exponent):
        return Shape("monotone", extreme=inside.extreme, rate=inside.rate * exponent, order=inside.order * exponent)
    raise _unknown(node)


def _at_zero(node: ast.expr) -> Fraction:
    """A rational at or below the value at 0; 0 itself where a difference of constants cancels exactly."""
    with precision():
        return lower(_evaluate(node, ball(0), BALLS)[0])


def _evaluate(node: ast.expr, x: Value, field: Field) -> tuple[Value, Value]:
    """Value and derivative at x, for nodes whose shape was proven."""
    if isinstance(node, ast.Name):
        return x, field.real(1)
    if isinstance(node, ast.Constant):
        return field.real(Fraction(str(node.value))), field.real(0)
    if isinstance(node, ast.UnaryOp):
        value, derivative = _evaluate(node.operand, x, field)
        return -value, -derivative
    if isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name)
        value, derivative = _evaluate(node.args[0], x, field)
        if node.func.id == "exp":
            grown = field.exp(value)
            return grown, grown * derivative
        return field.log(value), derivative / value
    assert isinstance(node, ast.BinOp)
    a, da = _evaluate(node.left, x, field)
    if isinstance(node.op, ast.Pow):
        exponent = _constant(node.right)
        if exponent < 0:
            inverse = 1 / field.power(a, -exponent)
            return inverse, field.real(exponent) * inverse * da / a
        rest = 1 / field.power(a, 1 - exponent) if exponent < 1 else field.power(a, exponent - 1)
        return field.power(a, exponent), field.real(exponent) * rest * da
    b, db = _evaluate(node.right, x, field)
    if isinstance(node.op, ast.Add | ast.Sub):
        return (a + b, da + db) if isinstance(node.op, ast.Add) else (a - b, da - db)
    if isinstance(node.op, ast.Mult):
        return a * b, da * b + a * db
    return a / b, (da * b - a * db) / (b * b)
