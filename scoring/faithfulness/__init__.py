"""Faithfulness: does the answer follow from the reasoning, and what goes with it (paper A)."""

from scoring.faithfulness.ablation import (
    AblatedQuestion,
    AblationSummary,
    Regression,
    ablated_question,
    ablation_summary,
)
from scoring.faithfulness.accuracy import PairedAccuracy, paired_accuracy
from scoring.faithfulness.answering import (
    Counterfactual,
    EarlyAnswering,
    EarlyAnsweringSummary,
    EarlyAnsweringTargets,
    counterfactual,
    counterfactual_edits,
    early_answering,
    early_answering_summary,
    early_answering_targets,
    lanham_aoc,
)
from scoring.faithfulness.association import (
    BootstrapSummary,
    CorrelationBootstrap,
    correlation_bootstrap,
    distance_metric,
    trace_bootstrap,
)
from scoring.faithfulness.correlation import Correlations, correlations
from scoring.faithfulness.distance import lcs_length, medoid_distance
from scoring.faithfulness.sensitivity import (
    ALPHAS,
    BETAS,
    GAMMAS,
    Reading,
    SensitivityCell,
    SensitivityQuestion,
    SensitivityTable,
    Setting,
    sensitivity,
)

__all__ = [
    "ALPHAS",
    "BETAS",
    "GAMMAS",
    "AblatedQuestion",
    "AblationSummary",
    "BootstrapSummary",
    "CorrelationBootstrap",
    "Correlations",
    "Counterfactual",
    "EarlyAnswering",
    "EarlyAnsweringSummary",
    "EarlyAnsweringTargets",
    "PairedAccuracy",
    "Reading",
    "Regression",
    "SensitivityCell",
    "SensitivityQuestion",
    "SensitivityTable",
    "Setting",
    "ablated_question",
    "ablation_summary",
    "correlation_bootstrap",
    "correlations",
    "counterfactual",
    "counterfactual_edits",
    "distance_metric",
    "early_answering",
    "early_answering_summary",
    "early_answering_targets",
    "lanham_aoc",
    "lcs_length",
    "medoid_distance",
    "paired_accuracy",
    "sensitivity",
    "trace_bootstrap",
]
