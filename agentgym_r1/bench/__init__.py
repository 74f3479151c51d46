"""Running, summarising and showing benchmarks."""
