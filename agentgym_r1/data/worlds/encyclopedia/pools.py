"""The questions of a world as logical forms, in pools whose order depends on the world only."""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Sequence

from agentgym_r1.data.worlds.encyclopedia.forms import Chain, Choice, Crossing, Form, Hop, Path, Sameness
from agentgym_r1.data.worlds.encyclopedia.graph import Graph
from agentgym_r1.data.worlds.encyclopedia.relations import BACKWARD, FORWARD

SAME_ANSWER, PAIRS, DRAWS = 15, 300, 2
SPOUSE_OF_PARENT = frozenset({("father", "spouse"), ("mother", "spouse")})
KINSHIP = {
    ("father", "father"): "paternal grandfather",
    ("father", "mother"): "paternal grandmother",
    ("mother", "father"): "maternal grandfather",
    ("mother", "mother"): "maternal grandmother",
    ("spouse", "father"): "father-in-law",
    ("spouse", "mother"): "mother-in-law",
}
CROSSED = {
    "novel": (("author", "set_in"), ("author", "publisher")),
    "film": (("director", "star"), ("director", "studio")),
    "opera": (("composer", "premiered_in"), ("composer", "dedicatee")),
    "painting": (("painter", "shown_in"), ("painter", "depicts")),
    "building": (("architect", "stands_in"), ("architect", "named_after")),
    "battle": (("victor", "held_in"),),
    "congress": (("chair", "held_in"),),
    "species": (("described_by", "native_to"),),
}
MEASURED = (
    ("person", "birth_date"), ("person", "death_date"), ("mountain", "height"), ("mountain", "climbed"),
    ("river", "length"), ("lake", "depth"), ("town", "population"), ("town", "founded"), ("novel", "published"),
    ("film", "released"), ("opera", "premiered"), ("painting", "painted"), ("building", "opened"),
    ("company", "founded"), ("university", "founded"), ("award", "first_awarded"), ("battle", "held"),
    ("congress", "held"), ("species", "described"),
)  # fmt: skip
MAKERS = (
    ("film", "director"), ("novel", "author"), ("opera", "composer"), ("painting", "painter"),
    ("building", "architect"), ("company", "founder"),
)  # fmt: skip
SHARED = (
    ("person", "occupation"), ("person", "alma_mater"), ("town", "region"), ("town", "river"), ("mountain", "region"),
    ("novel", "author"), ("novel", "publisher"), ("film", "director"), ("film", "studio"), ("opera", "composer"),
    ("painting", "painter"), ("painting", "shown_in"), ("building", "architect"), ("species", "native_to"),
    ("company", "founder"),
)  # fmt: skip


def chains(graph: Graph, rng: random.Random, *, hops: int, tries: int) -> list[Form]:
    """Return questions for the end of a path of ``hops`` hops: random walks, ``tries`` from every entity."""
    starts = [title for title in graph.entities for _ in range(tries)]
    rng.shuffle(starts)
    options = {title: _forward(graph, title) for title in graph.entities}
    walks = (_walk(graph, rng, start, hops, options) for start in starts)
    return _capped(graph, (walk for walk in walks if walk is not None))


def backward_chains(graph: Graph, rng: random.Random, *, hops: int) -> list[Form]:
    """Return questions whose last hop goes from an object to its only subject, as from an author to the one novel."""
    paths = []
    for (relation, thing), subjects in graph.reverse():
        if relation in BACKWARD and len(subjects) == 1 and thing in graph.entities:
            for _ in range(3 * DRAWS):
                lead = _path_to(graph, rng, thing, hops - 1, avoid=subjects[0])
                paths.append(lead and Path(lead.start, (*lead.hops, Hop(relation, backward=True))))
    rng.shuffle(paths)
    return _capped(graph, (path for path in paths if path is not None and _sound(graph, path)))


