"""WebShop's data: the catalogue built from the official files or a generated shop, its goals and their splits."""

from agentgym_r1.data.webshop.build import build_catalogue
from agentgym_r1.data.webshop.corpus import ProductCorpus
from agentgym_r1.data.webshop.goals import Goal, Goals
from agentgym_r1.data.webshop.products import Product, search_text
from agentgym_r1.data.webshop.sources import OfficialFiles, ShopSource, find_official
from agentgym_r1.data.webshop.store import Catalogue
from agentgym_r1.data.webshop.tasks import ShopTasks

__all__ = [
    "Catalogue",
    "Goal",
    "Goals",
    "OfficialFiles",
    "Product",
    "ProductCorpus",
    "ShopSource",
    "ShopTasks",
    "build_catalogue",
    "find_official",
    "search_text",
]
