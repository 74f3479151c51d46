from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.data.passages import Passages
from agentgym_r1.types import Document


def test_a_paragraph_gets_its_title_as_id_and_is_handed_over_once():
    passages = Passages()
    assert passages.add("Moor", "Wet ground.") == "Moor"
    assert passages.drain() == [Document("Moor", "Moor", "Wet ground.")]
    assert passages.add("Moor", "Wet ground.") == "Moor"
    assert passages.drain() == []


def test_paragraphs_that_share_a_title_are_numbered_from_the_second():
    passages = Passages()
    assert [passages.add("Moor", text) for text in ("one", "two", "three", "two")] == [
        "Moor",
        "Moor#2",
        "Moor#3",
        "Moor#2",
    ]


def test_a_real_title_that_looks_like_a_number_keeps_ids_apart():
    passages = Passages()
    assert passages.add("Moor#2", "a boat") == "Moor#2"
    assert [passages.add("Moor", text) for text in ("one", "two")] == ["Moor", "Moor#3"]


def test_white_space_alone_makes_no_new_paragraph():
    passages = Passages()
    assert passages.add("Moor", "Wet ground. Reeds. ") == passages.add("Moor", "Wet  ground.Reeds.")
    assert passages.drain() == [Document("Moor", "Moor", "Wet ground. Reeds.")]


@given(st.lists(st.tuples(st.sampled_from(["a", "a#2", "a#3", "b"]), st.text(max_size=3))))
def test_ids_are_unique_and_stable_for_any_paragraphs(paragraphs):
    passages = Passages()
    first = [passages.add(*paragraph) for paragraph in paragraphs]
    documents = passages.drain()
    assert len({document.id for document in documents}) == len(documents) == len(set(first))
    assert [passages.add(*paragraph) for paragraph in paragraphs] == first
    assert passages.drain() == []
