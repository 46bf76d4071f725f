"""Deduction: consistency of a model's derivations over prefixes and hops (paper C)."""

from scoring.deduction.arithmetic import Program, evaluate, run_program
from scoring.deduction.cells import Cell, Status, Verdict, cells_of, judge_values
from scoring.deduction.consistency import (
    CellMean,
    Consistency,
    DedCons,
    HopMean,
    PrefixMean,
    cons,
    ded_cons,
)
from scoring.deduction.coverage import Coverage, coverage
from scoring.deduction.decay import MIN_SHARE, decay, kept_hops
from scoring.deduction.errors import (
    CATEGORIES,
    ErrorRate,
    LabelledResponse,
    Propagation,
    accuracy_group,
    error_rates,
    propagation,
    propagation_share,
)
from scoring.deduction.exact import exact, format_number, within
from scoring.deduction.memory import (
    FinalAccuracy,
    MemorisationGap,
    final_accuracy,
    memorisation_gap,
)
from scoring.deduction.mutate import Mutation, Mutations, mutate
from scoring.deduction.reading import (
    NumberChanges,
    StatedValues,
    number_changes,
    read_named_values,
    read_stated_values,
)
from scoring.deduction.sanity import (
    FAILURES,
    SanityFailure,
    SanityReport,
    Survivors,
    check_dict,
    check_template,
    survivors,
)
from scoring.deduction.styles import (
    STYLES,
    StyleComparison,
    TTest,
    compare_styles,
    paired_observations,
)
from scoring.deduction.syndeduct import SynQuestion, synthesize
from scoring.deduction.synscore import SynScore, score_synthetic
from scoring.deduction.syntax import Refusal
from scoring.deduction.template import (
    Span,
    Template,
    fill,
    first_stated,
    hops_after,
    placeholders,
    template_from_dict,
)

__all__ = [
    "CATEGORIES",
    "FAILURES",
    "MIN_SHARE",
    "STYLES",
    "Cell",
    "CellMean",
    "Consistency",
    "Coverage",
    "DedCons",
    "ErrorRate",
    "FinalAccuracy",
    "HopMean",
    "LabelledResponse",
    "MemorisationGap",
    "Mutation",
    "Mutations",
    "NumberChanges",
    "PrefixMean",
    "Program",
    "Propagation",
    "Refusal",
    "SanityFailure",
    "SanityReport",
    "Span",
    "StatedValues",
    "Status",
    "StyleComparison",
    "Survivors",
    "SynQuestion",
    "SynScore",
    "TTest",
    "Template",
    "Verdict",
    "accuracy_group",
    "cells_of",
    "check_dict",
    "check_template",
    "compare_styles",
    "cons",
    "coverage",
    "decay",
    "ded_cons",
    "error_rates",
    "evaluate",
    "exact",
    "fill",
    "final_accuracy",
    "first_stated",
    "format_number",
    "hops_after",
    "judge_values",
    "kept_hops",
    "memorisation_gap",
    "mutate",
    "number_changes",
    "paired_observations",
    "placeholders",
    "propagation",
    "propagation_share",
    "read_named_values",
    "read_stated_values",
    "run_program",
    "score_synthetic",
    "survivors",
    "synthesize",
    "template_from_dict",
    "within",
]
