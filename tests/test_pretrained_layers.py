"""Layers of a model in a text: numbers and ranges."""

import pytest

from otspec.models.pretrained import layers_of


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("14", (14,)),
        ("14,17,20,23", (14, 17, 20, 23)),
        ("14-17", (14, 15, 16, 17)),
        (" 3 , 14 - 16,15,3", (3, 14, 15, 16)),
        ("0-0", (0,)),
        ([14, 3, 14], (14, 3)),
        (range(2), (0, 1)),
        ({5}, (5,)),
        ([], ()),
    ],
)
def test_layers_are_numbers_and_ranges(text, layers):
    assert layers_of(text) == layers


@pytest.mark.parametrize("part", ["", "-1", "17-14", "a", "1-", "1--2", "1.5", "1234567", "²"])
def test_what_is_no_layer_is_refused(part):
    with pytest.raises(ValueError, match="write layers such as 14,17 or 14-17"):
        layers_of(f"3,{part}")


@pytest.mark.parametrize("layers", [3, None, b"3", {3: 4}, [-1], [1.0], [True], ["3"]])
def test_what_holds_no_layers_is_refused_by_its_name(layers):
    with pytest.raises(ValueError, match=r"^skip_layers (is|must be)"):
        layers_of(layers, "skip_layers")
