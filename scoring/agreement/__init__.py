"""Agreement between raters, and what a judge's errors do to a rate."""

from scoring.agreement.alpha import KrippendorffAlpha, krippendorff_alpha
from scoring.agreement.alpha_bootstrap import AlphaBootstrap, alpha_bootstrap
from scoring.agreement.alttest import AltTest, AltTestHuman, alt_test
from scoring.agreement.bootstrap import KappaBootstrap, kappa_bootstrap
from scoring.agreement.corrected import (
    CorrectedBootstrap,
    corrected_rate_bootstrap,
    corrected_rate_clustered,
)
from scoring.agreement.design import (
    DesignErrorRates,
    DesignEstimate,
    design_error_rates,
    design_kappa,
    design_rate,
)
from scoring.agreement.errors import CategoryScore, ErrorRates, category_scores, error_rates
from scoring.agreement.judge import CorrectedRate, Proportion, corrected_rate, wilson
from scoring.agreement.kappa import Kappa, cohen_kappa, kappa_from_table, weight_matrix
from scoring.agreement.marginal import StuartMaxwell, stuart_maxwell
from scoring.agreement.multirater import MultiRater, fleiss_kappa, gwet_ac1, gwet_ac2
from scoring.agreement.orders import OrderEffect, order_effect
from scoring.agreement.paired import McNemar, Wilcoxon, mcnemar, wilcoxon_signed_rank
from scoring.agreement.planning import expected_half_width, labels_needed
from scoring.agreement.powered import PredictionPowered, prediction_powered_rate
from scoring.agreement.ratings import (
    ITEM_HEADERS,
    MISSING_WORDS,
    STATE_WORDS,
    PairAgreement,
    RatingTable,
    pairwise_agreement,
    rating_table,
)
from scoring.agreement.repeats import (
    Drift,
    ItemStability,
    MeanEstimate,
    Stability,
    drift,
    stability,
)
from scoring.agreement.report import JudgeRates, JudgeReport, judge_report
from scoring.agreement.reveal import FlipRates, TimeSummary, flip_rates, time_summary
from scoring.agreement.steps import FirstWrongStep, StepLabel, first_wrong_step
from scoring.agreement.strata import Allocation, allocation, queue_strata
from scoring.agreement.table import (
    AgreementSummary,
    ConfusionTable,
    agreement_summary,
    confusion_table,
)
from scoring.agreement.verdict import (
    RANKING,
    RATE,
    REPLACING,
    JudgeVerdict,
    UseVerdict,
    VerdictRules,
    judge_verdict,
)

__all__ = [
    "ITEM_HEADERS",
    "MISSING_WORDS",
    "RANKING",
    "RATE",
    "REPLACING",
    "STATE_WORDS",
    "AgreementSummary",
    "Allocation",
    "AlphaBootstrap",
    "AltTest",
    "AltTestHuman",
    "CategoryScore",
    "ConfusionTable",
    "CorrectedBootstrap",
    "CorrectedRate",
    "DesignErrorRates",
    "DesignEstimate",
    "Drift",
    "ErrorRates",
    "FirstWrongStep",
    "FlipRates",
    "ItemStability",
    "JudgeRates",
    "JudgeReport",
    "JudgeVerdict",
    "Kappa",
    "KappaBootstrap",
    "KrippendorffAlpha",
    "McNemar",
    "MeanEstimate",
    "MultiRater",
    "OrderEffect",
    "PairAgreement",
    "PredictionPowered",
    "Proportion",
    "RatingTable",
    "Stability",
    "StepLabel",
    "StuartMaxwell",
    "TimeSummary",
    "UseVerdict",
    "VerdictRules",
    "Wilcoxon",
    "agreement_summary",
    "allocation",
    "alpha_bootstrap",
    "alt_test",
    "category_scores",
    "cohen_kappa",
    "confusion_table",
    "corrected_rate",
    "corrected_rate_bootstrap",
    "corrected_rate_clustered",
    "design_error_rates",
    "design_kappa",
    "design_rate",
    "drift",
    "error_rates",
    "expected_half_width",
    "first_wrong_step",
    "fleiss_kappa",
    "flip_rates",
    "gwet_ac1",
    "gwet_ac2",
    "judge_report",
    "judge_verdict",
    "kappa_bootstrap",
    "kappa_from_table",
    "krippendorff_alpha",
    "labels_needed",
    "mcnemar",
    "order_effect",
    "pairwise_agreement",
    "prediction_powered_rate",
    "queue_strata",
    "rating_table",
    "stability",
    "stuart_maxwell",
    "time_summary",
    "weight_matrix",
    "wilcoxon_signed_rank",
    "wilson",
]
