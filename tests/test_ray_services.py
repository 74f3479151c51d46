"""One retrieval service a node of a Ray cluster: equal answers, a restart that clients outlive, and clear failures."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import httpx
import pytest

from agentgym_r1 import ray_services
from agentgym_r1.corpus import MemoryCorpus
from agentgym_r1.data.worlds import encyclopedia
from agentgym_r1.errors import ConfigError, MissingExtra, RetrievalError
from agentgym_r1.ray_services import NodeServices
from agentgym_r1.retrieval import BM25Retriever, RemoteRetriever, write_bm25

ROOT = Path(__file__).resolve().parents[1]
HAS_RAY = importlib.util.find_spec("ray") is not None
QUERIES = ["river bridge", "the mayor of the town", "novel", "zzz"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray") / "index"
    write_bm25(folder, MemoryCorpus(encyclopedia.corpus("dev")))
    return folder


@pytest.fixture(scope="module")
def cluster():
    """The address of a cluster of two nodes on this machine."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    running = Cluster(initialize_head=True, head_node_args=size)
    running.add_node(**size)
    running.wait_for_nodes()
    yield running.address
    ray.shutdown()
    running.shutdown()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_the_error_says_how_to_install_it(index):
    with pytest.raises(MissingExtra, match=r"pip install 'agentgym-r1\[ray\]'"):
        NodeServices("127.0.0.1:6379", {"index": index})


def test_no_index_is_refused_before_a_cluster_is_looked_for():
    with pytest.raises(ConfigError, match="at least one index"):
        NodeServices("127.0.0.1:6379", {})


@pytest.mark.openrlhf
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed here: make test-train")
class TestOnACluster:
    def test_every_node_answers_as_the_index_does_and_nothing_is_left_behind(self, cluster, index):
        expected = BM25Retriever.open(index).search(QUERIES, k=3)
        with NodeServices(cluster, {"index": index}, port=0) as services:
            addresses = list(services.addresses.values())
            assert len(set(addresses)) == 2
            for address in addresses:
                assert address.startswith("http://127.0.0.1:")
                assert RemoteRetriever(address).search(QUERIES, k=3) == expected
        for address in addresses:
            with pytest.raises(httpx.TransportError):
                httpx.get(f"{address}/health", trust_env=False)

    def test_an_environment_in_a_worker_asks_a_service(self, cluster, index):
        import ray

        def play(address):
            with gym.make("agentgym_r1:AgentR1/HotpotQA-v0", source="world", retriever=address) as env:
                env.reset(seed=3)
                for _ in range(6):
                    *_, terminated, _, info = env.step(env.unwrapped.expert())
                    if terminated:
                        break
                return info["success"]

        with NodeServices(cluster, {"index": index}, port=0) as services:
            task = ray.remote(num_cpus=0)(play)
            assert ray.get([task.remote(address) for address in services.addresses.values()]) == [True, True]

    def test_clients_outlive_a_service_that_dies(self, cluster, index, monkeypatch):
        import ray

        first = ray_services._nodes  # both nodes are this machine, which has a port only once
        monkeypatch.setattr(ray_services, "_nodes", lambda: first()[:1])
        with NodeServices(cluster, {"index": index}, port=free_port()) as services:
            remote = RemoteRetriever(next(iter(services.addresses.values())), patience=120)
            before = remote.search(QUERIES, k=3)
            ray.kill(next(iter(services._actors.values())), no_restart=False)
            assert remote.search(QUERIES, k=3) == before

    def test_an_index_that_is_not_there_is_an_error_of_its_node(self, cluster, tmp_path):
        with pytest.raises(RetrievalError, match="service of node .* did not start: .*no index folder"):
            NodeServices(cluster, {"index": tmp_path / "nowhere"}, port=0)

    def test_the_command_line_serves_on_every_node_until_a_signal(self, cluster, index):
        command = [sys.executable, "-m", "agentgym_r1.cli", "index", "serve", f"wiki={index}", "--port", "0"]
        service = subprocess.Popen([*command, "--ray", cluster], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        try:
            lines = [service.stdout.readline() for _ in range(2)]
            for line in lines:
                address = line.strip().rpartition(" at ")[2].removesuffix("/retrieve")
                assert RemoteRetriever(address, "wiki").search(["river"], k=1)[0]
            service.send_signal(signal.SIGTERM)
            assert service.wait(60) == 0
        finally:
            service.kill()
            service.communicate()
