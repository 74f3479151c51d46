"""``python -m agentgym_r1.adapters.openrlhf`` is ``agentgym-r1 train``."""

import sys

from agentgym_r1.cli import main

if __name__ == "__main__":
    sys.argv.insert(1, "train")
    main()
