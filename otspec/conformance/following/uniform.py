"""A uniform random number of which only comparisons are known: each is a branch."""

from typing import Any

from otspec._base import Number
from otspec.chance import Branch, CannotFollowError
from otspec.conformance.following.products import Product, Products, Racer


class Uniform:
    """A number drawn uniformly between 0 and 1, known to lie between two bounds.

    To compare it with a number is a random choice if that lies between the bounds, and narrows
    them. Two comparisons with the same ``Uniform`` therefore agree with each other, as those of
    code that uses one random number twice.

    Parameters
    ----------
    chance : Branch
        What makes the choices.
    """

    def __init__(self, chance: Branch) -> None:
        self.chance = chance
        self.low: Number = 0
        self.high: Number = 1
        self._racer: Racer | None = None
        self._mirrored = False
        self._products: Products | None = None
        self._is_factor = False

    @property
    def bounds(self) -> tuple[Number, Number]:
        """What it is known to lie between."""
        return self.low, self.high

    @property
    def narrowed(self) -> bool:
        """Whether anything is known of it but its place in a race."""
        return self.low > 0 or self.high < 1

    def align(self, other: "Uniform") -> None:
        """Narrow this number and another one until their bounds are the same, or apart."""
        for one, two in ((self, other), (other, self)):
            for edge in two.bounds:
                one.below(edge)

    def below(self, threshold: Number) -> bool:
        """Return whether the number is below a threshold; to be equal has no chance."""
        if threshold != threshold:  # NaN
            return False
        if self._products is not None:
            return self._products.below(0, threshold)
        if threshold <= self.low or threshold >= self.high:
            return bool(threshold >= self.high)
        if self._racer is not None or self._is_factor:
            raise self.chance.refused(
                "it compares a random number with another one, or multiplies them, and then "
                "compares it with a number"
            )
        if self.chance.choose((threshold - self.low, self.high - threshold)) == 0:
            self.high = threshold
            return True
        self.low = threshold
        return False

    def racer(self, factor: Number, mirrored: bool, aligned: bool = False) -> Racer:
        """Return a factor above 0 times −log of this number, or of one minus it, as a racer.

        Refuses a number of which something is known, unless all are aligned to the same bounds and
        factor, or which ran with another factor.
        """
        if not aligned and self.narrowed:
            raise self.chance.refused(
                "it compares a random number with a number, and then with another random number"
            )
        if self._racer is None:
            if self._products is not None or self._is_factor:
                raise self.chance.refused("it ranks a random number that is a factor of a product")
            self._racer, self._mirrored = Racer(self.chance, factor), mirrored
        if mirrored != self._mirrored or not self._racer.alike(factor):
            raise self.chance.refused(
                "it uses the random numbers of a race again in a race of other probabilities"
            )
        return self._racer

    def times(self, factor: "Uniform") -> Product:
        """Return the product with another uniform number; both must be unused elsewhere."""
        if self._products is None:
            if self._racer is not None or self._is_factor:
                raise self.chance.refused("it multiplies a random number that is used elsewhere")
            self._products = Products(self.chance, self.low, self.high)
        product = self._products.longer(0, factor)
        factor.become_factor()
        return product

    def become_factor(self) -> None:
        """Be used by a product from now on."""
        used = self.narrowed or self._racer is not None or self._products is not None
        if used and not self._is_factor:
            raise self.chance.refused("it multiplies a random number that is used elsewhere")
        self._is_factor = True

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, Uniform):
            raise CannotFollowError("it compares two random numbers with each other")
        return self.below(other)

    __le__ = __lt__

    def __gt__(self, other: Any) -> bool:
        return not self < other

    __ge__ = __gt__
