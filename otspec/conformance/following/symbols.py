"""Random numbers of which only the order is known: monotone functions of a uniform number each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from otspec._base import Number, exponential, is_number, over, plain_number, powered, size_of
from otspec.chance import Branch, CannotFollowError
from otspec.conformance.following.products import Product
from otspec.conformance.following.uniform import Uniform

_NEGLIGIBLE = 1e-9  # an addend this small beside a random number only keeps it from 0


@dataclass(frozen=True, eq=False)
class RandomNumber:
    """shift + factor · h(X), where h is a power or log, and X is uniform or exponential.

    Arithmetic with numbers gives another one; a comparison with a number, or of numbers that take
    part in a race, is a branch. All else is refused, by name.
    """

    uniform: Uniform | Product
    mirrored: bool = False  # take one minus the uniform number
    clock: bool = False  # whether X is −log of the uniform number, rather than that number
    shift: Number = 0
    factor: Number = 1
    power: Number = 1  # h(X) is X to this power; 0 stands for log X, of clocks alone

    def __add__(self, other: Any) -> Any:
        return self._with(other, "adds", self._plus)

    __radd__ = __add__

    def __neg__(self) -> RandomNumber:
        return replace(self, shift=-self.shift, factor=-self.factor)

    def __pos__(self) -> RandomNumber:
        return self

    def __abs__(self) -> RandomNumber:
        return -self if self < 0 else self

    def __sub__(self, other: Any) -> Any:
        return self._with(other, "subtracts", lambda c: self + -c)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, "subtracts", lambda c: -self + c)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, RandomNumber):
            return self._product(other)
        return self._with(other, "multiplies", self._times)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, "divides", lambda c: self._times(over(1, c)))

    def __rtruediv__(self, other: Any) -> Any:
        return self._with(other, "divides", lambda c: self._raised(-1) * c)

    def __pow__(self, other: Any) -> Any:
        return self._with(other, "takes powers of", self._raised)

    def __rpow__(self, other: Any) -> Any:
        return self._with(other, "takes powers of", lambda c: (self * math.log(c)).exp())

    def sqrt(self) -> RandomNumber:
        """Return the square root."""
        return self._raised(Fraction(1, 2))

    def log(self) -> RandomNumber:
        """Return the logarithm."""
        one = self._centered("takes the logarithm of")
        if one.power == 0 or one.factor <= 0:
            raise self._refused("it takes the logarithm of a random number that may be negative")
        shift = 0 if one.factor == 1 else math.log(one.factor)
        factor, power = (one.power, 0) if one.clock else (-one.power, 1)
        return replace(one, clock=True, shift=shift, factor=factor, power=power)

    def exp(self) -> RandomNumber:
        """Return the exponential."""
        if not self.clock or self.power not in (0, 1):
            raise self._refused("it takes the exponential of a random number")
        logarithm = self.power == 0
        factor = 1 if self.shift == 0 else math.exp(self.shift)
        power = self.factor if logarithm else -self.factor
        return replace(self, clock=logarithm, shift=0, factor=factor, power=power)

    def __lt__(self, other: Any) -> Any:
        if isinstance(other, RandomNumber):
            return self._less(other)
        return self._below(plain_number(other)) if is_number(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        if isinstance(other, RandomNumber):
            return other._less(self)
        if not is_number(other):
            return NotImplemented
        return other == other and not self._below(plain_number(other))

    __le__, __ge__ = __lt__, __gt__

    def __eq__(self, other: object) -> bool:
        """Return whether it is the same: to be equal to a number has no chance."""
        return isinstance(other, RandomNumber) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __bool__(self) -> bool:
        return True

    def __int__(self) -> int:
        low, high = self._ends()
        if not -1e9 < low <= high < 1e9:
            raise self._refused("it rounds a random number without bounds")
        wholes = range(math.floor(low) + 1, math.ceil(high))
        floor = next((whole - 1 for whole in wholes if self < whole), math.ceil(high) - 1)
        return floor if floor >= 0 else floor + 1

    __trunc__ = __int__

    def __floor__(self) -> int:
        low, _ = self._ends()
        if low < 0:
            raise self._refused("it rounds a random number that may be negative")
        return int(self)

    floor = __floor__

    def __float__(self) -> float:
        raise self._refused("it turns a random number into a float, or stores it among floats")

    def __index__(self) -> int:
        raise self._refused("it takes a random number for an integer")

    def __torch_function__(self, func: Any, *_: Any) -> Any:
        """Refuse what no interception is open for."""
        raise self._refused(f"it passes a random number to {getattr(func, '__name__', func)}")

    def _refused(self, what: str) -> CannotFollowError:
        return self.uniform.chance.refused(what)

    def _parts(self) -> tuple[Any, ...]:
        return self.uniform, self.mirrored, self.clock, self.shift, self.factor, self.power

    def _with(self, other: Any, verb: str, function: Callable[[Any], Any]) -> Any:
        if isinstance(other, RandomNumber):
            raise self._refused(f"it {verb} two random numbers")
        if not is_number(other):
            return NotImplemented
        number = plain_number(other)
        return function(number) if number == number else math.nan

    def _plus(self, c: Number) -> Any:
        return c if math.isinf(c) else replace(self, shift=self.shift + c)

    def _times(self, c: Number) -> Any:
        if c == 0:
            return c
        if math.isinf(c):
            return c if self > 0 else -c
        return replace(self, shift=self.shift * c, factor=self.factor * c)

    def _product(self, other: RandomNumber) -> RandomNumber:
        """Return the product of two uniform numbers, or of a product and one more."""
        if self == other:
            return self._raised(2)
        one, two = (self, other) if isinstance(other.uniform, Uniform) else (other, self)
        if not isinstance(two.uniform, Uniform):
            raise self._refused("it multiplies products of random numbers")
        forms = {(each.mirrored, each.clock, each.shift, each.power) for each in (one, two)}
        if forms != {(False, False, 0, 1)} or one.uniform is two.uniform:
            raise self._refused("it multiplies two random numbers")
        product = one.uniform.times(two.uniform)
        return replace(one, uniform=product, factor=one.factor * two.factor)

    def _raised(self, power: Number) -> RandomNumber:
        one = self._centered("takes powers of")
        if one.power == 0 or (one.factor < 0 and power not in (1, -1)):
            raise self._refused("it takes powers of a random number that may be negative")
        return replace(one, factor=powered(one.factor, power), power=one.power * power)

    def _centered(self, verb: str) -> RandomNumber:
        """Return the same number without a shift."""
        if math.fabs(self.shift) <= _NEGLIGIBLE * math.fabs(self.factor):
            return replace(self, shift=0)
        # s (1 − u) is a factor times the mirrored number.
        if self.shift == -self.factor and self.power == 1 and not self.clock:
            return replace(self, mirrored=not self.mirrored, shift=0, factor=self.shift)
        raise self._refused(f"it {verb} a random number plus another number")

    def _ends(self) -> tuple[float, float]:
        """Return two numbers between which it lies."""
        low, high = float(self.uniform.low), float(self.uniform.high)
        ends = [1 - high, 1 - low] if self.mirrored else [low, high]
        if self.clock:
            ends = [math.inf if end == 0 else -math.log(end) for end in ends]
        values = [self._at(end) for end in ends]
        return min(values), max(values)

    def _at(self, x: float) -> float:
        if self.power == 0:
            value = -math.inf if x == 0 else math.log(x)
        else:
            value = math.inf if x == 0 and self.power < 0 else x ** float(self.power)
        return float(self.shift) + float(self.factor) * value

    def _below(self, number: Number) -> bool:
        if number != number:  # NaN
            return False
        y = over(number - self.shift, self.factor)
        return self._map_below(y) if self.factor > 0 else not self._map_below(y)

    def _map_below(self, y: Number) -> bool:
        """Return whether h(X) is below y."""
        if self.power == 0:
            return self._base_below(exponential(y))
        if y <= 0:
            return False
        x = y if self.power == 1 else powered(y, over(1, self.power))
        return self._base_below(x) if self.power > 0 else not self._base_below(x)

    def _base_below(self, x: Number) -> bool:
        if self.clock:
            return x > 0 and not self._uniform_below(exponential(-x))
        return self._uniform_below(x)

    def _uniform_below(self, x: Number) -> bool:
        return not self.uniform.below(1 - x) if self.mirrored else self.uniform.below(x)

    def _less(self, other: RandomNumber) -> bool:
        """Return whether it is below another random number."""
        mine, others = self._ends(), other._ends()
        if mine[1] <= others[0] or others[1] <= mine[0]:
            return mine[1] <= others[0]
        kind, factor, rising = self.race()
        other_kind, other_factor, _ = other.race()
        if kind != other_kind:
            raise self._refused("it compares random numbers of different kinds with each other")
        if self.uniform is other.uniform:
            if self.mirrored != other.mirrored:
                raise self._refused("it compares a random number with itself, changed")
            return factor != other_factor and (factor < other_factor) == rising
        alike = factor == other_factor and self.mirrored == other.mirrored
        if alike and self._aligned(other):
            return self._less(other)
        one = self.uniform.racer(factor, self.mirrored, alike)
        return one.beats(other.uniform.racer(other_factor, other.mirrored, alike)) == rising

    def _aligned(self, other: RandomNumber) -> bool:
        """Narrow two uniform numbers to the same bounds, or apart; say whether they had others."""
        one, two = self.uniform, other.uniform
        if not isinstance(one, Uniform) or not isinstance(two, Uniform) or one.bounds == two.bounds:
            return False
        one.align(two)
        return True

    def race(self) -> tuple[tuple[Any, ...], Number, bool]:
        """Return which function of a clock times a factor it is, the factor, and if that rises."""
        if not self.clock:
            rising = (self.factor < 0) == (self.power > 0)
            kind = ("uniform", self.shift, self.factor, self.power > 0)
            return kind, size_of(self.power), rising
        if self.power == 0:
            return ("log", self.factor), exponential(over(self.shift, self.factor)), self.factor > 0
        factor = powered(size_of(self.factor), over(1, self.power))
        form = ("power", self.shift, self.factor > 0, self.power)
        return form, factor, (self.factor > 0) == (self.power > 0)


def uniform_number(chance: Branch) -> RandomNumber:
    """Return a number drawn uniformly between 0 and 1."""
    return RandomNumber(Uniform(chance))


def exponential_number(chance: Branch) -> RandomNumber:
    """Return a standard exponential number."""
    return RandomNumber(Uniform(chance), clock=True)


def gumbel_number(chance: Branch) -> RandomNumber:
    """Return a standard Gumbel number: minus the logarithm of an exponential one."""
    return RandomNumber(Uniform(chance), clock=True, factor=-1, power=0)
