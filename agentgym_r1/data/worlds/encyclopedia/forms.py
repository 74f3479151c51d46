"""The logical form of a question: paths through the graph, and what is compared or intersected at their ends."""

from dataclasses import dataclass

from agentgym_r1.data.worlds.encyclopedia.graph import Graph


@dataclass(frozen=True, slots=True)
class Hop:
    """One step along a relation: from subject to object, or backwards from the object to its only subject."""

    relation: str
    backward: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A walk that starts at an entity."""

    start: str
    hops: tuple[Hop, ...]

    def nodes(self, graph: Graph) -> list[str]:
        """Return what the walk visits, the start included."""
        nodes = [self.start]
        for hop in self.hops:
            nodes.append(step(graph, nodes[-1], hop))
        return nodes

    def end(self, graph: Graph) -> str:
        """Return where the walk ends."""
        return self.nodes(graph)[-1]

    def passages(self, graph: Graph) -> list[str]:
        """Return the titles of the passages that state the hops, in order."""
        nodes = self.nodes(graph)
        return [nodes[place + hop.backward] for place, hop in enumerate(self.hops)]


@dataclass(frozen=True, slots=True)
class Chain:
    """Where does the path end?"""

    path: Path


@dataclass(frozen=True, slots=True)
class Crossing:
    """Which entity of the answer's kind has the ends of the two paths as objects of the two relations?"""

    answer: str
    relations: tuple[str, str]
    paths: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Choice:
    """For which of the two paths' starts is this number, stated of the path's end, larger (or smaller)?"""

    relation: str
    larger: bool
    paths: tuple[Path, Path]


@dataclass(frozen=True, slots=True)
class Sameness:
    """Do the two paths end at the same object?"""

    paths: tuple[Path, Path]


Form = Chain | Crossing | Choice | Sameness


def step(graph: Graph, node: str, hop: Hop) -> str:
    """Return where a hop leads; the builder of a path has made sure that it leads to one place."""
    if hop.backward:
        (subject,) = graph.subjects(hop.relation, node)
        return subject
    return graph.facts[node, hop.relation]


def passages(graph: Graph, form: Form) -> list[str]:
    """Return the titles of the passages that are needed to answer, each once, in reasoning order."""
    match form:
        case Chain(path):
            titles = path.passages(graph)
        case Crossing(answer, _, paths):
            titles = [title for path in paths for title in path.passages(graph)] + [answer]
        case Choice(_, _, paths):
            titles = [title for path in paths for title in path.nodes(graph)]
        case Sameness(paths):
            titles = [title for path in paths for title in path.nodes(graph)[:-1]]
    return list(dict.fromkeys(titles))


def answer(graph: Graph, form: Form) -> str:
    """Return the answer: the title of an entity, a plain object, yes or no."""
    match form:
        case Chain(path):
            return path.end(graph)
        case Crossing(title, _, _):
            return title
        case Choice(relation, larger, (first, second)):
            ahead = graph.numbers[first.end(graph), relation] > graph.numbers[second.end(graph), relation]
            return first.start if ahead == larger else second.start
        case Sameness((first, second)):
            return "yes" if first.end(graph) == second.end(graph) else "no"
