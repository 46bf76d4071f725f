"""Agreement between raters, and what a judge's errors do to a rate."""

from scoring.agreement.alpha import KrippendorffAlpha, krippendorff_alpha
from scoring.agreement.bootstrap import KappaBootstrap, kappa_bootstrap
from scoring.agreement.judge import CorrectedRate, Proportion, corrected_rate, wilson
from scoring.agreement.kappa import Kappa, cohen_kappa, kappa_from_table, weight_matrix
from scoring.agreement.multirater import MultiRater, fleiss_kappa, gwet_ac1
from scoring.agreement.paired import McNemar, Wilcoxon, mcnemar, wilcoxon_signed_rank
from scoring.agreement.planning import labels_needed
from scoring.agreement.ratings import (
    ITEM_HEADERS,
    MISSING_WORDS,
    STATE_WORDS,
    PairAgreement,
    RatingTable,
    pairwise_agreement,
    rating_table,
)
from scoring.agreement.table import (
    AgreementSummary,
    ConfusionTable,
    agreement_summary,
    confusion_table,
)

__all__ = [
    "ITEM_HEADERS",
    "MISSING_WORDS",
    "STATE_WORDS",
    "AgreementSummary",
    "ConfusionTable",
    "CorrectedRate",
    "Kappa",
    "KappaBootstrap",
    "KrippendorffAlpha",
    "McNemar",
    "MultiRater",
    "PairAgreement",
    "Proportion",
    "RatingTable",
    "Wilcoxon",
    "agreement_summary",
    "cohen_kappa",
    "confusion_table",
    "corrected_rate",
    "fleiss_kappa",
    "gwet_ac1",
    "kappa_bootstrap",
    "kappa_from_table",
    "krippendorff_alpha",
    "labels_needed",
    "mcnemar",
    "pairwise_agreement",
    "rating_table",
    "weight_matrix",
    "wilcoxon_signed_rank",
    "wilson",
]
