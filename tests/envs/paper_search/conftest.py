"""An episode of paper search about kites that has begun."""

import pytest
from kites import Driver, make_env


@pytest.fixture
def act() -> Driver:
    env = make_env()
    env.reset(options={"task": "kites"})
    return Driver(env)
