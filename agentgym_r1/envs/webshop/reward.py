"""What a purchase is worth: WebShop's formula, with its parts.

    reward = r_type * (attributes matched + options matched + [price <= limit]) / (attributes + options + 1)

Where the original fails we define: a goal without attributes has no r_att, and no price is within a limit of 0 or less.
Source: Yao et al., WebShop, NeurIPS 2022, and the released code, whose details these are.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agentgym_r1.data.gold import ShopGold
from agentgym_r1.data.webshop import Product
from agentgym_r1.data.webshop.matching import is_among, matches


@dataclass(frozen=True, slots=True)
class PurchaseReward:
    """The reward of a purchase and its parts, each 0 to 1.

    Attributes:
        reward: the whole.
        r_type: 1, 0.5, 0.1 or 0: how far the product is of the kind asked for.
        r_att: share of the attributes that match; None when none was asked for.
        r_option: share of the options that match; None when none was asked for.
        r_price: whether it costs no more than the limit.
        query_match: whether the same query finds both products.
        category_match: whether they share two categories of their paths.
        title_score: shared nouns of the titles over the goal's nouns; 0.2 when it has none.
        attributes, options: how many the goal asks for.
    """

    reward: float
    r_type: float
    r_att: float | None
    r_option: float | None
    r_price: bool
    query_match: bool
    category_match: bool
    title_score: float
    attributes: int
    options: int

    @property
    def weights(self) -> dict[str, float]:
        """How much of the reward the parts carry: w_att, w_option, w_price."""
        whole = self.attributes + self.options + 1
        return {"w_att": self.attributes / whole, "w_option": self.options / whole, "w_price": 1 / whole}

    def metrics(self) -> dict[str, float]:
        """Return the parts as numbers; those that the goal does not ask for are left out."""
        parts = {"r_type": self.r_type, "r_att": self.r_att, "r_option": self.r_option, "r_price": self.r_price}
        return {name: float(value) for name, value in parts.items() if value is not None}


def purchase_reward(product: Product, gold: ShopGold, *, price: float, options: Mapping[str, str]) -> PurchaseReward:
    """Return what buying a product is worth for a goal.

    Args:
        product: what was bought.
        gold: what was asked for.
        price: what the product costs.
        options: the chosen value of each option name.
    """
    query_match = product.query == gold.query
    category_match = len(_categories(product.product_category) & _categories(gold.product_category)) >= 2
    title_score = _title_score(product.nouns, gold.nouns)
    r_type = _type_factor(title_score, same_kind=query_match or category_match)
    attributes = sum(_has_attribute(product, attribute) for attribute in gold.attributes)
    chosen = sum(is_among(option, options.values()) for option in gold.options)
    within = gold.price_upper > 0 and price <= gold.price_upper
    asked = len(gold.attributes) + len(gold.options) + 1
    return PurchaseReward(
        reward=(attributes + chosen + within) / asked * r_type,
        r_type=r_type,
        r_att=attributes / len(gold.attributes) if gold.attributes else None,
        r_option=chosen / len(gold.options) if gold.options else None,
        r_price=within,
        query_match=query_match,
        category_match=category_match,
        title_score=title_score,
        attributes=len(gold.attributes),
        options=len(gold.options),
    )


def _has_attribute(product: Product, attribute: str) -> bool:
    if any(matches(listed, attribute) for listed in product.attributes):
        return True
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(attribute in text.lower() for text in texts)


def _categories(path: str) -> set[str]:
    return {name.strip() for name in path.split("›")}


def _title_score(bought: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    return len(set(bought) & set(wanted)) / len(wanted) if wanted else 0.2


def _type_factor(title_score: float, *, same_kind: bool) -> float:
    if title_score == 0:
        return 0.0
    if title_score < 0.1:
        return 0.1
    return 1.0 if same_kind or title_score > 0.2 else 0.5
