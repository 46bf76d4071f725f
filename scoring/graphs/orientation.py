"""Which way every number of a pool points and how far it can go, for whoever prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Kind = Literal["coherence", "divergence", "heterogeneity", "uncertainty", "agreement", "support"]


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Orientation and range of a metric.

    Attributes
    ----------
    kind
        What it is a measure of.
    higher
        What a higher value means.
    range
        Where it lies, in words a reader can check: m traces, β the weight of conclusions.
    undefined
        When there is no value.
    """

    kind: Kind
    higher: str
    range: str
    undefined: str = "fewer than two graphs"


METRICS: Mapping[str, MetricInfo] = MappingProxyType(
    {
        "grcs": MetricInfo("coherence", "traces more alike", "(0, 1]; 1 = all alike"),
        "divergence": MetricInfo("divergence", "traces further apart", "[0, 1 + β]; 0 = all alike"),
        "dispersion": MetricInfo("heterogeneity", "distances more unequal", "[0, (1 + β)/2]"),
        "entropy": MetricInfo(
            "heterogeneity", "distances spread over more bins", "[0, ln(bins)] nats"
        ),
        "topo_uq": MetricInfo(
            "uncertainty", "edit costs more unequal", ">= 0; 0 = all equally far apart"
        ),
        "topo_uq_anchor": MetricInfo(
            "uncertainty", "edit costs from the medoid more unequal", ">= 0; 0 = all equally far"
        ),
        "topo_uq_unit": MetricInfo(
            "uncertainty", "unit edit costs more unequal", ">= 0; 0 = all equally far apart"
        ),
        "topo_uq_unit_anchor": MetricInfo(
            "uncertainty", "unit costs from the medoid more unequal", ">= 0; 0 = all equally far"
        ),
        "redundancy": MetricInfo(
            "uncertainty", "more steps unused by the conclusion", "[0, 1]", "no graph"
        ),
        "cota": MetricInfo("agreement", "steps resemble each other more", "[0, 1]; 1 = fully"),
        "cota_model": MetricInfo("agreement", "steps entail each other more", "[0, 1]; 1 = fully"),
        "semantic_entropy": MetricInfo(
            "uncertainty",
            "more meanings, more evenly",
            "[0, ln(meanings)] nats",
            "no parsed answer",
        ),
        "eigv": MetricInfo("uncertainty", "more separate meanings", "[1, m]"),
        "deg": MetricInfo("uncertainty", "traces less similar", "[0, (m − 1)/m]"),
        "ecc": MetricInfo("uncertainty", "traces further from their centre", "[0, √(m − 1)]"),
        "node_support": MetricInfo("support", "more other traces hold the fact", "[0, 1]"),
        "gsc_score": MetricInfo("support", "more central and better supported", "at most 1"),
    }
)
"""By the name of the field or function that returns the number."""
