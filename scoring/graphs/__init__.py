"""Reasoning graphs: building them, their distances, and what a pool of them says (paper A)."""

from scoring.graphs.agreement import cota, embedding_cota, embedding_entailment
from scoring.graphs.build import (
    GraphStructure,
    build_graph,
    graph_structure,
    with_missing_rule,
)
from scoring.graphs.coherence import Coherence, coherence, histogram_entropy
from scoring.graphs.decoding import (
    Gsc,
    Vote,
    graph_self_consistency,
    node_support,
    self_consistency,
)
from scoring.graphs.evidence import NearestFact, StepEvidence, step_evidence
from scoring.graphs.ged import PairwiseCosts, SsGed, pairwise_costs, pairwise_distances, ss_ged
from scoring.graphs.geometry import PoolGeometry, pool_geometry
from scoring.graphs.metrics import PoolMetric, pool_metrics
from scoring.graphs.orientation import METRICS, MetricInfo
from scoring.graphs.solvers import assignment_solver
from scoring.graphs.topo import TopoUq, topo_distances, topo_summary, topo_uncertainty, topo_uq
from scoring.graphs.topology import (
    REGIMES,
    ModelTopology,
    TopologyMap,
    TopologyPoint,
    topology_map,
    topology_regime,
)
from scoring.graphs.uncertainty import (
    Laplacian,
    laplacian,
    redundancy,
    semantic_entropy,
)
from scoring.types import ReasoningGraph

__all__ = [
    "METRICS",
    "REGIMES",
    "Coherence",
    "GraphStructure",
    "Gsc",
    "Laplacian",
    "MetricInfo",
    "ModelTopology",
    "NearestFact",
    "PairwiseCosts",
    "PoolGeometry",
    "PoolMetric",
    "ReasoningGraph",
    "SsGed",
    "StepEvidence",
    "TopoUq",
    "TopologyMap",
    "TopologyPoint",
    "Vote",
    "assignment_solver",
    "build_graph",
    "coherence",
    "cota",
    "embedding_cota",
    "embedding_entailment",
    "graph_self_consistency",
    "graph_structure",
    "histogram_entropy",
    "laplacian",
    "node_support",
    "pairwise_costs",
    "pairwise_distances",
    "pool_geometry",
    "pool_metrics",
    "redundancy",
    "self_consistency",
    "semantic_entropy",
    "ss_ged",
    "step_evidence",
    "topo_distances",
    "topo_summary",
    "topo_uncertainty",
    "topo_uq",
    "topology_map",
    "topology_regime",
    "with_missing_rule",
]
