"""Truths in their normal form: nothing is denied that can be said straight out, and rows of one kind lean to the right."""

from __future__ import annotations

from etude.decisions.logic import And, Negation, Or, Xor
from etude.decisions.looks import IsSame, NotSame
from etude.decisions.operator import Operator


def straightened(node: Operator) -> Operator:
    """The same without "it is false that" wherever that can be: to be for :func:`~etude.decisions.graph.rebuilt`, inputs first."""
    if isinstance(node, Negation):
        return denied(node.of)
    if isinstance(node, (And, Or)) and isinstance(node.left, type(node)):
        return type(node)(node.left.left, straightened(type(node)(node.left.right, node.right)))
    return node


def denied(truth: Operator) -> Operator:
    """The contrary of a truth in its normal form."""
    if isinstance(truth, Negation):
        return truth.of
    if isinstance(truth, (IsSame, NotSame)):
        return (NotSame if isinstance(truth, IsSame) else IsSame)(truth.left, truth.right)
    if isinstance(truth, (And, Or)):
        return (Or if isinstance(truth, And) else And)(denied(truth.left), denied(truth.right))
    if isinstance(truth, Xor):
        return Xor(denied(truth.left), truth.right)
    return Negation(truth)
