"""Values shared by the scoring room: traces, steps, graphs. Everything here is frozen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
else:

    def __getattr__(name: str) -> Any:
        """Make the array type on demand: whoever only reads traces need not wait for numpy."""
        if name == "FloatArray":
            import numpy as np
            from numpy.typing import NDArray

            return NDArray[np.float64]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


AnswerKind = Literal["auto", "number", "boolean", "choice", "date", "text"]
"""The kind a question's answer has; `auto` lets the normaliser find out."""

NormalForm = tuple[str, Fraction] | tuple[str, bool] | tuple[str, str]
"""A tagged normal form, e.g. ``("number", Fraction(9, 5))``; equal iff the same answer."""


@dataclass(frozen=True, slots=True)
class ParseIssue:
    """One thing the parser noticed or decided, so that nothing is guessed silently.

    Attributes
    ----------
    code
        Stable machine name, e.g. ``"self_reference"``.
    message
        What was found and what was done about it, for a reader.
    step
        0-based step index the issue is about, or None for the whole trace.
    """

    code: str
    message: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One reasoning step.

    Attributes
    ----------
    index
        0-based position after renumbering; equals its place in ``Trace.steps``.
    text
        The step's text without numbering and without its annotation. Never empty.
    depends_on
        Indices of *earlier* steps this one uses, ascending, without repeats. Empty = a premise.
    annotated
        Whether the model itself said what this step depends on. False means `depends_on` follows
        the rule for missing annotations.
    code
        A code line that belongs to the step (Faithful-COT), else None.
    """

    index: int
    text: str
    depends_on: tuple[int, ...] = ()
    annotated: bool = True
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One parsed chain of thought.

    Attributes
    ----------
    steps
        The steps in order; empty when nothing usable was found.
    answer_text
        The final answer as the model wrote it, or None when none was found.
    answer
        Its tagged normal form, or None when it could not be normalised.
    issues
        Everything the parser noticed, in reading order.
    """

    steps: tuple[Step, ...]
    answer_text: str | None
    answer: NormalForm | None
    issues: tuple[ParseIssue, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether the trace has at least one step, so that a graph can be built."""
        return len(self.steps) > 0

    @property
    def unannotated(self) -> int:
        """How many steps carry no annotation of their own."""
        return sum(not s.annotated for s in self.steps)


@dataclass(frozen=True, slots=True)
class Fact:
    """An atomic statement of a step: a node of a reasoning graph.

    Attributes
    ----------
    text
        What is stated. Never empty.
    step
        0-based index of the step it comes from.
    """

    text: str
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class ReasoningGraph:
    """A directed acyclic or cyclic graph of facts with their embeddings (paper A, section 3).

    Parameters
    ----------
    embeddings : array_like, shape (n, d)
        One vector per node, unnormalised, finite and none zero. n >= 1.
    edges : sequence of (u, v)
        v depends on u. 0 <= u, v < n, u != v, no repeats.
    facts : sequence of Fact, optional
        Either empty or one per node.
    answer : hashable, optional
        The trace's normalised answer, None when it has none.
    terminals : sequence of int, optional
        Conclusion nodes, ascending. None = the nodes of out-degree 0, or every node when a cycle
        leaves none.

    Raises
    ------
    ValueError
        Naming the node, edge or fact at fault.
    """

    embeddings: FloatArray
    edges: tuple[tuple[int, int], ...] = ()
    facts: tuple[Fact, ...] = ()
    answer: Any = None
    terminals: tuple[int, ...] = field(default=())

    def __init__(
        self,
        embeddings: ArrayLike,
        edges: Iterable[Sequence[int]] = (),
        facts: Iterable[Fact] = (),
        answer: Any = None,
        terminals: Iterable[int] | None = None,
    ) -> None:
        vectors = _checked_embeddings(embeddings)
        n = len(vectors)
        pairs = _checked_edges(edges, n)
        kept = tuple(facts)
        if kept and len(kept) != n:
            raise ValueError(f"{len(kept)} facts for {n} nodes: give one per node, or none")
        for name, value in (
            ("embeddings", vectors),
            ("edges", pairs),
            ("facts", kept),
            ("answer", answer),
            ("terminals", _checked_terminals(terminals, pairs, n)),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_nodes(self) -> int:
        """Number of facts."""
        return len(self.embeddings)

    @property
    def n_edges(self) -> int:
        """Number of dependencies."""
        return len(self.edges)

    def to_networkx(self) -> nx.DiGraph[int]:
        """Return the structure as a networkx graph, facts as the node attribute ``fact``."""
        import networkx as nx

        g: nx.DiGraph[int] = nx.DiGraph()
        for i in range(self.n_nodes):
            g.add_node(i, fact=self.facts[i] if self.facts else None)
        g.add_edges_from(self.edges)
        return g


def _checked_embeddings(embeddings: ArrayLike) -> FloatArray:
    import numpy as np

    vectors = np.array(embeddings, dtype=np.float64)
    if vectors.ndim != 2 or vectors.shape[0] == 0 or vectors.shape[1] == 0:
        raise ValueError(f"embeddings must have shape (n, d) with n, d >= 1, not {vectors.shape}")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if bad.size:
        raise ValueError(f"the embedding of node {bad[0]} is not finite")
    zero = np.flatnonzero(~vectors.any(axis=1))
    if zero.size:
        raise ValueError(f"the embedding of node {zero[0]} is the zero vector: it has no direction")
    vectors.setflags(write=False)
    return vectors


def _checked_edges(edges: Iterable[Sequence[int]], n: int) -> tuple[tuple[int, int], ...]:
    pairs: dict[tuple[int, int], None] = {}
    for edge in edges:
        if len(edge) != 2:
            raise ValueError(f"edge {tuple(edge)} must be a pair (u, v)")
        u, v = int(edge[0]), int(edge[1])
        if not (0 <= u < n and 0 <= v < n):
            raise ValueError(f"edge ({u}, {v}) names a node outside 0..{n - 1}")
        if u == v:
            raise ValueError(f"edge ({u}, {v}) is a self-loop")
        if (u, v) in pairs:
            raise ValueError(f"edge ({u}, {v}) is given twice")
        pairs[u, v] = None
    return tuple(pairs)


def _checked_terminals(
    terminals: Iterable[int] | None, edges: tuple[tuple[int, int], ...], n: int
) -> tuple[int, ...]:
    if terminals is None:
        sources = {u for u, _ in edges}
        return tuple(i for i in range(n) if i not in sources) or tuple(range(n))
    chosen = tuple(sorted({int(t) for t in terminals}))
    if not chosen:
        raise ValueError("terminals is empty: a graph has at least one conclusion")
    if chosen[0] < 0 or chosen[-1] >= n:
        raise ValueError(f"terminals {chosen} name a node outside 0..{n - 1}")
    return chosen
