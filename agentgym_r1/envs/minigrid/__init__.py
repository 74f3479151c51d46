"""AgentR1/MiniGrid: the levels of MiniGrid and BabyAI as text."""
