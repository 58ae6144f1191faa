"""Where conditions on numbers from 0 to 1 cease to hold: several binary digits a call."""

import numpy as np


def thresholds(holds, shape, digits, at_once=4):
    """What each threshold is between, to so many binary digits: two arrays of the shape.

    The condition takes numbers (2^at_once - 1, *shape), each entry one of its own, and says where
    it holds: below the threshold of an entry, not above it; of several thresholds one is found.
    Calls with a few small rows take about as long with many.
    """
    low, width, parts = np.zeros(shape), 1.0, 2**at_once
    shares = np.arange(1, parts).reshape(-1, *[1] * low.ndim) / parts
    for _ in range(-(-digits // at_once)):
        below = np.logical_and.accumulate(holds(low + width * shares)).sum(axis=0)
        width /= parts
        low = low + width * below
    return low, low + width