def kinship(graph: Graph, rng: random.Random) -> list[Form]:
    """Return chains that are called by one word, as a grandfather is."""
    paths = [
        Path(person, (Hop(first), Hop(second)))
        for person in graph.of_kind("person")
        for first, second in KINSHIP
        if (relative := graph.get(person, first)) and graph.get(relative, second)
    ]
    rng.shuffle(paths)
    return _capped(graph, (path for path in paths if len(set(path.nodes(graph))) == 3))


def crossings(graph: Graph, rng: random.Random, *, long: bool) -> list[Form]:
    """Return questions for the one entity that two paths lead to; ``long`` makes the first path one hop longer."""
    drawn = (
        _crossing(graph, rng, title, relations, long=long)
        for kind, pairs in CROSSED.items()
        for title, relations in itertools.product(graph.of_kind(kind), pairs * DRAWS)
    )
    found: list[Form] = list(dict.fromkeys(crossing for crossing in drawn if crossing is not None))
    rng.shuffle(found)
    return found


def choices(graph: Graph, rng: random.Random, *, bridge: bool) -> list[Form]:
    """Return questions which of two entities, or (``bridge``) whose maker, is ahead in a number."""
    found: list[Form] = []
    for kind, hops, relation in _BRIDGE_MEASURES if bridge else _MEASURES:
        paths = [path for path in _paths(graph, kind, hops) if (path.end(graph), relation) in graph.numbers]
        rng.shuffle(paths)
        shifts = range(1, 2 + PAIRS // len(paths)) if paths else ()
        for pair in itertools.islice((pair for shift in shifts for pair in zip(paths, paths[shift:])), PAIRS):
            first, second = (graph.numbers[path.end(graph), relation] for path in pair)
            if first != second and _apart(graph, pair):
                found.append(Choice(relation, rng.random() < 0.5, pair))
    rng.shuffle(found)
    return found


def sameness(graph: Graph, rng: random.Random, *, bridge: bool, same: bool) -> list[Form]:
    """Return yes or no questions whether two paths end at the same thing, all with the answer ``same``.

    The pools of yes and of no hold equally many questions about every relation, so that a relation betrays no answer.
    """
    found: list[Form] = []
    for kind, hops in _BRIDGE_SHARINGS if bridge else _SHARINGS:
        paths = _paths(graph, kind, hops)
        rng.shuffle(paths)
        groups: dict[str, list[Path]] = {}
        for path in paths:
            groups.setdefault(path.end(graph), []).append(path)
        alike = [pair for group in groups.values() for pair in itertools.pairwise(group) if _apart(graph, pair)]
        unlike = [
            pair
            for pair in itertools.pairwise(paths)
            if pair[0].end(graph) != pair[1].end(graph) and _apart(graph, pair)
        ]
        count = min(len(alike), len(unlike), PAIRS // 2)
        found.extend(Sameness(pair) for pair in rng.sample(alike if same else unlike, count))
    rng.shuffle(found)
    return found


def _walk(
    graph: Graph, rng: random.Random, start: str, hops: int, options: dict[str, tuple[list[Hop], list[Hop]]]
) -> Path | None:
    nodes, taken = [start], []
    for left in range(hops - 1, -1, -1):
        able = options[nodes[-1]][0 if left else 1]
        if not able:
            return None
        taken.append(rng.choice(able))
        nodes.append(graph.facts[nodes[-1], taken[-1].relation])
    path = Path(start, tuple(taken))
    return path if len(set(nodes)) == len(nodes) and _fair(graph, path, nodes[-1]) else None


def _forward(graph: Graph, node: str) -> tuple[list[Hop], list[Hop]]:
    """Return the hops from an entity that lead to another entity, and all hops."""
    final = [_HOPS[relation] for relation in graph.relations(node) if relation in _HOPS]
    return [hop for hop in final if graph.facts[node, hop.relation] in graph.entities], final


def _sound(graph: Graph, path: Path) -> bool:
    """Tell whether the path never returns, needs a passage for every hop, and is fair."""
    nodes, titles = path.nodes(graph), path.passages(graph)
    return len(set(nodes)) == len(nodes) and len(set(titles)) == len(titles) and _fair(graph, path, nodes[-1])


def _fair(graph: Graph, path: Path, end: str) -> bool:
    """Tell whether the start does not name the end, and no two hops are a shorter one in disguise."""
    relations = tuple(hop.relation for hop in path.hops)
    parents = SPOUSE_OF_PARENT.isdisjoint(itertools.pairwise(relations))
    return parents and relations not in KINSHIP and not _named(graph, end, path.start)


def _named(graph: Graph, answer: str, start: str) -> bool:
    return graph.name(answer).casefold() in graph.name(start).casefold()


def _capped(graph: Graph, paths: Iterable[Path]) -> list[Form]:
    """Return each path once, without those whose answer was given often already: no constant answer may pay."""
    given: Counter[str] = Counter()
    kept: list[Form] = []
    for path in dict.fromkeys(paths):
        answer = path.end(graph)
        given[answer] += 1
        if given[answer] <= SAME_ANSWER:
            kept.append(Chain(path))
    return kept


def _crossing(
    graph: Graph, rng: random.Random, title: str, relations: tuple[str, str], *, long: bool
) -> Crossing | None:
    ends = [graph.get(title, relation) for relation in relations]
    if ends[0] is None or ends[1] is None:
        return None
    rivals = [graph.subjects(relations[0], ends[0]), graph.subjects(relations[1], ends[1])]
    if set(rivals[0]) & set(rivals[1]) != {title} or len(rivals[0]) == 1:
        return None
    first = _path_to(graph, rng, ends[0], 1 + long, avoid=title)
    second = _path_to(graph, rng, ends[1], 1, avoid=title)
    if first is None or second is None or not _apart(graph, (first, second)):
        return None
    if _named(graph, title, first.start) or _named(graph, title, second.start):
        return None
    return Crossing(title, relations, (first, second))


def _path_to(graph: Graph, rng: random.Random, end: str, hops: int, *, avoid: str) -> Path | None:
    """Draw a forward path that leads to an entity and does not visit ``avoid``."""
    taken: tuple[Hop, ...] = ()
    for _ in range(hops):
        able = [(start, relation) for start, relation in graph.incoming(end) if start != avoid and relation in _HOPS]
        if not able:
            return None
        end, relation = rng.choice(able)
        taken = (_HOPS[relation], *taken)
    return Path(end, taken)


def _paths(graph: Graph, kind: str, hops: tuple[Hop, ...]) -> list[Path]:
    """Return the paths of these forward hops from all entities of the kind that have them."""
    return [Path(title, hops) for title in graph.of_kind(kind) if _leads_on(graph, title, hops)]


def _leads_on(graph: Graph, title: str, hops: Sequence[Hop]) -> bool:
    node: str | None = title
    for hop in hops:
        node = graph.get(node, hop.relation) if node is not None else None
    return node is not None


def _apart(graph: Graph, pair: tuple[Path, Path]) -> bool:
    """Tell whether no entity lies on both paths, their ends aside."""
    first, second = (path.nodes(graph) for path in pair)
    inner = [set(nodes[:-1] or nodes) for nodes in (first, second)]
    return not inner[0] & inner[1]


_HOPS = {relation: Hop(relation) for relation in FORWARD}
_MEASURES: list[tuple[str, tuple[Hop, ...], str]] = [(kind, (), relation) for kind, relation in MEASURED]
_BRIDGE_MEASURES: list[tuple[str, tuple[Hop, ...], str]] = [
    (kind, (Hop(maker),), date) for kind, maker in MAKERS for date in ("birth_date", "death_date")
]
_SHARINGS: list[tuple[str, tuple[Hop, ...]]] = [(kind, (Hop(relation),)) for kind, relation in SHARED]
_BRIDGE_SHARINGS: list[tuple[str, tuple[Hop, ...]]] = [
    (kind, (Hop(maker), Hop(relation))) for kind, maker in MAKERS for relation in ("born_in", "died_in", "alma_mater")
]
