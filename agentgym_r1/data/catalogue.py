"""Where the published data sets are: licence, homepage, and every file with its size and sha256.

Revisions are pinned, so that everybody who downloads a set has the same bytes. A size or hash that nobody published is
None; the manifest of the installed set then records what came.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from agentgym_r1.errors import unknown_name

HUGGING_FACE = "https://huggingface.co/datasets"
ALFWORLD_RELEASES = "https://github.com/alfworld/alfworld/releases/download"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a data set.

    Attributes:
        name: the file's name once downloaded, unique within its set.
        url: where it is.
        split: the split it belongs to, or empty when it serves all of them (a corpus, an index, a catalogue).
        bytes: its exact size, or None when it is not published.
        sha256: its hash in hex, or None when it is not published.
    """

    name: str
    url: str
    split: str = ""
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """One published data set.

    Attributes:
        name: what the commands call it.
        title: what its authors call it.
        licence: of the data, as its authors state it.
        homepage: where a person reads about it and finds it when a URL here has moved.
        files: in the order of the splits.
        tasks: the published number of tasks of each split; empty for corpora and indexes.
        note: what a person must know before downloading, or empty.
    """

    name: str
    title: str
    licence: str
    homepage: str
    files: tuple[RemoteFile, ...]
    tasks: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def bytes(self) -> int | None:
        """Size of all files together, or None when one of them is unknown."""
        sizes = [file.bytes for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)


def data_set(name: str) -> DataSet:
    """Return the entry of a data set; raise ConfigError with the closest name when there is none."""
    if name not in CATALOGUE:
        raise unknown_name("data set", name, CATALOGUE)
    return CATALOGUE[name]


def _hugging_face(repository: str, revision: str, path: str) -> str:
    return f"{HUGGING_FACE}/{repository}/resolve/{revision}/{path}"


def _gsm8k() -> DataSet:
    folder = (
        "https://raw.githubusercontent.com/openai/grade-school-math/"
        "3101c7d5072418e28b9008a6636bde82a006892c/grade_school_math/data"
    )
    return DataSet(
        name="gsm8k",
        title="GSM8K",
        licence="MIT",
        homepage="https://github.com/openai/grade-school-math",
        files=(
            RemoteFile(
                "train.jsonl",
                f"{folder}/train.jsonl",
                "train",
                4_166_206,
                "17f347dc51477c50d4efb83959dbb7c56297aba886e5544ee2aaed3024813465",
            ),
            RemoteFile(
                "test.jsonl",
                f"{folder}/test.jsonl",
                "test",
                749_738,
                "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
            ),
        ),
        tasks={"train": 7_473, "test": 1_319},
    )


def _hotpotqa() -> DataSet:
    repository, revision = "hotpotqa/hotpot_qa", "1908d6afbbead072334abe2965f91bd2709910ab"

    def file(name: str, split: str, size: int, sha256: str) -> RemoteFile:
        return RemoteFile(name, _hugging_face(repository, revision, f"distractor/{name}"), split, size, sha256)

    return DataSet(
        name="hotpotqa",
        title="HotpotQA v1.1, distractor setting",
        licence="CC BY-SA 4.0",
        homepage="https://hotpotqa.github.io",
        files=(
            file(
                "train-00000-of-00002.parquet",
                "train",
                165_624_177,
                "76d3bb3048a7cc73c1958107c0c5872a00d7e7d00c105b81e92f6769e7822e68",
            ),
            file(
                "train-00001-of-00002.parquet",
                "train",
                166_162_479,
                "713661628434fbb19fff7392e2e321e4ed107e3c7c7784d0690946e5f722763f",
            ),
            file(
                "validation-00000-of-00001.parquet",
                "dev",
                27_452_575,
                "c20b638ca82b21d04fe12e14ff417ad05153d4d215a65de54497fca4e972f7c6",
            ),
        ),
        tasks={"train": 90_447, "dev": 7_405},
    )


def _hotpotqa_abstracts() -> DataSet:
    name = "enwiki-20171001-pages-meta-current-withlinks-abstracts.tar.bz2"
    return DataSet(
        name="hotpotqa-abstracts",
        title="Wikipedia abstracts of October 2017, HotpotQA's fullwiki corpus (5,233,329 passages)",
        licence="CC BY-SA 4.0",
        homepage="https://hotpotqa.github.io/wiki-readme.html",
        files=(
            RemoteFile(
                name,
                f"https://nlp.stanford.edu/projects/hotpotqa/{name}",
                bytes=1_553_565_403,
                sha256="1acca1c5cc93c4890ea51091d2bad7c3ef6987aead127ab88728dc9e26555729",
            ),
        ),
    )


