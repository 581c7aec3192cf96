"""A task as a graph of nodes and edges: for drawing, and for the tools of networkx (extra 'graphs')."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from etude.decisions.graph import DecisionGraph
from etude.decisions.operator import Operator, operator_class
from etude.names import EtudeError

if TYPE_CHECKING:
    from networkx import MultiDiGraph


@dataclass(frozen=True)
class Edge:
    """``source`` is the input of ``target`` that ``role`` names; both are numbers of nodes."""

    source: int
    target: int
    role: str


def nodes_and_edges(task: DecisionGraph) -> tuple[list[Operator], list[Edge]]:
    """Every different node once, the root first, inputs after what they are inputs of; and the edges from inputs to operators."""
    numbers: dict[Operator, int] = {}

    def visit(node: Operator) -> None:
        for part in node.inputs():
            if part not in numbers:
                visit(part)
        numbers[node] = len(numbers)

    visit(task.root)
    order = list(numbers)[::-1]
    place = {node: k for k, node in enumerate(order)}
    return order, [Edge(place[part], place[node], role) for node in order for role, part in zip(node.roles(), node.inputs(), strict=True)]


def to_networkx(task: DecisionGraph) -> MultiDiGraph[int]:
    """The task as a networkx graph whose edges run from inputs to operators; node 0 is the root.

    Nodes have ``operator``, ``kind`` (what they give) and their parameters, edges their ``role``.
    """
    networkx = _networkx()

    nodes, edges = nodes_and_edges(task)
    found: MultiDiGraph[int] = networkx.MultiDiGraph(frames=task.frames)
    for k, node in enumerate(nodes):
        found.add_node(k, operator=node.json_kind, kind=node.kind(), parameters=node.settings())
    for number, edge in enumerate(edges):
        found.add_edge(edge.source, edge.target, role=edge.role, order=number)
    return found


def from_networkx(graph: MultiDiGraph[int]) -> DecisionGraph:
    """The task of such a graph."""
    networkx = _networkx()

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
    try:
        return operator_class(data["operator"]).assembled(data["parameters"], inputs)
    except TypeError:
        raise EtudeError(f"{data['operator']} does not take the inputs {', '.join(role for role, _ in inputs) or 'none'}") from None


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise EtudeError("graphs for networkx need networkx, which is not installed: pip install 'etude[graphs]'") from None
    return networkx
