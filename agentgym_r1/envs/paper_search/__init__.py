"""AgentR1/PaperSearch: collect the papers of a library that satisfy a query."""
