"""A task as a graph of nodes and edges: for drawing, and for the tools of networkx."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from etude.decisions.graph import Count, DecisionGraph, Match, Operator, Select
from etude.names import EtudeError

if TYPE_CHECKING:
    from networkx import MultiDiGraph


@dataclass(frozen=True)
class Edge:
    """``source`` is the input of ``target`` that ``role`` names; both are numbers of nodes."""

    source: int
    target: int
    role: str


def inputs_by_role(node: Operator) -> list[tuple[str, Operator]]:
    """The inputs of an operator, each with what it is for: the name of its field, or the property that a Select compares."""
    if isinstance(node, Select):
        return [(m.property, m.value) for m in node.matches]
    if isinstance(node, Count):
        return [(f"of {k}", part) for k, part in enumerate(node.of)]
    return [(f.name, getattr(node, f.name)) for f in fields(node) if isinstance(getattr(node, f.name), Operator)]  # type: ignore[arg-type]


def parameters(node: Operator) -> dict[str, Any]:
    """What an operator is set to, its inputs aside."""
    plain = {f.name: getattr(node, f.name) for f in fields(node)}  # type: ignore[arg-type]
    return {name: value for name, value in plain.items() if not isinstance(value, (Operator, tuple))}


def nodes_and_edges(task: DecisionGraph) -> tuple[list[Operator], list[Edge]]:
    """Every different node once, the root first, inputs after what they are inputs of; and the edges from inputs to operators."""
    numbers: dict[Operator, int] = {}

    def visit(node: Operator) -> None:
        for _, part in inputs_by_role(node):
            if part not in numbers:
                visit(part)
        numbers[node] = len(numbers)

    visit(task.root)
    order = list(numbers)[::-1]
    place = {node: k for k, node in enumerate(order)}
    return order, [Edge(place[part], place[node], role) for node in order for role, part in inputs_by_role(node)]


def to_networkx(task: DecisionGraph) -> MultiDiGraph[int]:
    """The task as a networkx graph whose edges run from inputs to operators; node 0 is the root.

    Nodes have ``operator``, ``kind`` (what they give) and their parameters, edges their ``role``.
    """
    import networkx

    nodes, edges = nodes_and_edges(task)
    found: MultiDiGraph[int] = networkx.MultiDiGraph(frames=task.frames)
    for k, node in enumerate(nodes):
        found.add_node(k, operator=type(node).__name__, kind=node.kind(), parameters=parameters(node))
    for number, edge in enumerate(edges):
        found.add_edge(edge.source, edge.target, role=edge.role, order=number)
    return found


def from_networkx(graph: MultiDiGraph[int]) -> DecisionGraph:
    """The task of such a graph."""
    import networkx

    if not networkx.is_directed_acyclic_graph(graph):
        raise EtudeError("a task must be a directed graph without cycles")
    made: dict[int, Operator] = {}
    roots = [k for k in graph if graph.out_degree(k) == 0]
    if len(roots) != 1:
        raise EtudeError(f"a task must have one root, that is a node without an outgoing edge; this graph has {len(roots)}")
    for k in networkx.topological_sort(graph):
        ins = sorted(graph.in_edges(k, data=True), key=lambda edge: edge[2]["order"])
        made[k] = _node(graph.nodes[k], [(data["role"], made[source]) for source, _, data in ins])
    return DecisionGraph(made[roots[0]], graph.graph["frames"])


def _node(data: dict[str, Any], inputs: list[tuple[str, Operator]]) -> Operator:
    kind = Operator.kinds.get(data["operator"])
    if kind is None:
        raise EtudeError(f"unknown operator {data['operator']!r}; valid: {', '.join(Operator.kinds)}")
    if kind is Select:
        return Select(data["parameters"]["when"], tuple(Match(role, value) for role, value in inputs))
    given: dict[str, Any] = {"of": tuple(value for _, value in inputs)} if kind is Count else dict(inputs)
    try:
        found: Operator = kind(**data["parameters"], **given)
    except TypeError:
        raise EtudeError(f"{data['operator']} does not take the inputs {', '.join(given) or 'none'}") from None
    return found