def _twowiki() -> DataSet:
    repository, revision = "xanhho/2WikiMultihopQA", "612bc5039a457880d9e7d84c3b0a4cf154b70e4f"
    return DataSet(
        name="2wiki",
        title="2WikiMultiHopQA",
        licence="Apache-2.0",
        homepage="https://github.com/Alab-NII/2wikimultihop",
        files=(
            RemoteFile(
                "train.parquet",
                _hugging_face(repository, revision, "train.parquet"),
                "train",
                sha256="a0f464f1604edf40ad990b605c61c03d56911c106d09ad32becf6afcf3201d52",
            ),
            RemoteFile(
                "dev.parquet",
                _hugging_face(repository, revision, "dev.parquet"),
                "dev",
                30_056_098,
                "c0d8b60b9026b728fb07ad74c5252a0f188f6942e8ba5c02df4dfa369502ea8d",
            ),
        ),
        tasks={"train": 167_454, "dev": 12_576},
    )


def _musique() -> DataSet:
    repository, revision = "bdsaglam/musique", "22873a405dd809893b22ada0b499299fb612d2df"
    train, dev = "musique_ans_v1.0_train.jsonl", "musique_ans_v1.0_dev.jsonl"
    return DataSet(
        name="musique",
        title="MuSiQue-Ans v1.0",
        licence="CC BY 4.0",
        homepage="https://github.com/StonyBrookNLP/musique",
        files=(
            RemoteFile(
                train,
                _hugging_face(repository, revision, train),
                "train",
                sha256="83a75b1e11e4e9bb8f8308e72ac40ca617ae4431b3a0d955b61cab259248490a",
            ),
            RemoteFile(
                dev,
                _hugging_face(repository, revision, dev),
                "dev",
                30_439_728,
                "15fa63794d18a94ce12411aca6e2327e65b6e83b0b1490efab3f1962e48abf3b",
            ),
        ),
        tasks={"train": 19_938, "dev": 2_417},
    )


def _wiki18() -> DataSet:
    repository, revision = "PeterJinGo/wiki-18-corpus", "69c1c00ffe7c5554c68d8548355cb22e46aabc51"
    return DataSet(
        name="wiki-18",
        title="Wikipedia of December 2018 in 21,015,324 passages of 100 words, Search-R1's corpus",
        licence="CC BY-SA 3.0",
        homepage=f"{HUGGING_FACE}/{repository}",
        files=(
            RemoteFile(
                "wiki-18.jsonl.gz",
                _hugging_face(repository, revision, "wiki-18.jsonl.gz"),
                bytes=5_123_307_260,
                sha256="7abd929223399cd63c52b499f289bf4f9039be1e9f8c43e1cb3938305b2317db",
            ),
        ),
    )


def _wiki18_e5() -> DataSet:
    repository, revision = "PeterJinGo/wiki-18-e5-index", "a4d31160a035f30764604f4827cd8f1d0315eb86"
    return DataSet(
        name="wiki-18-e5",
        title="Flat faiss index of wiki-18 by e5-base-v2",
        licence="not stated",
        homepage=f"{HUGGING_FACE}/{repository}",
        files=(
            RemoteFile("part_aa", _hugging_face(repository, revision, "part_aa"), bytes=42_949_672_960),
            RemoteFile("part_ab", _hugging_face(repository, revision, "part_ab"), bytes=21_609_402_413),
        ),
        note="the index is the two parts one after the other",
    )


def _alfworld() -> DataSet:
    return DataSet(
        name="alfworld",
        title="ALFWorld json_2.1",
        licence="MIT",
        homepage="https://github.com/alfworld/alfworld",
        files=(
            RemoteFile(
                "json_2.1.1_json.zip",
                f"{ALFWORLD_RELEASES}/0.2.2/json_2.1.1_json.zip",
                bytes=72_018_818,
                sha256="25171f16e20ad7b048c47275c45b0babf3aa1cbab29cec97387922350a9844bc",
            ),
            RemoteFile(
                "json_2.1.3_tw-pddl.zip",
                f"{ALFWORLD_RELEASES}/0.4.2/json_2.1.3_tw-pddl.zip",
                bytes=36_507_267,
                sha256="5df77ea759f2211a4106082839ddbbb790f1ba4e7d097ed732cf453f72aa36cf",
            ),
        ),
        tasks={"train": 3_553, "valid_seen": 140, "valid_unseen": 134},
    )


def _webshop(name: str, title: str, files: tuple[RemoteFile, ...]) -> DataSet:
    human = _webshop_file(
        "items_human_ins.json", 5_137_548, "cf78667548a71786e1d9049c24b802e48e1084ad4bb021cae56ce1f6d96954a3"
    )
    return DataSet(
        name=name,
        title=title,
        licence="MIT (the listings' own rights are unclear)",
        homepage="https://github.com/princeton-nlp/WebShop",
        files=(*files, human),
    )


