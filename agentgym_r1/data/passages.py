"""The corpus of a question set while it is read: every paragraph of every question's context once, with its id."""

import hashlib

from agentgym_r1.types import Document


class Passages:
    """Gives paragraphs their ids and hands over the ones that are new.

    A paragraph's id is its title. Where several paragraphs share a title (MuSiQue cuts articles into parts), the first
    one read keeps the title and the n-th is ``title#n``. Paragraphs with the same title whose texts differ in white
    space only are one. Splits for evaluation are read first, so their ids do not depend on what else is installed.
    """

    def __init__(self) -> None:
        self._ids: dict[bytes, str] = {}
        self._taken: set[str] = set()
        self._new: list[Document] = []

    def add(self, title: str, text: str) -> str:
        """Return the id of a paragraph; queue it as a document when it was not seen before."""
        squeezed = "".join(text.split())
        key = hashlib.blake2b(f"{title}\0{squeezed}".encode(errors="surrogatepass"), digest_size=16).digest()
        known = self._ids.get(key)
        if known is not None:
            return known
        document = Document(self._free_id(title), title, text.strip())
        self._ids[key] = document.id
        self._taken.add(document.id)
        self._new.append(document)
        return document.id

    def drain(self) -> list[Document]:
        """Return the documents that are new since the last call, in the order they were read."""
        new, self._new = self._new, []
        return new

    def _free_id(self, title: str) -> str:
        number, candidate = 1, title
        while candidate in self._taken:
            number += 1
            candidate = f"{title}#{number}"
        return candidate
