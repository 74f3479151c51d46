"""Every estimator against numbers worked out by hand, and what must hold for any episodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_r1.adapters.openrlhf.advantages import (
    ALGORITHMS,
    WHITENED,
    EpisodeSteps,
    Estimator,
    against_group,
    discounted,
    estimate,
    gae,
)
from agentgym_r1.errors import ConfigError


def steps(*rewards, group=0, values=None, tokens=None, **more):
    tokens = tuple(tokens or (1,) * len(rewards))
    if values is not None:
        more["values"] = tuple(np.full(n, float(v)) for n, v in zip(tokens, values))
    return EpisodeSteps(group, tuple(map(float, rewards)), tokens, **more)


def step_advantages(targets):
    return [[float(step.advantages[0]) for step in episode] for episode in targets]


def step_returns(targets):
    return [[float(step.returns[0]) for step in episode] for episode in targets]


def test_gae_over_three_steps_equals_the_hand_computed_numbers():
    # delta = [0 + .5*4 - 2, 1 + .5*6 - 4, 2 - 6] = [0, 0, -4]; gamma * lambda = 0.25; A = [-0.25, -1, -4]
    found = gae(np.array([0.0, 1.0, 2.0]), np.array([2.0, 4.0, 6.0]), gamma=0.5, lam=0.5)
    np.testing.assert_allclose(found, [-0.25, -1.0, -4.0])


def test_a_truncated_episode_bootstraps_with_the_value_of_the_state_after_it():
    # delta_2 = 2 + .5*8 - 6 = 0, so that A = [0, 0, 0]
    found = gae(np.array([0.0, 1.0, 2.0]), np.array([2.0, 4.0, 6.0]), gamma=0.5, lam=0.5, next_value=8.0)
    np.testing.assert_allclose(found, [0.0, 0.0, 0.0])


def test_step_gae_is_whitened_over_steps_and_spread_over_their_tokens():
    episode = steps(0, 1, 2, values=(2, 4, 6), tokens=(3, 1, 2))
    (targets,) = estimate([episode], Estimator("gae", gamma=0.5, lam=0.5))
    raw = np.array([-0.25, -1.0, -4.0])
    expected = (raw - raw.mean()) / raw.std()
    assert [len(step.advantages) for step in targets] == [3, 1, 2]
    for step, advantage, target in zip(targets, expected, raw + [2, 4, 6]):
        np.testing.assert_allclose(step.advantages, advantage)
        np.testing.assert_allclose(step.returns, target)


def test_step_gae_reads_the_value_before_the_first_token_of_a_step():
    episode = EpisodeSteps(0, (1.0,), (2,), values=(np.array([0.25, 99.0]),))
    (targets,) = estimate([episode, steps(0, values=(0,))], Estimator("gae"))[:1]
    np.testing.assert_allclose(targets[0].returns, [1.0, 1.0])


def test_token_gae_runs_over_the_tokens_of_the_whole_episode():
    # rewards by token [0, 1, 2], the values one a token: the numbers of the step example, two tokens in step one
    episode = EpisodeSteps(0, (1.0, 2.0), (2, 1), values=(np.array([2.0, 4.0]), np.array([6.0])))
    (targets,) = estimate([episode], Estimator("token_gae", gamma=0.5, lam=0.5, divide_by_std=False))
    raw = np.array([-0.25, -1.0, -4.0])
    np.testing.assert_allclose(np.concatenate([t.advantages for t in targets]), raw - raw.mean())
    np.testing.assert_allclose(np.concatenate([t.returns for t in targets]), raw + [2, 4, 6])


def test_with_one_token_a_step_token_gae_is_step_gae():
    episodes = [steps(0, 1, 2, values=(2, 4, 6)), steps(1, values=(0,))]
    step, token = (estimate(episodes, Estimator(name, gamma=0.9, lam=0.8)) for name in ("gae", "token_gae"))
    np.testing.assert_allclose(sum(step_advantages(step), []), sum(step_advantages(token), []))


def test_reinforce_is_the_discounted_return_to_go():
    np.testing.assert_allclose(discounted(np.array([1.0, 0.0, 4.0]), 0.5), [2.0, 2.0, 4.0])
    targets = estimate([steps(1, 0, 4)], Estimator("reinforce", gamma=0.5, divide_by_std=False))
    np.testing.assert_allclose(step_advantages(targets), [[-2 / 3, -2 / 3, 4 / 3]])
    np.testing.assert_allclose(step_returns(targets), [[2.0, 2.0, 4.0]])


def test_rloo_compares_with_the_mean_of_the_others():
    # returns 1, 0, 5 in one group: 1 - 2.5, 0 - 3, 5 - 0.5
    targets = estimate([steps(1), steps(0, 0), steps(2, 3)], Estimator("rloo"))
    np.testing.assert_allclose(sum(step_advantages(targets), []), [-1.5, -3.0, -3.0, 4.5, 4.5])


def test_dr_grpo_subtracts_the_mean_of_the_group_and_no_more():
    targets = estimate([steps(1), steps(0, 0), steps(2, 3), steps(7, group=1)], Estimator("dr_grpo"))
    np.testing.assert_allclose(sum(step_advantages(targets), []), [-1.0, -2.0, -2.0, 3.0, 3.0, 0.0])


def test_group_norm_divides_by_the_sample_standard_deviation():
    # returns 1, 0, 5: deviations -1, -2, 3, sample variance 14 / 2 = 7
    targets = estimate([steps(1), steps(0, 0), steps(2, 3)], Estimator("group_norm"))
    expected = np.array([-1, -2, -2, 3, 3]) / 7**0.5
    np.testing.assert_allclose(sum(step_advantages(targets), []), expected, rtol=1e-6)


def test_reinforce_baseline_whitens_what_is_left_of_the_group_mean():
    targets = estimate([steps(1), steps(0, 0), steps(2, 3)], Estimator("reinforce_baseline"))
    raw = np.array([-1.0, -2.0, -2.0, 3.0, 3.0])
    np.testing.assert_allclose(sum(step_advantages(targets), []), (raw - raw.mean()) / raw.std())


def test_gigpo_adds_the_comparison_of_equal_states_to_that_of_episodes():
    # Episode returns 1 and 3: +-1 / sqrt(2). State "s" occurs in both, with returns-to-go 0.5 (= 0 + .5 * 1) and 3;
    # deviations -1.25 and 1.25 over a sample deviation of 1.25 * sqrt(2). State "t" occurs once: 0.
    episodes = [steps(0, 1, anchors=("s", "t")), steps(3, anchors=("s",))]
    targets = estimate(episodes, Estimator("gigpo", gamma=0.5, anchor_weight=2.0))
    one = 1 / 2**0.5
    np.testing.assert_allclose(sum(step_advantages(targets), []), [-3 * one, -one, 3 * one], rtol=1e-6)


def test_gigpo_compares_states_within_a_group_only():
    episodes = [steps(1, anchors=("s",)), steps(5, group=1, anchors=("s",))]
    assert sum(step_advantages(estimate(episodes, Estimator("gigpo"))), []) == [0.0, 0.0]


def test_a_kl_penalty_enters_the_reward_of_its_step():
    plain = steps(1, 2, values=(0, 0))
    paying = steps(1, 2, values=(0, 0), penalties=(0.5, 0.25))
    raw = [step_returns(estimate([e], Estimator("gae", gamma=1.0, lam=1.0)))[0] for e in (plain, paying)]
    np.testing.assert_allclose(raw, [[3.0, 2.0], [2.25, 1.75]])


def test_a_kl_penalty_leaves_the_comparison_of_the_group_alone():
    # outcome advantages +-1 (returns 2 and 0); the penalties to go are 0.75 and 0.25
    episodes = [steps(1, 1, penalties=(0.5, 0.25)), steps(0)]
    np.testing.assert_allclose(sum(step_advantages(estimate(episodes, Estimator("dr_grpo"))), []), [0.25, 0.75, -1.0])


def test_an_episode_alone_in_its_group_teaches_nothing():
    for kind in ("mean", "leave_one_out", "std"):
        assert against_group([5.0], [0], kind).tolist() == [0.0]


def test_what_is_missing_is_named():
    with pytest.raises(ConfigError, match="critic's values"):
        estimate([steps(1)], Estimator("gae"))
    with pytest.raises(ConfigError, match="anchor state"):
        estimate([steps(1)], Estimator("gigpo"))
    with pytest.raises(ConfigError, match="did you mean 'gigpo'"):
        Estimator("gigpoo")
    with pytest.raises(ConfigError, match="gamma must be between 0 and 1"):
        Estimator(gamma=1.5)
    with pytest.raises(ConfigError, match="at least one token a step"):
        EpisodeSteps(0, (), ())


reward = st.floats(-10, 10, allow_nan=False)
episode = st.integers(1, 6).flatmap(
    lambda n: st.builds(
        lambda group, rewards, tokens, anchors: EpisodeSteps(
            group,
            tuple(rewards),
            tuple(tokens),
            values=tuple(np.linspace(0, 1, t) for t in tokens),
            anchors=tuple(anchors),
            token_rewards=tuple(np.linspace(-1, 0.5, t) for t in tokens),
        ),
        st.integers(0, 2),
        st.lists(reward, min_size=n, max_size=n),
        st.lists(st.integers(1, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
    )
)


@given(st.lists(episode, min_size=1, max_size=6), st.sampled_from(ALGORITHMS))
def test_every_action_token_gets_a_finite_advantage(episodes, algorithm):
    targets = estimate(episodes, Estimator(algorithm, gamma=0.9, lam=0.95))
    assert [[len(s.advantages) for s in e] for e in targets] == [list(e.tokens) for e in episodes]
    assert all(np.isfinite(s.advantages).all() and np.isfinite(s.returns).all() for e in targets for s in e)


@given(st.lists(episode, min_size=2, max_size=6), st.sampled_from(sorted(set(WHITENED) - {"token_gae"})))
def test_whitened_advantages_have_mean_zero_over_steps(episodes, algorithm):
    flat = sum(step_advantages(estimate(episodes, Estimator(algorithm))), [])
    assert abs(np.mean(flat)) < 1e-6
    assert np.std(flat) == pytest.approx(1.0, abs=1e-3) or np.std(flat) < 1.0


@given(st.lists(episode, min_size=2, max_size=6), st.sampled_from(ALGORITHMS), st.randoms())
def test_the_order_of_the_episodes_does_not_matter(episodes, algorithm, random):
    order = list(range(len(episodes)))
    random.shuffle(order)
    straight = step_advantages(estimate(episodes, Estimator(algorithm)))
    shuffled = step_advantages(estimate([episodes[i] for i in order], Estimator(algorithm)))
    for position, i in enumerate(order):
        np.testing.assert_allclose(shuffled[position], straight[i], atol=1e-6)


@given(st.lists(reward, min_size=1, max_size=8), st.floats(0, 1))
def test_gae_with_lambda_one_is_the_return_less_the_value(rewards, gamma):
    values = np.linspace(-1, 1, len(rewards))
    found = gae(np.array(rewards), values, gamma=gamma, lam=1.0)
    np.testing.assert_allclose(found, discounted(np.array(rewards), gamma) - values, atol=1e-9)