def _webshop_file(name: str, size: int, sha256: str) -> RemoteFile:
    repository, revision = "YWZBrandon/webshop-data", "ce990fff5aee388db2706f07820c578ab68e0453"
    return RemoteFile(name, _hugging_face(repository, revision, name), bytes=size, sha256=sha256)


WEBSHOP_SMALL = (
    _webshop_file(
        "items_shuffle_1000.json", 4_467_013, "30a4765c3a327af72d9a9a95a6b2486d516f0fa1d3ecd83681901ce82a21b269"
    ),
    _webshop_file(
        "items_ins_v2_1000.json", 147_099, "f88a36314a397b53b3d9c3fa5878e5f7b26d35019a51ec83fbedeca61a948f6f"
    ),
)
WEBSHOP_FULL = (
    _webshop_file(
        "items_shuffle.json", 5_479_720_229, "2ef591d65df3af89e972ab72468eb82cbf124d876552d9f3678667edd620a6c8"
    ),
    _webshop_file("items_ins_v2.json", 186_295_270, "1d36af476bdb8f82a5da62bd8acdabe54cd8de2fa84010d37da5c4890feb447e"),
)


def _pasa() -> DataSet:
    repository, revision = "CarlanLark/pasa-dataset", "232428b0c867268c3b8ded90db4d98c1b30501d6"

    def file(path: str, split: str) -> RemoteFile:
        return RemoteFile(path.replace("/", "_"), _hugging_face(repository, revision, path), split)

    return DataSet(
        name="pasa",
        title="PaSa: AutoScholarQuery, RealScholarQuery and their paper database",
        licence="CC BY-NC-SA 4.0",
        homepage=f"{HUGGING_FACE}/{repository}",
        files=(
            file("AutoScholarQuery/train.jsonl", "train"),
            file("AutoScholarQuery/dev.jsonl", "dev"),
            file("AutoScholarQuery/test.jsonl", "test"),
            file("RealScholarQuery/test.jsonl", "real"),
            file("paper_database/id2paper.json", ""),
            file("paper_database/cs_paper_2nd.zip", ""),
        ),
        tasks={"train": 33_551, "dev": 1_000, "test": 1_000, "real": 50},
        note="gated: accept the terms on the homepage and download it there",
    )


def _litsearch() -> DataSet:
    repository, revision = "princeton-nlp/LitSearch", "9573fb284a1026c998df47024b888a163f0f0e25"

    def file(path: str, split: str) -> RemoteFile:
        return RemoteFile(path.replace("/", "_"), _hugging_face(repository, revision, path), split)

    shards = (f"corpus_clean/full-{shard:05}-of-00006.parquet" for shard in range(6))
    return DataSet(
        name="litsearch",
        title="LitSearch",
        licence="MIT",
        homepage="https://github.com/princeton-nlp/LitSearch",
        files=(file("query/full-00000-of-00001.parquet", "test"), *(file(path, "") for path in shards)),
        tasks={"test": 597},
    )


def _scifact() -> DataSet:
    return DataSet(
        name="scifact",
        title="SciFact",
        licence="CC BY 4.0 (claims), ODC-By 1.0 (abstracts)",
        homepage="https://github.com/allenai/scifact",
        files=(
            RemoteFile(
                "data.tar.gz",
                "https://scifact.s3-us-west-2.amazonaws.com/release/latest/data.tar.gz",
                bytes=3_115_079,
                sha256="11c621288d41ac144d29b13b0f8503b3820b7d6e8b1f6ff24dff335c196d76be",
            ),
        ),
        tasks={"train": 809, "dev": 300},
    )


def _acl() -> DataSet:
    return DataSet(
        name="acl",
        title="PaSa's queries over abstracts of the ACL Anthology, or any other library in papers.jsonl, queries.jsonl",
        licence="CC BY 4.0 (the Anthology's papers since 2016)",
        homepage="https://aclanthology.org",
        files=(),
        note="the folder holds papers.jsonl and queries.jsonl",
    )


_ENTRIES = (
    _gsm8k(),
    _hotpotqa(),
    _twowiki(),
    _musique(),
    _alfworld(),
    _webshop("webshop", "WebShop, 1,000 products", WEBSHOP_SMALL),
    _webshop("webshop-full", "WebShop, 1,181,436 products", WEBSHOP_FULL),
    _pasa(),
    _litsearch(),
    _scifact(),
    _acl(),
    _hotpotqa_abstracts(),
    _wiki18(),
    _wiki18_e5(),
)

CATALOGUE: Mapping[str, DataSet] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
