"""The generated shop: products in WebShop's format with goals of both kinds, of any size, for a seed.

It stands for WebShop's catalogue: departments, option and price statistics, near-duplicates, instructions. It cannot
stand for the noise of real listings (wrong categories, keyword lists, broken options), and no score on it is comparable
with a published one.
"""

from agentgym_r1.data.worlds.shop.source import WorldShop

__all__ = ["WorldShop"]
