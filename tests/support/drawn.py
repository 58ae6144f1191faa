"""What plots show, read back from their artists."""

import numpy as np

from otspec.plots.canvas import _TEXTS


def said(axes):
    """Return what the marks of axes say, one text after the other."""
    return [text for each in axes.findobj() for text in _TEXTS.get(each, ())]


def curve(axes, label):
    (line,) = [line for line in axes.lines if line.get_label() == label]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def words_of(artist):
    """Return what the marks of one artist say."""
    return _TEXTS[artist]
