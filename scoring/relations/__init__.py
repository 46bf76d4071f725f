"""Relations: how far a model contradicts itself, where, and what to do about it (paper B)."""

from scoring.relations.align import Alignment, align
from scoring.relations.axes import (
    AxisEdges,
    ReconstructedMap,
    axis_edges,
    axis_word,
    kendall_tau,
    order_from_values,
    reconstructed_map,
)
from scoring.relations.baseline import (
    CoinFlip,
    RecoveryPoint,
    coin_flip_baseline,
    recovery_curve,
)
from scoring.relations.compare import (
    ModelComparison,
    ScoreCorrelation,
    compare_models,
    score_correlation,
)
from scoring.relations.cycles import (
    CyclePacking,
    CycleReview,
    ReviewCycle,
    pack_cycles,
    review_cycles,
)
from scoring.relations.family import Family, derive_family, make_family
from scoring.relations.inconsistency import METHODS, Inconsistency, Method, inconsistency
from scoring.relations.kin_contradictions import (
    ExcludedTriple,
    KinshipContradictions,
    KinshipError,
    NotInverse,
    TwoGenders,
    kinship_contradictions,
    kinship_error,
)
from scoring.relations.kin_repair import KinshipRepair, kinship_repair
from scoring.relations.kin_words import ALSO_ACCEPT, NONE, SELF, WORDS, normal_word
from scoring.relations.kinship import compose
from scoring.relations.knowledge import (
    Detection,
    KnowledgeProbe,
    Rate,
    detection_rates,
    knowledge_probe,
)
from scoring.relations.measures import (
    AnswerPreference,
    Blame,
    ErrorRate,
    Preference,
    answer_preference,
    blame,
    error_rate,
)
from scoring.relations.points import (
    DisplacementCheck,
    check_displacements,
    contradictory_loop,
    displacements,
    make_points,
    quadrant,
)
from scoring.relations.repair import Edit, Repair, repair

__all__ = [
    "ALSO_ACCEPT",
    "METHODS",
    "NONE",
    "SELF",
    "WORDS",
    "Alignment",
    "AnswerPreference",
    "AxisEdges",
    "Blame",
    "CoinFlip",
    "CyclePacking",
    "CycleReview",
    "Detection",
    "DisplacementCheck",
    "Edit",
    "ErrorRate",
    "ExcludedTriple",
    "Family",
    "Inconsistency",
    "KinshipContradictions",
    "KinshipError",
    "KinshipRepair",
    "KnowledgeProbe",
    "Method",
    "ModelComparison",
    "NotInverse",
    "Preference",
    "Rate",
    "ReconstructedMap",
    "RecoveryPoint",
    "Repair",
    "ReviewCycle",
    "ScoreCorrelation",
    "TwoGenders",
    "align",
    "answer_preference",
    "axis_edges",
    "axis_word",
    "blame",
    "check_displacements",
    "coin_flip_baseline",
    "compare_models",
    "compose",
    "contradictory_loop",
    "derive_family",
    "detection_rates",
    "displacements",
    "error_rate",
    "inconsistency",
    "kendall_tau",
    "kinship_contradictions",
    "kinship_error",
    "kinship_repair",
    "knowledge_probe",
    "make_family",
    "make_points",
    "normal_word",
    "order_from_values",
    "pack_cycles",
    "quadrant",
    "reconstructed_map",
    "recovery_curve",
    "repair",
    "review_cycles",
    "score_correlation",
]
