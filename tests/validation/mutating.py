"""Wrong versions of what a claim's check is made of: a piece of a function's text is replaced."""

import ast
import functools
import inspect
import sys
import textwrap
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module

from validation.registry import CLAIMS


def mutated(function, old, new):
    """The function with a piece of its text replaced, in the same module."""
    if isinstance(function, functools.partial):
        wrong = mutated(function.func, old, new)
        return functools.partial(wrong, *function.args, **function.keywords)
    plain = inspect.unwrap(function)
    if plain.__name__ == "<lambda>":
        source = _of_lambda(plain)
        assert old in source, f"{old!r} is not in {source}"
        return eval(f"({source.replace(old, new)})", plain.__globals__)  # noqa: S307
    source = textwrap.dedent(inspect.getsource(plain))
    body = source[source.index(f"def {plain.__name__}") :]
    assert old in body, f"{old!r} is not in {plain.__qualname__}"
    made = {}
    exec(compile(body.replace(old, new), f"<{plain.__name__}, {new!r}>", "exec"),  # noqa: S102
         plain.__globals__, made)  # fmt: skip
    return made[plain.__name__]


def _of_lambda(function):
    """The text of a lambda, which is the outermost one that begins in its line."""
    source, lambdas = _lambdas(inspect.getmodule(function))
    return ast.get_source_segment(source, lambdas[function.__code__.co_firstlineno])


@functools.cache
def _lambdas(module):
    """The text of a module, and the outermost lambda that begins in a line, by lines."""
    source, found = inspect.getsource(module), {}
    for each in ast.walk(ast.parse(source)):  # the outer ones first
        if isinstance(each, ast.Lambda):
            found.setdefault(each.lineno, each)
    return source, found


def _owners(name):
    """The objects that hold a function or method named from ``validation``, and its name there."""
    module, *path = name.split(".")
    found = import_module(f"validation.{module}")
    while path and inspect.ismodule(found) and not hasattr(found, path[0]):
        found = import_module(f"{found.__name__}.{path.pop(0)}")
    for part in path[:-1]:
        found = getattr(found, part)
        if inspect.ismodule(found):
            continue
    own = vars(found)[path[-1]]
    yield found, path[-1], own
    if inspect.ismodule(found):
        for other in [each for key, each in sys.modules.items() if key.startswith("validation.")]:
            for key, value in list(vars(other).items()):
                if value is own and (other, key) != (found, path[-1]):
                    yield other, key, own


@functools.cache
def _caches():
    """All functions of ``validation`` that remember what they returned: their modules are read."""
    modules = [each for key, each in sys.modules.items() if key.startswith("validation")]
    values = [value for module in modules for value in vars(module).values()]
    return {id(value): value for value in values if hasattr(value, "cache_clear")}.values()


def _forget():
    for function in _caches():
        function.cache_clear()


@contextmanager
def wrong(identifier, mutant):
    """What is to hold of a claim, as checked with a mutant.

    A mutant is (old, new), of the text of the check, or (function, old, new), of a function that
    it calls, named from ``validation`` on, such as "notation.overlap".
    """
    holding = CLAIMS[identifier].holding
    *function, old, new = mutant
    if not function:
        yield replace(holding, slack=mutated(holding.slack, old, new))
        return
    places = list(_owners(function[0]))
    changed = mutated(places[0][2], old, new)
    try:
        for owner, name, _ in places:
            setattr(owner, name, changed)
        _forget()
        yield holding
    finally:
        for owner, name, own in places:
            setattr(owner, name, own)
        _forget()
