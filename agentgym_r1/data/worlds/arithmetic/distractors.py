"""Sentences with numbers that do not matter."""

import re

from agentgym_r1.data.worlds.arithmetic.story import Story
from agentgym_r1.data.worlds.seeded import words

BACKWARD = frozenset(
    words(
        "she he they it her him his their them this that these those then others rest there such both further also "
        "another each every later after before beyond remaining"
    )
)


def distract(story: Story, count: int) -> None:
    """Insert up to ``count`` sentences with irrelevant numbers, never between a pronoun and its noun."""
    scenery = _scenery(story)
    for text in story.rng.sample(scenery + _somebody(story), count):
        places = [place for place, later in enumerate(story.sentences) if place and not _looks_back(later)]
        if text in scenery:
            places.append(0)
        if places:
            story.sentences.insert(story.pick(places), text)


def _looks_back(text: str) -> bool:
    return not BACKWARD.isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _scenery(story: Story) -> list[str]:
    number = story.number
    return [
        f"It is the {_ordinal(int(number(2, 28).value))} day of the month.",
        f"It is {number(3, 29)} degrees outside.",
        f"The nearest town has {number(3, 90) * 1000} inhabitants.",
        f"A bus stops nearby every {number(10, 40, by=5)} minutes.",
        f"The radio is playing a song that is {number(20, 60)} years old.",
        f"The clock on the wall is {number(2, 20)} minutes fast.",
    ]


def _somebody(story: Story) -> list[str]:
    number, who = story.number, story.person()
    return [
        f"{who}, who lives next door, has a dog that weighs {number(4, 40)} kilograms.",
        f"{who}, an old friend, calls {number(3, 6)} times during the day, but nobody answers.",
        f"{who}, a friend, edits a newsletter of {number(12, 48, by=4)} pages.",
        f"{who}, a neighbor, has lived on the same street for {number(3, 40)} years.",
        f"In the evening {who}, a neighbor, watches a film that lasts {number(80, 170)} minutes.",
        f"{who}, a friend, is training for a race of {number(5, 42)} kilometers.",
        f"{who}, who drops by, has just paid {number(12, 48)} dollars for a haircut.",
    ]


def _ordinal(number: int) -> str:
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 != 1 else 0, "th")
    return f"{number}{suffix}"
