"""Reasoning graphs: building them, their distances, and what a pool of them says (paper A)."""

from scoring.graphs.build import GraphStructure, build_graph, graph_structure
from scoring.graphs.coherence import Coherence, coherence, histogram_entropy
from scoring.graphs.decoding import (
    Gsc,
    Vote,
    graph_self_consistency,
    node_support,
    self_consistency,
)
from scoring.graphs.ged import PairwiseCosts, SsGed, pairwise_costs, pairwise_distances, ss_ged
from scoring.graphs.geometry import PoolGeometry, pool_geometry
from scoring.graphs.solvers import assignment_solver
from scoring.types import ReasoningGraph

__all__ = [
    "Coherence",
    "GraphStructure",
    "Gsc",
    "PairwiseCosts",
    "PoolGeometry",
    "ReasoningGraph",
    "SsGed",
    "Vote",
    "assignment_solver",
    "build_graph",
    "coherence",
    "graph_self_consistency",
    "graph_structure",
    "histogram_entropy",
    "node_support",
    "pairwise_costs",
    "pairwise_distances",
    "pool_geometry",
    "self_consistency",
    "ss_ged",
]
