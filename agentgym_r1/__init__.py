"""AgentGym-R1: Gymnasium text environments for reinforcement learning of LLM agents."""
